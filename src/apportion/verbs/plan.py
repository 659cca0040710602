"""What would be posted, against what is posted. Changes nothing but the plan kept for `apply`."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from apportion.books.shapes import PLAN, StoredPlan
from apportion.engine.bursts import Burst, bursts_of
from apportion.engine.conversion import Conversion
from apportion.engine.late import together
from apportion.engine.lines import Bill
from apportion.engine.plan import RULES, Plan, World, make_plan
from apportion.engine.price import Sampling
from apportion.errors import Problem, ProjectError
from apportion.model.money import plain
from apportion.model.times import Period
from apportion.policy.document import Policy
from apportion.reports.changes import Change, changes, tally
from apportion.reports.equation import Equation, equations
from apportion.reports.words import shown
from apportion.verbs.agreement import basis_of, keep, policy_for, short
from apportion.verbs.engines import backend_of
from apportion.verbs.periods import as_period
from apportion.verbs.project import Project
from apportion.verbs.steps import Step, silent
from apportion.verbs.world import Pins, billed_periods, build_world, parts_of, pins_of

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan beside the record. `was` is the policy that the period was last posted with, "" where it never was."""

    period: str
    policy: str
    was: str
    digest: str
    head: str
    rows: tuple[Change, ...]
    tally: str
    equation: tuple[Equation, ...]
    bills: tuple[Bill, ...]
    problems: tuple[Problem, ...]
    plan: Plan
    basis: str
    bursts: tuple[Burst, ...] = ()

    @property
    def sampled(self) -> dict[str, tuple[Sampling, ...]]:
        """How the shares of each pool were estimated, where they were."""
        found = {
            name: tuple(played.sampling for played in result.priced.played if played.sampling)
            for name, result in self.plan.trace.pools.items()
            if result.priced
        }
        return {name: samplings for name, samplings in found.items() if samplings}

    @property
    def pending(self) -> bool:
        return any(row.sign != " " for row in self.rows)


def plan(project: Project, period: Period | str, engine: str | None = None, step: Step = silent) -> Planned:
    """Compute, keep and compare."""
    period, project = as_period(period), project.on(engine)
    keep(project, policy_for(project, period))
    drawn = draw(project, period, step)
    step("keeping the plan", 0, 0)
    save(project, drawn)
    made = drawn.computed
    bursts = tuple(bursts_of(made.plan.own, made.world.cost_lines))
    return replace(beside_record(project, drawn.policy, made.plan, drawn.head), bursts=bursts)


def draw(project: Project, period: Period, step: Step = silent) -> "Drawn":
    """Of the books as they are now. Nothing is kept."""
    policy, pins, head = policy_for(project, period), pins_of(project), project.books.head()
    return Drawn(policy, pins, head, compute(project, period, policy, pins, step))


def save(project: Project, drawn: "Drawn") -> None:
    """For `apply`."""
    keep(project, drawn.policy)
    for part in drawn.computed.late.values():
        keep(project, part.world.policy)
    project.books.save_plan(stored(drawn.computed, drawn.pins, drawn.head))


@dataclass(frozen=True, slots=True)
class Computed:
    """A plan and what it was made of. `late`: the same of what its bills ask for earlier months, by month; the world is the period's own.

    `asked`: what explanations found in it, by their own names, if it is kept for more than one.
    """

    world: World
    plan: Plan
    late: Mapping[str, "Computed"] = field(default_factory=dict)
    asked: dict[object, Any] | None = None

    @property
    def parts(self) -> "tuple[Computed, ...]":
        """The period's own first."""
        return (Computed(self.world, self.plan.own, asked=self.asked), *self.late.values())

    def once(self, name: object, find: Callable[[], Found]) -> Found:
        """What is found in it; once, where it is kept."""
        if self.asked is None:
            return find()
        if name not in self.asked:
            self.asked[name] = find()
        found: Found = self.asked[name]
        return found

    def kept(self) -> "Computed":
        """The same for many explanations: each finds faster what an earlier one found."""
        late = {month: replace(part, asked={}) for month, part in self.late.items()}
        return Computed(self.world, self.plan, late, asked={})


@dataclass(frozen=True, slots=True)
class Drawn:
    """A plan with what it was pinned to; `head` is the ledger's."""

    policy: Policy
    pins: Pins
    head: str
    computed: Computed


def compute(project: Project, period: Period, policy: Policy, pins: Pins, step: Step = silent) -> Computed:
    """The plan of pinned inputs; reads the books, writes nothing."""
    step(f"reading the evidence of {period}", 0, 0)
    backend = backend_of(project)
    made: dict[str, Computed] = {}
    for month, part in parts_of(project, period, policy, pins).items():
        world = build_world(project, period, part, pins, backend)
        step(f"sharing {f'what is late for {month} on ' if month else ''}the bills of {period}", 0, 0)
        made[month] = Computed(world, make_plan(world, backend))
    own = made.pop("")
    whole = together(own.plan, {month: one.plan for month, one in made.items()})
    if not whole.bills:
        refuse_empty(period, billed_periods(project, pins))
    return Computed(own.world, whole, made)


def refuse_empty(period: Period, billed: Iterable[str]) -> None:
    some = ", ".join(sorted(billed))
    raise ProjectError(
        "nothing-to-plan",
        f"there are no cost lines billed in {period}, and no price list to charge by",
        hint=f"bills are there for {some}"
        if some
        else "run `apportion ingest` first, and `apportion check` if that brings nothing",
    )


def stored(computed: Computed, pins: Pins, head: str) -> StoredPlan:
    made, late = computed.plan, {month: one.plan.policy_version for month, one in computed.late.items()}
    return StoredPlan(
        digest=made.digest,
        period=str(made.period),
        policy_version=made.policy_version,
        inputs=dict(pins.snapshots),
        head=head,
        postings=made.postings,
        bill_days=made.bill_days,
        summary={
            "engine": f"{made.engine.name}/{RULES}",
            "computed_by": made.engine._asdict(),
            "bills": len(made.bills),
            "problems": len(made.problems),
            "conversions": {bill.id: recorded(bill.conversion) for bill in made.bills if bill.conversion},
            "late": late,
        },
    )


def recorded(how: Conversion) -> dict[str, object]:
    """In texts, with every digit."""
    return {
        "currency": how.currency,
        "total": plain(how.total),
        "rate": plain(how.rate),
        "rule": how.rule,
        "table": how.table,
        "days": [str(day) for day in how.days],
    }


def conversion_text(bill: Bill, how: Conversion) -> str:
    """`Cloud 2026-10 EUR: 100.00 EUR at 1.0833 are 108.33 USD (month_average of fx.csv: 22 days, 2026-10-01 to 2026-10-30)`."""
    days = str(how.days[0]) if len(how.days) == 1 else f"{len(how.days)} days, {how.days[0]} to {how.days[-1]}"
    money = f"{shown(how.total, how.currency)} at {plain(how.rate)} are {shown(bill.total, bill.currency)}"
    return f"{bill.id}: {money} ({how.rule} of {how.table}: {days})"


def beside_record(project: Project, policy: Policy, made: Plan, head: str) -> Planned:
    period = str(made.period)
    rows = changes(project.books.believed(period), made.postings)
    versions = [run.policy_version for run in project.books.runs(PLAN) if run.period == period]
    names = {known.version: f"{known.name}@{known.version[:12]}" for known in project.books.policies()}
    return Planned(
        period=period,
        policy=short(policy),
        was=names.get(versions[-1], versions[-1][:12]) if versions else "",
        digest=made.digest,
        head=head,
        rows=rows,
        tally=tally(rows, period),
        equation=equations(made.postings, ((bill.id, bill.currency, bill.total) for bill in made.bills)),
        bills=tuple(made.bills),
        problems=tuple(made.problems),
        plan=made,
        basis=basis_of(policy),
    )
