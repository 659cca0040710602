"""`/statements`: what each owner is sent for each month; one of them, as it was issued or as a draft, in every format."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from textwrap import dedent
from typing import Any

from apportion.errors import ProjectError
from apportion.model.times import Period, parse_period
from apportion.render.chart import number, waterfall
from apportion.render.sheet import Table
from apportion.render.statement import FORMATS, render, words
from apportion.render.statement.batch import file_name
from apportion.render.statement.details import HOW, rule_sentence
from apportion.render.statement.layout import page_of
from apportion.render.statement.listing import statement_list
from apportion.render.statement.page import Section
from apportion.render.statement.page import Table as Printed
from apportion.render.statement.preview import TITLE
from apportion.reports.groups import NOBODY
from apportion.reports.report import Column
from apportion.reports.statement.build import SUMMARY
from apportion.reports.statement.shape import DRIVERS, LEVELS, Statement, money
from apportion.reports.statement.told import told
from apportion.reports.words import digits
from apportion.verbs.settings import nearest
from apportion.verbs.statement import BILLED, Wanted
from apportion.web.ask import Ask, NotThereError, at
from apportion.web.frame import Entry
from apportion.web.page import Block, Chart, Figure, Figures, Link, Page, Prose, Rows
from apportion.web.pages.disputes import doubt_form
from apportion.web.routes import Download, File, Route
from apportion.web.statements import TEAM_WISE, seen_statements
from apportion.web.viewer import Deed

MONTHS = 12
UNDER_TEAM = ("project", "user")
SAID = ("project", "user", "component", "pool", "bill")  # parts that the ledger can be filtered by
EARLIER = {"held or reserved without use": "idle"}  # what statements said before
KINDS = {"pdf": "application/pdf", "html": "text/html", "csv": "text/csv", "json": "application/json", "md": "text/markdown"}  # fmt: skip


def listing(ask: Ask) -> Page:
    level = level_of(ask)
    now = seen(ask, ask.month, level)
    blocks: list[Block] = [levels(ask, level), *month_rows(ask, now, level)]
    blocks += [by_month(ask, now, level)] if len(ask.known_months) > 1 else []
    sheet = statement_list(now) if now else None
    title = sheet.title if sheet else f"No statement for {ask.month} is yours to read."
    return Page(
        "statements",
        title,
        tuple(blocks),
        command=f"apportion statement --period {ask.month}" + ("" if level == BILLED else f" --level {level}"),
        notes=sheet.notes if sheet and ask.viewer.teams is None else (),
    )


def level_of(ask: Ask) -> str:
    level = ask.one("level", BILLED)
    if level not in LEVELS:
        raise ProjectError("unknown-level", f"there is no level {level!r}", hint=nearest(level, LEVELS, "levels"))
    return level


def seen(ask: Ask, month: Period, level: str) -> list[Statement]:
    if str(month) not in ask.known_months:
        raise ProjectError("nothing-posted", f"nothing is posted for {month}")
    return seen_statements(ask, Wanted(month, level, as_of=ask.one("as_of")))


def levels(ask: Ask, level: str) -> Prose:
    some = LEVELS if ask.viewer.teams is None else TEAM_WISE
    links = tuple(
        Link(f"By {one.replace('_', ' ')}", ask.link("/statements", level=one)) for one in some if one != level
    )
    return Prose(links=links)


def month_rows(ask: Ask, found: Sequence[Statement], level: str) -> list[Rows]:
    if not found:
        return []
    blocks = []
    for table in statement_list(found).tables:
        names = [str(row[0]) for row in table.rows]
        status = "drafts: the month is open" if found[0].is_draft else f"issued on {found[0].issued}"
        to = [where(ask, str(ask.month), name, level) for name in names]
        blocks.append(
            Rows(
                table,
                f"{ask.month}, {status}",
                links=dict.fromkeys(("owner", "owed", "before", "charged", "coming", "change"), to),
                bars="owed",
            )
        )
    return blocks


def where(ask: Ask, period: str, owner: str, level: str) -> str:
    return ask.link(at("/statements", period, owner), period=None, where=None, level=None if level == BILLED else level)


def by_month(ask: Ask, now: Sequence[Statement], level: str) -> Rows:
    """What each owed in the months before. Of open ones only the chosen month is drafted here: it takes a while."""
    closed = set(ask.project.books.closed_periods())
    months = sorted(ask.known_months, reverse=True)[:MONTHS]
    found: dict[tuple[str, str], dict[str, str]] = {}
    for month in months:
        own = now if month == str(ask.month) else seen(ask, parse_period(month), level) if month in closed else ()
        for one in own:
            text = digits(money(one.owed, one.digits)) + (" draft" if one.is_draft else "")
            found.setdefault((one.owner, one.currency), {})[month] = text
    columns = (
        Column("owner", level.replace("_", " ")),
        Column("currency", "currency"),
        *(Column(month, month, "count") for month in months),
    )
    open_ones = {month for month in months if month not in closed}
    cells = [
        tuple(amounts.get(month, "open" if month in open_ones else "") for month in months)
        for _, amounts in sorted(found.items())
    ]
    rows = tuple((*key, *texts) for key, texts in zip(sorted(found), cells, strict=True))
    links = {
        month: [where(ask, month, row[0], level) if row[n + 2] else "" for row in rows]
        for n, month in enumerate(months)
    }
    return Rows(Table(columns, rows), "Month by month", links=links, empty="Nothing was issued yet.")


def one_of(ask: Ask, period: str, owner: str) -> list[Statement]:
    """Of each currency one. What is not theirs, and what there is none of, is not there."""
    found = [one for one in seen(ask, parse_period(period), level_of(ask)) if one.owner == owner]
    if not found:
        raise NotThereError("such statement")
    return found


def statement(ask: Ask, period: str, owner: str) -> Page:
    found = one_of(ask, period, owner)
    level, first = found[0].level, found[0]
    blocks: list[Block] = []
    for one in found:
        blocks += statement_blocks(ask, one)
    if level in TEAM_WISE and ask.viewer.may(Deed.dispute):
        blocks.append(doubt_form(period, owner))
    flag = "" if level == BILLED else f" --level {level}"
    printed = page_of(first)
    return Page(
        "statement",
        f"{printed.title}: {printed.headline[0].lower()}{printed.headline[1:]} is {printed.figure} {printed.currency}.",
        tuple(blocks),
        command=f"apportion statement {owner} --period {period}{flag}",
        crumbs=(Link("Statements", ask.link("/statements", period=period, level=None if level == BILLED else level)),),
        about={"statements": [told(one) for one in found]},
        notes=tuple(f"{name} {value}" for name, value in printed.footer),
        timeless=True,
    )


def statement_blocks(ask: Ask, made: Statement) -> list[Block]:
    printed = page_of(made)
    figures = [Figure(printed.headline, f"{printed.figure} {printed.currency}", explained(ask, made))]
    if printed.against:
        before, amount, moved = printed.against
        figures.append(Figure(before, amount, note=moved))
    if made.preview and made.preview.owed is not None:
        figures.append(
            Figure(
                TITLE,
                words.in_currency(made.preview.owed, made),
                note=words.signed(made.preview.owed - made.owed, made.digits),
            )
        )
    why = explained(ask, made)
    figures += [Figure(name, value, why if value.endswith(printed.currency) else "") for name, value in printed.facts]
    links = tuple(Link(form.upper(), download_link(ask, made, form)) for form in FORMATS)
    blocks: list[Block] = [Prose((printed.stamp,), tone="warn")] if printed.stamp else []
    blocks += [Figures(tuple(figures)), Prose(printed.sentences), Prose(heading="To keep or to send", links=links)]
    for section in printed.sections:
        blocks += section_blocks(ask, made, section)
    return blocks


def explained(ask: Ask, made: Statement) -> str:
    """Who would owe something by rules to come alone has nothing to explain."""
    if made.preview and not made.summary and not made.carried:
        return ""
    if made.level == BILLED:
        return ask.link("/explain", what=made.owner, period=made.period, where=None)
    return ask.link("/ledger", period=made.period, where=[f"{made.level}={made.owner}"])


def download_link(ask: Ask, made: Statement, form: str) -> str:
    path = f"/statements/{made.period}/{at('', made.owner)[1:].removesuffix('.html')}/download"
    level = None if made.level == BILLED else made.level
    return ask.link(path, period=None, where=None, level=level, format=form, currency=made.currency)


def section_blocks(ask: Ask, made: Statement, section: Section) -> list[Block]:
    """A table's heading is the section's; what changed is drawn, too."""
    if section.title == HOW:
        return rule_blocks(made)
    if not section.tables:
        return [Prose(section.sentences, section.title)]
    tables = [rows_of(ask, made, section, table) for table in section.tables]
    if section.chart is not None:
        first = replace(tables[0], heading="")
        return [Chart(section.title, section.sentences[0], moved(made), first, folded=False), *tables[1:]]
    return [*tables, *([Prose(section.sentences)] if section.sentences else [])]


def rule_blocks(made: Statement) -> list[Block]:
    """Each with the policy's own words."""
    return [
        Prose((rule_sentence(rule),), f"{HOW}: {rule.pool or 'all pools'}", code=dedent(rule.clause))
        for rule in made.how
    ]


def moved(made: Statement) -> Mapping[str, Any]:
    """From what was owed before to what is owed, driver by driver."""

    def step(name: str, amount: int) -> tuple[str, float, str]:
        exact = money(amount, made.digits)
        return name, number(exact), digits(exact)

    sums = {driver: sum(one.amount for one in made.changes if one.driver == driver) for driver in DRIVERS}
    drivers = [step(driver, amount) for driver, amount in sums.items() if amount]
    before = str(parse_period(made.period).previous)
    steps = [step(before, made.before or 0), *drivers, step(made.period, made.owed)]
    return waterfall(steps, [0, len(steps) - 1], made.currency)


def rows_of(ask: Ask, made: Statement, section: Section, printed: Printed) -> Rows:
    """Figures stand to the right, as printed."""
    columns = tuple(
        Column(column.title.lower(), column.title, "text" if column.width else "count") for column in printed.columns
    )
    rows = tuple(tuple(cell.replace("\n", " · ") for cell in row) for row in printed.rows)
    totals = tuple(printed.total) if printed.total else ()
    links = ledger_links(ask, made, section.title, len(rows))
    amount = next((column.name for column in columns if column.title.startswith("Amount")), "")
    heading = section.title if printed is section.tables[0] else printed.title
    return Rows(Table(columns, rows, totals), heading, links={amount: links} if links and amount else {})


def ledger_links(ask: Ask, made: Statement, title: str, count: int) -> list[str]:
    """Each line's postings. Closed months are in whole minor units, and each line is the rounded sum of these."""
    by = title.removeprefix("By ")
    if title == "Summary":
        reasons = {text: reason for reason, text in SUMMARY.items()} | EARLIER
        filters = [f"reason={reasons[line.name]}" if line.name in reasons else "" for line in made.summary]
    elif by in SAID:
        lines = next((part.lines for part in made.parts if part.by == by), ())
        inside = by in UNDER_TEAM and made.level in TEAM_WISE
        whose = f"{made.owner.partition('/')[0]}/" if inside else ""
        filters = [f"{by}={whose}{line.name or NOBODY}" for line in lines]
    else:
        return []
    own = f"{made.level}={made.owner}"
    found = [ask.link("/ledger", period=made.period, where=[own, one]) if one else "" for one in filters]
    return found if len(found) == count else []


def download(ask: Ask, period: str, owner: str) -> File:
    form = ask.one("format", "pdf")
    if form not in FORMATS:
        raise ProjectError("unknown-format", f"there is no format {form!r}", hint=nearest(form, [*FORMATS], "formats"))
    some = one_of(ask, period, owner)
    made = next((one for one in some if one.currency == ask.one("currency", some[0].currency)), None)
    if made is None:
        raise NotThereError("such statement")
    key = ("statement", period, made.level, owner, made.currency, form, ask.one("as_of"), ask.viewer.teams)
    body = ask.desk.kept(key, lambda: render(made, form))
    return File(file_name(made, form), KINDS[form], [body])


ROUTES = (
    Route("/statements", listing, entry=Entry("Statements", "/statements", "s")),
    Route("/statements/{period}/{owner}", statement),
)
DOWNLOADS = (Download("/statements/{period}/{owner}/download", download),)
