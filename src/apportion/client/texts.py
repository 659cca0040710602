"""Texts and numbers of the API that have a form of their own. The document says it, the server holds to it, and the client sees it before anything is sent."""

from typing import Annotated

from pydantic import BeforeValidator, Field

WITHOUT_NUL = r"^[^\x00]*$"  # not every database takes one in a text
LEGIBLE = r"^[^\x00]*[^\s\x00-\x1f][^\x00]*$"  # something to read
ONE_LINE = (
    r"^[^\s\x00-\x1f\x7f-\x9f]([^\x00-\x1f\x7f-\x9f\u2028\u2029]*[^\s\x00-\x1f\x7f-\x9f])?$"  # no blanks around it
)
MONTH = "2[01][0-9]{2}-(0[1-9]|1[0-2])"
QUARTER = "2[01][0-9]{2}-Q[1-4]"
DAY = "2[01][0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
COINS = r"(\.[0-9]{1,4})?"
FIGURE = rf"(0|[1-9][0-9]{{0,14}}){COINS}"
ABOVE_0 = rf"([1-9][0-9]{{0,14}}{COINS}|0\.([1-9][0-9]{{0,3}}|0[1-9][0-9]{{0,2}}|00[1-9][0-9]?|000[1-9]))"

PERCENT = r"(\+?[0-9]{1,6}(\.[0-9]{1,6})?|-([0-9]{1,2}(\.[0-9]{1,6})?|100))%"
NEW_PRICE = rf"^[^\x00]*[^\s\x00-\x1f][^\x00]*=({PERCENT}|[0-9]{{1,15}}(\.[0-9]{{1,18}})?)$"  # POOL=+10% or POOL=AMOUNT


def only(form: str) -> str:
    """All of a text has this form."""
    return f"^({form})$"


def maybe(form: str) -> str:
    """Or nothing is said."""
    return f"^({form})?$"


def whole(given: object) -> object:
    """In JSON 90.0 is a whole number, too."""
    return int(given) if isinstance(given, float) and given.is_integer() else given


Whole = Annotated[int, BeforeValidator(whole)]
Month = Annotated[str, Field(pattern=only(MONTH), examples=["2026-10"])]
Above0 = Annotated[str, Field(pattern=only(ABOVE_0), examples=["12.00"])]
Name = Annotated[str, Field(min_length=1, max_length=200, pattern=ONE_LINE)]
OptionalName = Annotated[str, Field(max_length=200, pattern=WITHOUT_NUL)]
OwnerPath = Annotated[str, Field(min_length=1, max_length=1024, pattern=LEGIBLE, examples=["vision"])]
Why = Annotated[str, Field(min_length=1, max_length=4096, pattern=LEGIBLE)]
OptionalText = Annotated[str, Field(max_length=4096, pattern=WITHOUT_NUL)]
PolicyText = Annotated[str, Field(min_length=1, max_length=1_000_000, pattern=LEGIBLE)]
