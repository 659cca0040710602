"""The review of a month: its findings in an order to read them, and how each pool was held."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from apportion.model.result import Result
from apportion.reports.report import Cell, Column
from apportion.reports.review.finding import Pattern
from apportion.reports.words import counted

INDEX = (
    Column("key", "finding"),
    Column("amount", "amount", "price", quiet=True),
    Column("currency", "in", quiet=True),
    Column("draft", "draft", quiet=True),
    Column("what", "what"),
    Column("do", "do", quiet=True),
)
ALONE = "Nothing is posted for {before}, so nothing is said about drift, and about owners that are new or vanished."


@dataclass(frozen=True, slots=True)
class Drafted:
    """A finding, and the policy as it would be: its whole `text` and how that differs from the file. Both empty where no edit is safe."""

    finding: Pattern
    text: str = ""
    diff: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Review(Result):
    """`before` is the month compared with, "" where nothing is posted for it. `profiles`: a row for each pool, by `profile.COLUMNS`."""

    period: str
    before: str
    found: tuple[Drafted, ...]
    profiles: tuple[tuple[Cell, ...], ...]
    head: str
    policies: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        against = f" against {self.before}" if self.before else ""
        if not self.found:
            return f"Nothing in {self.period}{against} calls for a change."
        drafts = sum(bool(one.diff) for one in self.found)
        return f"{counted(len(self.found), 'finding')} in {self.period}{against}, {counted(drafts, 'draft')} ready."


def told_apart(findings: Sequence[Pattern]) -> list[Pattern]:
    """Of several currencies a finding may come twice: the later are told by theirs."""
    seen: set[str] = set()
    out = []
    for one in findings:
        own = replace(one, about=(*one.about, one.currency)) if one.key in seen else one
        seen.add(own.key)
        out.append(own)
    return out
