"""One server, one Chromium, one context for each way to look; every test of the pages in a browser shares them."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Route, sync_playwright

from tests.browse.visit import AXE
from tests.browser import CHROMIUM, Look, Served, launch, looking, serving
from tests.web import world

Looking = Callable[[Look], BrowserContext]


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    if not Path(CHROMIUM).exists():
        pytest.skip("no Chromium in /usr/bin")
    if not AXE.exists():
        pytest.skip("no axe-core in .servers/node")
    with serving(world.make(tmp_path_factory.mktemp("small") / "project").folder) as found:
        yield found


@pytest.fixture(scope="session")
def browser(served: Served) -> Iterator[Browser]:
    del served  # skips where there is no browser
    with sync_playwright() as playwright:
        found = launch(playwright)
        yield found
        found.close()


@pytest.fixture(scope="session")
def contexts(browser: Browser, served: Served) -> Iterator[Looking]:
    """The same context for the same look: logging in again and again is slow."""
    with ExitStack() as stack:
        made: dict[Look, BrowserContext] = {}

        def context(look: Look) -> BrowserContext:
            if look not in made:
                made[look] = stack.enter_context(looking(browser, served, replace(look, script=True)))
                if not look.script:
                    made[look].route("**/*", without_scripts)
            return made[look]

        yield context


def without_scripts(route: Route) -> None:
    """As a browser that runs none shows it; axe itself needs one that does."""
    if route.request.resource_type != "document":
        route.continue_()
        return
    answer = route.fetch()
    route.fulfill(response=answer, body=re.sub(r"<script (?!type=.application/json)[^>]*></script>", "", answer.text()))
