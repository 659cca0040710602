"""Every figure of money leads to its explanation or to the postings that it is the sum of, and those come to it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from apportion.reports.groups import chosen
from apportion.reports.report import Cell
from apportion.reports.sums import grouped
from apportion.reports.words import shown as as_read
from apportion.verbs.project import Project
from apportion.verbs.report import read_filters
from apportion.web.ask import Ask
from apportion.web.desk import Desk
from apportion.web.page import MONEY, Block, Figures, Page, Rows, rows_of, shown_rows
from apportion.web.pages import ROUTES
from apportion.web.routes import Route, names_in
from apportion.web.viewer import VIEWS, viewer_of
from tests.web import world
from tests.web.conftest import PEOPLE
from tests.web.examples import EXAMPLES

# What leads nowhere, by page, block and column, and why.
GIVEN = "a limit that people set is not computed from anything"
WOULD_BE = "what would be owed rests on no posting: the page itself says what changes"
THEN = "it is shown as it was when it was saved, whatever is posted since"
TRIED = {**{name: name for name in world.TRIED}, "policy 1": "policy_1", "policy 2": "policy_2"}
SAVED = {("", "posted"), *(("", f"{name}_{what}") for name in TRIED.values() for what in ("instead", "change"))}
SAVED |= {
    (f"Who gains and who loses by {title}", column)
    for title, name in TRIED.items()
    for column in ("posted", f"{name}_instead")
}
ABOVE = "the sum of what stands above it"
EXPLAINED: dict[tuple[str, str, str], str] = {
    ("/explain", "figure", "exactly"): "the page is the explanation",
    ("/explain", "Its parts", "amount"): "the page is the explanation; what belongs to a pool leads there",
    ("/ledger", "figure", "sum in USD"): "the page is the list of postings that it is the sum of",
    ("/quotas", "Quotas of the policy", "limit"): GIVEN,
    ("/quotas", "In USD", "limit"): GIVEN,
    ("/quotas", "Budgets", "budget"): GIVEN,
    ("/statements", "2026-10, drafts: the month is open", "owed"): ABOVE,
    ("/statements", "2026-10, drafts: the month is open", "charged"): ABOVE,
    ("/health/owner", "Who gains and who loses", "before"): ABOVE,
    ("/what-if", "Who gains and who loses", "before"): ABOVE,
    ("/drafts/{number}", "Who gains and who loses", "before"): ABOVE,
    ("/policy/diff", "Who gains and who loses", "before"): ABOVE,
    ("/what-if", "Who gains and who loses", "after"): WOULD_BE,
    ("/what-if", "Who gains and who loses", "change"): WOULD_BE,
    ("/health/owner", "Who gains and who loses", "after"): WOULD_BE,
    ("/health/owner", "Who gains and who loses", "change"): WOULD_BE,
    **{("/what-if/saved/{saved}", *place): THEN for place in SAVED},
    ("/drafts/{number}", "Who gains and who loses", "after"): WOULD_BE,
    ("/drafts/{number}", "Who gains and who loses", "change"): WOULD_BE,
    ("/policy/diff", "Who gains and who loses", "after"): WOULD_BE,
    ("/policy/diff", "Who gains and who loses", "change"): WOULD_BE,
}
# Cells that lead to postings which are a part of them or which they are a part of.
NOT_THE_SUM = {
    "How the month grew": "a running sum leads to the postings of its last day",
    "Work that no owner rule finds": "labels are not in the ledger: all work without an owner",
    "Quotas of the policy": "hours of use are no money",
}
LEFT = ("left", "projected")  # figures that follow from a sum of postings
MONTH = "2026-10"


@dataclass(frozen=True)
class Money:
    """A figure of a page: where it stands, what it is and where it leads."""

    block: str
    column: str
    row: str
    amount: Cell
    text: str
    href: str


@pytest.fixture(scope="module")
def desk(small: Project) -> Desk:
    return Desk(small.folder)


def asked(desk: Desk, url: str, role: str) -> tuple[Ask, str]:
    parts = urlsplit(url)
    return Ask(desk, viewer_of(PEOPLE[role]), unquote(parts.path), parse_qs(parts.query)), parts.path


def page_of(desk: Desk, route: Route, role: str) -> Page:
    ask, path = asked(desk, EXAMPLES[route.path].url(), role)
    return route.show(ask, *names_in(route.path, path))


def money(page: Page) -> Iterator[Money]:
    for block in page.blocks:
        if isinstance(block, Figures):
            some = (one for one in block.items if is_money_text(one.text))
            yield from (Money("figure", one.label, "", None, one.text, one.href) for one in some)
        elif (rows := rows_of(block)) is not None:
            yield from money_of(rows, heading_of(block, rows))


def is_money_text(text: str) -> bool:
    number, _, unit = text.removeprefix("+").partition(" ")
    return unit == "USD" and "." in number


def heading_of(block: Block, rows: Rows) -> str:
    return str(getattr(block, "heading", "")) or rows.heading or rows.table.heading


def money_of(rows: Rows, heading: str) -> Iterator[Money]:
    table, seen = rows.table, shown_rows(rows)
    titles = [title for title, _ in seen.titles]
    for place, column in enumerate(table.columns):
        if column.kind not in MONEY:
            continue
        at = next((n for n, title in enumerate(titles) if title.startswith(column.title)), None)
        for row, (_, cells) in zip(table.rows, seen.rows, strict=True):
            if row[place] and at is not None:
                yield Money(heading, column.name, str(row[0]), row[place], cells[at].text, cells[at].href)
        if table.totals and table.totals[place] and at is not None:
            yield Money(heading, column.name, "sum", table.totals[place], seen.totals[at].text, seen.totals[at].href)


def everyone(route: Route) -> Iterator[str]:
    if route.path != "/me":
        yield "admin"
    if route.deed in VIEWS:
        yield "viewer"


CASES = [(route, role) for route in ROUTES for role in everyone(route)]
NAMES = [f"{route.path} {role}" for route, role in CASES]


@pytest.mark.parametrize(("route", "role"), CASES, ids=NAMES)
def test_every_figure_of_money_leads_on(route: Route, role: str, desk: Desk) -> None:
    loose = [one for one in money(page_of(desk, route, role)) if not one.href]
    wrong = [one for one in loose if (route.path, one.block, one.column) not in EXPLAINED]
    assert not wrong, "\n".join(map(str, wrong[:20]))


@pytest.mark.parametrize(("route", "role"), CASES, ids=NAMES)
def test_postings_come_to_the_figure_that_leads_to_them(route: Route, role: str, desk: Desk) -> None:
    checked = [
        one
        for one in money(page_of(desk, route, role))
        if one.href.startswith("/ledger?") and one.block not in NOT_THE_SUM and one.column not in LEFT
    ]
    wrong = [(one, sums) for one in checked if not is_sum(one, sums := postings(desk, one.href, role))]
    assert not wrong, "\n".join(map(str, wrong[:20]))


def is_sum(one: Money, sums: Mapping[str, Decimal]) -> bool:
    """To the last digit that the page has; a text as people read it."""
    if isinstance(one.amount, Decimal):
        return any(amount.quantize(one.amount) == one.amount for amount in sums.values())
    return one.text.removeprefix("+") in {as_read(amount, unit) for unit, amount in sums.items()}


def postings(desk: Desk, href: str, role: str) -> dict[str, Decimal]:
    """What the viewer sees of the postings behind a link, summed up here."""
    ask, _ = asked(desk, href, role)
    rows = chosen(ask.record(ask.project, ask.months).posted, read_filters(ask.query.get("where", ())))
    return {"USD": Decimal(0)} | {unit: amount for (unit,), amount in grouped(rows, ("currency",)).items()}


def test_exceptions_are_still_needed(desk: Desk) -> None:
    found = {
        (route.path, one.block, one.column)
        for route, role in CASES
        for one in money(page_of(desk, route, role))
        if not one.href
    }
    optional = {key for key in EXPLAINED if key[0] == "/quotas" or key[1] == "Who gains and who loses"}
    assert EXPLAINED.keys() - optional <= found
