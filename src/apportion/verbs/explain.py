"""Why this figure: computed again from the pinned cost lines and usage, compared with what is posted, and walked step by step."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import pyarrow as pa

from apportion.books.shapes import StoredRun, Transfer
from apportion.engine.plan import RULES
from apportion.errors import ProjectError
from apportion.model.money import plain
from apportion.model.result import Result
from apportion.model.rows import POSTING_KEY, SYSTEM_OWNERS
from apportion.model.times import Period
from apportion.policy.document import Policy
from apportion.render.sheet import Sheet, sheet_of
from apportion.reports.corrections import Corrected
from apportion.reports.sums import ZERO
from apportion.reports.words import counted, shown
from apportion.verbs.agreement import basis_of, policy_of_version, short
from apportion.verbs.asked import posted_month
from apportion.verbs.corrections import corrected, corrected_since
from apportion.verbs.explaining.amounts import added, amounts
from apportion.verbs.explaining.beside import beside, now, on_statement, parts_of
from apportion.verbs.explaining.corrected import computed_by, is_computable, sums_charged, told
from apportion.verbs.explaining.corrected import sums as row_sums
from apportion.verbs.explaining.jobs import job_charges, job_nodes, owner_text, refuse_tampered_charges
from apportion.verbs.explaining.kept import kept_nodes, kept_sums, kept_target, posted_policy, posted_rules
from apportion.verbs.explaining.owners import owner_nodes
from apportion.verbs.explaining.rounding import thirty_digits
from apportion.verbs.explaining.story import Node, drawn, flat
from apportion.verbs.explaining.target import Target, find_target
from apportion.verbs.explaining.transfers import decided_node, of_posting, transfer_nodes
from apportion.verbs.explaining.usage import Whose
from apportion.verbs.explaining.walk import late_node, picked, refuse_tampered, walked
from apportion.verbs.ground import Ground, Means, afresh
from apportion.verbs.minor_units import read_plan, round_planned
from apportion.verbs.periods import as_period
from apportion.verbs.plan import Computed
from apportion.verbs.project import Project
from apportion.verbs.rules import rules_of
from apportion.verbs.steps import Step, silent

STEPS = pa.schema([("depth", pa.int32()), ("text", pa.string()), ("facts", pa.string())])


@dataclass(frozen=True, slots=True)
class Figure:
    """`exact` in thirty digits; `posted` is None where nothing is posted yet; `amount` is what every face prints: whole minor units of a month."""

    currency: str
    exact: str
    planned: Decimal
    posted: Decimal | None
    amount: Decimal


@dataclass(frozen=True, slots=True, repr=False)
class Explanation(Result):
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
    evidence: str = ""  # how much it was computed from, as the title says
    rules: str = ""  # of the earlier release that posted it, where it is told from what was kept

    def to_arrow(self) -> pa.Table:
        """The tree as rows: how deep each step is, its sentence and its facts as JSON."""
        return pa.Table.from_pylist(list(flat(self.steps)), STEPS)


def explain(project: Project, what: str, period: Period | str | None = None, step: Step = silent) -> Explanation:
    """Why a figure is what it is: a team's, a pool's, a job's, a run's, or a posting's by its number or the beginning of its hash.

    It is computed again from the cost lines and the usage. Raises InvariantError where the record is not what they say.
    """
    period = posted_month(project, period)
    return explain_by(afresh(step), project, what, period, step)


def explain_by(means: Means, project: Project, what: str, period: Period | str, step: Step = silent) -> Explanation:
    """By means that somebody else keeps."""
    period = as_period(period)
    kind, _, name = what.partition(":")
    decided = of_posting(project, name, period) if kind == "posting" else None
    if decided is not None:
        return explain_decided(project, period, *decided)
    if posted_rules(project, period):
        return explain_kept(project, what, period, means)
    return explain_again(means, project, what, period, step)


def explain_again(means: Means, project: Project, what: str, period: Period, step: Step) -> Explanation:
    """A month that this release computes as it was posted, or was not posted yet."""
    ground, booked = means.ground(project, period), corrected(project, period)
    if booked and ground.posted is None:
        return explain_corrections(project, what, booked, means)
    computed = means.compute(project, period, ground.policy, ground.pins)
    try:
        target = find_target(project, what, period, computed)
    except ProjectError as error:
        if not booked or error.code != "unknown-figure":
            raise
        return explain_corrections(project, what, booked, means)
    if target.run in {one.run for one in booked}:
        return explain_corrections(project, what, [one for one in booked if one.run == target.run], means)
    decided = of_posting(project, target.name, period) if target.kind == "posting" else None
    if decided is not None:
        return explain_decided(project, period, *decided)
    step(f"explaining {what}", 0, 0)
    found = (
        explain_job(project, target, ground, computed)
        if target.kind == "job"
        else explain_rows(project, target, ground, computed)
    )
    return with_changes(project, target, found, means)


def explain_rows(project: Project, target: Target, ground: Ground, computed: Computed) -> Explanation:
    period = computed.plan.period
    rows, exact = picked(target, computed)
    posted = None if ground.posted is None else target.pick(ground.posted)
    if posted is not None:
        refuse_tampered(target, rows, posted, period)
    rounded = (
        read_plan(project, period) if posted is not None else round_planned(project, period, computed.plan.postings)
    )
    figures, evidence, state = (
        figures_of(rows, exact, posted, target.pick(rounded)),
        evidence_of(computed),
        state_of(posted is not None),
    )
    return Explanation(
        period=str(period),
        kind=target.kind,
        name=target.name,
        title=f"{said(target, figures)} for {period}: {state} from {evidence}.",
        policy=short(ground.policy),
        head=project.books.head(),
        figures=figures,
        steps=walked(target, computed, rounded),
        also=target.also,
        basis=basis_of(ground.policy),
        evidence=evidence,
    )


def explain_kept(project: Project, what: str, period: Period, means: Means) -> Explanation:
    """A month that an earlier release posted: what is posted, and the charges kept with it. Marked with its rules."""
    rows, booked = read_plan(project, period), corrected(project, period)
    try:
        target = kept_target(project, what, period, rows)
    except ProjectError:
        if not booked:
            raise
        return explain_corrections(project, what, booked, means)
    decided = of_posting(project, target.name, period) if target.kind == "posting" else None
    if decided is not None:
        return explain_decided(project, period, *decided)
    if target.run in {one.run for one in booked}:
        return explain_corrections(project, what, [one for one in booked if one.run == target.run], means)
    figures = tuple(
        Figure(currency, plain(amount), amount, amount, amount)
        for currency, amount in kept_sums(project, target, period, rows).items()
    )
    policy, rules = posted_policy(project, period), posted_rules(project, period)
    mark = f"posted by rules {rules} of the engine and told from the charges kept then; this release has rules {RULES} and does not compute it again"
    return with_changes(
        project,
        target,
        Explanation(
            period=str(period),
            kind=target.kind,
            name=target.name,
            title=f"{said(target, figures)} for {period}: {mark}.",
            policy=short(policy),
            head=project.books.head(),
            figures=figures,
            steps=tuple(kept_nodes(project, target, period, rows)),
            also=target.also,
            basis=basis_of(policy),
            rules=rules,
        ),
        means,
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
        figures=(Figure(currency, plain(amount), amount, amount, amount),),
        steps=(decided_node(run, made, amount, currency),),
        basis=basis_of(policy),
    )


def with_changes(project: Project, target: Target, found: Explanation, means: Means) -> Explanation:
    """With what was corrected and decided since, and what the month holds of corrections and decisions of others."""
    here = told(project, target, corrected(project, found.period), means)
    since = told(project, target, corrected_since(project, found.period), means)
    parts = parts_of(project, target, found.period)
    own = {figure.currency: figure.amount for figure in found.figures}
    booked = beside(found.period, own, [by for _, by in here], parts)
    later = now(found.period, own, [by for _, by in since], parts)
    nodes = (*transfer_nodes(parts, found.period), *(node for node, _ in (*here, *since)))
    title = found.title + booked + later + on_statement(project, target, found.period)
    return replace(found, title=title, steps=(*found.steps, *nodes))


def explain_corrections(project: Project, what: str, booked: Sequence[Corrected], means: Means) -> Explanation:
    """A figure that is nothing but corrections of closed months."""
    runs = {run.run_id: run for run in project.books.runs()}
    period = as_period(booked[-1].booked)
    again = [one for one in booked if is_computable(runs[one.run])]
    if not again:
        return explain_kept_corrections(project, what, booked, means)
    for run_id in dict.fromkeys({one.about: one.run for one in again}.values()):
        computed = computed_by(project, runs[run_id], means)
        with suppress(ProjectError):
            target = find_target(project, what, period, computed)
            break
    else:
        target = find_target(project, what, period, computed)
    return explain_nodes(project, target, booked, means, computed.world.policy)


def explain_kept_corrections(project: Project, what: str, booked: Sequence[Corrected], means: Means) -> Explanation:
    """Corrections by earlier releases alone: told from what is posted."""
    period = as_period(booked[-1].booked)
    target = kept_target(project, what, period, pa.concat_tables([one.change for one in booked]))
    run = next(run for run in project.books.runs() if run.run_id == booked[-1].run)
    found = explain_nodes(project, target, booked, means, policy_of_version(project, run.policy_version))
    return replace(found, rules=rules_of(run))


def explain_nodes(
    project: Project, target: Target, booked: Sequence[Corrected], means: Means, policy: Policy
) -> Explanation:
    period = as_period(booked[-1].booked)
    nodes = told(project, target, booked, means)
    sums = added(by for _, by in nodes)
    parts = parts_of(project, target, str(period))
    months = " and ".join(dict.fromkeys(str(node.facts["about"]) for node, _ in nodes))
    return Explanation(
        period=str(period),
        kind=target.kind,
        name=target.name,
        title=f"Corrections of {months or 'closed months'}, booked in {period}, come to {amounts(sums)} for {called(target)}."
        + beside(str(period), sums, [], parts)
        + on_statement(project, target, str(period)),
        policy=short(policy),
        head=project.books.head(),
        figures=tuple(Figure(currency, plain(amount), amount, amount, amount) for currency, amount in sums.items()),
        steps=(*transfer_nodes(parts, str(period)), *(node for node, _ in nodes)),
        also=target.also,
        basis=basis_of(policy),
    )


def figures_of(rows: pa.Table, exact: Sequence[int], posted: pa.Table | None, rounded: pa.Table) -> tuple[Figure, ...]:
    sums: dict[str, int] = {}
    for currency, grains in zip(rows["currency"].to_pylist(), exact, strict=True):
        sums[currency] = sums.get(currency, 0) + grains
    planned, found = row_sums(rows), {} if posted is None else row_sums(posted)
    whole = row_sums(rounded)
    return tuple(
        Figure(
            currency,
            thirty_digits(sums[currency]),
            planned[currency],
            None if posted is None else found.get(currency, Decimal(0)),
            whole.get(currency, ZERO),
        )
        for currency in sorted(sums)
    )


def state_of(posted: bool) -> str:
    return "posted, and the same when computed again" if posted else "not posted yet, computed"


def evidence_of(computed: Computed) -> str:
    lines = sum(len(part.world.cost_lines) for part in computed.parts)
    workloads = {work for part in computed.parts for work in part.plan.trace.setting.workforce.ids.to_pylist()}
    return f"{counted(lines, 'cost line')} and the usage of {counted(len(workloads), 'workload')}"


def said(target: Target, figures: Sequence[Figure]) -> str:
    figured = amounts({figure.currency: figure.amount for figure in figures})
    if target.kind == "pool":
        return f"Pool {target.name} shares {figured}"
    if target.kind == "posting":
        return f"Posting {target.name} ({posting_text(target)}) is {figured}"
    if target.kind == "job":
        return f"{target.name} was charged {figured}"
    return f"{target.name} {'holds' if target.name in SYSTEM_OWNERS else 'owes'} {figured}"


def called(target: Target) -> str:
    if target.kind == "posting":
        return f"posting {target.name} ({posting_text(target)})"
    return f"pool {target.name}" if target.kind == "pool" else target.name


def posting_text(target: Target) -> str:
    key = dict(zip(POSTING_KEY, target.key, strict=True))
    owner = "/".join(str(key[name]) for name in ("team", "project", "user") if key[name])
    return f"{owner}, {key['pool'] or 'no pool'} {key['reason']}, {key['day']}, of {key['bill']}"


def explain_job(project: Project, target: Target, ground: Ground, computed: Computed) -> Explanation:
    charges = job_charges(target, computed)
    if ground.posted is not None:
        refuse_tampered_charges(project, target, charges, str(computed.plan.period))
    charged = sums_charged(charges, computed)
    figures = tuple(
        Figure(currency, plain(amount), amount, None if ground.posted is None else amount, amount)
        for currency, amount in charged.items()
    )
    own = Whose(workloads=target.workloads, called=target.name)
    state = "posted, and the same when computed again" if ground.posted is not None else "not posted yet"
    return Explanation(
        period=str(computed.plan.period),
        kind=target.kind,
        name=target.name,
        title=f"{target.name} was charged {amounts(charged)} for its use in {computed.plan.period} ({counted(len(target.workloads), 'workload')}; {state}).",
        policy=short(ground.policy),
        head=project.books.head(),
        figures=figures,
        steps=(
            *job_steps(target, computed, own),
            Node(f"why it is {owner_text(charges)}'s", {}, owner_nodes(computed, own)),
        ),
        also=target.also,
        basis=basis_of(ground.policy),
    )


def job_steps(target: Target, computed: Computed, whose: Whose) -> tuple[Node, ...]:
    own, *_ = computed.parts
    late = [
        late_node(month, part, steps)
        for month, part in computed.late.items()
        if (steps := job_nodes(part, job_charges(target, part), whose))
    ]
    return (*job_nodes(own, job_charges(target, own), whose), *late)


@sheet_of.register
def explain_sheet(found: Explanation) -> Sheet:
    tree = "\n".join(drawn(found.steps))
    return Sheet(
        found.title, value=found, notes=(tree, f"policy {found.policy}, {found.basis}   ledger head {found.head}")
    )
