"""Slurm's own limits: what is set now, in its own words, and the words that change it. Only here are its commands called."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from apportion.model.numbers import parse_fraction
from apportion.sources.outside.command import Shell
from apportion.sources.slurm.asked import config, text

QOS, ACCOUNT = "qos", "account"
MINUTES, AT_ONCE, SUBMITTED, FLAGS = "GrpTRESMins=gres/gpu", "GrpTRES=gres/gpu", "GrpSubmitJobs", "Flags"
MEMBERS, DEFAULT = "QOS", "DefaultQOS"
GPU = "gres/gpu"
USED = re.compile(r"^QOS=(\S+)\(\d+\) .*? GrpTRESMins=\S*?(?<![^,=])gres/gpu=(?:N|\d+)\((\d+)\)")


@dataclass(frozen=True, slots=True)
class Change:
    """What is set of one QOS or account. `before` is None where it is to be made, `after` where it is to be taken away; a value of "" is not set."""

    kind: str
    name: str
    before: Mapping[str, str] | None
    after: Mapping[str, str] | None

    @property
    def commands(self) -> tuple[tuple[str, ...], ...]:
        """Words of sacctmgr. What an account may use grows before its default is set, and shrinks after that."""
        if self.after is None:
            return (("delete", self.kind, self.name),)
        if self.before is None:
            return (("add", self.kind, self.name, *(f"{key}={value}" for key, value in self.after.items() if value)),)
        lists = list(relisted(self.before[MEMBERS], self.after[MEMBERS])) if MEMBERS in self.after else []
        others = [f"{key}={value or '-1'}" for key, value in self.after.items() if key != MEMBERS]  # -1 unsets
        sets = [[one] for one in lists] + ([others] if others else [])
        if lists and "+=" not in lists[0]:
            sets.reverse()
        return tuple(("modify", self.kind, "where", f"name={self.name}", "set", *some) for some in sets)


def relisted(before: str, after: str) -> Iterator[str]:
    """A list of QOS is an account's own (`a,b`), or its parent's with some more or less (`+a,-b`). Taking one out by -= would leave a `-`
    that was not there, so what is to shrink is set anew.
    """
    had, wanted = set(entries(before)), entries(after)
    if not had <= set(wanted):
        yield f"{MEMBERS}={','.join(one for one in wanted if one[0] not in '+-')}"
        had = {one for one in wanted if one[0] not in "+-"}
    new = [one for one in wanted if one not in had]
    for sign in "+-":
        names = [one.lstrip("+-") for one in new if one.startswith("-") is (sign == "-")]
        if names:
            yield f"{MEMBERS}{sign}={','.join(names)}"


def entries(said: str) -> list[str]:
    return sorted(filter(None, said.split(",")))


@dataclass(frozen=True, slots=True)
class Association:
    """An account's, or a user's within it. `allowed` is what may be used in the end, the rest only what is set here."""

    account: str
    user: str
    allowed: frozenset[str]
    default: str
    minutes: str
    members: str = ""

    @property
    def is_assigned(self) -> bool:
        """The list of QOS is its own, not that of the account with some more or less."""
        return bool(self.members) and self.members[0] not in "+-"


@dataclass(frozen=True, slots=True)
class Standing:
    """A cluster as it is set now. `used` are GPU-minutes by QOS, as Slurm counts them."""

    cluster: str
    config: Mapping[str, str]
    qos: Mapping[str, Mapping[str, str]]
    factors: Mapping[str, Fraction]
    associations: tuple[Association, ...]
    used: Mapping[str, int] = field(default_factory=dict)
    jobs: Mapping[str, int] = field(default_factory=dict)

    def set_of(self, kind: str, name: str, keys: Sequence[str]) -> dict[str, str] | None:
        """What is set of these; None where there is no such thing."""
        if kind == QOS:
            return {key: self.qos[name].get(key, "") for key in keys} if name in self.qos else None
        own = self.account(name)
        values = {MEMBERS: own.members, DEFAULT: own.default} if own else {}
        return {key: values[key] for key in keys} if own else None

    def account(self, name: str) -> Association | None:
        return next((one for one in self.associations if (one.account, one.user) == (name, "")), None)

    @property
    def accounts(self) -> list[str]:
        return sorted({one.account for one in self.associations if not one.user and one.account != "root"})


def ask(shell: Shell) -> Standing:
    """All of it, or the first failure: nothing is planned on half an answer."""
    settings = config(shell)
    cluster = settings.get("ClusterName", "")
    qos = text(
        shell, "sacctmgr", "-n", "-P", "show", "qos", "format=Name,Flags,GrpTRESMins,GrpTRES,GrpSubmit,UsageFactor"
    )
    among = ("sacctmgr", "-n", "-P", "show", "assoc", f"cluster={cluster}")
    own = text(shell, *among, "WOPLimits", "WithRawQOSLevel", "format=Account,User,DefaultQOS,GrpTRESMins,QOS")
    allowed = text(shell, *among, "format=Account,User,QOS")
    used = text(shell, "scontrol", "-o", "show", "assoc_mgr", "flags=qos")
    waiting = text(shell, "squeue", "-h", "-a", "-o", "%q")
    return standing_of(settings, {"qos": qos, "own": own, "allowed": allowed, "used": used, "jobs": waiting})


def standing_of(settings: Mapping[str, str], said: Mapping[str, str]) -> Standing:
    """From what the commands printed."""
    cells = [line.split("|") for line in said["qos"].splitlines() if line]
    jobs = said["jobs"].split()
    return Standing(
        settings.get("ClusterName", ""),
        settings,
        {row[0]: qos_of(row) for row in cells},
        {row[0]: parse_fraction(row[5] or "1") for row in cells},
        tuple(associations(said["own"], said["allowed"])),
        {found[1]: int(found[2]) for line in said["used"].splitlines() if (found := USED.match(line))},
        {name: jobs.count(name) for name in set(jobs)},
    )


def qos_of(row: Sequence[str]) -> dict[str, str]:
    _, flags, minutes, at_once, submitted, *_ = row
    return {
        FLAGS: ",".join(entries(flags)),
        MINUTES: tres(minutes).get(GPU, ""),
        AT_ONCE: tres(at_once).get(GPU, ""),
        SUBMITTED: submitted,
    }


def tres(said: str) -> dict[str, str]:
    pairs = (entry.partition("=") for entry in said.split(",") if entry)
    return {name: count for name, _, count in pairs}


def associations(own: str, allowed: str) -> list[Association]:
    may = {
        tuple(row[:2]): frozenset(filter(None, row[2].split(","))) for row in map(split, allowed.splitlines()) if row
    }
    return [
        Association(account, user, may.get((account, user), frozenset()), default, minutes, ",".join(entries(raw)))
        for account, user, default, minutes, raw in map(split, filter(None, own.splitlines()))
    ]


def split(line: str) -> list[str]:
    return line.split("|")


def carry_out(shell: Shell, change: Change) -> None:
    """At once and without a question (-i)."""
    for words in change.commands:
        shell.run(["sacctmgr", "-i", "-Q", *words])
