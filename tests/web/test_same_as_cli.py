"""The numbers of a page are those of the command line: each page names the command that asks the same, and that command prints its amounts."""

import json
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
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
from tests.web.examples import EXAMPLES

Amounts = set[Decimal]
DAYS = "apportion report showback --by day --period 2026-10"
# What a page shows beside its own question, and how that is asked.
BESIDE: dict[str, tuple[str, ...]] = {
    "/": (DAYS, *(f"{DAYS} --where team={team}" for team in ("vision", "speech", "zebra", "platform", "_idle", "_unallocated"))),
}  # fmt: skip
BESIDE["/overview"] = BESIDE["/"]


@pytest.fixture(scope="module")
def desk(small: Project) -> Desk:
    return Desk(small.folder)


@dataclass(frozen=True)
class Terminal:
    """Commands of the project, each run once."""

    capture: pytest.CaptureFixture[str]
    folder: str
    said: dict[str, Amounts]

    def amounts(self, command: str) -> Amounts:
        if command not in self.said:
            self.said[command] = set(numbers(json.loads(self.run(command))))
        return self.said[command]

    def run(self, command: str) -> str:
        name, *words = shlex.split(command)
        assert name == "apportion", command
        self.capture.readouterr()
        with pytest.raises(SystemExit) as stop:
            main(["--project", self.folder, *words, "-o", "json"])
        caught = self.capture.readouterr()
        assert not stop.value.code, f"{command}: {caught.err}"
        return caught.out


SAID: dict[str, Amounts] = {}


@pytest.fixture
def terminal(capsys: pytest.CaptureFixture[str], small: Project) -> Terminal:
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


def money(page: Page) -> Iterator[tuple[str, Decimal]]:
    for table in page.tables():
        for row in table.rows:
            for column, cell in zip(table.columns, row, strict=True):
                if column.kind == "money" and isinstance(cell, Decimal) and cell:
                    yield f"{table.heading or page.name}, {row[0]}, {column.name}", cell


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.path)
def test_amounts_are_those_of_the_command(route: Route, desk: Desk, terminal: Terminal) -> None:
    page = shown(desk, route, "admin")
    found = terminal.amounts(page.command).union(*(terminal.amounts(one) for one in BESIDE.get(route.path, ())))
    assert [where for where, amount in money(page) if amount not in found] == []


@pytest.mark.parametrize("route", [route for route in ROUTES if route.deed in VIEWS], ids=lambda route: route.path)
def test_what_a_viewer_sees_is_asked_the_same_way(route: Route, desk: Desk, terminal: Terminal) -> None:
    """The command carries the filter that their eyes have: whoever runs it sees no other figures."""
    page = shown(desk, route, "viewer")
    found = terminal.amounts(page.command).union(*(terminal.amounts(one) for one in BESIDE.get(route.path, ())))
    assert [where for where, amount in money(page) if amount not in found] == []


def test_numbers_are_found_wherever_they_stand() -> None:
    assert list(numbers({"a": ["1.50", None, True, {"b": 3}], "c": "vision"})) == [Decimal("1.5"), Decimal(3)]
