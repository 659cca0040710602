"""The plan: one QOS per team that counts without decay, limited to what Slurm has counted plus what is left of the quota. Pure.

A quota on GPUs of a type is passed by asking for no type, so the limit is on `gres/gpu` as such. Whatever a plan changes it says with the value before.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from fractions import Fraction
from hashlib import sha256

from apportion.reports.quotas import Used
from apportion.reports.words import counted
from apportion.verbs.enforcing import slurm
from apportion.verbs.enforcing.slurm import Change, Standing

PREFIX = "apportion-"
RUNGS = ("free", "warn", "demote", "cap", "deny", "no submit")
DAY_HOURS, HOUR_MINUTES = 24, 60
NO_DECAY, DENY = "NoDecay", "DenyOnLimit"
NEEDED = {
    "associations": "jobs without an account pass",
    "limits": "no limit is enforced",
    "qos": "a QOS limits nothing",
    "safe": "jobs start that the quota cannot pay to their end, and are killed when it runs out",
}


@dataclass(frozen=True, slots=True)
class Rung:
    """A team's quota that has least left, and how far up the ladder it is: a rung for each of its marks that is reached."""

    team: str
    qos: str
    used: Used
    accounts: tuple[str, ...]
    limit: int  # GPU-minutes as Slurm counts them

    @property
    def name(self) -> str:
        return RUNGS[min(len(self.used.marks), len(RUNGS) - 1)]

    def reached(self, name: str) -> bool:
        return len(self.used.marks) >= RUNGS.index(name)


@dataclass(frozen=True, slots=True)
class Plan:
    """`digest` is over what is changed, with the values before: it is applied as it was shown, or not at all."""

    cluster: str
    changes: tuple[Change, ...]
    rungs: tuple[Rung, ...] = ()
    warnings: tuple[str, ...] = ()
    undo: bool = False

    @property
    def text(self) -> str:
        said = {"cluster": self.cluster, "undo": self.undo, "changes": [asdict(one) for one in self.changes]}
        return json.dumps(said, indent=1, sort_keys=True)

    @property
    def digest(self) -> str:
        return sha256(self.text.encode()).hexdigest()[:16]


def plan_of_text(text: str) -> Plan:
    said = json.loads(text)
    return Plan(said["cluster"], tuple(Change(**one) for one in said["changes"]), undo=said["undo"])


def planned(found: Sequence[Used], accounts: Mapping[str, str], now: Standing, today: date, demote: str = "") -> Plan:
    """`found` are quotas in GPU-hours of whole teams, `accounts` says whose each account is."""
    rungs = tuple(rungs_of(found, accounts, now))
    changes = [change for rung in rungs for change in qos_changes(rung, now, today)]
    changes += [change for rung in rungs for change in account_changes(rung, now, demote)]
    return Plan(now.cluster, tuple(changes), rungs, tuple(warnings(rungs, now, demote)))


def rungs_of(found: Sequence[Used], accounts: Mapping[str, str], now: Standing) -> Iterator[Rung]:
    for team in dict.fromkeys(one.limit.team for one in found):
        least = min((one for one in found if one.limit.team == team), key=lambda one: one.left)
        name = qos_name(team)
        mine = tuple(sorted(account for account, owner in accounts.items() if owner == team))
        left = max(Fraction(0), least.left) * HOUR_MINUTES * now.factors.get(name, Fraction(1))
        yield Rung(team, name, least, mine, now.used.get(name, 0) + int(left))


def qos_name(team: str) -> str:
    """Slurm's names are in small letters; a name that had to be changed says so by its end, so that no two teams share one."""
    plain = re.sub(r"[^a-z0-9_.-]", "-", team.casefold())
    return PREFIX + (plain if plain == team else f"{plain}-{sha256(team.encode()).hexdigest()[:6]}")


def qos_changes(rung: Rung, now: Standing, today: date) -> Iterator[Change]:
    if not rung.accounts:
        return
    flags = set(filter(None, now.qos.get(rung.qos, {}).get(slurm.FLAGS, "").split(","))) - {DENY}
    flags |= {NO_DECAY, DENY} if rung.reached("deny") else {NO_DECAY}
    wanted = {
        slurm.FLAGS: ",".join(sorted(flags)),
        slurm.MINUTES: str(rung.limit),
        slurm.AT_ONCE: str(pace(rung.used, today)) if rung.reached("cap") else "",
        slurm.SUBMITTED: "0" if rung.reached("no submit") else "",
    }
    yield from differing(slurm.QOS, rung.qos, now.set_of(slurm.QOS, rung.qos, list(wanted)), wanted)


def pace(used: Used, today: date) -> int:
    """So many GPUs at once as last until the window ends; one at least."""
    hours = ((used.last - today).days + 1) * DAY_HOURS
    return max(1, int(used.left / hours))


def account_changes(rung: Rung, now: Standing, demote: str) -> Iterator[Change]:
    """New jobs go to the team's QOS, or where it is demoted to the other one, which the account may use then too."""
    lower = demote if rung.reached("demote") and demote in now.qos else ""
    for own in filter(None, map(now.account, rung.accounts)):
        sign = "" if own.is_assigned else "+"
        new = [sign + qos for qos in filter(None, (rung.qos, lower)) if qos not in own.allowed]
        members = ",".join(slurm.entries(",".join([own.members, *new])))
        wanted = {slurm.MEMBERS: members, slurm.DEFAULT: lower or rung.qos}
        yield from differing(slurm.ACCOUNT, own.account, now.set_of(slurm.ACCOUNT, own.account, list(wanted)), wanted)


def differing(kind: str, name: str, before: Mapping[str, str] | None, after: Mapping[str, str]) -> Iterator[Change]:
    if before is None:
        yield Change(kind, name, None, dict(after))
        return
    keys = [key for key, value in after.items() if before.get(key, "") != value]
    if keys:
        yield Change(kind, name, {key: before.get(key, "") for key in keys}, {key: after[key] for key in keys})


def undoing(applied: Sequence[Plan], now: Standing) -> Plan:
    """Back to the values before the first of these plans: accounts first, then what was set of each QOS or made."""
    first: dict[tuple[str, str], dict[str, str] | None] = {}
    for change in (change for plan in applied for change in plan.changes):
        key = (change.kind, change.name)
        known = first.setdefault(key, None if change.before is None else {})
        if known is not None:
            first[key] = {**(change.before or {}), **known}
    changes = [one for key, values in sorted(first.items()) for one in returning(*key, values, now)]
    return Plan(now.cluster, tuple(changes), warnings=tuple(orphaned(changes, now)), undo=True)


def returning(kind: str, name: str, values: Mapping[str, str] | None, now: Standing) -> Iterator[Change]:
    before = now.set_of(kind, name, list(values or now.qos.get(name, {})))
    if before is not None and values is not None:
        yield from differing(kind, name, before, values)
    elif before is not None:
        yield Change(kind, name, before, None)


def orphaned(changes: Sequence[Change], now: Standing) -> Iterator[str]:
    for change in changes:
        jobs = now.jobs.get(change.name, 0)
        if change.after is None and jobs:
            yield f"{counted(jobs, 'job')} of QOS {change.name} would be left without it: cancel them or give them another first"


def is_done(change: Change, now: Standing) -> bool:
    return stands_as(change, change.after, now)


def is_due(change: Change, now: Standing) -> bool:
    return stands_as(change, change.before, now)


def stands_as(change: Change, values: Mapping[str, str] | None, now: Standing) -> bool:
    """Whether all that a change is about has these values now."""
    found = now.set_of(change.kind, change.name, list(values or {}))
    return found == (None if values is None else dict(values))


def warnings(rungs: Sequence[Rung], now: Standing, demote: str) -> Iterator[str]:
    """What lets jobs pass the limits."""
    enforced = set(now.config.get("AccountingStorageEnforce", "").split(","))
    for word, why in NEEDED.items():
        if word not in enforced and "all" not in enforced:
            yield f"AccountingStorageEnforce lacks {word}: {why}"
    if now.config.get("PriorityType") != "priority/multifactor":
        yield "PriorityType is not priority/multifactor: Slurm counts no use, so no limit is ever reached"
    if slurm.GPU not in now.config.get("AccountingStorageTRES", "").split(","):
        yield "AccountingStorageTRES lacks gres/gpu: GPUs are not counted"
    for rung in rungs:
        yield from passing(rung, now)
        if rung.reached("demote"):
            yield demoted(rung, now, demote)


def passing(rung: Rung, now: Standing) -> Iterator[str]:
    if not rung.accounts:
        yield f"{rung.team}: the policy gives it no account of {now.cluster}, so nothing is enforced"
    if rung.qos in now.qos and rung.qos not in now.used:
        yield f"{rung.team}: Slurm does not say what it counted for {rung.qos}, so the limit is what is left alone"
    for one in (one for one in now.associations if one.account in rung.accounts):
        others = sorted(one.allowed - {rung.qos})
        if one.user and one.is_assigned:
            yield f"{rung.team}: {one.user} of {one.account} has a list of QOS of its own, to which {rung.qos} must be added by hand"
        if one.user and others:
            yield f"{rung.team}: {one.user} of {one.account} may pass with --qos={others[0]}"
        keys = slurm.tres(one.minutes)
        who = f"{rung.team}: {one.user + ' of ' if one.user else 'account '}{one.account}"
        if keys:
            yield f"{who} has GrpTRESMins of its own, whose count decays (PriorityDecayHalfLife)"
        if keys and slurm.GPU not in keys and any(key.startswith((f"{slurm.GPU}:", "billing")) for key in keys):
            yield f"{who} is limited by GPU type or billing alone, which a request without a type passes"


def demoted(rung: Rung, now: Standing, demote: str) -> str:
    if demote in now.qos:
        return (
            f"{rung.team}: what runs in {demote} is counted here after the next ingest, not by the limit of {rung.qos}"
        )
    missing = f"there is no QOS {demote}" if demote else "no QOS is named by --demote"
    return f"{rung.team}: {missing}, so it is not demoted"
