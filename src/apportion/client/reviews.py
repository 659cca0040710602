"""The review of a month, over the wire."""

from typing import Annotated, Any

from pydantic import Field

from apportion.client.record import Wish
from apportion.client.shapes import Shape
from apportion.client.texts import WITHOUT_NUL, Month, OptionalName

Row = dict[str, str | int | None]


class ReviewFinding(Shape):
    """`where`: filters of the postings that `amount` is the sum of. `chart` is Vega-Lite. `diff` is empty where no change of the policy is safe."""

    key: str
    kind: str
    about: list[str]
    sentence: str
    currency: str
    amount: str | None
    where: list[str]
    evidence: list[Row]
    chart: dict[str, Any]
    do: str
    diff: str


class ReviewDraftWish(Wish):
    """The draft of one finding, by its `key`. `team`: whose it is, where an owner rule needs somebody to say it."""

    period: Month
    key: Annotated[str, Field(min_length=1, max_length=4096, pattern=WITHOUT_NUL, examples=["idle:h100"])]
    team: OptionalName = ""


class Review(Shape):
    """`before` is the month compared with, empty where nothing is posted for it."""

    report: str
    title: str
    period: str
    before: str
    head: str
    policy: str
    findings: list[ReviewFinding]
    profiles: list[Row]
    notes: list[str]
