"""Whether a job fits in what is left of its team's quotas: asked before it is submitted."""

from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from zoneinfo import ZoneInfo

from apportion.errors import ProjectError
from apportion.model.meters import METERS
from apportion.model.numbers import parse_fraction
from apportion.model.times import Period
from apportion.policy.document import Policy
from apportion.reports.fit import MONEY, Fit, Need
from apportion.reports.held import HOUR_S
from apportion.verbs.asked import refuse_unknown, today_of
from apportion.verbs.project import Project
from apportion.verbs.settings import nearest
from apportion.verbs.standing import standing
from apportion.verbs.steps import Step, silent


def fit(
    project: Project, team: str, need: Need | str | int | Fraction, today: date | None = None, step: Step = silent
) -> Fit:
    """Whether so much fits today in what is left of every quota of a team.

    `need` as a number is in GPU-hours; `needed` makes one of another meter, or of money.
    """
    refuse_unknown(project, team)
    wanted = need if isinstance(need, Need) else needed(project, str(need))
    day = today or today_of(project)
    mine = tuple(one for one in standing(project, day, step) if one.limit.is_of(team))
    return Fit(team, wanted, day, mine)


@dataclass(frozen=True, slots=True)
class Where:
    """Where something is needed: a pool, a project of the team, a user; any where nothing is said."""

    pool: str = ""
    project: str = ""
    user: str = ""


ANYWHERE = Where()


def needed(project: Project, amount: str, of: str = "gpu", where: Where = ANYWHERE) -> Need:
    """`of` is a meter, `money` in the policy's currency, or what is counted: `gpu-hours`, `core-hours`, `GiB-hours`, `GiB-months`, `USD`."""
    number = read_amount(amount)
    policy = project.policy
    meter, each = measured(project, of)
    if where.pool and where.pool not in policy.pools:
        raise ProjectError(
            "unknown-pool", f"the policy has no pool {where.pool!r}", hint=nearest(where.pool, policy.pools, "pools")
        )
    return Need(number * each, meter, unit_of(meter, policy), where.pool, where.project, where.user)


def measured(project: Project, of: str) -> tuple[str, Fraction]:
    """The meter, or money, and how much of it one of these is."""
    policy = project.policy
    if of in (*METERS, MONEY):
        return of, Fraction(1)
    units = {f"{name}-hours": name for name, meter in METERS.items() if not meter.flow}
    units |= {"core-hours": "cpu", "gib-hours": "storage", "gib-months": "storage", policy.currency.lower(): MONEY}
    units |= {meter.unit.lower(): name for name, meter in METERS.items() if meter.flow and meter.unit != "GiB"}
    word = of.lower()
    if word not in units:
        known = [*METERS, MONEY, *units]
        raise ProjectError("unknown-meter", f"there is no meter {of!r}", hint=nearest(of, known, "meters, and units"))
    day = today_of(project)
    month = Period(day.year, day.month).interval(ZoneInfo(policy.time_zone))
    return units[word], Fraction(month.seconds, HOUR_S) if word == "gib-months" else Fraction(1)


def read_amount(text: str) -> Fraction:
    number = parse_fraction(text)
    if number < 0:
        raise ProjectError("negative-amount", f"nobody needs {text}", hint="write 0 or more, such as 512")
    return number


def unit_of(of: str, policy: Policy) -> str:
    if of == MONEY:
        return policy.currency
    return METERS[of].unit if METERS[of].flow else f"{METERS[of].unit}-hours"
