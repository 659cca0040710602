"""The numbers of a page are those of the command line: each page names the command that asks the same, and that command prints its amounts."""

import json
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import accumulate, product
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from apportion.cli.main import main
from apportion.verbs.project import Project
from apportion.web.ask import Ask
from apportion.web.desk import Desk
from apportion.web.page import Page
from apportion.web.pages import ROUTES
from apportion.web.routes import Route, names_in
from apportion.web.viewer import VIEWS, viewer_of
from tests.web.conftest import PEOPLE
from tests.web.examples import EXAMPLES, NO_COMMAND

Amounts = set[Decimal]
LEAST = Decimal("1e-18")
ROUNDED = {"share": Decimal("0.000001"), "quantity": Decimal("0.000001")}  # shares and hours are told to six places
NOW, BEFORE = "--period 2026-10", "--period 2026-09"
TEAMS = ("vision", "speech", "zebra", "platform", "_idle", "_unallocated")
SHOWBACK = "apportion report showback"


@dataclass(frozen=True)
class Beside:
    """What a page shows beside its own question, and how that is asked: by other commands, as the running sums of their rows, or as what
    two answers differ by.
    """

    commands: tuple[str, ...] = ()
    running: tuple[str, ...] = ()
    differing: tuple[tuple[str, str], ...] = ()


def of_owner(where: str, *more: str) -> Beside:
    """Pages about one owner have both months by day, summed up, and what moved between them."""
    days = tuple(f"{SHOWBACK} --by day {where} {month}" for month in (NOW, BEFORE))
    pools = (f"{SHOWBACK} --by pool {where} {NOW}", f"{SHOWBACK} --by pool {where} {BEFORE}")
    others = tuple(f"{SHOWBACK} --by {by} {where} {NOW}" for by in ("project", "user", "team", "reason"))
    others += (f"apportion report runs {where} {NOW}",)
    return Beside((*pools, *others, *more, f"apportion report trend {where} {NOW}"), days, (pools,))


BY_DAY = Beside((f"{SHOWBACK} --by day {NOW}", *(f"{SHOWBACK} --by day --where team={team} {NOW}" for team in TEAMS)))
LIVE, LIVE_POOLS = "apportion report live --by day", "apportion report live --by pool"
BESIDE = {
    "/": BY_DAY,
    "/overview": BY_DAY,
    "/teams": Beside((f"{SHOWBACK} {BEFORE}",), (), ((f"{SHOWBACK} {NOW}", f"{SHOWBACK} {BEFORE}"),)),
    "/teams/{team}": of_owner("--where team=vision", f"apportion statement vision {NOW}"),
    "/projects/{team}/{project}": of_owner("--where project=vision/detect"),
    "/users/{user}": of_owner("--where user=ada"),
    "/me": of_owner("--where user=ada"),
    "/pools/{pool}": Beside((f"{SHOWBACK} --where pool=gpus {NOW}", f"apportion report pool gpus --by week {NOW}")),
    "/idle": Beside(
        (
            f"apportion report pool gpus --by week {NOW}",
            f"apportion report held {NOW}",
            f"apportion report waste {NOW}",
            f"apportion report efficiency {NOW}",
            f"apportion report waste --where team=vision {NOW}",
        )
    ),
    "/forecast": Beside(
        tuple(f"apportion forecast {who}{more}" for who in ("", "vision ") for more in ("--by pool", "--backtest"))
    ),
    "/facets": Beside(
        tuple(
            f"apportion report facets {asked}{NOW}"
            for asked in ("", "--by phase ", "--where team=vision ", "--by phase --where team=vision ")
        )
    ),
    "/live": Beside(
        (LIVE, LIVE_POOLS, f"{LIVE_POOLS} --where team=vision", *(f"{LIVE} --where team={team}" for team in TEAMS))
    ),
}
# Numbers that no command prints, by page and column: how many rows, days or logins of something the books have, and the idle share of all pools.
COUNTED = {
    "/health": ("complete", "no row"), "/admin": ("sessions",), "/admin/sources": ("deliveries", "problems"), "/admin/runs": ("entries",), "/pools": ("share",),
}  # fmt: skip
UNWRITTEN = {"/health/owner"}  # its command takes a file that nobody has written yet


@pytest.fixture(scope="module")
def desk(small: Project) -> Desk:
    return Desk(small.folder)


@dataclass(frozen=True)
class Terminal:
    """Commands of the project, each run once."""

    capture: pytest.CaptureFixture[str]
    folder: str
    said: dict[str, Any]

    def amounts(self, command: str) -> Amounts:
        found = set(numbers(self.answer(command)))
        return found | {one / 100 for one in found} if command.startswith("apportion statement") else found

    def answer(self, command: str) -> Any:
        if command not in self.said:
            self.said[command] = json.loads(self.run(command))
        return self.said[command]

    def running(self, command: str) -> Amounts:
        """After each of its rows, what they come to so far, day by day."""
        rows = sorted(self.answer(command)["rows"], key=lambda row: str(row["day"]))
        return set(accumulate(Decimal(row["amount"]) for row in rows))

    def beside(self, what: Beside) -> Amounts:
        found = [self.amounts(one) for one in what.commands] + [self.running(one) for one in what.running]
        for one, other in what.differing:
            found.append({a - b for a, b in product(self.amounts(one), self.amounts(other))})
        return set().union(*found)

    def run(self, command: str) -> str:
        name, *words = shlex.split(command)
        assert name == "apportion", command
        if "--help" in words:
            return "{}"
        self.capture.readouterr()
        with pytest.raises(SystemExit) as stop:
            main(["--project", self.folder, *words, "-o", "json"])
        caught = self.capture.readouterr()
        assert not stop.value.code, f"{command}: {caught.err}"
        return caught.out


SAID: dict[str, Any] = {}


@pytest.fixture
def terminal(capsys: pytest.CaptureFixture[str], small: Project, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.chdir(small.folder)
    return Terminal(capsys, str(small.folder), SAID)


def numbers(value: object) -> Iterator[Decimal]:
    """Every number anywhere in an answer."""
    if isinstance(value, dict):
        for part in value.values():
            yield from numbers(part)
    elif isinstance(value, list):
        for part in value:
            yield from numbers(part)
    elif isinstance(value, int | str) and not isinstance(value, bool):
        try:
            yield Decimal(value)
        except InvalidOperation:
            return


def shown(desk: Desk, route: Route, role: str) -> Page:
    asked = urlsplit(EXAMPLES[route.path].url())
    ask = Ask(desk, viewer_of(PEOPLE[role]), unquote(asked.path), parse_qs(asked.query))
    return route.show(ask, *names_in(route.path, asked.path))


def figures(page: Page) -> Iterator[tuple[str, Decimal]]:
    """Every number of every table: money, prices, hours, shares and counts. A sum counts where it is not that of what stands above it."""
    for table in page.tables():
        rows = [*table.rows, *([("sum", *table.totals[1:])] if table.totals else [])]
        for place, column in enumerate(table.columns):
            cells = [(row[0], Decimal(cell)) for row in rows if isinstance(cell := row[place], Decimal | int)]
            above = sum((cell for first, cell in cells if first != "sum"), Decimal(0))
            near = len(rows) * ROUNDED.get(column.kind, Decimal(0)) + LEAST
            some = (
                [one for one in cells if one[0] != "sum" or abs(above - one[1]) >= near]
                if column.kind != "text"
                else []
            )
            yield from ((f"{table.heading or page.name}, {first}, {column.name}", cell) for first, cell in some)


def lost(page: Page, route: Route, terminal: Terminal) -> list[str]:
    """Amounts of a page that no command prints."""
    if route.path in UNWRITTEN:
        return []
    if not page.command:
        return [where for where, _ in figures(page)]
    found = {Decimal(0)} | terminal.amounts(page.command) | terminal.beside(BESIDE.get(route.path, Beside()))
    known = COUNTED.get(route.path, ())
    return [
        f"{page.command}: {where}: {amount}"
        for where, amount in figures(page)
        if amount not in found and where.rpartition(", ")[2] not in known
    ]


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.path)
def test_amounts_are_those_of_the_command(route: Route, desk: Desk, terminal: Terminal) -> None:
    page = shown(desk, route, "viewer" if route.path == "/me" else "admin")
    assert page.command or route.path in NO_COMMAND
    missing = lost(page, route, terminal)
    assert not missing, "\n".join(missing)


@pytest.mark.parametrize("route", [route for route in ROUTES if route.deed in VIEWS], ids=lambda route: route.path)
def test_what_a_viewer_sees_is_asked_the_same_way(route: Route, desk: Desk, terminal: Terminal) -> None:
    missing = lost(shown(desk, route, "viewer"), route, terminal)
    assert not missing, "\n".join(missing)


def test_numbers_are_found_wherever_they_stand() -> None:
    assert list(numbers({"a": ["1.50", None, True, {"b": 3}], "c": "vision"})) == [Decimal("1.5"), Decimal(3)]
