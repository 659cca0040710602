"""Columns of exact numbers, of times and of text, and the arithmetic between them.

Numbers are whole 64-bit ones over a power of ten while they fit, which is quick and exact; beyond that, and after a division, Fractions of
distinct values. No binary number takes part.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from apportion.errors import InputError
from apportion.model.numbers import parse_fraction
from apportion.model.rows import SECOND
from apportion.sources.cells.parsed import Parsed
from apportion.sources.cells.text import rows_where, text

UTC_TIME = pa.timestamp("s", "UTC")
SIMPLE = r"^-?[0-9]{1,9}(?:\.[0-9]{1,6})?$|^-?[0-9]{10,18}$"
MOST_PLACES = 12
LARGEST = 10**60
TEN = 10

A = TypeVar("A", bound=Hashable)
B = TypeVar("B")
Exact = list[Fraction | None]
Clock = Callable[[pa.Array], Parsed]  # cells to UTC seconds, in the way that the stanza says


@dataclass(frozen=True, slots=True)
class Numbers:
    """Either `whole` over `10**places`, or `exact`."""

    whole: pa.Array | None = None
    places: int = 0
    exact: Exact = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Times:
    seconds: pa.Array


Value: TypeAlias = pa.Array | Numbers | Times  # an array is a column of the log as it stands, or text


@dataclass
class Scene:
    """Where an expression is evaluated: the columns it names, the clock, and the rows for which it has no value, with the reason."""

    columns: Mapping[tuple[str | int, ...], pa.Array]  # by path
    rows: int
    clock: Clock
    failed: dict[int, str] = field(default_factory=dict)

    def fail(self, row: int, why: str) -> None:
        self.failed.setdefault(row, why)


def as_text(value: Value) -> pa.Array:
    return text(as_cells(value))


def as_cells(value: Value) -> pa.Array:
    """As a column of a log could hold it."""
    if isinstance(value, Times):
        return pc.cast(value.seconds, UTC_TIME)
    if not isinstance(value, Numbers):
        return value
    if value.whole is None:
        return pa.array(each(value.exact, written), pa.string())
    if not value.places:
        return value.whole
    unit = pa.scalar(Decimal(1).scaleb(-value.places), pa.decimal128(value.places + 1, value.places))
    shown = pc.cast(pc.multiply(pc.cast(value.whole, pa.decimal128(19, 0)), unit), pa.string())
    return pc.replace_substring_regex(shown, r"\.?0+$", "")


def written(number: Fraction) -> str:
    """`2.5` where that is all of it, `1/3` where no decimal is."""
    below = number.denominator
    for prime in (2, 5):
        while below % prime == 0:
            below //= prime
    if below > 1:
        return f"{number.numerator}/{number.denominator}"
    places = 0
    while (number * TEN**places).denominator > 1:
        places += 1
    digits = f"{abs(int(number * TEN**places)):0{places + 1}d}"
    sign = "-" if number < 0 else ""
    return sign + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)


def each(values: list[A | None], one: Callable[[A], B]) -> list[B | None]:
    """`one` of every distinct value."""
    known: dict[A, B] = {value: one(value) for value in set(values) if value is not None}
    return [None if value is None else known[value] for value in values]


def measured(value: Value, scene: Scene) -> Numbers | Times:
    """What takes part in arithmetic: numbers; or times, where a column holds those."""
    if isinstance(value, Numbers | Times):
        return value
    if pa.types.is_integer(value.type) and not pa.types.is_uint64(value.type):
        return Numbers(pc.cast(value, pa.int64()))
    if pa.types.is_temporal(value.type):
        return timed(value, scene)
    cells = text(value)
    if pc.all(pc.match_substring_regex(cells, SIMPLE), min_count=0).as_py():
        try:
            return simple(cells)
        except pa.ArrowInvalid:
            pass  # over 64 bits
    found = each(cells.to_pylist(), number)
    wrong = [row for row, one in enumerate(found) if isinstance(one, str)]
    if wrong and len(wrong) == len(cells) - cells.null_count:  # not one number
        return timed(cells, scene)
    for row in wrong:
        scene.fail(row, f"{found[row]!r} is not a number")
    return Numbers(exact=[one if isinstance(one, Fraction) else None for one in found])


def number(cell: str) -> Fraction | str:
    """Exact, or the cell itself where it is none."""
    try:
        return parse_fraction(cell.strip())
    except InputError:
        return cell[:40]


def simple(cells: pa.Array) -> Numbers:
    """Up to six decimals."""
    behind = pc.max(pc.binary_length(pc.replace_substring_regex(cells, r"^-?[0-9]+\.?", ""))).as_py() or 0
    if not behind:
        return Numbers(pc.cast(cells, pa.int64()))
    scaled = pc.multiply(
        pc.cast(cells, pa.decimal128(24, 6)), pa.scalar(Decimal(TEN**behind), pa.decimal128(behind + 1, 0))
    )
    return Numbers(pc.cast(scaled, pa.int64()), behind)


def timed(cells: pa.Array, scene: Scene) -> Numbers | Times:
    parsed = scene.clock(cells)
    for row in parsed.bad:
        scene.fail(row, f"{str(cells[row].as_py())[:40]!r} is neither a number nor a time")
    return Times(parsed.values)


def numbers(value: Value, scene: Scene) -> Numbers:
    found = measured(value, scene)
    return Numbers(found.seconds) if isinstance(found, Times) else found


def exactly(value: Numbers) -> Exact:
    if value.whole is None:
        return value.exact
    below = TEN**value.places
    return each(value.whole.to_pylist(), lambda whole: Fraction(whole, below))


def operate(sign: str, left: Value, right: Value, scene: Scene) -> Value:
    one, other = measured(left, scene), measured(right, scene)
    times = isinstance(one, Times) + 2 * isinstance(other, Times)
    found = arithmetic(sign, numbers(one, scene), numbers(other, scene), scene)
    if not times or (times == 3 and sign == "-"):
        return found
    if (sign == "+" and times != 3) or (sign == "-" and times == 1):
        return Times(whole_seconds(found))
    for row in rows_where(as_cells(found).is_valid()):
        scene.fail(row, f"{sign} makes no sense of times")
    return Times(pa.nulls(scene.rows, SECOND))


def whole_seconds(value: Numbers) -> pa.Array:
    """Parts of a second are cut off, as everywhere."""
    if value.whole is not None and not value.places:
        return value.whole
    return pa.array(
        [None if one is None or abs(one) > 2**62 else one.numerator // one.denominator for one in exactly(value)],
        SECOND,
    )


def arithmetic(sign: str, left: Numbers, right: Numbers, scene: Scene) -> Numbers:
    if left.whole is not None and right.whole is not None and sign != "/":
        try:
            return quick(sign, left, right)
        except pa.ArrowInvalid:
            pass  # over 64 bits
    pairs = list(zip(exactly(left), exactly(right), strict=True))
    known = {pair: apply(sign, *pair) for pair in set(pairs)}
    found: Exact = []
    for row, pair in enumerate(pairs):
        one = known[pair]
        if isinstance(one, str):
            scene.fail(row, one)
        found.append(None if isinstance(one, str) else one)
    return Numbers(exact=found)


def quick(sign: str, left: Numbers, right: Numbers) -> Numbers:
    if sign == "*":
        places = left.places + right.places
        if places > MOST_PLACES:
            raise pa.ArrowInvalid("more places than fit")
        return Numbers(pc.multiply_checked(left.whole, right.whole), places)
    places = max(left.places, right.places)
    one, other = (
        pc.multiply_checked(side.whole, TEN ** (places - side.places)) if side.places < places else side.whole
        for side in (left, right)
    )
    return Numbers((pc.add_checked if sign == "+" else pc.subtract_checked)(one, other), places)


def apply(sign: str, left: Fraction | None, right: Fraction | None) -> Fraction | str | None:
    """A number, nothing where a part is missing, or a sentence."""
    if left is None or right is None:
        return None
    if sign == "/":
        return bounded(left / right) if right else "division by 0"
    return bounded(left + right if sign == "+" else left - right if sign == "-" else left * right)


def bounded(number: Fraction) -> Fraction | str:
    fits = abs(number.numerator) <= LARGEST and number.denominator <= LARGEST
    return number if fits else "the result has over 60 digits"
