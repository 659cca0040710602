"""By which rules of the engine a month was posted: those of this release, or of an earlier one, whose figures may differ."""

from collections.abc import Sequence

from apportion.books.shapes import PLAN, StoredRun
from apportion.engine.plan import RULES
from apportion.model.times import Period
from apportion.verbs.corrections import runs_of


def rules_of(run: StoredRun) -> str:
    """`duckdb/5` is computed by rules 5; the first releases said none."""
    return run.engine.partition("/")[2] or "0"


def earlier_rules(runs: Sequence[StoredRun], period: Period | str) -> list[str]:
    """The rules of other releases that figures of the month stand by, oldest first: of its last plan, and of what corrected it since."""
    found = runs_of(runs, str(period))
    last = max((number for number, run in enumerate(found) if run.kind == PLAN), default=0)
    return list(dict.fromkeys(rules_of(run) for run in found[last:] if rules_of(run) != RULES))
