"""A period's whole minor units are kept with the ledger, open or closed: every face adds up the same integers."""

from apportion.books.minor import fill_minor
from apportion.books.steps import Fill, Tables

STEPS = (Tables("minor_units", "minor_heads"), Fill(fill_minor))
