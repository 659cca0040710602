"""Another currency: the bill's total is converted once, then shared; shares converted one by one would not add up to it."""

from fractions import Fraction

from apportion.engine.sharing.given import Given, read_number, refuse
from apportion.engine.sharing.method import (
    ADDITIVITY,
    EFFICIENCY,
    MONOTONE,
    NULL_PLAYER,
    SPLIT_PROOF,
    SYMMETRY,
    Method,
    case,
)
from apportion.engine.sharing.proportional import proportional

PLACES = {
    **dict.fromkeys(("BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX"), 0),
    **dict.fromkeys(("UYI", "VND", "VUV", "XAF", "XOF", "XPF"), 0),
    **dict.fromkeys(("BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"), 3),
    **dict.fromkeys(("CLF", "UYW"), 4),
}


def places(currency: object, where: str) -> int:
    """How many digits the minor unit has: 2 but for a few."""
    if (
        not isinstance(currency, str)
        or len(currency) != 3
        or not currency.isascii()
        or not currency.isalpha()
        or not currency.isupper()
    ):
        refuse("unknown_currency", f"{where} must be an ISO 4217 code such as EUR", where)
    return PLACES.get(currency, 2)


def converted(given: Given) -> Given:
    """The same problem with the bill in minor units of the report's currency, half a unit away from zero."""
    rate = read_number(given.need("rate"), "rate")
    if rate <= 0:
        refuse("invalid_rate", "a rate must be above 0", "rate")
    shift = places(given.need("report_currency"), "report_currency") - places(
        given.need("bill_currency"), "bill_currency"
    )
    if given.find("report_currency") == given.find("bill_currency") and rate != 1:
        refuse("invalid_rate", "the rate of a currency to itself is 1", "rate")
    exact = abs(given.bill) * rate * Fraction(10) ** shift
    whole = (2 * exact.numerator + exact.denominator) // (2 * exact.denominator)
    return Given(-whole if given.bill < 0 else whole, given.params, given.inputs)


METHODS = (
    Method(
        name="fx",
        share=proportional,
        reads=(
            "bill_minor",
            "bill_currency",
            "rate",
            "report_currency",
            "drivers",
            "on_zero",
            "class_weights",
            "classes",
        ),
        formula="C' = round(C * rate), once; then x_i = C' * u_i / sum(u)",
        holds=(
            EFFICIENCY,
            SYMMETRY,
            NULL_PLAYER,
            MONOTONE,
            SPLIT_PROOF,
        ),
        breaks={
            ADDITIVITY + " (in the cents: each conversion rounds)": case(
                1, bill_currency="EUR", report_currency="USD", rate="0.5", drivers={"a": 1}
            ),
        },
        choose="a bill in one currency, reported in another",
        example={
            "inputs": {
                "bill_minor": 10000,
                "bill_currency": "EUR",
                "rate": "1.0877",
                "report_currency": "USD",
                "drivers": {"vision": 1, "speech": 1, "rl": 1},
            }
        },
    ),
)
