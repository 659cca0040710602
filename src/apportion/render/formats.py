"""Every format by name: one file each, one function `render(sheet, screen) -> text`."""

from importlib import import_module

from apportion.render.sheet import Screen, Sheet

FORMATS = {"table": "table", "json": "json", "csv": "csv", "md": "markdown"}


def render(sheet: Sheet, form: str = "table", screen: Screen | None = None) -> str:
    """Formats are imported when asked for: JSON needs no Rich."""
    module = import_module(f"apportion.render.{FORMATS[form]}")
    text: str = module.render(sheet, screen or Screen())
    return text
