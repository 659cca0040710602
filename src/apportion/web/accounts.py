"""What pages about an owner share: a team, a project or a user, its month and where the month's money went."""

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cached_property
from typing import TypeVar

import pyarrow.compute as pc

from apportion.errors import ProjectError
from apportion.model.currencies import is_money
from apportion.model.rows import REASONS
from apportion.model.times import Period
from apportion.render.chart import cumulative, number
from apportion.render.sheet import Table, report_sheet
from apportion.reports.account import RUNS, Account, accounts, by_day, sentence, top_runs
from apportion.reports.groups import NOBODY, exactly, narrowed
from apportion.reports.report import Cell, Column, Record
from apportion.reports.sums import ZERO, grouped, share_of
from apportion.reports.words import percent, shown
from apportion.verbs.report import read_filters, report_from
from apportion.web.ask import Ask, at
from apportion.web.completeness import stated, states_of, told
from apportion.web.page import Block, Chart, Figure, Figures, Rows
from apportion.web.tables import fronted
from apportion.web.work import costly_runs, shared

Answer = TypeVar("Answer")
BEFORE, BUDGET = "#8a9299", "#a8321f"
FORESEEN = "forecast"
Step = tuple[date, Decimal, Decimal, Decimal]  # a day to come: what the month comes to, and the 80 % around it


@dataclass(frozen=True)
class Owned:
    """One owner as a page asks about it: `keys` are the columns that name it, such as {"team": "vision"}."""

    ask: Ask
    keys: Mapping[str, str]
    now: Record
    before: Record | None

    @cached_property
    def accounts(self) -> list[Account]:
        return self.kept("accounts", lambda: accounts(self.now, self.before))

    def kept(self, what: str, make: Callable[[], Answer]) -> Answer:
        """An answer about this owner, within the filters that the page has."""
        ask = self.ask
        key = (what, str(ask.month), tuple(self.keys.items()), tuple(ask.query.get("where", ())), ask.one("as_of"))
        return ask.desk.kept((*key, ask.viewer.teams), make)

    @property
    def money(self) -> list[Account]:
        return [one for one in self.accounts if is_money(one.currency)]

    def title(self, verb: str, nothing: str) -> str:
        period = str(self.ask.month)
        return " ".join(sentence(verb, period, one) for one in self.money) or f"{nothing} for {period}."

    @property
    def where(self) -> list[str]:
        """The filters that leave just this owner, as the ledger takes them."""
        if "project" in self.keys:
            return [f"team={self.keys['team']}", f"project={self.keys['team']}/{self.keys['project']}"]
        return [f"{name}={value}" for name, value in self.keys.items()]

    def ledger(self, *more: str, period: str = "") -> str:
        """Its postings; within the page's filters, but for dimensions that are named."""
        named = {*self.keys, *(one.partition("=")[0] for one in more)}
        asked = [one for one in self.ask.query.get("where", ()) if one.partition("=")[0] not in named]
        return self.ask.link("/ledger", where=[*self.where, *asked, *more], period=period or self.ask.period)


def owned(ask: Ask, keys: Mapping[str, str]) -> Owned:
    month = ask.month
    return Owned(ask, keys, own_record(ask, month, keys), earlier(ask, month.previous, keys))


def own_record(ask: Ask, month: Period, keys: Mapping[str, str]) -> Record:
    """What the viewer may see of an owner's month, within the filters of the URL; kept, since it is asked for by every block."""
    asked = [one for one in ask.query.get("where", ()) if one.partition("=")[0] not in keys]
    until = ask.until_s
    key = ("own", str(month), until, tuple(keys.items()), tuple(asked), ask.viewer.teams)
    return ask.desk.kept(
        key, lambda: narrowed(exactly(ask.record(ask.project, [month], until), **keys), read_filters(asked))
    )


def earlier(ask: Ask, month: Period, keys: Mapping[str, str]) -> Record | None:
    """None where nothing is posted."""
    if str(month) not in ask.known_months:
        return None
    with suppress(ProjectError):  # nothing was posted yet, as of the day that is asked for
        return own_record(ask, month, keys)
    return None


def strip(mine: Owned, made: Account, explained: str, more: Sequence[Figure] = ()) -> Figures:
    """The figures that answer first."""
    items = [Figure("owed", shown(made.owed, made.currency), explained)]
    items += share_figure(mine, made)
    if made.change is not None and made.before is not None:
        sign = "+" if made.change > 0 else ""
        items.append(
            Figure(
                "against the month before",
                f"{sign}{shown(made.change, made.currency)}",
                mine.ask.link(mine.ask.path, period=str(mine.ask.month.previous)),
                f"{sign}{percent(share_of(made.change, made.before))}" if made.before else "nothing was owed then",
            )
        )
    if made.waste is not None:
        note = f"{percent(share_of(made.waste, made.owed))} paid for holding without use"
        items.append(Figure("waste", shown(made.waste, made.currency), mine.ask.link("/idle", where=mine.where), note))
    if made.idle:
        note = f"{shown(made.idle, made.currency)} paid for idle capacity"
        items.append(Figure("idle cost share", percent(made.idle_share), mine.ledger("reason=idle"), note))
    return Figures((*items, *more))


def share_figure(mine: Owned, made: Account) -> Iterator[Figure]:
    """Of the bill, or of the viewer's teams where those are all that they see."""
    ask = mine.ask
    if ask.viewer.teams is not None and len(ask.viewer.teams) == 1 and "team" in mine.keys and len(mine.keys) == 1:
        return
    posted = ask.record(ask.project, [ask.month], ask.until_s).posted
    whole = grouped(posted, ("currency",)).get((made.currency,), ZERO)
    of = "of the bill" if ask.viewer.teams is None else "of your teams"
    yield Figure(f"share {of}", percent(share_of(made.owed, whole)), ask.link("/"), f"of {shown(whole, made.currency)}")


def quantities(mine: Owned) -> tuple[Figures, ...]:
    """Carbon and energy, beside the money."""
    items = tuple(
        Figure(one.currency, shown(one.owed, one.currency), mine.ledger())
        for one in mine.accounts
        if not is_money(one.currency)
    )
    return (Figures(items),) if items else ()


def growth(mine: Owned, made: Account, colour: str, budget: Decimal | None = None, ahead: Sequence[Step] = ()) -> Chart:
    """Day by day what the month had come to, against the month before and the budget; `ahead` are days that are foreseen, each with its 80 %."""
    month, past = mine.ask.month, mine.ask.month.previous
    lines = {str(month): by_day(made.days, month), str(past): by_day(made.days_before, past)}
    palette = {str(month): colour} | ({str(past): BEFORE} if lines[str(past)] else {})
    if budget is not None:
        lines["budget"] = dict.fromkeys(range(1, month.last_day.day + 1), budget)
        palette["budget"] = BUDGET
    if ahead:
        lines[FORESEEN] = {day.day: amount for day, amount, _, _ in ahead}
        palette[FORESEEN] = colour
    values = [
        {"day": f"{day:02}", "series": name, "amount": number(amount), "shown": shown(amount, made.currency)}
        for name in palette
        for day, amount in lines[name].items()
    ]
    says = f"What {month} had come to by the end of each day"
    says += f", with {past} beside it" if str(past) in palette else ""
    says += f" and the budget of {shown(budget, made.currency)}." if budget is not None else "."
    says += f" From {ahead[0][0]} on it is foreseen, with the 80 % around it." if ahead else ""
    states = {day: said for day, said in states_of(mine.ask, [month]).items() if int(day[-2:]) in lines[str(month)]}
    says += told(states, states)
    if ahead:
        lines["80 % from"] = {day.day: low for day, _, low, _ in ahead}
        lines["80 % to"] = {day.day: high for day, _, _, high in ahead}
    named = [*palette, *(name for name in lines if name not in palette and name != str(past))]
    columns = (Column("day", "day"), *(Column(name, name, "money") for name in named))
    days = sorted({day for name in named for day in lines[name]})
    rows = tuple((f"{day:02}", *(lines[name].get(day) for name in named)) for day in days)
    band = [{"day": f"{day:%d}", "low": number(low), "high": number(high)} for day, _, low, high in ahead]
    links = {str(one): [mine.ledger(f"day={one}-{day:02}", period=str(one)) for day in days] for one in (month, past)}
    return Chart(
        "How the month grew",
        says,
        cumulative(values, palette, made.currency, [day[-2:] for day in states], band),
        Rows(
            stated(Table(columns, rows, (), made.currency), states, f"{month}-"),
            links=links,
            lead=mine.ask.link("/quotas", where=None),
        ),
    )


def spent_by(mine: Owned, currency: str, by: str, heading: str) -> Rows | None:
    """One of the tables that say where it went; None where it tells nothing apart."""
    table = showback_of(mine, by, currency)
    if table is None or [row[0] for row in table.rows] == [NOBODY]:
        return None
    names = [str(row[0]) for row in table.rows]
    first = table.columns[0].name
    links = {first: [named_link(mine, by, name) for name in names]}
    links["amount"] = [mine.ledger(f"{by}={name}") for name in names]
    links |= {reason: [mine.ledger(f"{by}={name}", f"reason={reason}") for name in names] for reason in REASONS}
    sums = {reason: mine.ledger(f"reason={reason}") for reason in REASONS}
    return Rows(fronted(table, first, "amount", "share"), heading, links, "amount", sums=sums, lead=mine.ledger())


def showback_of(mine: Owned, by: str, currency: str) -> Table | None:
    made = mine.kept(
        f"showback by {by}",
        lambda: report_from(lambda *_: mine.now, mine.ask.project, "showback", [mine.ask.month], (), by=by),
    )
    return next(
        (one for one in report_sheet(made).tables if one.currency == currency and one.columns == made.columns), None
    )


def named_link(mine: Owned, by: str, name: str) -> str:
    """Where a row's name leads. Projects and users are called TEAM/NAME in reports, and names have slashes: the postings tell which is which."""
    ask = mine.ask
    if by == "pool":
        return ask.link(at("/pools", name), where=None) if name != NOBODY else ""
    if by == "team":
        return ask.link(at("/teams", name), where=None)
    if by not in ("project", "user"):
        return mine.ledger(f"{by}={name}")
    rows = mine.now.posted.select(["team", by]).group_by(["team", by]).aggregate([]).to_pylist()
    team, own = next(((row["team"], row[by]) for row in rows if f"{row['team']}/{row[by] or NOBODY}" == name), ("", ""))
    if not own:
        return ""
    return ask.link(at("/projects", team, own) if by == "project" else at("/users", own), where=None)


def costliest(mine: Owned, currency: str) -> Rows | None:
    """The runs that were charged the most. Those that are also of teams that the viewer does not see are named and lead nowhere."""
    ask = mine.ask
    own = costly_runs(ask)
    for name, value in mine.keys.items():
        own = own.filter(pc.equal(own[name], value))
    found = top_runs(own, currency)
    if not found or mine.ask.query.get("where"):
        return None
    closed = shared(ask, {str(row["run"]) for row in found})
    columns = tuple(column for column in RUNS if column.name not in mine.keys)
    rows = tuple(tuple(row[column.name] for column in columns) for row in found)
    hrefs = [ask.link(at("/runs", str(row["run"])), where=None) if row["run"] not in closed else "" for row in found]
    return Rows(
        fronted(Table(columns, rows, (), currency), "run", "amount"),
        "Runs that cost most",
        {"run": hrefs, "amount": hrefs},
        bars="amount",
    )


def some(*blocks: Block | None) -> list[Block]:
    return [block for block in blocks if block is not None]


def showback_command(mine: Owned, by: str) -> str:
    """The same on the command line, as a shell takes it."""
    asked = [one for one in mine.ask.query.get("where", ()) if one.partition("=")[0] not in mine.keys]
    filters = " ".join(f"--where {shlex.quote(one)}" for one in (*mine.where, *asked))
    return f"apportion report showback --by {by} {filters} --period {mine.ask.period}"


def about(mine: Owned, **more: Cell) -> dict[str, object]:
    return {"period": str(mine.ask.month), **mine.keys, **more}
