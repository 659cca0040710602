"""What a sharing problem gives: every value read strictly, or refused with a code.

Binary floats, NaN, other scripts' digits and exponent bombs are refused as `invalid_number`; sizes are bounded, so that no
problem that fits the limits runs long. Names are kept as they came and compared in Unicode's composed form (NFC).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import lcm
from typing import Any, NoReturn
from unicodedata import normalize

from apportion.errors import InputError
from apportion.model.numbers import LONGEST, parse_fraction

MOST_OWNERS = 10_000
MOST_SLOTS = 10_000
MOST_KEYS = 100
WIDEST_DENOMINATOR_BITS = 4_096
WIDEST_WHOLE_BITS = (10**LONGEST).bit_length()

IDLE = "_idle"
UNALLOCATED = "_unallocated"
RESIDUAL = "_residual"
SPONSOR = "_sponsor"

Shares = dict[str, Fraction]


class SplitError(InputError):
    """A sharing problem that has no answer; the code is part of the contract of `split`."""


def refuse(code: str, message: str, where: str = "") -> NoReturn:
    raise SplitError(code, message, where=where)


def read_number(value: object, where: str) -> Fraction:
    """Exact, or `invalid_number`. Stricter than the model's door in one point: no spaces."""
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() <= WIDEST_WHOLE_BITS:
        return Fraction(value)
    if isinstance(value, Fraction) and value.denominator.bit_length() <= WIDEST_DENOMINATOR_BITS:
        return value
    if isinstance(value, str | Decimal) and not any(map(str.isspace, str(value))):
        try:
            return parse_fraction(value)
        except InputError:
            pass
    given = getattr(value, "text", value)  # a JSON number with a point arrives as its text
    shown = f"{given[:40]!r}" if isinstance(given, str) else f"a value of type {type(value).__name__}"
    refuse(
        "invalid_number", f'{where}: {shown} is not an exact number; write 12, or text such as "12.5" or "1/3"', where
    )


def read_least(value: object, where: str, code: str) -> Fraction:
    number = read_number(value, where)
    if number < 0:
        refuse(code, f"{where} is negative", where)
    return number


def check_precision(numbers: Iterable[Fraction], where: str) -> None:
    """Thousands of coprime denominators would make every sum slow; decimals never come near this bound."""
    common = 1
    for number in numbers:
        common = lcm(common, number.denominator)
        if common.bit_length() > WIDEST_DENOMINATOR_BITS:
            refuse("too_large", f"the fractions of {where} have no common denominator of a workable size", where)


def check_name(name: object, where: str) -> str:
    if not isinstance(name, str) or not name:
        refuse("invalid_owner", f"{where}: a name must be text that is not empty", where)
    try:
        name.encode()
    except UnicodeEncodeError:
        refuse("invalid_owner", f"{where}: the name {name!a} is not valid Unicode text", where)
    return name


def check_names(names: Iterable[object], where: str) -> list[str]:
    """The same names, once it is sure that no two are one in composed form."""
    known = [check_name(name, where) for name in names]
    if len(known) > MOST_OWNERS:
        refuse("too_large", f"{where} has {len(known)} names; the limit is {MOST_OWNERS}", where)
    seen: dict[str, str] = {}
    for name in known:
        composed = normalize("NFC", name)
        if composed in seen:
            refuse("duplicate_owner", f"{where} names {composed!r} twice", where)
        seen[composed] = name
    return known


def read_object(value: object, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        refuse("invalid_input", f"{where} must be an object", where)
    return value


def read_list(value: object, where: str) -> Sequence[Any]:
    if not isinstance(value, list | tuple):
        refuse("invalid_input", f"{where} must be a list", where)
    return value


def read_amounts(value: object, where: str, code: str | None) -> Shares:
    """Name to number; below 0 is refused with `code`, or allowed where there is none."""
    found = read_object(value, where)
    check_names(found, where)
    if code is None:
        amounts = {name: read_number(number, f"{where}.{name}") for name, number in found.items()}
    else:
        amounts = {name: read_least(number, f"{where}.{name}", code) for name, number in found.items()}
    check_precision(amounts.values(), where)
    return amounts


@dataclass(frozen=True, slots=True)
class Given:
    """The bill in minor units, and what the problem says under `params` and `inputs`; a parameter may stand in either."""

    bill: int
    params: Mapping[str, Any]
    inputs: Mapping[str, Any]

    def find(self, name: str) -> Any:
        """None where it is absent, or null."""
        found = self.params.get(name)
        return self.inputs.get(name) if found is None else found

    def need(self, name: str) -> Any:
        found = self.find(name)
        if found is None:
            refuse("missing_input", f"this method needs {name!r}, which the problem does not give", name)
        return found

    def has(self, name: str) -> bool:
        return self.find(name) is not None

    def amount(self, name: str) -> Fraction:
        """A number of at least 0."""
        return read_least(self.need(name), name, "negative_amount")

    def part(self, name: str) -> Fraction:
        """A number from 0 to 1."""
        number = read_number(self.need(name), name)
        if not 0 <= number <= 1:
            refuse("out_of_range", f"{name} must lie between 0 and 1", name)
        return number

    def count(self, name: str, default: int) -> int:
        """A whole number of at least 1."""
        if not self.has(name):
            return default
        number = read_number(self.find(name), name)
        if number.denominator != 1 or number < 1:
            refuse("out_of_range", f"{name} must be a whole number from 1 up", name)
        return int(number)

    def flag(self, name: str, *, default: bool) -> bool:
        found = self.find(name)
        if found is not None and not isinstance(found, bool):
            refuse("invalid_input", f"{name} must be true or false", name)
        return default if found is None else found

    def choice(self, name: str, words: Sequence[str]) -> str:
        """One of the words; the first where none is given."""
        found = self.find(name)
        if found is None:
            return words[0]
        if not isinstance(found, str) or found not in words:
            refuse("invalid_choice", f"{name} must be one of {', '.join(words)}", name)
        return found

    def on_zero(self) -> str:
        return self.choice("on_zero", ("unallocated", "even", "error"))

    def amounts(self, name: str, code: str = "negative_driver") -> Shares:
        return read_amounts(self.need(name), name, code)

    def money(self, name: str) -> Shares:
        """Signed amounts in minor units that must add up to the bill."""
        amounts = read_amounts(self.need(name), name, None)
        if sum(amounts.values()) != self.bill:
            refuse("bill_mismatch", f"{name} must add up to the bill of {self.bill} minor units", name)
        return amounts

    def table(self, name: str, code: str = "negative_driver") -> dict[str, Shares]:
        """Name to name to number, such as owner to resource to amount."""
        rows = read_object(self.need(name), name)
        check_names(rows, name)
        table = {row: read_amounts(cells, f"{name}.{row}", code) for row, cells in rows.items()}
        check_precision((cell for cells in table.values() for cell in cells.values()), name)
        return table

    def names(self, name: str) -> list[str]:
        return check_names(read_list(self.need(name), name), name)

    def numbers(self, name: str, code: str) -> list[Fraction]:
        numbers = [read_least(value, name, code) for value in read_list(self.need(name), name)]
        check_precision(numbers, name)
        return numbers

    def series(self) -> dict[str, list[Fraction]]:
        """Owner to demand per slot, all of one length."""
        rows = read_object(self.need("series"), "series")
        check_names(rows, "series")
        series = {
            owner: [
                read_least(value, f"series.{owner}", "negative_driver") for value in read_list(row, f"series.{owner}")
            ]
            for owner, row in rows.items()
        }
        lengths = {len(row) for row in series.values()}
        if len(lengths) > 1:
            refuse("unequal_series", "every owner's series must have the same number of slots", "series")
        if max(lengths, default=0) > MOST_SLOTS:
            refuse("too_large", f"a series may have at most {MOST_SLOTS} slots", "series")
        check_precision((value for row in series.values() for value in row), "series")
        return series


def total_of(numbers: Collection[Fraction] | Collection[int]) -> Fraction:
    """The sum over one common denominator: quicker than step by step where denominators are long."""
    common = lcm(*(number.denominator for number in numbers))
    return Fraction(sum(number.numerator * (common // number.denominator) for number in numbers), common)


def union(*maps: Iterable[str]) -> list[str]:
    """Every name once, in the order of appearance."""
    return list(dict.fromkeys(name for names in maps for name in names))


def add(shares: Shares, owner: str, money: Fraction) -> None:
    """Also where an owner of the problem bears a system owner's name."""
    shares[owner] = shares.get(owner, Fraction(0)) + money
