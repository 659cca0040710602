"""What a run cost, for pages and API alike: told to those who may see all of its owners."""

from dataclasses import replace

import pyarrow as pa

from apportion.books.shapes import PLAN
from apportion.reports.cost import Cost, Decided
from apportion.verbs.cost import cost
from apportion.web.ask import Ask, NotThereError
from apportion.web.work import known_names


def seen_cost(ask: Ask, name: str, month: str = "") -> Cost:
    """Of all its months, or its part of one. Where any owner in any month is not theirs to see, it is not there."""
    run = known_names(ask).run_of(name)
    whole = None if run is None else kept_cost(ask, run)
    if run is None or whole is None or not all(map(ask.viewer.sees, whole.teams)):
        raise NotThereError("such run")
    return discreet(ask, kept_cost(ask, run, month) if month else whole)


def discreet(ask: Ask, found: Cost) -> Cost:
    """Who is on the other side of a decision is said as `/adjustments` says it, and why only to those who may know."""
    return replace(found, decided=tuple(told(ask, one) for one in found.decided))


def told(ask: Ask, one: Decided) -> Decided:
    owner, other = (ask.called(name) for name in (one.owner, one.other))
    return replace(one, owner=owner, other=other, why=one.why if (owner, other) == (one.owner, one.other) else "")


def kept_cost(ask: Ask, run: str, month: str = "") -> Cost:
    """The postings that all runs of a month share are kept once for all of them."""
    project, desk = ask.project, ask.desk

    def posted(one: str) -> pa.Table:
        return desk.kept(("planned postings", one), lambda: project.books.posted(one, kinds=[PLAN]))

    return desk.kept(("cost", run, month), lambda: cost(project, run, month or None, posted=posted))
