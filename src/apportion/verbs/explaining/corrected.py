"""Money that corrects a closed month: what it was, what it is now, why, and by which runs."""

from collections.abc import Sequence
from decimal import Decimal

import pyarrow as pa

from apportion.books.shapes import StoredRun
from apportion.engine.plan import RULES
from apportion.model.minor import dated
from apportion.model.rows import RECORDED
from apportion.reports.corrections import Corrected
from apportion.reports.sums import ZERO, grouped, less, total
from apportion.verbs.agreement import policy_of_version
from apportion.verbs.explaining.amounts import Sums, amounts
from apportion.verbs.explaining.jobs import job_charges
from apportion.verbs.explaining.story import Node
from apportion.verbs.explaining.target import Target
from apportion.verbs.explaining.walk import refuse_tampered, walked
from apportion.verbs.ground import Means
from apportion.verbs.periods import as_period
from apportion.verbs.plan import Computed
from apportion.verbs.project import Project
from apportion.verbs.rules import earlier_rules, rules_of
from apportion.verbs.world import pins_of_run


def moved(target: Target, one: Corrected) -> tuple[Sums, Sums]:
    """What a correction made of a figure: before and after."""
    own = target.within(one.about)
    return sums(own.pick(one.was)), sums(own.pick(after(one)))


def after(one: Corrected) -> pa.Table:
    """All that is believed of the month once it is corrected; a posting may have several rows."""
    place = RECORDED.names.index("period")
    change = one.change.set_column(
        place, RECORDED.field(place), pa.repeat(pa.scalar(one.about), len(one.change)).cast(RECORDED.field(place).type)
    )
    return pa.concat_tables([one.was, change.cast(RECORDED)])


def sums(rows: pa.Table) -> Sums:
    return {currency: amount for (currency,), amount in grouped(rows, ("currency",)).items()}


def change(was: Sums, now: Sums) -> dict[str, Decimal]:
    """By how much, in each currency that moves."""
    found = {currency: less(now.get(currency, ZERO), was.get(currency, ZERO)) for currency in sorted({*was, *now})}
    return {currency: amount for currency, amount in found.items() if amount}


def correction_node(one: Corrected, was: Sums, now: Sums, steps: Sequence[Node] = ()) -> Node:
    """One correction in a sentence, with its runs below."""
    by = change(was, now)
    before, then = ({currency: part.get(currency, ZERO) for currency in by} for part in (was, now))
    text = f"{one.about} is corrected by {amounts(by)}, booked in {one.booked}: {amounts(before)} became {amounts(then)}; {one.cause}"
    facts = {
        "about": one.about,
        "booked": one.booked,
        "was": before,
        "now": then,
        "amount": by,
        "cause": one.cause,
        "before_run": one.before_run,
        "run": one.run,
    }
    runs = (Node(f"run before: {one.before_run}"), Node(f"run: {one.run}"))
    how = (Node(f"how the new figure of {one.about} comes about: {amounts(now)}", {"now": now}, tuple(steps)),)
    return Node(text, facts, (*runs, *(how if steps else ())))


def told(project: Project, target: Target, some: Sequence[Corrected], means: Means) -> list[tuple[Node, Sums]]:
    """Corrections that touch a target, and by how much; the last of each month with how its new figure comes about, computed again.

    Of a month that earlier releases had a part in, only what is posted is told: no rules give its figure as a whole.
    """
    every = project.books.runs() if some else []
    runs = {run.run_id: run for run in every}
    last = {one.about: one.run for one in some}
    found: list[tuple[Node, Sums]] = []
    for one in some:
        earlier = earlier_rules(every, one.about)
        if earlier and target.kind == "job":
            found += job_changed(project, target, one, means)
            continue
        was, now = charged(project, target, one, means) if target.kind == "job" else moved(target, one)
        by = change(was, now)
        if by:
            proved = last[one.about] == one.run and target.kind != "job" and not earlier
            steps = proof(target, one, computed_by(project, runs[one.run], means)) if proved else ()
            found.append((correction_node(one, was, now, steps), by))
    return found


def job_changed(project: Project, target: Target, one: Corrected, means: Means) -> list[tuple[Node, Sums]]:
    """A job in a correction of a month that an earlier release posted: with what came less without it, by the rules of the correction."""
    run = next(run for run in project.books.runs() if run.run_id == one.run)
    if not is_computable(run):
        text = f"{one.about} was corrected, booked in {one.booked}, by rules {rules_of(run)} of the engine, which kept no figure of a single job; {one.cause}"
        return [(Node(text, {"about": one.about, "booked": one.booked, "run": one.run}), {})]
    by = change(*charged(project, target, one, means))
    if not by:
        return []
    text = f"{one.about} is corrected by {amounts(by)}, booked in {one.booked}: with what came less without it, both by rules {rules_of(run)}; {one.cause}"
    return [(Node(text, {"about": one.about, "booked": one.booked, "amount": by, "run": one.run}), by)]


def proof(target: Target, one: Corrected, computed: Computed) -> tuple[Node, ...]:
    own = target.within(one.about)
    believed = own.pick(after(one))
    refuse_tampered(own, own.pick(computed.plan.postings), dated(believed), computed.plan.period)
    return walked(own, computed, after(one))


def charged(project: Project, target: Target, one: Corrected, means: Means) -> tuple[Sums, Sums]:
    """What a job was charged by the run before a correction, and by the correction."""
    runs = {run.run_id: run for run in project.books.runs()}
    found = [computed_by(project, runs[name], means) for name in (one.before_run, one.run)]
    was, now = (sums_charged(job_charges(target, computed), computed) for computed in found)
    return was, now


def is_computable(run: StoredRun) -> bool:
    """Whether the rules of this release are those that it was computed by."""
    return rules_of(run) == RULES


def computed_by(project: Project, run: StoredRun, means: Means) -> Computed:
    """The plan that a run posted, or corrected a month to; of a run by other rules, what those of this release say of its evidence."""
    period = as_period(run.about or run.period)
    return means.compute(project, period, policy_of_version(project, run.policy_version), pins_of_run(project, run))


def sums_charged(charges: pa.Table, computed: Computed) -> dict[str, Decimal]:
    """By currency."""
    currencies = computed.plan.trace.setting.currencies
    sums: dict[str, list[Decimal]] = {}
    for row in charges.select(["bill", "amount"]).to_pylist():
        sums.setdefault(currencies.get(row["bill"], computed.world.policy.currency), []).append(row["amount"])
    return {currency: total(parts) for currency, parts in sorted(sums.items())}
