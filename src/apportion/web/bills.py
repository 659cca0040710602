"""What the bills of the months that were asked for say, for the pages that compare it with what is posted. Of no single team."""

from apportion.model.times import Period
from apportion.verbs.billed import Billed, billed
from apportion.web.accounts import until_s
from apportion.web.ask import Ask
from apportion.web.viewer import Deed


def said(ask: Ask) -> tuple[Billed, ...]:
    ask.require(Deed.whole)
    return tuple(one for month in ask.months for one in said_of(ask, month))


def said_of(ask: Ask, month: Period) -> tuple[Billed, ...]:
    until = until_s(ask)
    return ask.desk.kept(("billed", str(month), until), lambda: billed(ask.project, month, until))
