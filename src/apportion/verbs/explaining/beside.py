"""What stands beside a computed figure, in the headline: corrections and decisions booked in its month, and what changed of it since."""

from collections.abc import Sequence

from apportion.reports.bridge import bridges
from apportion.verbs.explaining.amounts import Sums, added, amounts
from apportion.verbs.explaining.target import Target
from apportion.verbs.explaining.transfers import DecidedPart, sums_decided, transfer_parts
from apportion.verbs.minor_units import read_posted
from apportion.verbs.periods import as_period
from apportion.verbs.project import Project
from apportion.verbs.report import carriers, policies_posted


def parts_of(project: Project, target: Target, period: str) -> list[DecidedPart]:
    """What decisions move of a team; inside a pool they add up to nothing."""
    return transfer_parts(project, target.name, as_period(period)) if target.kind == "team" else []


def beside(period: str, own: Sums, corrections: Sequence[Sums], parts: Sequence[DecidedPart]) -> str:
    """What is booked in the month beside what was computed of it, and what it comes to in all."""
    decisions = sums_decided(part for part in parts if part.run.period == period)
    if not corrections and not decisions:
        return ""
    kinds = [name for name, some in (("corrections", corrections), ("decisions", decisions)) if some]
    more = added([*corrections, *decisions])
    return f" {' and '.join(kinds).capitalize()} booked in {period} come to {amounts(more)} beside that, {amounts(added([own, more]))} in all."


def now(period: str, own: Sums, corrections: Sequence[Sums], parts: Sequence[DecidedPart]) -> str:
    """What of the month was booked in later ones, and what the month comes to with that."""
    later = [*corrections, *sums_decided(part for part in parts if part.run.period != period)]
    if not later:
        return ""
    decided = sums_decided(part for part in parts if part.run.period == period and part.run.about in ("", period))
    return f" Corrected since by {amounts(added(later))}: {amounts(added([own, *decided, *later]))} now."


def on_statement(project: Project, target: Target, period: str) -> str:
    """What a team's statement comes to beside what it owes, where it carries something for the system's owners."""
    if target.kind != "team":
        return ""
    month = as_period(period)
    found = bridges(read_posted(project, period), carriers(project, policies_posted(project, [month]), month))
    return "".join(f" Its statement: {text}." for (team, _), text in found.items() if team == target.name)
