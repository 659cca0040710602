"""Advice on waste with its price: gathers what the books know of the month's runs, and hands it to the rules."""

from collections.abc import Sequence
from zoneinfo import ZoneInfo

from apportion.errors import ProjectError
from apportion.model.times import Period
from apportion.reports.advice.kinds import KINDS, findings
from apportion.reports.advice.pieces import advice, pieces
from apportion.reports.advice.realised import month_of, outcomes, report
from apportion.reports.advice.work import Work
from apportion.reports.groups import narrowed
from apportion.reports.report import Record, Report
from apportion.verbs.advising.charged import charged_in, counting, with_charges
from apportion.verbs.advising.tariffs import tariffs
from apportion.verbs.advising.works import works_of
from apportion.verbs.asked import posted_month
from apportion.verbs.engines import backend_of
from apportion.verbs.ground import ground_of
from apportion.verbs.periods import as_period
from apportion.verbs.project import Project
from apportion.verbs.report import Reading, only, posted_periods, read_filters, read_record
from apportion.verbs.settings import nearest
from apportion.verbs.steps import Step, silent
from apportion.verbs.world import build_world, parts_of


def advise(
    project: Project,
    period: Period | str | None = None,
    where: Sequence[str] = (),
    kinds: Sequence[str] = (),
    step: Step = silent,
) -> Report:
    """What could be cheaper, with what it would save and how to do it. `where` as in other reports, `kinds` of advice: all unless given."""
    step(f"reading the evidence of {period}", 0, 0)
    return advise_from(read_record, project, posted_month(project, period), where, kinds)


def advise_from(
    read: Reading, project: Project, period: Period, where: Sequence[str] = (), kinds: Sequence[str] = ()
) -> Report:
    """Of a record that is read in another way: kept from before, or only what somebody may see."""
    wanted = known_kinds(kinds)
    record = only(with_charges(project, read(project, [period], None), period), read_filters(where), "held")
    works, zone = gathered(project, period, record)
    return advice(str(period), pieces(findings(works, zone, wanted)), record, works)


def realised(
    project: Project,
    period: Period | str | None = None,
    since: Period | str = "",
    where: Sequence[str] = (),
    kinds: Sequence[str] = (),
) -> Report:
    """What became in a month of the advice of an earlier one: the posted month before it unless `since` names another."""
    period = posted_month(project, period)
    first = as_period(since) if since else month_before(project, period)
    return realised_from(read_record, project, (first, period), where, kinds)


def realised_from(
    read: Reading,
    project: Project,
    months: tuple[Period, Period],
    where: Sequence[str] = (),
    kinds: Sequence[str] = (),
) -> Report:
    first, period = months
    if first >= period:
        raise ProjectError("no-period", f"{first} is not before {period}", hint="give --since an earlier month")
    wanted, filters = known_kinds(kinds), read_filters(where)
    record = only(with_charges(project, read(project, [first], None), first), filters, "held")
    works, zone = gathered(project, first, record)
    found = findings(works, zone)
    now = narrowed(with_charges(project, read(project, [period], None), period), filters)
    later, zone = gathered(project, period, now)
    given = pieces([one for one in found if one.kind in wanted])
    made = outcomes(given, month_of(works, found), month_of(later, findings(later, zone)))
    return report(str(first), str(period), made, now)


def month_before(project: Project, period: Period) -> Period:
    earlier = [month for month in posted_periods(project) if month < str(period)]
    if not earlier:
        raise ProjectError(
            "nothing-posted",
            f"no month before {period} is posted: there is no advice to follow",
            hint="`apportion advise` gives advice for a month; ask again for a later one",
        )
    return as_period(max(earlier))


def known_kinds(kinds: Sequence[str]) -> Sequence[str]:
    for kind in kinds:
        if kind not in KINDS:
            raise ProjectError(
                "unknown-advice", f"there is no advice of the kind {kind!r}", hint=nearest(kind, KINDS, "kinds")
            )
    return kinds or tuple(KINDS)


def gathered(project: Project, period: Period, record: Record) -> tuple[list[Work], ZoneInfo]:
    """The workloads that the record was charged for, and the zone of its nights."""
    ground, backend = ground_of(project, period), backend_of(project)
    pools = counting(ground.policy)
    own = parts_of(project, period, ground.policy, ground.pins)[""]
    world = build_world(project, period, own, ground.pins, backend)
    return works_of(world, charged_in(record, pools), tariffs(world, pools)), ZoneInfo(ground.policy.time_zone)
