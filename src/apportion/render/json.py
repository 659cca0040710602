"""JSON for programs: keys sorted, decimals as strings with every digit, days as ISO text; the same value gives the same bytes."""

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from apportion.model.money import plain
from apportion.render.sheet import Screen, Sheet


def render(sheet: Sheet, screen: Screen) -> str:
    del screen
    return dumps(sheet.value)


def dumps(value: object) -> str:
    return json.dumps(portable(value), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def portable(value: object) -> Any:
    """Only what JSON has. A float would be a money path gone wrong, so it is refused."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Decimal | date | Path):
        return plain(value) if isinstance(value, Decimal) else str(value)
    if isinstance(value, Mapping):
        return {str(key): portable(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [portable(item) for item in (sorted(value) if isinstance(value, set | frozenset) else value)]
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: portable(getattr(value, field.name)) for field in fields(value)}
    raise TypeError(f"{type(value).__name__} has no place in JSON")
