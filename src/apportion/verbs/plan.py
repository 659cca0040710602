"""What would be posted, against what is posted. Changes nothing but the plan kept for `apply`."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, TypeVar

import pyarrow as pa

from apportion.books.shapes import PLAN, StoredPlan
from apportion.engine.bursts import Burst, bursts_of
from apportion.engine.conversion import Conversion
from apportion.engine.late import together
from apportion.engine.lines import Bill
from apportion.engine.plan import RULES, Plan, World, make_plan
from apportion.engine.price import Sampling
from apportion.errors import Problem, ProjectError
from apportion.model.findings import JudgedFinding
from apportion.model.money import for_reading, plain
from apportion.model.result import Result
from apportion.model.rows import MONEY
from apportion.model.times import Period
from apportion.policy.document import Policy
from apportion.render.findings import findings_tables
from apportion.render.sheet import Sheet, Table, sheet_of
from apportion.reports.changes import Change, changes, tally
from apportion.reports.equation import Equation, by_currency, equations, whole_equations
from apportion.reports.findings import findings_value
from apportion.reports.report import Column
from apportion.reports.sums import grouped
from apportion.reports.words import counted
from apportion.verbs.agreement import basis_of, keep, policy_for, short
from apportion.verbs.conversions import conversion_text
from apportion.verbs.corrections import runs_of
from apportion.verbs.decisions import Follow, basis_from, follow, has_decisions
from apportion.verbs.difference import add_postings, difference
from apportion.verbs.engines import backend_of
from apportion.verbs.findings import KEPT, findings_kept, month_findings, problems_noted
from apportion.verbs.minor_units import read_believed, round_outcome
from apportion.verbs.plan_notes import bound_notes, burst_notes
from apportion.verbs.project import Project
from apportion.verbs.rules import earlier_rules
from apportion.verbs.steps import Step, silent
from apportion.verbs.world import Pins, billed_periods, build_world, known_month, parts_of, pins_of, pins_of_run

Found = TypeVar("Found")
FEW = 5  # problems that are shown


@dataclass(frozen=True, slots=True, repr=False)
class Planned(Result):
    """A plan beside the record. `was` is the policy that the period was last posted with, "" where it never was.

    `rules` says that earlier releases posted the month, "" where none did; `follows` are decisions that would move another amount.
    """

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
    rules: str = ""
    follows: tuple[Follow, ...] = ()
    findings: tuple[JudgedFinding, ...] = ()

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

    def to_arrow(self) -> pa.Table:
        """What each owner owes as posted and as planned, unchanged ones, too."""
        names = ("currency", "owner", "before", "after", "change")
        kinds = dict.fromkeys(names[:2], pa.string()) | dict.fromkeys(names[2:], MONEY)
        return pa.table({name: pa.array([getattr(row, name) for row in self.rows], kinds[name]) for name in names})


def plan(
    project: Project, period: Period | str | None = None, engine: str | None = None, step: Step = silent
) -> Planned:
    """Who would owe what, against what is posted. Changes nothing but the plan that is kept for `apply`.

    The newest month that has a bill unless one is named. `engine` is `duckdb`, `spark` or Spark's address.
    """
    period, project = known_month(project, period), project.on(engine)
    keep(project, policy_for(project, period))
    drawn = draw(project, period, step)
    step("keeping the plan", 0, 0)
    save(project, drawn)
    made = drawn.computed
    bursts = tuple(bursts_of(made.plan.own, made.world.cost_lines))
    planned = beside_record(project, drawn.policy, made.plan, drawn.head, drawn.postings)
    return replace(planned, bursts=bursts, follows=tuple(decisions_after(project, made.plan, drawn.policy)))


def draw(project: Project, period: Period, step: Step = silent) -> "Drawn":
    """Of the books as they are now. Nothing is kept."""
    policy, pins, head = policy_for(project, period), pins_of(project), project.books.head()
    computed = compute(project, period, policy, pins, step)
    return Drawn(policy, pins, head, computed, come_to(project, computed.plan, policy, step))


def save(project: Project, drawn: "Drawn") -> None:
    keep(project, drawn.policy)
    for part in drawn.computed.late.values():
        keep(project, part.world.policy)
    project.books.save_plan(replace(stored(drawn.computed, drawn.pins, drawn.head), postings=drawn.postings))


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
    """A plan with what it was pinned to; `head` is the ledger's. `postings` are what the month would come to."""

    policy: Policy
    pins: Pins
    head: str
    computed: Computed
    postings: pa.Table


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


def plan_without(project: Project, period: Period, policy: Policy, step: Step = silent) -> Plan | None:
    """A closed month that an earlier release posted, by the rules of this one and without what came since; None of other months."""
    runs = project.books.runs()
    if not project.books.closed_by(str(period)) or not earlier_rules(runs, period):
        return None
    return compute(project, period, policy, pins_of_run(project, runs_of(runs, str(period))[-1]), step).plan


def come_to(project: Project, made: Plan, policy: Policy, step: Step = silent) -> pa.Table:
    """What a month would come to: its plan.

    Of a closed month that an earlier release posted: what is posted, and what came since as the figure with it less the figure without it.
    """
    without = plan_without(project, made.period, policy, step)
    if without is None:
        return made.postings
    return add_postings(project.books.believed(str(made.period)), difference(made.postings, without.postings))


def decisions_after(project: Project, made: Plan, policy: Policy, step: Step = silent) -> list[Follow]:
    """What people decided of the month, where it would move another amount."""
    without = plan_without(project, made.period, policy, step) if has_decisions(project, made.period) else None
    return follow(project, made.period, basis_from(made), basis_from(without) if without else None)


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
            KEPT: findings_kept(made.findings),
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


def beside_record(project: Project, policy: Policy, made: Plan, head: str, postings: pa.Table | None = None) -> Planned:
    """`postings`: what the month would come to, where that is known."""
    period = str(made.period)
    postings = come_to(project, made, policy) if postings is None else postings
    rounded = round_outcome(project, made.period, postings)
    rows = changes(read_believed(project, made.period), rounded)
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
        equation=whole_equations(equations(postings, totals_of(made, postings)), rounded),
        bills=tuple(made.bills),
        problems=tuple(made.problems),
        plan=made,
        basis=basis_of(policy),
        rules=rules_text(project, made.period),
        findings=month_findings(project, policy, made.period, made.findings),
    )


def totals_of(made: Plan, postings: pa.Table) -> Iterator[tuple[str, str, Decimal]]:
    """Of each bill: as its lines say; where earlier rules posted the month, as it was posted with what came since."""
    if postings is made.postings:
        yield from ((bill.id, bill.currency, bill.total) for bill in made.bills)
        return
    yield from (
        (bill, currency, amount) for (bill, currency), amount in grouped(postings, ("bill", "currency")).items()
    )


def rules_text(project: Project, period: Period) -> str:
    """That figures of an earlier release may differ, where one posted the month."""
    earlier = " and ".join(earlier_rules(project.books.runs(), period))
    if not earlier:
        return ""
    if project.books.closed_by(str(period)):
        return f"{period} was closed by rules {earlier} of the engine: what came since is the figure with it less the figure without it, both by rules {RULES}"
    return f"{period} was posted by rules {earlier} of the engine; it is planned by rules {RULES}, and the differences hold what that changes"


@sheet_of.register
def plan_sheet(made: Planned) -> Sheet:
    columns = (
        Column("sign", ""),
        Column("owner", "owner"),
        Column("before", "posted", "money"),
        Column("after", "planned", "money"),
        Column("change", "change", "money"),
        Column("why", "mostly"),
    )
    tables = tuple(
        Table(
            columns,
            tuple(
                (row.sign, row.owner, row.before, row.after, row.change, row.why)
                for row in made.rows
                if row.currency == currency and row.sign != " "
            ),
            currency=currency,
            heading=f"{made.period} in {currency}",
        )
        for currency in dict.fromkeys(row.currency for row in made.rows)
    )
    was = f" (was {made.was})" if made.was and made.was != made.policy else ""
    title = f"Plan for {made.period} under {made.policy}{was}, {made.basis}          + added  ~ changed  - removed"
    return Sheet(title, (*tables, *findings_tables(made.findings)), plan_value(made), notes_of(made))


def plan_value(made: Planned) -> dict[str, object]:
    """The contract: `digest`, `engine`, `equation`, `rows`, `bills` (with their conversion), `findings`, `problems`.

    `sampled`: how shares were estimated; `bursts`: use above reservations.
    """
    return {
        "period": made.period,
        "policy": made.policy,
        "was": made.was,
        "basis": made.basis,
        "digest": made.digest,
        "engine": made.plan.engine._asdict(),
        "head": made.head,
        "tally": made.tally,
        "pending": made.pending,
        "equation": made.equation,
        "rows": made.rows,
        "bills": made.bills,
        "findings": findings_value(made.findings),
        "problems": made.problems,
        "sampled": made.sampled,
        "bursts": [burst_value(burst) for burst in made.bursts],
        "rules": made.rules,
        "follows": [one.text for one in made.follows],
    }


def burst_value(burst: Burst) -> dict[str, object]:
    """`for_others` is what of the team's charge pays for nodes that only other teams' bursts used."""
    return {
        "pool": burst.pool,
        "team": burst.team,
        "unit_hours": for_reading(burst.unit_hours),
        "slots": burst.slots,
        "for_others": {currency: for_reading(amount) for currency, amount in burst.for_others.items()},
    }


def notes_of(made: Planned) -> tuple[str, ...]:
    converted = [f"converted: {conversion_text(bill, bill.conversion)}" for bill in made.bills if bill.conversion]
    told = problems_noted(made.problems)
    problems = [f"problem: {one.where}: {one.message} [{one.code}]" for one in told[:FEW]]
    more = [f"... and {len(told) - FEW} more problems: -o json has all"] if len(told) > FEW else []
    bills = [one.sentence() for one in made.equation] if len(made.equation) > 1 else []
    sums = (
        [one.sentence() for one in by_currency(made.equation)] if bills else [one.sentence() for one in made.equation]
    )
    engine = made.plan.engine
    cluster = "" if engine.stages is None else f"   {engine.name} {engine.version}, {counted(engine.stages, 'stage')}"
    return (
        "\n".join((*bills, *sums)),
        made.tally,
        *converted,
        *burst_notes(made.bursts),
        *bound_notes(made.plan.trace.setting.policy, made.bills),
        *([f"rules: {made.rules}"] if made.rules else []),
        *(f"follows: {one.text}" for one in made.follows),
        *problems,
        *more,
        f"digest {made.digest}{cluster}",
    )
