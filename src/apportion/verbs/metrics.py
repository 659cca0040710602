"""What monitoring is told: families of samples from the same verbs and reports as everything else. What cannot be told does not hide the rest."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from zoneinfo import ZoneInfo

from apportion.errors import ApportionError, InvariantError
from apportion.model.times import Period, parse_period
from apportion.policy.document import Policy
from apportion.reports.budgets import MonthEnds, Spending
from apportion.reports.live import Estimate
from apportion.reports.metrics import families as known
from apportion.reports.metrics.family import Filled, Number
from apportion.reports.metrics.figures import (
    ESTIMATED,
    POSTED,
    budget_figures,
    estimated_figures,
    merged,
    pool_figures,
    posted_figures,
    price_figures,
    quota_figures,
    spent_so_far,
)
from apportion.reports.quotas import Used
from apportion.reports.report import Record, Report
from apportion.verbs.asked import today_of
from apportion.verbs.brought import brought
from apportion.verbs.budget import budgets
from apportion.verbs.forecast import ends_beside
from apportion.verbs.ground import Means, ground_of
from apportion.verbs.health import DAY_S, freshness_of, windows_of
from apportion.verbs.live import live
from apportion.verbs.plan import Computed, compute
from apportion.verbs.pools import pools_by
from apportion.verbs.prices import Told, Wish, told_by
from apportion.verbs.project import Project
from apportion.verbs.report import Reading, posted_periods, read_record
from apportion.verbs.standing import standing
from apportion.verbs.steps import Step, silent
from apportion.verbs.world import Pins

NOTHING_YET = frozenset({"nothing-posted", "no-period", "no-usage"})  # of a project that begins
DAY = Wish(days=1)


@dataclass(frozen=True, slots=True)
class Figures:
    """How each kind of figure is come by, of what somebody may see. `whole`: they may also see what is about no single team."""

    read: Reading
    estimate: Callable[[], Estimate]
    pools: Callable[[Period], Report]
    prices: Callable[[], Told]
    quotas: Callable[[], Sequence[Used]]
    ends: Callable[[Period], MonthEnds | None]
    sees: Callable[[str], bool]
    whole: bool


@dataclass(frozen=True, slots=True)
class Looked:
    """When the whole ledger was last looked through, and how much was wrong with it."""

    at_s: int
    findings: int


def metrics(project: Project, version: str, step: Step = silent, *, verify: bool = False) -> list[Filled]:
    """Of everything, computed now. `verify` looks through the whole ledger, too."""
    means, estimate = remembering(step), cache(lambda: live(project, today_of(project), step))
    plain = Figures(
        read=read_record,
        estimate=estimate,
        pools=lambda period: pools_by(means, project, period),
        prices=lambda: told_by(means, project, DAY),
        quotas=lambda: standing(project, step=step),
        ends=lambda period: ends_beside(project, period, estimate(), today_of(project)),
        sees=lambda _team: True,
        whole=True,
    )
    made = collected(project, plain, version)
    looked = Looked(int(time.time()), len(project.books.verify())) if verify else None
    return in_order([*made, *moving(project, looked)])


def remembering(step: Step) -> Means:
    """A month that two figures need is computed once."""
    found: dict[tuple[str, str], Computed] = {}

    def once(project: Project, period: Period, policy: Policy, pins: Pins) -> Computed:
        key = str(period), policy.version
        if key not in found:
            found[key] = compute(project, period, policy, pins, step).kept()
        return found[key]

    return Means(ground_of, once)


def collected(project: Project, figures: Figures, version: str) -> list[Filled]:
    """All that stays as it is while the books do, and until the next hour."""
    now = int(time.time())
    found: list[Filled] = []
    success: dict[tuple[str, ...], Number] = {}
    for name, collect in collectors(project, figures, now).items():
        try:
            found += list(collect())
        except ApportionError as error:
            success[name,] = int(error.code in NOTHING_YET)
        except InvariantError:  # it is told by whatever shows that figure; here it is missed
            success[name,] = 0
        else:
            success[name,] = 1
    found += [Filled(known.SUCCESS, success), Filled(known.COLLECTED, {(): now}), Filled(known.BUILD, {(version,): 1})]
    return in_order(found)


def in_order(found: Iterable[Filled]) -> list[Filled]:
    return sorted(merged(found), key=lambda one: known.FAMILIES.index(one.family))


def collectors(project: Project, figures: Figures, now_s: int) -> Mapping[str, Callable[[], Iterable[Filled]]]:
    def zone() -> ZoneInfo:
        return ZoneInfo(project.policy.time_zone)

    def prices() -> Iterator[Filled]:
        told = figures.prices()
        yield from price_figures(told.curves, told.currency, datetime.fromtimestamp(now_s, zone()))

    some: dict[str, Callable[[], Iterable[Filled]]] = {
        "posted": lambda: posted_figures(newest(project, figures.read), whole=figures.whole),
        "estimate": lambda: estimated_figures(figures.estimate(), zone(), whole=figures.whole),
        "forecast": lambda: forecast_figures(figures),
        "pools": lambda: pool_figures(figures.pools(newest_month(project))),
        "prices": prices,
        "quotas": lambda: quota_figures([one for one in figures.quotas() if figures.sees(one.limit.team)]),
        "budgets": lambda: budget_figures(budgets_of(project, figures)),
    }
    if figures.whole:
        some |= {"sources": lambda: source_figures(project), "ledger": lambda: ledger_figures(project)}
    return some


def newest_month(project: Project) -> Period:
    """The newest posted; without one nothing is posted yet."""
    months = posted_periods(project)
    return parse_period(max(months)) if months else Period(today_of(project).year, today_of(project).month)


def newest(project: Project, read: Reading) -> Record:
    return read(project, [newest_month(project)], None)


def forecast_figures(figures: Figures) -> Iterator[Filled]:
    """Where the running month ends, of the teams that may be seen; without usage there is none."""
    period = figures.estimate().period
    ends = figures.ends(period)
    amounts = {} if ends is None else ends.amounts
    seen: dict[tuple[str, ...], Number] = {
        (str(period), team, unit): amount
        for (team, part, unit), amount in amounts.items()
        if not part and figures.sees(team)
    }
    yield Filled(known.PROJECTED, seen)


def budgets_of(project: Project, figures: Figures) -> dict[str, Sequence[Spending]]:
    found: dict[str, Sequence[Spending]] = {}
    if posted_periods(project):
        found[POSTED] = budgets(project, newest_month(project), figures.read, foresee=None)
    try:
        made = figures.estimate()
    except ApportionError:  # the estimate says so itself
        pass
    else:
        found[ESTIMATED] = spent_so_far(made, project.books.budgets.holding(str(made.period)))
    return {state: [one for one in some if figures.sees(one.budget.team)] for state, some in found.items()}


def source_figures(project: Project) -> Iterator[Filled]:
    windows, came = windows_of(project), brought(project)
    fresh = {one.name: freshness_of(one, windows.get(one.name, [])) for one in project.sources}
    yield Filled(known.REACH, {(one.source, one.kind): one.reaches_s for one in came})
    yield Filled(known.RECEIVED, {(one.source, one.kind): one.received_s for one in came})
    yield Filled(known.BEHIND, {(one.source, one.kind): one.behind * DAY_S for one in fresh.values()})
    yield Filled(known.MISSING, {(one.source, one.kind): one.missing * DAY_S for one in fresh.values()})
    rows: dict[tuple[str, ...], Number] = {
        (one.source, code): count for one in came for code, count in one.problems.items()
    }
    yield Filled(known.PROBLEMS, rows)
    yield Filled(known.HELD_BACK, {(one.source,): one.quarantined for one in came})


def ledger_figures(project: Project) -> Iterator[Filled]:
    runs = project.books.runs()
    counts = Counter(run.kind for run in runs)
    yield Filled(known.LEDGER, {(project.books.head(),): 1})
    yield Filled(known.RUNS, {(kind,): count for kind, count in sorted(counts.items())})
    last = {kind: max(run.posted_s for run in runs if run.kind == kind) for kind in sorted(counts)}
    yield Filled(known.LAST_RUN, {(kind,): second for kind, second in last.items()})


def moving(project: Project, looked: Looked | None) -> list[Filled]:
    """What moves on while the books stand still, so that it is read whenever somebody asks."""
    ended = {one.status: one.ended_s for one in project.books.rounds.all() if one.ended_s}
    found = [Filled(known.ROUND, {(status,): second for status, second in ended.items()})]
    if looked is not None:
        found += [Filled(known.VERIFIED, {(): looked.at_s}), Filled(known.FINDINGS, {(): looked.findings})]
    return merged(found)
