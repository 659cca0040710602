"""How much of what a team's runs cost went into attempts that failed. Of posted months, whose charges say which attempt had what."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import date
from fractions import Fraction

import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.label_sets import rows_named
from apportion.model.currencies import is_money
from apportion.model.rows import SYSTEM_OWNERS
from apportion.model.times import parse_period
from apportion.reports.anomaly.causes import of_parts
from apportion.reports.anomaly.daily import WEEK, rates
from apportion.reports.anomaly.failures import FAILED, failing
from apportion.reports.anomaly.found import STEP, Anomaly
from apportion.reports.anomaly.levels import FEWEST, UP
from apportion.reports.sums import grouped, total
from apportion.verbs.charged import first_of
from apportion.verbs.noticing.known import (
    LEAST,
    MICRO,
    Known,
    Window,
    attos,
    by_weights,
    is_shown,
    looked_from,
    window,
    within,
)
from apportion.verbs.noticing.leading import leaders, leading_run
from apportion.verbs.stating.working import mapped

CHARGED = ("bill", "day", "team", "pool", "project", "user", "workload", "amount")
SAID = ("workload", "run", "outcome", "end_s", "source")


def failures(seen: Known) -> Iterator[Anomaly]:
    until = seen.posted_until
    if until is None or (until - parse_period(seen.posted[0]).first_day).days < FEWEST + WEEK:
        return
    rows = attempts(seen)
    if rows is None:
        return
    is_failed = pc.is_in(rows["outcome"], pa.array(FAILED))
    whole, failed = (by_day(part) for part in (rows, rows.filter(is_failed)))
    ended = ended_runs(rows, seen.project.policy.time_zone)
    for (team, currency), amounts in sorted(whole.items()):
        if team in SYSTEM_OWNERS or not is_money(currency) or (team, currency) not in failed:
            continue
        money = rates(failed[team, currency], amounts, until)
        bad, every = ({day: pair[n] for day, pair in ended.get(team, {}).items()} for n in (0, 1))
        runs = rates(bad, every, until, money.first)
        for step in failing(money, runs, looked_from(seen, money)):
            if is_shown(seen, money, step.last):
                some = window(money, step)
                yield from weighed(seen, rows, (team, currency), some, is_over=step.is_over)


def attempts(seen: Known) -> pa.Table | None:
    """What each attempt was charged on each day, with its run, how it ended and when; None where there is none."""
    where = pc.field("period").isin(list(seen.posted))
    books = seen.project.books
    rows = books.scan("charges", columns=list(CHARGED), where=where)
    rows = rows.filter(pc.not_equal(rows["workload"], ""))
    if not len(rows):
        return None
    known = books.scan("workloads", columns=[*SAID, "label_set"])
    known = rows_named(known, rows["workload"]).sort_by("source")
    known = first_of(known, pc.not_equal(known["outcome"], "running")).drop_columns(["source", "label_set"])
    rows = rows.append_column("currency", mapped(rows["bill"], seen.bills)).drop_columns("bill")
    return rows.join(known, "workload", join_type="inner")


def by_day(rows: pa.Table) -> dict[tuple[str, str], dict[date, int]]:
    found: dict[tuple[str, str], dict[date, int]] = defaultdict(dict)
    for (team, currency, day), amount in grouped(rows, ("team", "currency", "day")).items():
        found[team, currency][date.fromisoformat(day)] = attos(amount) // MICRO
    return found


def ended_runs(rows: pa.Table, zone: str) -> dict[str, dict[date, tuple[int, int]]]:
    """By team and day: how many runs had an attempt that failed, and how many had one that ended."""
    some = rows.select(["team", "run", "outcome", "end_s"]).filter(pc.not_equal(rows["outcome"], "running"))
    local = pc.local_timestamp(pc.cast(some["end_s"], pa.timestamp("s", zone)))
    some = some.append_column("ended", pc.cast(local, pa.date32()))
    some = some.append_column("failed", pc.is_in(some["outcome"], pa.array(FAILED)))
    each = some.group_by(["team", "ended", "run"]).aggregate([("failed", "max")])
    each = each.set_column(each.schema.get_field_index("failed_max"), "failed", pc.cast(each["failed_max"], pa.int64()))
    sums = each.group_by(["team", "ended"]).aggregate([("failed", "sum"), ("run", "count")])
    found: dict[str, dict[date, tuple[int, int]]] = defaultdict(dict)
    for row in sums.to_pylist():
        found[row["team"]][row["ended"]] = row["failed_sum"], row["run_count"]
    return found


def weighed(seen: Known, rows: pa.Table, whose: tuple[str, str], some: Window, *, is_over: bool) -> Iterator[Anomaly]:
    """By how attempts failed."""
    team, currency = whose
    own = within(rows, some.days, team=team, currency=currency)
    wholes = [sum(sums.values(), Fraction(0)) for sums in by_weights(own, "currency", some)]
    bad = own.filter(pc.is_in(own["outcome"], pa.array(FAILED)))
    before, now = by_weights(bad, "outcome", some)
    if not all(wholes):
        return
    causes = of_parts(before, now, wholes[1] / wholes[0])
    meant = total(causes.values())
    if attos(meant) >= LEAST:
        figures = sum(before.values(), Fraction(0)) / wholes[0], sum(now.values(), Fraction(0)) / wholes[1]
        yield Anomaly(
            "failures", team, currency, STEP, some.began, some.last, *figures, meant, causes,
            (*leaders(seen, bad, some, (team, UP)), *leading_run(bad, some, UP)), is_over=is_over,
        )  # fmt: skip
