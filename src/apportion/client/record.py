"""What the ledger and its surroundings look like over the wire: postings, runs, statements, disputes, credits, policies, sources."""

from typing import Any, Literal, Self

from pydantic import ConfigDict, Field, model_validator
from pydantic.config import JsonDict

from apportion.client.shapes import FindingRow, RowProblem, Shape
from apportion.client.texts import ABOVE_0, WITHOUT_NUL, Above0, Month, OptionalName, OwnerPath, Why, maybe, only


class Wish(Shape):
    """What somebody asks to be written down: nothing is guessed, not even that "90" was meant for 90."""

    model_config = ConfigDict(strict=True)


class Posting(Shape):
    """An owner's side of an entry. `hash` is its link of the chain."""

    seq: int
    run_id: str
    period: str
    bill: str
    currency: str
    component: str
    pool: str
    day: str | None
    reason: str
    cause: str
    cost_centre: str
    department: str
    team: str
    project: str
    user: str
    amount: str
    hash: str


class LedgerRun(Shape):
    """What was posted in one go: the links `seq` to `last_seq` of the chain."""

    run_id: str
    kind: str
    period: str
    about: str
    cause: str
    policy_version: str
    plan_digest: str
    engine: str
    entries: int
    seq: int
    last_seq: int
    head_before: str
    head_after: str
    posted_s: int


class Note(Shape):
    """Who did what to the books; `number` is its place in the log."""

    number: int
    at_s: int
    who: str
    what: str
    detail: str
    why: str
    head: str


class StatementLine(Shape):
    """One owner's statement in a list. Amounts are in the currency's own digits; `coming`: what would be owed by rules to come, where there are."""

    period: str
    level: str
    owner: str
    mode: str
    number: str
    currency: str
    owed: str
    charged: str
    is_draft: bool
    coming: str = ""


class StatementAnswer(Shape):
    """`statements`: the fields of docs/reference/statement.md, one for each currency; amounts are texts in the currency's own units."""

    period: str
    level: str
    owner: str
    statements: list[dict[str, Any]]


class DisputeNote(Shape):
    at_s: int
    who: str
    status: str
    text: str
    run_id: str


class Dispute(Shape):
    """`part`: only `amount` of it is doubted. `evidence` is what `explain` said when it was opened; a list leaves it out."""

    number: int
    period: str
    kind: str
    name: str
    owner: str
    currency: str
    amount: str
    part: bool
    status: str
    head: str
    notes: list[DisputeNote]
    evidence: dict[str, Any] | None = None


class Doubt(Wish):
    """`what` is a posting's number or hash, a job, or an owner; `amount` where only a part is doubted."""

    period: Month
    what: OwnerPath
    why: Why = Field(examples=["the eval jobs were not ours"])
    amount: str = Field("", pattern=maybe(ABOVE_0))


class Words(Wish):
    text: Why = Field(examples=["the account was renamed in May"])


ALONE: JsonDict = {"properties": {"outcome": {"const": "rejected"}, "other": {"const": ""}, "amount": {"const": "all"}}}
PAID: JsonDict = {"properties": {"outcome": {"const": "credited"}, "other": {"minLength": 1}}, "required": ["other"]}
MOVED: JsonDict = {
    "properties": {"outcome": {"const": "reclassed"}, "other": {"minLength": 1}, "amount": {"const": "all"}},
    "required": ["other"],
}


class Ending(Wish):
    """`rejected`, `credited` (`other` is the sponsor, `amount` a figure or `all`) or `reclassed` (`other` is the owner it is of)."""

    model_config = ConfigDict(json_schema_extra={"anyOf": [ALONE, PAID, MOVED]})

    outcome: Literal["rejected", "credited", "reclassed"]
    why: Why = Field(examples=["they ran under your account"])
    other: str = Field("", max_length=1024, pattern=WITHOUT_NUL)
    amount: str = Field("all", pattern=only(f"all|{ABOVE_0}"))
    approver: OptionalName = ""

    @model_validator(mode="after")
    def fits_its_outcome(self) -> Self:
        if (self.outcome == "rejected") == bool(self.other):
            raise ValueError("`other` is who pays or owes it, where it is credited or reclassed")
        if self.outcome != "credited" and self.amount != "all":
            raise ValueError("`amount` is what a sponsor pays, where it is credited")
        return self


class Settled(Shape):
    """`booked` is the month that holds what was posted for it, empty where nothing was."""

    dispute: Dispute
    booked: str


class Adjustment(Shape):
    """What somebody else pays of what `owner` owes (credit), or what is another's (reclass)."""

    run_id: str
    owner: str
    other: str
    currency: str
    amount: str
    why: str
    approver: str
    reference: str
    dispute: int
    period: str
    booked: str


class Credit(Wish):
    """`owner` is TEAM, TEAM/PROJECT or TEAM/PROJECT/USER. The same twice is one; `reference` makes it another."""

    period: Month
    owner: OwnerPath
    sponsor: OwnerPath = Field(examples=["platform"])
    amount: Above0
    why: Why = Field(examples=["node 7 was down"])
    approver: OptionalName = ""
    bill: str = Field("", max_length=1024, pattern=WITHOUT_NUL)
    pool: str = Field("", max_length=1024, pattern=WITHOUT_NUL)
    reference: OptionalName = ""


class Credited(Shape):
    """`posted` is false where the same had been booked before."""

    adjustment: Adjustment
    posted: bool
    head: str


class PolicyVersion(Shape):
    version: str
    name: str
    file: str
    effective: str


class PolicyText(PolicyVersion):
    text: str


class SourceHealth(Shape):
    """What came of a source. `reaches_s` is the end of the latest window, `received_s` when it last brought something; 0 where it never did.

    `kind` is empty where apportion.toml no longer names it.
    """

    name: str
    kind: str
    deliveries: int
    received_s: int
    reaches_s: int
    problems: dict[str, int]
    quarantined: int


class RoundHealth(Shape):
    """A daily round. `ended_s` is 0 while it runs; `failed` are its steps that did, in words."""

    number: int
    status: str
    began_s: int
    ended_s: int
    changed: int
    failed: list[str]


class Health(Shape):
    """`head` is the ledger's, `round` the last that was begun; `findings` are those of the month `period`, the newest that has a bill unless asked for."""

    head: str
    sources: list[SourceHealth]
    round: RoundHealth | None = None
    period: str = ""
    findings: list[FindingRow] = []


class PushAnswer(Shape):
    """`rows` were taken, `known` were there already, `refused` are listed in `problems` (the first hundred) and in the books (all).

    What has the key of a row of the books and other content is `quarantined`: push it with a window to restate it.
    """

    source: str
    table: str
    delivery: str
    rows: int
    known: int
    quarantined: int
    refused: int
    problems: list[RowProblem]


class JobFigures(Shape):
    """`credits` and `adjustments` are what others pay (below 0); `owed` is the sum of all before it."""

    currency: str
    direct: str
    idle: str
    overhead: str
    credits: str
    adjustments: str
    owed: str
    unshared_idle: str
    waste: str | None


class Attempt(Shape):
    workload: str
    outcome: str
    start_s: int
    end_s: int
    figures: JobFigures


class RunPeriod(Shape):
    """`history`: what corrected it since its month was closed."""

    period: str
    status: str
    why: str
    basis: str
    history: list[str]


class RunCost(Shape):
    """What a job or run cost, all attempts and tasks together. `decided`: what people moved or credited of it, in words."""

    run: str
    name: str
    owners: list[str]
    status: str
    periods: list[RunPeriod]
    totals: list[JobFigures]
    attempts: list[Attempt]
    decided: list[str]


class Step(Shape):
    text: str
    facts: dict[str, Any]
    steps: list["Step"]


class Figure(Shape):
    """`exact` in thirty digits; `posted` is null where nothing is posted yet; `amount` is what every face prints: whole minor units of a month."""

    currency: str
    exact: str
    planned: str
    posted: str | None
    amount: str


class Explanation(Shape):
    period: str
    kind: str
    name: str
    title: str
    policy: str
    basis: str
    head: str
    figures: list[Figure]
    steps: list[Step]
    also: list[str]
    evidence: str
