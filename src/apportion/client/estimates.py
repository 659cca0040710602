"""What a job would cost, over the wire."""

from typing import Annotated

from pydantic import Field

from apportion.client.record import Wish
from apportion.client.shapes import Shape
from apportion.client.texts import ABOVE_0, WITHOUT_NUL, Above0, Name, OptionalName, maybe

Amount = Annotated[str, Field(pattern=maybe(ABOVE_0), examples=["8"])]


class EstimateWish(Wish):
    """A job that nobody has run. Numbers are texts; `gpus` may be parts of one (`3/7`, `MIG 3g.20gb`), `memory` is in GiB."""

    team: Name = Field(examples=["vision"])
    hours: Above0
    gpus: Annotated[str, Field(max_length=100, pattern=WITHOUT_NUL, examples=["8"])] = ""
    cpus: Amount = ""
    memory: Amount = ""
    model: OptionalName = Field("", examples=["h100"])
    pool: OptionalName = Field("", examples=["gpus"])
    start: Annotated[str, Field(max_length=40, pattern=WITHOUT_NUL, examples=["2026-11-17T09:00"])] = ""
    project: OptionalName = ""
    user: OptionalName = ""
    labels: list[Annotated[str, Field(max_length=400, pattern=WITHOUT_NUL)]] = Field(
        default_factory=list,
        description="as its scheduler would write them",
        examples=[["qos=preemptible"]],
        max_length=50,
    )


class PriceRange(Shape):
    """Of what such a job came to at so many starts of the last settled month, and on average in so many others."""

    low: str
    high: str
    starts: int
    months: int


class Way(Shape):
    """One way to run the job. `basis`: settled (its very hours), such hours (of the week), mean or listed. `range` is null where nothing varies or is known."""

    way: str
    pools: list[str]
    unit_price: str
    per: str
    basis: str
    rests_on: str
    direct: str
    along: str
    idle: str
    with_idle: str
    overhead: str
    with_overhead: str
    adjustments: str
    price: str
    range: PriceRange | None
    saves: str | None
    cheaper_up_to_hours: str | None


class Effect(Shape):
    """On a budget or a quota: `used` before the job, what it `adds`, and what is `left` after it."""

    what: str
    window: str
    unit: str
    limit: str
    used: str
    adds: str
    left: str
    exceeded: bool


class Estimated(Way):
    """As asked, and cheaper ways, the cheapest first. `fits`: no budget or quota would be exceeded."""

    estimate: str
    team: str
    project: str
    user: str
    hours: str
    amounts: dict[str, str]
    model: str
    labels: dict[str, str]
    start: str | None
    period: str
    prices_of: str
    currency: str
    fits: bool
    cheaper: list[Way]
    effects: list[Effect]
    notes: list[str]
