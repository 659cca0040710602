"""Apportion says who owes what for shared ML training infrastructure, and can prove it."""

__version__ = "0.1.0"
