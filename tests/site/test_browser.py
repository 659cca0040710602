"""The site in a real browser: nothing is asked elsewhere, nothing is wider than a phone, the search finds."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser import CHROMIUM, PHONE, WIDE, launch
from tests.site import sites

PAGES = (
    "",
    "contents/",
    "tutorials/first-statement/",
    "how-to/close-a-month/",
    "reference/policy/",
    "reference/methods/",
    "explanation/comparison/",
    "explanation/fairness/",
    "migrate/from-opencost-or-kubecost/",
    "examples/two-teams/",
)


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    with sites.serving(site) as address:
        yield address


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if not Path(CHROMIUM).exists():
        pytest.skip("no Chromium")
    with sync_playwright() as playwright:
        found = launch(playwright)
        yield found
        found.close()


@pytest.mark.parametrize(("size", "scheme"), [(WIDE, "light"), (PHONE, "dark")], ids=["wide", "phone"])
def test_pages_fit_and_ask_nobody_else(size: tuple[int, int], scheme: str, address: str, browser: Browser) -> None:
    said: list[str] = []
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme="dark" if scheme == "dark" else "light",
        reduced_motion="reduce",
    )
    context.on("request", lambda asked: said.extend([asked.url] * (not asked.url.startswith((address, "data:")))))
    page = context.new_page()
    page.on("console", lambda message: said.append(message.text))
    for path in PAGES:
        page.goto(address + path)
        expect(page.locator("h1")).to_have_count(1)
        expect(page.locator("body")).to_have_attribute(
            "data-md-color-scheme", "slate" if scheme == "dark" else "default"
        )
        assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0, path
    context.close()
    assert said == []


def test_the_search_finds(address: str, browser: Browser) -> None:
    page: Page = browser.new_page()
    page.goto(address)
    page.keyboard.press("/")
    page.get_by_placeholder("Search").press_sequentially("slurm accounting")
    expect(page.locator(".md-search-result__item").first).to_be_visible()
    expect(page.locator(".md-search-result__item", has_text="Read Slurm").first).to_be_attached()
    page.close()
