"""What the evidence says of runs: read again when it is another, not whenever something is posted."""

from collections.abc import Hashable

import pyarrow as pa
import pyarrow.compute as pc

from apportion.reports.account import TOP
from apportion.reports.report import Record
from apportion.verbs.charged import charged_runs, leading
from apportion.verbs.search import Catalogue, Named, catalogue, named_work
from apportion.web.ask import Ask
from apportion.web.desk import Desk


def standing(desk: Desk) -> tuple[Hashable, ...]:
    """Another whenever a run may have another name or owner, or be charged another amount."""

    def read() -> tuple[Hashable, ...]:
        books = desk.books
        rules = (desk.project.policy.version, *(one.version for one in books.policies()), *books.closed_periods())
        return books.snapshot("charges"), books.snapshot("workloads"), rules, books.erasures()

    return desk.kept("where runs stand", read)


def named(desk: Desk) -> Named:
    return desk.lasting(("named work", standing(desk)), lambda: named_work(desk.project))


def known_names(ask: Ask) -> Catalogue:
    """Every name that the viewer may see."""
    desk = ask.desk
    whole = desk.kept("catalogue", lambda: catalogue(desk.project, named(desk)))
    return desk.kept(("catalogue", ask.viewer.teams), lambda: whole.within(ask.viewer.teams))


def full_name(ask: Ask, what: str) -> str:
    """Of a job that is asked for by the id that its scheduler writes, where the viewer may see one such job and no other."""
    run = known_names(ask).run_of(what.removeprefix("job:"))
    return f"job:{run}" if run else what


def known_owners(ask: Ask) -> pa.Table:
    """The owners among them, without the runs."""
    whole = ask.desk.kept("owners", ask.project.books.owners)
    return whole if ask.viewer.teams is None else theirs(ask, whole)


def costly_runs(ask: Ask) -> pa.Table:
    """Of the viewer's teams: the runs of a month that were charged most to any of their owners."""
    desk, month, until_s = ask.desk, ask.month, ask.until_s
    bills = currencies(desk.record(ask.project, [month], until_s))
    at = None if until_s is None else desk.books.charges_then(until_s)
    key = ("costly runs", str(month), at, *sorted(bills.items()), standing(desk))
    found = desk.lasting(key, lambda: leading(charged_runs(ask.project, month, bills, at), TOP))
    return found if ask.viewer.teams is None else theirs(ask, found)


def currencies(record: Record) -> dict[str, str]:
    """Of each bill."""
    rows = record.posted.select(["bill", "currency"]).group_by(["bill", "currency"]).aggregate([])
    return dict(zip(rows["bill"].to_pylist(), rows["currency"].to_pylist(), strict=True))


def shared(ask: Ask, runs: set[str]) -> set[str]:
    """Those of some runs that are also of teams which the viewer does not see."""
    if ask.viewer.teams is None:
        return set()
    _, teams = named(ask.desk)
    some = teams.filter(pc.is_in(teams["run"], pa.array(sorted(runs), pa.string()))).to_pylist()
    return {str(row["run"]) for row in some if row["team"] not in ask.viewer.teams}


def theirs(ask: Ask, rows: pa.Table) -> pa.Table:
    return rows.filter(pc.is_in(rows["team"], pa.array(sorted(ask.viewer.teams or ()), pa.string())))
