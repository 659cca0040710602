"""What goes over the wire: what the API promises and the client reads. Amounts are texts with every digit."""

from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field

Cell = str | int | None
Item = TypeVar("Item")


class Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RowProblem(Shape):
    """A row of a push that was not taken: `where` is its line."""

    where: str
    code: str
    message: str
    row: str = ""


class Problem(Shape):
    """RFC 9457, with the code that the command line prints; docs/reference/errors.md has a heading for each."""

    type: str = "about:blank"
    status: int
    code: str
    title: str
    detail: str
    hint: str = ""
    problems: list[RowProblem] = Field(default_factory=list)


class Listed(Shape, Generic[Item]):
    """A part of a list in its fixed order; `next` is the cursor of the part that follows, empty at the end."""

    items: list[Item]
    next: str = ""


class Me(Shape):
    """Who you are here. `teams` is null where you see all of them."""

    name: str
    role: str
    by: str
    teams: list[str] | None
    deeds: list[str]


class Section(Shape):
    """The rows of one currency; their amounts add up to `bill`."""

    currency: str
    bill: str
    rows: list[dict[str, Cell]]


class FindingRow(Shape):
    """What could not be taken as it is, or was taken on a guess. Amounts are decimal text; `share` is of the pool's or the source's hours or money.

    It `stops` apply and close while it is above the policy's bound and nobody let it stand.
    """

    code: str
    rows: int
    hours: str
    unit: str
    money: str
    currency: str
    share: str
    lost: bool
    pool: str
    source: str
    stops: bool
    accepted_by: str
    why: str
    message: str
    remedy: str


class ReportAnswer(Shape):
    """`findings` are those of the months, of `coverage` for whoever sees all teams."""

    report: str
    title: str
    period: str
    head: str
    policy: str
    notes: list[str]
    sections: list[Section]
    findings: list[FindingRow] = []


class Amount(Shape):
    currency: str
    amount: str


class Month(Shape):
    """`amounts` are what is posted, of the teams that you may see; `day` is that of the close, or the first on which it can be closed."""

    period: str
    status: str
    day: str
    amounts: list[Amount]


class Share(Shape):
    """One name's part of a figure."""

    name: str
    currency: str
    amount: str


class Owner(Shape):
    """A team, project, user or pool, and what is posted for it. A project and a user also have their team."""

    name: str
    team: str = ""
    amounts: list[Amount]


class Team(Shape):
    name: str
    department: str
    cost_centre: str
    mode: str
    amounts: list[Amount]


class Breakdown(Shape):
    """What is posted for one thing in some months, and the same once for each dimension: each of `by` adds up to `amounts`."""

    name: str
    team: str = ""
    period: str
    amounts: list[Amount]
    by: dict[str, list[Share]]


class Hit(Shape):
    """Something by its name; `names` are those of its address, such as team and project."""

    kind: str
    names: list[str]
    called: str
    about: str
    rank: str


class Hits(Shape):
    asked: str
    hits: list[Hit]
    counts: dict[str, int]
