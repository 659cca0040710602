"""Advice as pages and API ask for it: of one month, over what the viewer may see, kept as all answers are."""

from collections.abc import Sequence

from apportion.reports.report import Report
from apportion.verbs.advise import advise_from, month_before, realised_from
from apportion.verbs.periods import as_period
from apportion.web.ask import Ask


def teams_of(ask: Ask) -> tuple[str, ...]:
    """Filters of other dimensions do not tell who can act."""
    return tuple(one for one in ask.filters if one.startswith("team="))


def advised(ask: Ask, kinds: Sequence[str] = ()) -> Report:
    where = teams_of(ask)
    key = ("advice", str(ask.month), where, tuple(kinds), ask.viewer.teams)
    return ask.desk.kept(key, lambda: advise_from(ask.record, ask.project, ask.month, where, kinds))


def followed(ask: Ask, since: str = "") -> Report:
    """What became of the advice of an earlier month: the posted one before, unless told."""
    first = as_period(since) if since else month_before(ask.project, ask.month)
    where = teams_of(ask)
    key = ("realised", str(first), str(ask.month), where, ask.viewer.teams)
    return ask.desk.kept(key, lambda: realised_from(ask.record, ask.project, (first, ask.month), where))
