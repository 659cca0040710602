"""The one door for numbers: a strict, bounded, ASCII grammar.

`Decimal` takes NaN and 5,000 digits, `float` takes "1_000", `int` takes other scripts' digits, and `Fraction("1e30000000")`
does not come back. None of those reach the model.
"""

import re
from decimal import Decimal, localcontext
from fractions import Fraction

from apportion.errors import InputError

LONGEST = 128
LARGEST_EXPONENT = 100
GRAMMAR = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
WHOLE = re.compile(r"[+-]?[0-9]+")


LARGEST_WHOLE = 10**LONGEST  # beyond it Python itself may refuse to write the number down


def refuse(text: object, where: str) -> InputError:
    shown = "a number of over 128 digits" if isinstance(text, int) and abs(text) >= LARGEST_WHOLE else repr(text)
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    return InputError(
        "invalid-number",
        f"{shown} is not a number",
        where=where,
        hint="write digits with an optional sign, point and exponent, such as -12.50 or 1.5e3",
    )


def parse_decimal(value: object, where: str = "") -> Decimal:
    """Exact, or refused: text by the grammar, whole numbers and finite decimals as they are, binary floats never."""
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
        raise refuse(value, where)
    if isinstance(value, int) and abs(value) >= LARGEST_WHOLE:
        raise refuse(value, where)
    text = str(value).strip(" ")
    if len(text) > LONGEST or not GRAMMAR.fullmatch(text):
        raise refuse(value, where)
    mantissa, _, exponent = text.lower().partition("e")
    if exponent and abs(int(exponent)) > LARGEST_EXPONENT:
        raise refuse(value, where)
    with localcontext() as context:
        context.prec = LONGEST + 2 * LARGEST_EXPONENT
        return Decimal(mantissa).scaleb(int(exponent or 0))


def parse_fraction(value: object, where: str = "") -> Fraction:
    """A decimal, or two of them as `1/3`."""
    if isinstance(value, str) and value.count("/") == 1:
        above, below = (Fraction(parse_decimal(part, where)) for part in value.split("/"))
        if below == 0:
            raise refuse(value, where)
        return above / below
    return Fraction(parse_decimal(value, where))


def parse_whole(value: object, where: str = "") -> int:
    number = parse_decimal(value, where)
    if number != number.to_integral_value():
        raise refuse(value, where)
    return int(number)
