"""What is reserved for jobs and lent between teams, over the wire."""

from typing import Annotated, Literal

from pydantic import Field

from apportion.client.record import Wish
from apportion.client.shapes import Shape
from apportion.client.texts import ABOVE_0, Above0, Month, Name, OptionalName, OptionalText, OwnerPath, Why, maybe

SPAN = "[1-9][0-9]{0,4}[smhd]"
Measure = Literal[
    "gpu", "tpu", "neuron", "gaudi", "accelerator", "cpu", "memory", "node", "storage", "licence", "network", "energy", "tokens", "money",
]  # fmt: skip
OptionalAmount = Annotated[str, Field(pattern=maybe(ABOVE_0), examples=["480"])]


class ReservationWish(Wish):
    """So much of a meter (hours of a level, units of a flow) or of money for a job, with money that is expected beside it. `expires`: 30m, 24h, 7d."""

    team: Name = Field(examples=["vision"])
    amount: Above0
    job: Name = Field(examples=["slurm/lab/4711"])
    of: Measure = "gpu"
    cost: OptionalAmount = ""
    expires: Annotated[str, Field(pattern=maybe(SPAN), examples=["24h"])] = ""
    project: OptionalName = ""
    user: OptionalName = ""
    pool: OptionalName = ""


class PostingWish(Wish):
    """What the job came to; as its usage says where nothing is stated."""

    actual: OptionalAmount = ""


class EndWish(Wish):
    why: OptionalText = ""


class LoanWish(Wish):
    """`owner` lends to `other`, both TEAM or TEAM/PROJECT and yours to see, for the month or the quarter or year around it."""

    owner: OwnerPath
    other: OwnerPath = Field(examples=["speech"])
    amount: Above0
    period: Month
    why: Why = Field(examples=["a paper is due"])
    of: Measure = "gpu"
    pool: OptionalName = ""
    approver: OptionalName = ""


class Pledge(Shape):
    """A reservation or a loan (`kind`: reserve, lend). `came_to` is null until it is over; `first` is the first day of the window of a loan."""

    number: int
    kind: str
    owner: str
    other: str
    of: str
    pool: str
    unit: str
    amount: str
    job: str
    first: str
    until_s: int
    status: str
    came_to: str | None
    who: str
    at_s: int
    why: str
    approver: str


class Reserved(Shape):
    """`pledges` are those of the job. None, and nothing is kept, where it does not fit."""

    fits: bool
    said: str
    pledges: list[Pledge]
