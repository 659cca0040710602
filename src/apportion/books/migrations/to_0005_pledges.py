"""Rules are tried before they hold: quotas that are reserved and lent, what-ifs that are kept, and the preview that statements tell of."""

from apportion.books.steps import Tables

STEPS = (Tables("pledges", "whatifs", "previews"),)
