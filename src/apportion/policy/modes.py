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
    """Both the team, on the month's first day, and the pool are in chargeback; a team that is not declared is not.

    The system's owners never are: whom `carried_by` names is charged for them.
    """
    if team in SYSTEM_OWNERS or policy.teams.get(team, Team()).mode_on(period.first_day) != CHARGEBACK:
        return False
    return pool not in policy.pools or policy.pools[pool].mode == CHARGEBACK


def borne_by(policy: Policy, period: Period, team: str, pool: str) -> Borne:
    """What a team is not charged goes to whom `carried_by` names, whatever that one's mode: charged where it can be, else carried only."""
    if charged(policy, period, team, pool):
        return Borne(team, charged=True)
    carrier = policy.carried_by.get(team if team in SYSTEM_OWNERS else SHOWBACK, "")  # type: ignore[call-overload]
    return Borne(carrier, charged=bool(carrier) and charged(policy, period, carrier, pool))
