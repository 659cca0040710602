"""Months are closed: a run is of a kind and rests on something, statements and disputes are kept, and the audit log is a chain of its own."""

from apportion.books.steps import Columns, Guards, Tables

STEPS = (
    Tables("closes", "documents", "transfers", "disputes", "dispute_notes"),
    Columns("runs", "rule", "kind", "about", "cause", "rests_on"),
    Columns("audit", "why", "head", "hash"),
    Guards("audit"),
)
