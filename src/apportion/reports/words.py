"""Figures inside sentences. Sentences are for reading, so money in them is rounded to the currency's minor unit, and what is no money to its places."""

from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction

from apportion.model.currencies import MINOR_DIGITS, QUANTITIES, is_money
from apportion.model.money import GRAIN, plain, round_children, to_decimal, to_grains

UNKNOWN_PLACES = 2
COUNTING = 4  # digits of a price


def places(currency: str) -> int:
    return MINOR_DIGITS.get(currency, QUANTITIES.get(currency, UNKNOWN_PLACES))


def rounded(amount: Decimal, currency: str) -> Decimal:
    with localcontext() as context:
        context.prec = 80
        return amount.quantize(Decimal(1).scaleb(-places(currency)), ROUND_HALF_EVEN)


def shown(amount: Decimal, currency: str) -> str:
    """`1,234.50 USD`; what rounds to nothing is `0.00`, without a sign."""
    return f"{digits(rounded(amount, currency))} {currency}"


def apart(difference: Decimal, currency: str) -> str:
    """`-4.00 USD apart`; with every digit where it rounds to nothing, for it is not."""
    small = difference and not rounded(difference, currency)
    return f"{plain(difference)} {currency} apart" if small else f"{shown(difference, currency)} apart"


def of_bill(whole: Decimal, currency: str) -> str:
    """`the bill of 901,234.56 USD`; for what is no money, `the 5,120 gCO2e`."""
    return f"the {'bill of ' if is_money(currency) else ''}{shown(whole, currency)}"


def digits(amount: Decimal) -> str:
    return f"{amount or abs(amount):,f}"


def price_digits(price: Decimal, currency: str) -> str:
    """Four digits that count, and never fewer places than the currency has: a GiB-hour costs less than a cent."""
    after = max(places(currency), min(9, COUNTING - price.adjusted() - 1)) if price else places(currency)
    return f"{price or abs(price):,.{after}f}"


def percent(share: Decimal | None) -> str:
    return "-" if share is None else f"{share * 100:.1f} %"


def hours(amount: Fraction) -> str:
    """`1,234.5`; what is too little for that keeps two digits that count."""
    return f"{float(amount):,.1f}" if amount >= 1 or not amount else f"{float(amount):.2g}"


def add_up(amounts: Sequence[Decimal], currency: str) -> list[Decimal]:
    """Each amount in whole minor units such that they add up to the rounded sum: largest remainder, ties by position."""
    if not amounts:
        return []
    exact = [to_grains(amount) for amount in amounts]
    unit = GRAIN // 10 ** places(currency)
    whole = to_grains(rounded(to_decimal(sum(exact)), currency)) // unit
    ids = [f"{i:09d}" for i in range(len(exact))]
    quantum = Decimal(1).scaleb(-places(currency))
    return [count * quantum for count in round_children(whole, exact, unit, ids)]


def counted(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"
