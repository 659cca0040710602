"""How much of what each team held was useful, against the month before. From the charges of both and how their work ended."""

from collections import defaultdict
from fractions import Fraction

import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.label_sets import rows_named
from apportion.model.kinds import summed
from apportion.model.rows import SYSTEM_OWNERS
from apportion.model.times import Period
from apportion.reports.efficiency import LOST, NOBODY_S, Standing, Work
from apportion.reports.efficiency import efficiency as make_report
from apportion.reports.report import Report
from apportion.verbs.asked import posted_month
from apportion.verbs.charged import first_of
from apportion.verbs.project import Project
from apportion.verbs.report import Reading, posted_periods, read_record

KEYS = ("bill", "pool", "team", "unit", "per_unit")
SUMS = ("held", "used", "unmeasured", "amount")
Whose = tuple[str, str]  # team, currency


def efficiency(project: Project, period: Period | str | None = None, read: Reading = read_record) -> Report:
    """How much of what each team held was useful, against the month before. `read` for those who see only a part of the record."""
    period = posted_month(project, period)
    record = read(project, [period], None)
    months = [period.previous, period]
    before, now = (works_of(project, month, read) for month in months)
    found = [Standing(*whose, works, before.get(whose, {})) for whose, works in now.items()]
    return make_report(found, str(period), str(period.previous), record.head, record.policies)


def works_of(project: Project, period: Period, read: Reading) -> dict[Whose, dict[str, Work]]:
    """By team and currency, and by pool; a month that nothing is posted for has none."""
    if str(period) not in posted_periods(project):
        return {}
    posted = read(project, [period], None).posted
    currencies = dict(zip(*(posted[name].to_pylist() for name in ("bill", "currency")), strict=True))
    rows = charged(project, period, pc.unique(posted["team"])).to_pylist()
    hours: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0, 0])  # held, of it measured, of that useful
    money: dict[tuple[str, str, str], Fraction] = defaultdict(Fraction)
    for row in rows:
        held, used, unmeasured = (int(row[name] or 0) for name in ("held", "used", "unmeasured"))
        own = hours[row["team"], row["pool"]]
        own[0] += held
        own[1] += held - unmeasured
        own[2] += 0 if row["lost"] else used
        money[row["team"], currencies.get(row["bill"], ""), row["pool"]] += Fraction(row["amount"])
    return by_owner(hours, money)


def by_owner(
    hours: dict[tuple[str, str], list[int]], money: dict[tuple[str, str, str], Fraction]
) -> dict[Whose, dict[str, Work]]:
    found: dict[Whose, dict[str, Work]] = defaultdict(dict)
    for (team, currency, pool), amount in money.items():
        held, measured, useful = hours[team, pool]
        if measured and amount > 0 and currency and team not in SYSTEM_OWNERS:
            found[team, currency][pool] = Work(amount * measured / held, Fraction(useful, measured))
    return dict(found)


def charged(project: Project, period: Period, teams: pa.Array) -> pa.Table:
    """The charges of workloads by owner, pool and whether they were lost, without those that a node took down."""
    where = (pc.field("period") == str(period)) & pc.field("team").isin(teams) & (pc.field("workload") != "")
    rows = project.books.scan("charges", columns=[*KEYS, "workload", *SUMS], where=where)
    ended = outcomes(project, rows["workload"])
    rows = rows.append_column("lost", pc.is_in(ended, pa.array(LOST)))
    rows = rows.filter(pc.invert(pc.is_in(ended, pa.array(NOBODY_S))))
    return summed(rows, (*KEYS, "lost"), SUMS)


def outcomes(project: Project, workloads: pa.ChunkedArray) -> pa.ChunkedArray:
    """How each row's work ended; where several sources saw it, by the first that knows."""
    known = project.books.scan("workloads", columns=["workload", "outcome", "source", "label_set"]).sort_by("source")
    known = rows_named(known, workloads)
    ends = first_of(known, pc.not_equal(known["outcome"], "running"))
    return ends["outcome"].take(pc.index_in(workloads, ends["workload"].combine_chunks()).combine_chunks())
