"""The kinds of value in an inventory, read from the text that was written, exactly; and what is wrong with one, where and what to do."""

import re
from collections import Counter
from collections.abc import Callable
from datetime import date
from fractions import Fraction
from itertools import product
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, model_validator
from pydantic_core import PydanticCustomError

from apportion.errors import InputError
from apportion.model.currencies import MINOR_DIGITS
from apportion.model.numbers import parse_fraction
from apportion.sources.settings import nearest

DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
RANGES = re.compile(r"\[([0-9]+(?:-[0-9]+)?(?:,[0-9]+(?:-[0-9]+)?)*)\]")
FIRST_YEAR, LAST_YEAR = 1970, 2200
LONGEST_NAME, MOST_NODES, MOST_PIECES, MOST_MONTHS = 200, 20_000, 1_000_000, 1200
LARGEST = 10**15


def wrong(code: str, message: str, *path: str | int, hint: str = "", key: bool = False) -> PydanticCustomError:
    """A mistake at `path` inside the value that is being read; with `key` its place is the key's."""
    return PydanticCustomError(
        "inventory", "{message}", {"code": code, "message": message, "path": path, "hint": hint, "key": key}
    )


def shown(value: object) -> str:
    if value is None or isinstance(value, dict | list):
        return {type(None): "nothing", dict: "a mapping", list: "a list"}[type(value)]
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


class Clause(BaseModel):
    """A mapping of the document: every key known, and none without a value."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)
    may_be_empty: ClassVar[frozenset[str]] = frozenset()

    @model_validator(mode="before")
    @classmethod
    def read(cls, given: Any) -> Any:
        known = {field.alias or name for name, field in cls.model_fields.items()}
        if not isinstance(given, dict):
            hint = "keys: " + ", ".join(sorted(known))
            raise wrong("inventory-value", f"expected keys and values, found {shown(given)}", hint=hint)
        for key, value in given.items():
            if key not in known:
                raise wrong(
                    "inventory-key", f"there is no key {shown(key)} here", key, hint=nearest(key, known), key=True
                )
            if value is None and key not in cls.may_be_empty:
                hint = "give it one, or leave the key out"
                raise wrong("inventory-value", f"{key!r} has no value", key, hint=hint, key=True)
        return {key: value for key, value in given.items() if value is not None}


def read_name(given: Any) -> str:
    if (
        not isinstance(given, str)
        or given != given.strip()
        or not given.isprintable()
        or not 0 < len(given) <= LONGEST_NAME
    ):
        hint = f"one line of at most {LONGEST_NAME} characters, no blanks around it"
        raise wrong("inventory-value", f"expected a name, found {shown(given)}", hint=hint)
    return given


def read_number(given: Any) -> Fraction:
    try:
        number = parse_fraction(given)
    except InputError as error:
        raise wrong("inventory-value", f"expected a number: {error.message}", hint=error.hint) from None
    if abs(number) > LARGEST:
        raise wrong("inventory-value", f"{given} is too large", hint="check the number of zeros")
    return number


def bounded(low: int, high: int | None = None, *, whole: bool = False) -> Callable[[Any], Fraction]:
    def read(given: Any) -> Fraction:
        number = read_number(given)
        if number < low or (high is not None and number > high):
            hint = f"at least {low}" + (f" and at most {high}" if high is not None else "")
            raise wrong("inventory-value", f"{given} is out of bounds", hint=hint)
        if whole and number.denominator != 1:
            raise wrong("inventory-value", f"{given} is not a whole number")
        return number

    return read


def whole_number(low: int, high: int) -> Callable[[Any], int]:
    return lambda given: int(bounded(low, high, whole=True)(given))


def read_share(given: Any) -> Fraction | str:
    """An amount, or a percentage of another, kept as it stands until that is known."""
    if isinstance(given, str) and given.rstrip().endswith("%"):
        bounded(0, 100)(given.rstrip().removesuffix("%").rstrip())
        return given
    return bounded(0)(given)


def part_of(share: Fraction | str, whole: Fraction) -> Fraction:
    return (
        share if isinstance(share, Fraction) else whole * read_number(share.rstrip().removesuffix("%").rstrip()) / 100
    )


def read_day(given: Any) -> date:
    hint = "write it as 2026-10-01"
    if not isinstance(given, str) or not DAY.fullmatch(given):
        raise wrong("inventory-value", f"expected a day, found {shown(given)}", hint=hint)
    try:
        day = date.fromisoformat(given)
    except ValueError:
        raise wrong("inventory-value", f"there is no day {given}", hint=hint) from None
    if not FIRST_YEAR <= day.year <= LAST_YEAR:
        raise wrong("inventory-value", f"the day {given} is outside {FIRST_YEAR} to {LAST_YEAR}")
    return day


def read_flag(given: Any) -> bool:
    if given not in ("true", "false"):
        raise wrong("inventory-value", f"expected true or false, found {shown(given)}")
    return bool(given == "true")


def read_currency(given: Any) -> str:
    if given not in MINOR_DIGITS:
        raise wrong(
            "inventory-value", f"there is no currency {shown(given)}", hint="write its ISO 4217 code, such as EUR"
        )
    return str(given)


def names_in(text: str) -> list[str]:
    """`dgx-[01-16]` as the names it stands for."""
    pieces = RANGES.split(text)
    choices = [[piece] if number % 2 == 0 else list(numbers(piece)) for number, piece in enumerate(pieces)]
    count = 1
    for choice in choices:
        count *= len(choice)
    if count > MOST_NODES:
        raise wrong("inventory-value", f"{text!r} stands for {count:,} names", hint=f"at most {MOST_NODES:,}")
    return ["".join(each) for each in product(*choices)]


def numbers(ranges: str) -> list[str]:
    found: list[str] = []
    for each in ranges.split(","):
        first, _, last = each.partition("-")
        if int(last or first) - int(first) >= MOST_NODES:
            raise wrong("inventory-value", f"[{ranges}] stands for too many names", hint=f"at most {MOST_NODES:,}")
        found += [str(number).zfill(len(first)) for number in range(int(first), int(last or first) + 1)]
    return found


def read_names(given: Any) -> tuple[str, ...]:
    listed = [given] if isinstance(given, str) else given
    if not isinstance(listed, list) or not listed:
        hint = 'write a name, or a list such as [dgx-01, "dgx-[02-16]"]'
        raise wrong("inventory-value", f"expected names, found {shown(given)}", hint=hint)
    found = [name for text in listed for name in names_in(read_name(text))]
    if len(set(found)) < len(found):
        twice, _ = Counter(found).most_common(1)[0]
        raise wrong("inventory-value", f"{twice!r} is named twice", hint="name each once")
    return tuple(found)


def read_weights(given: Any) -> dict[str, Fraction]:
    """Names and globs, each of weight 1, or a mapping of them to weights."""
    if not isinstance(given, dict):
        return {name: Fraction(1) for name in read_names(given)}
    found = {name: read_number(weight) for key, weight in given.items() for name in names_in(read_name(key))}
    if not found or min(found.values()) <= 0:
        raise wrong("inventory-value", "a weight is a number above 0", hint="leave out what bears nothing")
    return found


def read_tags(given: Any) -> dict[str, str]:
    if not isinstance(given, dict) or not all(isinstance(value, str) for value in given.values()):
        raise wrong(
            "inventory-value", f"expected keys and texts, found {shown(given)}", hint="such as {project: alpha}"
        )
    return dict(given)


def one_of(*words: str) -> Callable[[Any], str]:
    def read(given: Any) -> str:
        if given not in words:
            raise wrong(
                "inventory-value",
                f"expected one of {', '.join(words)}; found {shown(given)}",
                hint=nearest(given, words),
            )
        return str(given)

    return read


Name = Annotated[str, PlainValidator(read_name)]
Names = Annotated[tuple[str, ...], PlainValidator(read_names)]
Weights = Annotated[dict[str, Fraction], PlainValidator(read_weights)]
Tags = Annotated[dict[str, str], PlainValidator(read_tags)]
Day = Annotated[date, PlainValidator(read_day)]
Flag = Annotated[bool, PlainValidator(read_flag)]
Currency = Annotated[str, PlainValidator(read_currency)]
Amount = Annotated[Fraction, PlainValidator(bounded(0))]
Signed = Annotated[Fraction, PlainValidator(read_number)]
Share = Annotated[Fraction | str, PlainValidator(read_share)]
Percent = Annotated[Fraction, PlainValidator(bounded(0, 100))]
Pieces = Annotated[int, PlainValidator(whole_number(1, MOST_PIECES))]
Count = Annotated[int, PlainValidator(whole_number(0, MOST_PIECES))]
Months = Annotated[int, PlainValidator(whole_number(1, MOST_MONTHS))]
From = Annotated[date, PlainValidator(read_day), Field(alias="from")]
