"""What the bills of the months that were asked for say, for the pages that compare it with what is posted. Of no single team."""

from apportion.model.times import Period
from apportion.verbs.billed import Billed, Reading, billed, lines_counted
from apportion.web.ask import Ask
from apportion.web.desk import Desk
from apportion.web.viewer import Deed


def said(ask: Ask) -> tuple[Billed, ...]:
    ask.require(Deed.whole)
    return tuple(one for month in ask.months for one in said_of(ask, month))


def said_of(ask: Ask, month: Period) -> tuple[Billed, ...]:
    key = ("billed", str(month), ask.until_s)
    return ask.desk.kept(key, lambda: billed(ask.project, month, ask.until_s, lines_kept(ask.desk)))


def lines_kept(desk: Desk) -> Reading:
    """The lines that a plan rests on stay what they are: a large bill is read once."""
    return lambda project, period, plan: desk.lasting(
        ("lines counted", plan.run_id), lambda: lines_counted(project, period, plan)
    )
