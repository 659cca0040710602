"""The rules beside the pools: teams, owners, facets, nodes, reservations, adjustments and exchange rates."""

from collections.abc import Mapping
from datetime import date
from fractions import Fraction
from typing import Any, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from apportion.errors import InputError
from apportion.model.facets import FACETS, Sure
from apportion.model.meters import METERS, to_base
from apportion.model.times import Period
from apportion.policy.clause import Clause, wrong
from apportion.policy.fields import (
    Change,
    Count,
    Day,
    Labels,
    MeterName,
    Month,
    Name,
    NotNegative,
    Percent,
    Positive,
    Template,
    Text,
    in_order,
)
from apportion.policy.match import fill, labels_in
from apportion.policy.sureness import sure_by

Mode = Literal["showback", "chargeback"]


class Team(Clause):
    """`from` is the day from which the team's mode holds; before it the other did."""

    department: Name = ""
    cost_centre: Name = ""
    class_: Name = Field("", alias="class")
    mode: Mode = "showback"
    from_: Day | None = Field(None, alias="from")

    def mode_on(self, day: date) -> Mode:
        if self.from_ is None or self.from_ <= day:
            return self.mode
        return "showback" if self.mode == "chargeback" else "chargeback"


class Dated(Clause):
    """In force from `from` to `until`, both days included; without them, always."""

    from_: Day | None = Field(None, alias="from")
    until: Day | None = None

    @model_validator(mode="after")
    def days_in_order(self) -> Self:
        in_order(self.from_, self.until)
        return self

    def holds_on(self, day: date) -> bool:
        return (self.from_ is None or self.from_ <= day) and (self.until is None or day <= self.until)


class OwnerRule(Dated):
    """Whose the things are that `when` matches; team, project and user are templates, empty where not given."""

    when: Labels
    team: Template
    project: Template = ""
    user: Template = ""


class FacetRule(Clause):
    """What the things are that `when` matches; each facet is a template. `sure`: how sure that is, by what it reads unless given."""

    when: Labels
    phase: Template | None = None
    framework: Template | None = None
    family: Template | None = None
    model: Template | None = None
    experiment: Template | None = None
    trial: Template | None = None
    outcome: Template | None = None
    sure: Sure | None = None

    @property
    def sets(self) -> dict[str, str]:
        """The facets that this rule gives, each with its template."""
        given = {name: getattr(self, name) for name in FACETS}
        return {name: template for name, template in given.items() if template is not None}

    def how_sure(self, facet: str) -> Sure:
        """Of one facet: by what the rule asks for, and what is put into its value."""
        return self.sure or sure_by({*self.when.keys, *labels_in(self.sets[facet])})

    @model_validator(mode="after")
    def sets_something(self) -> Self:
        if not self.sets:
            raise wrong(
                "policy-missing-key", "a facet rule sets at least one facet", hint="facets: " + ", ".join(FACETS)
            )
        return self


class NodeRule(Clause):
    """Which node of the cluster the cost lines paid for that `when` matches; `node` is a template over bill columns and tags."""

    when: Labels
    node: Template

    def names(self, labels: Mapping[str, str]) -> str | None:
        """None where the rule does not match, or where a label that it names is missing."""
        return fill(self.node, labels) if self.when.matches(labels) else None


class ReservationRule(Dated):
    """A promise to a team of `amount` base units of a meter in a pool."""

    team: Name
    pool: Name
    meter: MeterName
    amount: int = Field(json_schema_extra={"type": ["number", "string"]})

    @field_validator("amount", mode="before")
    @classmethod
    def read_amount(cls, given: Any, info: ValidationInfo) -> int:
        if "meter" not in info.data:  # its own mistake is reported
            return 0
        meter = METERS[info.data["meter"]]
        if meter.flow:
            raise wrong(
                "policy-value",
                f"{meter.name} is a flow and cannot be reserved",
                hint="reserve a level, such as gpu, cpu or node",
            )
        try:
            amount = to_base(given, meter)
        except InputError as error:
            raise wrong(
                "policy-type" if error.code == "invalid-number" else "policy-value", error.message, hint=error.hint
            ) from None
        if amount == 0:
            raise wrong("policy-value", "a reservation of 0 promises nothing")
        return amount


class Adjustment(Dated):
    """A change that the sponsor pays for. Exactly one kind: percent, smooth, grant, or cap and floor (money of a team's total)."""

    team: Name | None = None
    when: Labels | None = None
    pool: Name | None = None
    percent: Change | None = None
    smooth: NotNegative | None = None
    cap: NotNegative | None = None
    floor: NotNegative | None = None
    grant: Positive | None = None
    sponsor: Name
    why: Text
    approver: Text = ""

    @model_validator(mode="after")
    def one_kind(self) -> Self:
        given = [name for name in ("percent", "smooth", "cap", "floor", "grant") if getattr(self, name) is not None]
        if not given:
            raise wrong(
                "policy-missing-key",
                "an adjustment says what it changes",
                hint="give percent, smooth, grant, or cap and floor",
            )
        if len(given) > 1 and given != ["cap", "floor"]:
            raise wrong(
                "policy-value",
                f"{given[0]} and {given[1]} cannot be in one adjustment",
                given[1],
                hint="write two, in the order in which they apply",
            )
        if given != ["percent"]:
            self.of_a_team_total(given[0])
        if self.cap is not None and self.floor is not None and self.floor > self.cap:
            raise wrong("policy-value", "the floor is above the cap", "floor")
        return self

    def of_a_team_total(self, kind: str) -> None:
        if self.team is None:
            raise wrong(
                "policy-missing-key", f"{kind} bounds the total of a team, and none is named", hint="add team: NAME"
            )
        for name in ("pool", "when"):
            if getattr(self, name) is not None and (kind, name) != ("grant", "pool"):
                raise wrong(
                    "policy-value",
                    f"{kind} bounds the whole total of a team, so {name} cannot narrow it",
                    name,
                    hint=f"remove {name}",
                )


class Closing(Clause):
    """What must hold before a month is closed: `unowned` is percent of the bill, `change` percent of what a team owed the month before.

    `disputes: refuse` keeps a month open until its disputes are settled.
    """

    grace_days: Count | None = None
    unowned: Percent = Fraction(0)
    change: Positive | None = None
    disputes: Literal["allow", "refuse"] = "allow"


class FindingRules(Clause):
    """How much findings may touch before they stop `apply` and `close`: `bound` is percent of a pool's or a source's hours or money."""

    bound: Percent = Fraction(1, 10)


class Preview(Clause):
    """Rules to come: in the months `from` to `until` statements say what would be owed by them, too. They are a file of the project, or a draft."""

    policy: Text = ""
    draft: Count | None = None
    from_: Month = Field(alias="from")
    until: Month

    @model_validator(mode="after")
    def one_text(self) -> Self:
        if bool(self.policy) == bool(self.draft):
            raise wrong(
                "policy-value" if self.policy else "policy-missing-key",
                "a preview has a policy file or a draft, one of them",
                *(["draft"] if self.policy else []),
                hint="write policy: FILE, or draft: NUMBER",
            )
        if self.policy.startswith(("/", "~")) or "\\" in self.policy or ".." in self.policy.split("/"):
            raise wrong(
                "policy-value", f"{self.policy!r} is no file of the project", "policy", hint="name one in its folder"
            )
        if self.until.first_day < self.from_.first_day:
            raise wrong(
                "policy-value",
                f"until {self.until} lies before from {self.from_}",
                "until",
                hint="until is its last month",
            )
        return self

    @property
    def source(self) -> str:
        """What the rules are read from, in words."""
        return f"draft {self.draft}" if self.draft else self.policy

    def holds_in(self, period: Period) -> bool:
        return self.from_.first_day <= period.first_day <= self.until.first_day


class Fx(Clause):
    """What bills of other currencies are converted by: a source of kind fx by its name, or a CSV file, which is such a source by itself."""

    table: Text
    rate: Literal["invoice_date", "month_average", "month_end"] = "month_average"

    @property
    def is_file(self) -> bool:
        return self.table.lower().endswith((".csv", ".csv.gz"))

    @property
    def source(self) -> str:
        """A file's source is called like the file, without folder and ending."""
        name = self.table.rpartition("/")[2]
        return name[: name.lower().rindex(".csv")] if self.is_file else self.table
