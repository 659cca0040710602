"""Which policy holds for a period: the newest whose `effective` day is not after the period's first.

Policies are kept in the books by content hash. The file on disk is a candidate like any other, and wins against a stored one of the same day,
since editing it is how people change their mind about an open period.
"""

from contextlib import suppress

from apportion.errors import ApportionError, PolicyError, ProjectError
from apportion.model.times import Period
from apportion.policy.document import Policy
from apportion.policy.load import load_policy
from apportion.verbs.project import Project


def policy_for(project: Project, period: Period) -> Policy:
    """A closed month keeps the one that it was closed with."""
    closed = project.books.closed_by(str(period))
    if closed is not None:
        return policy_of_version(project, closed)
    current = project.policy
    stored = project.books.policy_for(period)
    in_force = current.effective <= period.first_day
    if in_force and (stored is None or stored.effective <= current.effective.isoformat()):
        return current
    if stored is None:
        raise ProjectError(
            "no-policy-in-force",
            f"no policy is in force on {period.first_day}: {current.name} begins on {current.effective}",
            where=f"{current.file}:{current.line('effective')}",
            hint=f"set `effective: {period.first_day}` or earlier, or plan a later period",
        )
    return load_policy(stored.text, stored.file)


def policy_of_version(project: Project, version: str) -> Policy:
    """The rules that a run was computed with; from the file on disk where it says the same, since its lines are the ones that people see."""
    with suppress(ApportionError):  # a file that is being edited says nothing about what was posted
        if project.policy.version == version:
            return project.policy
    for stored in project.books.policies():
        if stored.version == version:
            return load_policy(stored.text, stored.file)
    raise PolicyError("unknown-policy", f"the books hold no policy {version[:12]}", hint="run `apportion verify`")


def keep(project: Project, policy: Policy) -> None:
    project.books.save_policy(policy.version, policy.text, policy.file, policy.name, policy.effective)


def basis_of(policy: Policy) -> str:
    """Which cost the figures are, such as `effective`; pools that count another are named."""
    others = [
        f"{pool.basis} in pool {name}" for name, pool in policy.pools.items() if pool.basis not in (None, policy.basis)
    ]
    return ", ".join([f"{policy.basis} cost", *others])


def short(policy: Policy) -> str:
    """`research-cluster@1a2b3c4d5e6f`."""
    return f"{policy.name}@{policy.version[:12]}"
