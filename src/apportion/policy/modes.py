"""Who is charged: told what it owes (showback) or billed for it (chargeback), by the team's mode, the pool's, and who carries the rest."""

from dataclasses import dataclass

from apportion.model.rows import SYSTEM_OWNERS
from apportion.model.times import Period
from apportion.policy.document import Policy
from apportion.policy.rules import Team

SHOWBACK, CHARGEBACK = "showback", "chargeback"


@dataclass(frozen=True, slots=True)
class Borne:
    """Whose account a charge goes to in the end; `team` is empty where nobody is named, and the central account takes it."""

    team: str
    charged: bool


def charged(policy: Policy, period: Period, team: str, pool: str) -> bool:
    """Both the team, by its mode on the month's first day, and the pool are in chargeback.

    A team that is not declared is shown its cost alone, and the system's owners are never charged: whom `carried_by` names is.
    """
    mode = policy.teams.get(team, Team()).mode_on(period.first_day)
    return mode == CHARGEBACK and (pool not in policy.pools or policy.pools[pool].mode == CHARGEBACK)


def borne_by(policy: Policy, period: Period, team: str, pool: str) -> Borne:
    """What a team is not charged goes to whom `carried_by` names, and is charged to that one."""
    if charged(policy, period, team, pool):
        return Borne(team, charged=True)
    carrier = policy.carried_by.get(team if team in SYSTEM_OWNERS else SHOWBACK, "")  # type: ignore[call-overload]
    return Borne(carrier, charged=bool(carrier))
