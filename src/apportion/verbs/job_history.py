"""What became of a job's cost after its month was closed: the charges that stand, what corrected them, and what people decided of it."""

from collections.abc import Iterable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from apportion.books.shapes import CORRECTION, PLAN, StoredRun, Transfer
from apportion.engine.charges import charges_of
from apportion.engine.plan import RULES
from apportion.model.rows import CHARGES
from apportion.reports.cost import Decided
from apportion.reports.sums import total
from apportion.verbs.corrections import runs_of
from apportion.verbs.disputing.parts import JOB
from apportion.verbs.explaining.corrected import computed_by
from apportion.verbs.ground import afresh
from apportion.verbs.project import Project
from apportion.verbs.rules import rules_of
from apportion.verbs.steps import Step

QUANTITIES = ("unit_seconds", "held", "used", "unmeasured", "amount", "waste")


def corrections_of(runs: Sequence[StoredRun], month: str) -> list[StoredRun]:
    """Those of its evidence, the newest last."""
    return [run for run in runs_of(runs, month) if run.kind == CORRECTION]


def standing_charges(project: Project, month: str, runs: Sequence[StoredRun], kept: pa.Table, step: Step) -> pa.Table:
    """As the last correction says, which keeps none of its own. Of a month of earlier rules, what it was less and is more by those of this release."""
    computed = runs_of(runs, month)
    first = next((run for run in reversed(computed) if run.kind == PLAN), None)
    now = charges_by(project, computed[-1], step)
    if first is None or rules_of(first) == RULES:
        return now
    return pa.concat_tables([kept.select(CHARGES.names).cast(CHARGES), now, negated(charges_by(project, first, step))])


def charges_by(project: Project, run: StoredRun, step: Step) -> pa.Table:
    return pa.Table.from_batches(charges_of(computed_by(project, run, afresh(step)).plan), schema=CHARGES)


def negated(charges: pa.Table) -> pa.Table:
    for name in QUANTITIES:
        place = charges.schema.get_field_index(name)
        field = charges.schema.field(place)
        charges = charges.set_column(place, field, pc.negate(charges[name]).cast(field.type))
    return charges


def decided_about(project: Project, ids: Iterable[str], run: str) -> tuple[Decided, ...]:
    """Credits and reclasses that ended disputes of the job, each as it stands: what followed from corrections is added to it."""
    mine = {run, *ids}
    disputes = {one.number: one for one in project.books.disputes() if one.kind == JOB and mine & {one.name, *one.key}}
    every = project.books.transfers()
    kinds = {one.run_id: one for one in project.books.runs()}
    return tuple(
        stands(
            first,
            [one for one in every if first.run_id in (one.run_id, one.follows)],
            disputes[first.dispute].period,
            kinds,
        )
        for first in every
        if first.dispute in disputes and not first.follows
    )


def stands(first: Transfer, every: Sequence[Transfer], month: str, runs: dict[str, StoredRun]) -> Decided:
    ran = runs[first.run_id]
    amount = total(one.amount for one in every)
    return Decided(
        month, ran.kind, first.owner, first.other, first.currency, amount, ran.period, first.why, first.dispute
    )
