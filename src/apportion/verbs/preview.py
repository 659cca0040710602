"""Rules to come, which the policy in force shows beside its own for some months (`preview`): found, and looked at before statements rest on them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from apportion.errors import ApportionError
from apportion.model.times import Period
from apportion.policy.document import Policy
from apportion.policy.load import load_policy
from apportion.policy.rules import Preview
from apportion.verbs.agreement import policy_for, short
from apportion.verbs.draft import draft, read_text
from apportion.verbs.plan import compute
from apportion.verbs.project import Project
from apportion.verbs.soundness import BAD, GOOD, NOTE, CheckLine
from apportion.verbs.world import pins_of

NO_BILL = "nothing-to-plan"


@dataclass(frozen=True, slots=True)
class Upcoming:
    """`policy` is None where it cannot be read, and `trouble` says why."""

    clause: Preview
    policy: Policy | None
    trouble: ApportionError | None = None

    @property
    def name(self) -> str:
        return short(self.policy) if self.policy else self.clause.source


def upcoming(project: Project, period: Period) -> Upcoming | None:
    """None where the policy in force for the month shows nothing beside."""
    try:
        clause = policy_for(project, period).preview
    except ApportionError:  # where no rule holds, none is shown beside it
        return None
    return read(project, clause) if clause is not None and clause.holds_in(period) else None


def read(project: Project, clause: Preview) -> Upcoming:
    try:
        text = draft(project, clause.draft).text if clause.draft else read_text(project.folder / clause.policy)
        return Upcoming(clause, load_policy(text, clause.source))
    except ApportionError as error:
        return Upcoming(clause, None, error)


def files_named(project: Project) -> list[Path]:
    """Those that the policy's preview rests on."""
    clause = project.policy.preview
    return [project.folder / clause.policy] if clause and clause.policy else []


def preview_findings(project: Project, month: Period | None) -> Iterator[CheckLine]:
    """Of the policy file: what it shows beside, when, and whether that can be read, follows without a gap, and can be applied to the month."""
    clause = project.policy.preview
    if clause is None:
        return
    found, edit = read(project, clause), f"edit `preview` in {project.policy.file}"
    if found.policy is None:
        wrong = found.trouble or ApportionError("no-policy-file", "it cannot be read")
        where = f" ({wrong.where})" if wrong.where else ""
        yield CheckLine(BAD, "preview", f"{clause.source}: {wrong.message}{where} [{wrong.code}]", wrong.hint or edit)
        return
    shown = (
        f"{found.name} of {clause.source} is shown beside the rules in force from {clause.from_} until {clause.until}"
    )
    yield CheckLine(GOOD, "preview", shown)
    begins, after = found.policy.effective, clause.until.next.first_day
    if begins != after:
        yield CheckLine(
            NOTE,
            "preview",
            f"it takes effect on {begins}, and is shown until {clause.until}",
            f"{edit}, or leave it if it is meant",
        )
    if found.policy.version == project.policy.version:
        yield CheckLine(NOTE, "preview", "it says what the policy in force says", edit)
    if month is not None and clause.holds_in(month) and (error := trouble_in(project, month, found.policy)):
        yield CheckLine(BAD, "preview", f"{found.name} in {month}: {error.message} [{error.code}]", error.hint or edit)


def trouble_in(project: Project, month: Period, policy: Policy) -> ApportionError | None:
    """Why a month cannot be computed by rules to come; a month without a bill asks nothing of them."""
    try:
        compute(project, month, policy, pins_of(project))
    except ApportionError as error:
        return None if error.code == NO_BILL else error
    return None
