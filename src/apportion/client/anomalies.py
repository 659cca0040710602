"""What is not as usual, over the wire."""

from pydantic import Field

from apportion.client.record import Wish
from apportion.client.shapes import Shape
from apportion.client.texts import DAY, Why, maybe


class Leader(Shape):
    """A pool, project, user or run, how much more (below 0: less) it had than before, and the command that says more of it."""

    what: str
    name: str
    above: str
    command: str


class Acknowledged(Shape):
    """Nothing is told of it until the day `until`, or while it lasts."""

    who: str
    why: str
    at_s: int
    until: str


class Anomaly(Shape):
    """`owner` is a team, or the pool of a price or of idle; `before` and `now` are a day's money, the price of a `unit`, or a share.

    `causes` add up to `meant`, which is below 0 for a fall.
    Of a pool, who does not see all teams is not told what it meant: `meant` is 0 and there are no causes.
    """

    id: str
    kind: str
    owner: str
    shape: str
    currency: str
    began: str
    until: str
    before: str
    now: str
    unit: str
    meant: str
    causes: dict[str, str]
    leaders: list[Leader]
    state: str
    estimated: bool
    text: str
    acknowledged: Acknowledged | None


class AcknowledgementWish(Wish):
    """Why it is so; with `until` it is told again after that day, if it lasts."""

    why: Why = Field(examples=["the new model trains until December"])
    until: str = Field("", pattern=maybe(DAY), examples=["2026-12-31"])
