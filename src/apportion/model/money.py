"""Money: exact, and shared without losing a unit.

Cost lines and postings are decimal(38,18). Inside the engine an amount is a whole number of *grains*, 10^-60 of the currency's unit:
fine enough that no step's rounding is ever seen in a nano, and whole, so that every transfer balances exactly.
"""

from collections.abc import Iterable, Sequence
from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext
from fractions import Fraction
from operator import itemgetter

DIGITS = 38
PLACES = 18
NANO = 10**9
ATTO = 10**PLACES
GRAIN_PLACES = 60
GRAIN = 10**GRAIN_PLACES
GRAINS_PER_NANO = GRAIN // NANO
GRAINS_PER_ATTO: int = GRAIN // ATTO
WIDE = Context(prec=120)  # made once: these two are asked for every amount
LARGEST = 10 ** (DIGITS - PLACES)


def to_grains(amount: Decimal) -> int:
    """Exact: a cost line has at most 18 places."""
    return int(amount.scaleb(GRAIN_PLACES, WIDE))


def to_decimal(grains: int) -> Decimal:
    """Back to 18 places; the engine only hands out amounts that fit them."""
    return Decimal(grains // GRAINS_PER_ATTO).scaleb(-PLACES, WIDE)


def from_nanos(nanos: int) -> Decimal:
    with localcontext() as context:
        context.prec = 120
        return Decimal(nanos).scaleb(-9)


def for_reading(amount: Fraction) -> Decimal:
    """The nearest nano; nothing is computed from it."""
    return from_nanos(round(amount * NANO))


def total_of(amounts: Iterable[Decimal]) -> Decimal:
    """An exact sum: the default context would round at 28 digits."""
    with localcontext() as context:
        context.prec = 120
        return sum(amounts, Decimal(0))


def at_places(amount: Decimal) -> Decimal:
    """What the books keep of it."""
    with localcontext() as context:
        context.prec = 120
        return amount.quantize(Decimal(1).scaleb(-PLACES), ROUND_HALF_EVEN)


def plain(amount: Decimal) -> str:
    """Every digit and no exponent, without trailing zeros: `1200`, `-0.000000001`."""
    text = format(amount, "f")
    return (text.rstrip("0").rstrip(".") if "." in text else text) if amount else "0"


def half_even(number: int, unit: int) -> int:
    """Whole units of a number, the nearest; of two that are as near, the even one."""
    whole, rest = divmod(number, unit)
    return whole + (2 * rest > unit or (2 * rest == unit and whole % 2 == 1))


def share(total: int, weights: Sequence[int], ids: Sequence[str]) -> list[int]:
    """`total` over `weights`, whole, adding up: largest remainder, ties by the UTF-8 bytes of the id. A negative total mirrors the positive one."""
    whole = sum(weights)
    if whole <= 0 or min(weights) < 0:
        raise ValueError("weights must not be negative and must not all be 0")
    parts = [divmod(abs(total) * weight, whole) for weight in weights]
    missing = abs(total) - sum(quotient for quotient, _ in parts)
    order = sorted(range(len(parts)), key=lambda i: (-parts[i][1], ids[i].encode()))
    lucky = set(order[:missing])
    sign = -1 if total < 0 else 1
    return [sign * (quotient + (i in lucky)) for i, (quotient, _) in enumerate(parts)]


def round_children(total: int, exact: Sequence[int], unit: int, ids: Sequence[str]) -> list[int]:
    """Whole `unit`s near each exact amount, adding up to `total` (itself whole units near the exact sum).

    Signs may be mixed. Each child lands less than one unit from its exact amount, so a tree rounded from its root down
    is everywhere within one unit of exact: the remainders that are picked are never 0.
    """
    if sum(exact) < 0 or (sum(exact) == 0 and total < 0):
        return [-amount for amount in round_children(-total, [-amount for amount in exact], unit, ids)]
    floors = [divmod(amount, unit) for amount in exact]
    missing = total - sum(map(itemgetter(0), floors))
    if not 0 <= missing <= len(floors):
        raise ValueError(f"{missing} units cannot be given to {len(floors)} children")
    order = sorted(range(len(floors)), key=lambda i: (-floors[i][1], ids[i].encode()))
    lucky = set(order[:missing])
    return [quotient + (i in lucky) for i, (quotient, _) in enumerate(floors)]
