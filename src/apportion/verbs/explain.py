"""Why this figure: computed again from the pinned cost lines and usage, compared with what is posted, and walked step by step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from apportion.books.shapes import PLAN, StoredRun, Transfer
from apportion.engine.plan import RULES
from apportion.errors import BooksError, InvariantError
from apportion.model.money import plain
from apportion.model.rows import POSTING_KEY, SYSTEM_OWNERS
from apportion.model.times import Interval, Period, day_start
from apportion.policy.document import Policy
from apportion.reports.sums import grouped, total
from apportion.reports.words import counted, shown
from apportion.verbs.agreement import basis_of, policy_for, policy_of_version, short
from apportion.verbs.apply import difference
from apportion.verbs.explaining.jobs import job_charges, job_nodes, owner_text, refuse_tampered_charges
from apportion.verbs.explaining.lines import followers_node, placed_lines
from apportion.verbs.explaining.owners import owner_nodes
from apportion.verbs.explaining.pools import Scene, pool_nodes
from apportion.verbs.explaining.rounding import rounding_nodes, thirty_digits
from apportion.verbs.explaining.story import Node
from apportion.verbs.explaining.target import Target, find_target
from apportion.verbs.explaining.transfers import facts, of_posting, sentence, transfer_nodes
from apportion.verbs.explaining.usage import Whose
from apportion.verbs.periods import as_period
from apportion.verbs.plan import Computed, compute
from apportion.verbs.project import Project
from apportion.verbs.steps import Step, silent
from apportion.verbs.world import Pins, pins_of


@dataclass(frozen=True, slots=True)
class Figure:
    """`exact` in thirty digits; `posted` is None where nothing is posted yet."""

    currency: str
    exact: str
    planned: Decimal
    posted: Decimal | None


@dataclass(frozen=True, slots=True)
class Explanation:
    period: str
    kind: str
    name: str
    title: str
    policy: str
    head: str
    figures: tuple[Figure, ...]
    steps: tuple[Node, ...]
    also: tuple[str, ...] = ()
    basis: str = ""


@dataclass(frozen=True, slots=True)
class Ground:
    """What an explanation rests on: the last run of the period, or what a plan would be now."""

    posted: pa.Table | None
    policy: Policy
    pins: Pins


def explain(project: Project, what: str, period: Period | str, step: Step = silent) -> Explanation:
    """Raises InvariantError where the record is not what its inputs say."""
    period = as_period(period)
    kind, _, name = what.partition(":")
    decided = of_posting(project, name, period) if kind == "posting" else None
    if decided is not None:
        return explain_decided(project, period, *decided)
    ground = ground_of(project, period)
    computed = compute(project, period, ground.policy, ground.pins, step)
    target = find_target(project, what, period, computed)
    decided = of_posting(project, target.name, period) if target.kind == "posting" else None
    if decided is not None:
        return explain_decided(project, period, *decided)
    step(f"explaining {what}", 0, 0)
    if target.kind == "job":
        return explain_job(project, target, ground, computed)
    rows, exact = picked(target, computed)
    posted = None if ground.posted is None else target.pick(ground.posted)
    if posted is not None:
        refuse_tampered(target, rows, posted, period)
    scene = Scene(computed, placed_lines(computed), rows, whose(target, computed))
    figures = figures_of(rows, exact, posted)
    return Explanation(
        period=str(period),
        kind=target.kind,
        name=target.name,
        title=title_of(target, figures, computed, period),
        policy=short(ground.policy),
        head=project.books.head(),
        figures=figures,
        steps=(
            *pool_nodes(scene),
            *owners(target, computed, scene.whose),
            *(followers_node(scene.placed) if target.kind == "team" else ()),
            *rounding_nodes(rows, exact),
            *(transfer_nodes(project, target.name, period) if target.kind == "team" else ()),
        ),
        also=target.also,
        basis=basis_of(ground.policy),
    )


def explain_decided(
    project: Project, period: Period, entry: Mapping[str, Any], run: StoredRun, made: Transfer
) -> Explanation:
    """A posting that people decided: who, why, and what settled it; there is nothing to compute again."""
    policy, amount, currency = policy_of_version(project, run.policy_version), entry["amount"], entry["currency"]
    return Explanation(
        period=str(period),
        kind="posting",
        name=str(entry["seq"]),
        title=f"Posting {entry['seq']} is {shown(amount, currency)} for {period}: posted as a {run.kind} that people decided.",
        policy=short(policy),
        head=project.books.head(),
        figures=(Figure(currency, plain(amount), amount, amount),),
        steps=(Node(sentence(run, made, amount, currency), facts(run, made, amount)),),
        basis=basis_of(policy),
    )


def ground_of(project: Project, period: Period) -> Ground:
    runs = [run for run in project.books.runs(PLAN) if run.period == str(period)]
    if not runs:
        return Ground(None, policy_for(project, period), pins_of(project))
    last = runs[-1]
    refuse_other_rules(last.engine, period)
    return Ground(
        project.books.posted(str(period), kinds=[PLAN]),
        policy_of_version(project, last.policy_version),
        Pins(last.inputs, last.seq),
    )


def refuse_other_rules(engine: str, period: Period) -> None:
    """Figures of an earlier release may differ by its rules; that is not the record's fault."""
    rules = engine.partition("/")[2]
    if rules != RULES:
        raise BooksError(
            "engine-changed",
            f"{period} was posted by the rules of engine {rules or '0'}; this release has {RULES}",
            hint=f"`apportion plan --period {period}` shows what would differ, `apply` posts it",
        )


def picked(target: Target, computed: Computed) -> tuple[pa.Table, list[int]]:
    """The planned postings that a target is about, with their exact amounts in grains."""
    numbered = computed.plan.postings.append_column("number", pa.array(range(len(computed.plan.postings))))
    rows = target.pick(numbered)
    return rows.drop_columns(["number"]), [computed.plan.exact[n] for n in rows["number"].to_pylist()]


def refuse_tampered(target: Target, planned: pa.Table, posted: pa.Table, period: Period) -> None:
    """The record must be what its inputs say, posting by posting."""
    moved = difference(planned, posted)
    if not len(moved):
        return
    row = moved.to_pylist()[0]
    key = ", ".join(str(row[name]) for name in POSTING_KEY if row[name] not in ("", None))
    others = f" (and {counted(len(moved) - 1, 'other posting')})" if len(moved) > 1 else ""
    here = [pc.equal(posted[name], row[name]) for name in POSTING_KEY]
    mask = here[0]
    for condition in here[1:]:
        mask = pc.and_(mask, condition)
    found = total(posted.filter(mask)["amount"].to_pylist())
    raise InvariantError(
        f"{target.name} in {period}: the record is not what its cost lines and usage say, at {key}{others}",
        plain(total([found, row["amount"]])),
        plain(found),
    )


def whose(target: Target, computed: Computed) -> Whose:
    """Whose usage to show: the team's; of a pool, everybody's; of a posting, its owner's on its day."""
    if target.kind == "pool":
        return Whose(called="everybody", everybody=True)
    if target.kind == "team":
        return Whose(teams=(target.name,), called=target.name)
    key = dict(zip(POSTING_KEY, target.key, strict=True))
    leaf = tuple(str(key[name]) for name in ("team", "project", "user"))
    zone, day = ZoneInfo(computed.world.policy.time_zone), key["day"]
    span = Interval(day_start(day, zone), day_start(day + timedelta(days=1), zone)) if isinstance(day, date) else None
    return Whose(teams=leaf[:1], called=f"{'/'.join(filter(None, leaf))} on {day}", leaf=leaf, span=span)


def figures_of(rows: pa.Table, exact: Sequence[int], posted: pa.Table | None) -> tuple[Figure, ...]:
    sums: dict[str, int] = {}
    for currency, grains in zip(rows["currency"].to_pylist(), exact, strict=True):
        sums[currency] = sums.get(currency, 0) + grains
    planned = {currency: amount for (currency,), amount in grouped(rows, ("currency",)).items()}
    found = (
        {} if posted is None else {currency: amount for (currency,), amount in grouped(posted, ("currency",)).items()}
    )
    return tuple(
        Figure(
            currency,
            thirty_digits(sums[currency]),
            planned[currency],
            None if posted is None else found.get(currency, Decimal(0)),
        )
        for currency in sorted(sums)
    )


def title_of(target: Target, figures: Sequence[Figure], computed: Computed, period: Period) -> str:
    amounts = " and ".join(shown(figure.planned, figure.currency) for figure in figures) or "nothing"
    posted = bool(figures) and all(figure.posted is not None for figure in figures)
    state = "posted, and the same when computed again" if posted else "not posted yet, computed"
    workloads = len(computed.plan.trace.setting.workforce.ids)  # several sources may speak of one
    evidence = (
        f"{counted(len(computed.world.cost_lines), 'cost line')} and the usage of {counted(workloads, 'workload')}"
    )
    return f"{said(target, amounts)} for {period}: {state} from {evidence}."


def said(target: Target, amounts: str) -> str:
    if target.kind == "pool":
        return f"Pool {target.name} shares {amounts}"
    if target.kind == "posting":
        return f"Posting {target.name} ({posting_text(target)}) is {amounts}"
    return f"{target.name} {'holds' if target.name in SYSTEM_OWNERS else 'owes'} {amounts}"


def posting_text(target: Target) -> str:
    key = dict(zip(POSTING_KEY, target.key, strict=True))
    owner = "/".join(str(key[name]) for name in ("team", "project", "user") if key[name])
    return f"{owner}, {key['pool'] or 'no pool'} {key['reason']}, {key['day']}, of {key['bill']}"


def owners(target: Target, computed: Computed, whose: Whose) -> tuple[Node, ...]:
    if target.kind == "pool":
        return ()
    nodes = owner_nodes(computed, whose)
    called = "/".join(filter(None, whose.leaf)) or whose.called
    return (Node(f"why it is {called}'s", {}, nodes),) if nodes else ()


def explain_job(project: Project, target: Target, ground: Ground, computed: Computed) -> Explanation:
    charges = job_charges(target, computed)
    if ground.posted is not None:
        refuse_tampered_charges(project, target, charges, str(computed.plan.period))
    currencies = computed.plan.trace.setting.currencies
    sums: dict[str, list[Decimal]] = {}
    for row in charges.select(["bill", "amount"]).to_pylist():
        sums.setdefault(currencies.get(row["bill"], computed.world.policy.currency), []).append(row["amount"])
    figures = tuple(
        Figure(currency, plain(total(amounts)), total(amounts), None if ground.posted is None else total(amounts))
        for currency, amounts in sorted(sums.items())
    )
    own = Whose(workloads=target.workloads, called=target.name)
    amounts = " and ".join(shown(figure.planned, figure.currency) for figure in figures) or "nothing"
    state = "posted, and the same when computed again" if ground.posted is not None else "not posted yet"
    return Explanation(
        period=str(computed.plan.period),
        kind=target.kind,
        name=target.name,
        title=f"{target.name} was charged {amounts} for its use in {computed.plan.period} ({counted(len(target.workloads), 'workload')}; {state}).",
        policy=short(ground.policy),
        head=project.books.head(),
        figures=figures,
        steps=(
            *job_nodes(computed, charges, own),
            Node(f"why it is {owner_text(charges)}'s", {}, owner_nodes(computed, own)),
        ),
        also=target.also,
        basis=basis_of(ground.policy),
    )
