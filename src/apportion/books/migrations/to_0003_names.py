"""Users stand in the ledger as tokens, so that a name can be taken out later: whose a token is, and what an erasure rewrote."""

from apportion.books.steps import Tables

STEPS = (Tables("names", "erasures", "rewritten"),)
