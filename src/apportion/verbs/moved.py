"""Why each team owes another amount than the month before: what its statement says of that, without the rest of the statement."""

from dataclasses import dataclass

from apportion.model.currencies import MINOR_DIGITS, is_money
from apportion.model.times import Period
from apportion.reports.statement.beside import changed
from apportion.reports.statement.shape import Change
from apportion.reports.statement.sums import Sums, added, single
from apportion.verbs.held import Holding, held_in
from apportion.verbs.project import Project
from apportion.verbs.statement import BILLED, Wanted, issued
from apportion.verbs.stating.gather import moved
from apportion.verbs.stating.shelf import shelf_of


@dataclass(frozen=True, slots=True)
class Moved:
    """In whole minor units: `changes` add up to `owed` less `before`, which is None where nothing was posted the month before."""

    owner: str
    currency: str
    digits: int
    owed: int
    before: int | None
    changes: tuple[Change, ...]


def teams_moved(
    project: Project, period: Period, until_s: int | None = None, holding: Holding = held_in
) -> list[Moved]:
    """Of every team and currency of money: as it was issued when the month was closed, else as a statement would say it now."""
    closed = project.books.closed(str(period))
    if closed is not None and closed.documents and (until_s is None or closed.closed_s <= until_s):
        said = issued(project, closed, Wanted(period))
        return [Moved(one.owner, one.currency, one.digits, one.owed, one.before, one.changes) for one in said]
    shelf = shelf_of(project, until_s, holding)
    month, before = shelf.month(period), shelf.month(period.previous)
    if month is None:
        return []
    owed = added(month.placed, BILLED)
    past: Sums = {}
    sums: Sums = {}
    if before is not None:
        past, sums = added(before.placed, BILLED), added(moved(shelf, month, before), BILLED, ["driver", "pool"])
    return [
        Moved(
            "/".join(key[1:]),
            key[0],
            MINOR_DIGITS[key[0]],
            single(owed, key),
            None if before is None else single(past, key),
            changed(sums, key),
        )
        for key in sorted(owed)
        if is_money(key[0])
    ]
