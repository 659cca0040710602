"""What the bills of a month say themselves, beside what is posted of them: read from the cost lines, never from the postings."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from apportion.books.ledger import CONTRA
from apportion.books.shapes import PLAN, StoredRun
from apportion.model.times import Period
from apportion.reports.sums import ZERO, grouped, less, total
from apportion.reports.words import apart, counted, shown
from apportion.verbs.agreement import policy_of_version
from apportion.verbs.project import Project
from apportion.verbs.reconcile import bills_counted, dressed
from apportion.verbs.soundness import BAD, CheckLine
from apportion.verbs.world import bill_lines, pins_of_run

LISTED = "rate card "  # such a bill is a price list: no vendor's line says what it comes to
Key = tuple[str, str]  # bill, and the currency that it is posted in
Sums = Mapping[Key, Decimal]
Reading = Callable[[Project, Period, StoredRun], Sums]


@dataclass(frozen=True, slots=True)
class Billed:
    """`says` is what a bill comes to in the month, corrections that the month holds with it; `posted` is what all owners have of it."""

    period: str
    bill: str
    currency: str
    says: Decimal
    posted: Decimal

    @property
    def difference(self) -> Decimal:
        return less(self.posted, self.says)

    @property
    def text(self) -> str:
        posted, says = (shown(amount, self.currency) for amount in (self.posted, self.says))
        return f"{posted} is posted of {says}: {apart(self.difference, self.currency)}"


def billed(
    project: Project, period: Period, until_s: int | None = None, read: Reading | None = None
) -> tuple[Billed, ...]:
    """Each bill of which a month holds something, now or as the books stood at a second. `read` may know the lines of a plan from before."""
    runs = [run for run in project.books.runs() if run.period == str(period)]
    runs = [run for run in runs if until_s is None or run.posted_s <= until_s]
    plans = [run for run in runs if run.kind == PLAN]
    lines = (read or lines_counted)(project, period, plans[-1]) if plans else {}
    listed = {key: amount for key, amount in given(project, plans).items() if key[0].startswith(LISTED)}
    decided = given(project, [run for run in runs if run.kind != PLAN])
    posted = by_bill(project.books.posted(str(period), as_of_s=until_s))
    says = {key: total(some.get(key, ZERO) for some in (lines, listed, decided)) for key in (*lines, *listed, *decided)}
    return tuple(
        Billed(str(period), bill, unit, says.get((bill, unit), ZERO), posted.get((bill, unit), ZERO))
        for bill, unit in sorted({*says, *posted})
    )


def lines_counted(project: Project, period: Period, plan: StoredRun) -> Sums:
    """The cost lines that a plan rests on, by its policy's basis, converted by the rates of then."""
    policy, pins = policy_of_version(project, plan.policy_version), pins_of_run(project, plan)
    lines = dressed(bill_lines(project, period, pins), policy, period)
    return {(bill.id, bill.currency): bill.total for bill in bills_counted(project, period, policy, pins, lines)}


def given(project: Project, runs: Sequence[StoredRun]) -> Sums:
    """The bills' own side of what runs posted. What a correction says of an earlier month stands there and in no line of this one."""
    if not runs:
        return {}
    rows = project.books.entries(run_id=[run.run_id for run in runs], team="")
    own = rows.filter(pc.starts_with(rows["account"], CONTRA))
    return {key: amount.copy_negate() for key, amount in by_bill(own).items()}


def by_bill(rows: pa.Table) -> Sums:
    return {(bill, unit): amount for (bill, unit), amount in grouped(rows, ("bill", "currency")).items()}


def bill_findings(project: Project, period: Period) -> Iterator[CheckLine]:
    """Nothing where everything agrees."""
    found = [one for one in billed(project, period) if one.difference]
    if found:
        text = f"{counted(len(found), 'bill')} of {period} not posted as they say; {found[0].bill}: {found[0].text}"
        yield CheckLine(BAD, "bills", text, f"apportion verify, then apportion report reconcile --period {period}")
