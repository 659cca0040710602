"""Where a charge is booked: who bears it, on which cost centre and account, by the journal's mapping."""

from dataclasses import dataclass

from apportion.model.times import Period
from apportion.policy.document import Policy
from apportion.policy.finance import CLEARING, OTHERWISE
from apportion.policy.match import Glob
from apportion.policy.modes import borne_by
from apportion.policy.rules import Team


@dataclass(frozen=True, slots=True)
class Charge:
    """What is booked, without its amount: whose it is, and what for."""

    cost_centre: str
    department: str
    team: str
    pool: str
    component: str
    reason: str


@dataclass(frozen=True, slots=True)
class Place:
    """`team` is who bears it, empty where nobody does."""

    team: str
    charged: bool
    cost_centre: str
    account: str


def place_of(policy: Policy, period: Period, charge: Charge) -> Place:
    borne, journal = borne_by(policy, period, charge.team, charge.pool), policy.journal
    if not borne.team:
        return Place("", charged=False, cost_centre=journal.central.cost_centre, account=journal.central.account)
    account = journal.reasons.get(charge.reason) or journal.accounts.get(
        charge.component, journal.accounts.get(OTHERWISE, charge.component)
    )
    return Place(borne.team, borne.charged, _cost_centre(policy, borne.team, charge), account)


def _cost_centre(policy: Policy, bearer: str, charge: Charge) -> str:
    """The charge itself says where its own team stood; a carrier stands where the policy says."""
    team = policy.teams.get(bearer, Team())
    own = (team.cost_centre, team.department)
    cost_centre, department = (charge.cost_centre, charge.department) if bearer == charge.team else own
    codes = policy.journal.cost_centres
    listed = (codes[name] for name in (bearer, cost_centre, department) if name in codes)
    return next(listed, cost_centre or policy.journal.central.cost_centre)


def clearing_of(policy: Policy, bill: str) -> str:
    """The first glob that matches the bill's name."""
    accounts = policy.journal.clearing
    named = (account for glob, account in accounts.items() if glob != OTHERWISE and Glob(glob).matches(bill))
    return next(named, accounts.get(OTHERWISE, CLEARING))
