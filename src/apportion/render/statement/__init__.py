"""How a statement looks: one file per format, one function `render(statement) -> bytes`. What was kept prints the same bytes for ever."""

from importlib import import_module

from apportion.reports.statement.shape import Statement

FORMATS = {"pdf": "pdf", "html": "html", "csv": "csv", "json": "json", "md": "markdown"}


def render(statement: Statement, form: str) -> bytes:
    """Formats are imported when asked for: CSV needs no typst."""
    module = import_module(f"apportion.render.statement.{FORMATS[form]}")
    made: bytes = module.render(statement)
    return made
