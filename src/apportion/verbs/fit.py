"""Whether a job fits in what is left of its team's quotas: asked before it is submitted."""

from datetime import date
from fractions import Fraction

from apportion.errors import ProjectError
from apportion.model.meters import METERS
from apportion.model.numbers import parse_fraction
from apportion.policy.document import Policy
from apportion.reports.fit import MONEY, Fit, Need
from apportion.verbs.budget import refuse_unknown, today_of
from apportion.verbs.project import Project
from apportion.verbs.settings import nearest
from apportion.verbs.standing import standing
from apportion.verbs.steps import Step, silent


def fit(
    project: Project, team: str, need: Need | str | int | Fraction, today: date | None = None, step: Step = silent
) -> Fit:
    """`need` as a number is in GPU-hours; `needed` makes one of another meter, or of money."""
    refuse_unknown(project, team)
    wanted = need if isinstance(need, Need) else needed(project, str(need))
    day = today or today_of(project)
    mine = tuple(one for one in standing(project, day, step) if one.limit.team == team)
    return Fit(team, wanted, day, mine)


def needed(project: Project, amount: str, of: str = "gpu", pool: str = "", part: str = "") -> Need:
    """`of` is a meter, or `money` in the policy's currency; `part` is a project of the team."""
    number = read_amount(amount)
    policy = project.policy
    if of not in (*METERS, MONEY):
        raise ProjectError(
            "unknown-meter", f"there is no meter {of!r}", hint=nearest(of, [*METERS, MONEY], "meters, and money")
        )
    if pool and pool not in policy.pools:
        raise ProjectError(
            "unknown-pool", f"the policy has no pool {pool!r}", hint=nearest(pool, policy.pools, "pools")
        )
    return Need(number, of, unit_of(of, policy), pool, part)


def read_amount(text: str) -> Fraction:
    number = parse_fraction(text)
    if number < 0:
        raise ProjectError("negative-amount", f"nobody needs {text}", hint="write 0 or more, such as 512")
    return number


def unit_of(of: str, policy: Policy) -> str:
    if of == MONEY:
        return policy.currency
    return METERS[of].unit if METERS[of].flow else f"{METERS[of].unit}-hours"
