"""Every page as people look at it: light, dark, on a phone and without JavaScript. The long run looks in every combination."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product

import pytest

from apportion.web.pages import ROUTES
from apportion.web.routes import Route
from apportion.web.viewer import VIEWS
from tests.browse.conftest import Looking
from tests.browse.visit import Visit, visiting
from tests.browser import Look, Served
from tests.web.examples import EXAMPLES, NO_COMMAND, missing
from tests.web.test_every_figure import EXPLAINED

LOOSE = {path for path, _, _ in EXPLAINED}  # those pages have figures that lead nowhere, each with its reason there
FOUND: Counter[str] = Counter()
RULES: set[str] = set()


def looks(route: Route, *, long: bool) -> Iterator[Look]:
    """Each page once in each of four ways; a viewer has the phone where they may see the page."""
    reader = "viewer" if route.deed in VIEWS else "admin"
    if not long:
        yield from (
            Look(),
            Look("finance" if reader == "viewer" else "admin", dark=True),
            Look(reader, phone=True),
            Look(script=False),
        )
        return
    for dark, phone, script in product((False, True), repeat=3):
        for role in dict.fromkeys(("admin", reader)):
            yield Look(role, dark=dark, phone=phone, script=script)


def test_every_page_has_a_row() -> None:
    assert missing(ROUTES) == []


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.path)
def test_a_page_in_every_look(route: Route, served: Served, contexts: Looking, *, long_run: bool) -> None:
    url = EXAMPLES[route.path].url()
    wrong: list[str] = []
    for look in looks(route, long=long_run):
        with visiting(contexts(look), served.address, url, script=look.script) as visit:
            wrong += [f"{look}: {what}" for what in faults(visit, look, route.path)]
        FOUND["visits"] += 1
    assert not wrong, "\n".join(wrong)


def faults(visit: Visit, look: Look, path: str) -> Iterator[str]:
    if visit.status != 200:
        yield f"status {visit.status}"
        return
    yield from reads_badly(visit, look, path)
    found = visit.axe()
    RULES.update(found["passes"])
    FOUND["violations"] += len(found["violations"])
    yield from (f"axe: {one}" for one in found["violations"])
    if look == Look():
        FOUND["stops"] += 1
        yield from traps(visit)
    yield from visit.said
    yield from (f"asked {stray}" for stray in visit.strays)


def reads_badly(visit: Visit, look: Look, path: str) -> Iterator[str]:
    shape = visit.shape()
    if not re.fullmatch(r"\S.* .*\S[.?]", shape["title"]):
        yield f"its title is no sentence: {shape['title']!r}"
    if look.phone and shape["wide"] > 0:
        yield f"scrolls sideways by {shape['wide']} pixels"
    if look.script:
        FOUND["charts"] += shape["charts"]
        yield from (f"{one} is empty" for one in shape["undrawn"])
    elif shape["hiddenTables"]:
        yield "a table cannot be seen without JavaScript"
    if path not in LOOSE:
        yield from (f"an amount leads nowhere: {row}" for row in shape["loose"])
        yield from (f"a figure leads nowhere: {one}" for one in shape["bareFigures"])
    links = shape["links"]
    if not {"Permalink", "JSON", "CSV"} <= links.keys() or ".json" not in links["JSON"] or ".csv" not in links["CSV"]:
        yield f"the footer lacks a form: {links}"
    if not shape["command"].startswith("apportion ") and look.role == "admin" and path not in NO_COMMAND:
        yield "the same in the terminal is not said"
    yield from (f"loads {one}" for one in shape["outside"])


def traps(visit: Visit) -> Iterator[str]:
    found = visit.tabbed()
    yield from (f"Tab does not reach {one}" for one in found["missed"])
    yield from (f"no ring around {one}" for one in found["unseen"])
    if not found["left"]:
        yield "Tab does not leave the page"


@pytest.mark.parametrize("path", ["/login", "/teams/nosuch", "/nothing-here"])
def test_an_answer_that_is_no_page_is_as_readable(path: str, served: Served, contexts: Looking) -> None:
    for look in (Look(), Look(dark=True, phone=True)):
        with visiting(contexts(look), served.address, path) as visit:
            assert visit.axe()["violations"] == []
            assert visit.shape()["wide"] <= 0
            assert visit.strays == []


def test_what_was_found(record_property: Callable[[str, object], None]) -> None:
    """Says it; runs last."""
    said = f"{len(ROUTES)} pages, {FOUND['visits']} visits, {FOUND['charts']} charts drawn, {len(RULES)} axe rules passed, {FOUND['violations']} violations"
    record_property("in the browser", said)
    assert "color-contrast" in RULES or not FOUND["visits"]
