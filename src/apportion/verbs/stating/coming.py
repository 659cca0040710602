"""The month by rules to come: from the inputs that it was posted with, with what people decided and what was corrected as it is."""

import pyarrow as pa

from apportion.books.minor import minor_of
from apportion.books.shapes import PLAN
from apportion.engine.charges import charges_of
from apportion.engine.plan import Plan
from apportion.errors import ApportionError
from apportion.model.rows import MINOR_KEY, POSTINGS, TEXT, WHOLE
from apportion.policy.document import Policy
from apportion.reports.statement.drivers import Side, changes_by_rules
from apportion.reports.statement.facts import CARRIED, CHANGES, Announced, Coming
from apportion.verbs.plan import compute
from apportion.verbs.preview import Upcoming
from apportion.verbs.stating.late import late_part, within
from apportion.verbs.stating.placing import carried, placed
from apportion.verbs.stating.shelf import UNITS, Month, Shelf, side
from apportion.verbs.stating.working import with_places
from apportion.verbs.world import pins_of_run

SUMMED = ("bill", "team", "project", "user", "pool")
AMOUNTS = [*MINOR_KEY, "amount"]


def coming(shelf: Shelf, month: Month, found: Upcoming | None) -> Coming | None:
    """What they cannot be applied to is not known, and no reason to keep a statement back."""
    if found is None:
        return None
    version = found.policy.version if found.policy else ""
    said = Announced(found.name, version, str(found.clause.until))
    if found.policy is None:
        return Coming(said, None, CHANGES.empty_table(), CARRIED.empty_table())
    try:
        return by_rules(shelf, month, found.policy, said)
    except ApportionError:
        return Coming(said, None, CHANGES.empty_table(), CARRIED.empty_table())


def by_rules(shelf: Shelf, month: Month, policy: Policy, said: Announced) -> Coming:
    """Rounded as the month itself is, so that the same rules give the same minor units."""
    made = planned(shelf, month, policy)
    others = shelf.others(month.period)
    planned_rows = made.postings if made else POSTINGS.empty_table()
    postings = planned_rows.select(AMOUNTS)
    decided = others.select(AMOUNTS).cast(postings.schema)
    minor = minor_of(shelf.project.books.names, pa.concat_tables([postings, decided]))
    now = placed(policy, month.period, minor, others, shelf.runs)
    held = with_places(held_by(made, month), policy, minor, UNITS)
    then = Side(now, late_part(policy, month.period, planned_rows), held)
    why = changes_by_rules(side(shelf, month), then)
    return Coming(said, now, why, carried(policy, month.period, now))


def planned(shelf: Shelf, month: Month, policy: Policy) -> Plan | None:
    """None of a month that holds nothing but corrections."""
    runs = [run for run in shelf.runs.values() if run.period == str(month.period) and run.kind == PLAN]
    return compute(shelf.project, month.period, policy, pins_of_run(shelf.project, runs[-1])).plan if runs else None


def held_by(made: Plan | None, month: Month) -> pa.Table:
    """What was counted for each owner in each pool on the month's own days."""
    schema = pa.schema([*((name, TEXT) for name in SUMMED), ("unit_seconds", WHOLE)])
    if made is None:
        return schema.empty_table()
    tables = (within(month.policy, month.period, pa.Table.from_batches([some])) for some in charges_of(made))
    parts = [some.select(schema.names).cast(schema) for some in tables]
    rows = pa.concat_tables([schema.empty_table(), *parts]).group_by(list(SUMMED)).aggregate([("unit_seconds", "sum")])
    return rows.rename_columns([*SUMMED, "unit_seconds"])
