"""A real server on loopback and Debian's Chromium, for the tests of the pages; and pictures of pages, to look at:

python -m tests.browser PATH... [--project DIR] [--role viewer] [--dark] [--phone] [--plain] [--first] [--to FOLDER]
python -m tests.browser --docs [--project DEMO]

`--first` takes the first screen alone. `--docs` makes all pictures of docs/images anew, of the demo (tests/pictures.py says which).
"""

import argparse
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Page, Playwright, expect, sync_playwright

from apportion.web.app import create_app
from apportion.web.door.session import COOKIE
from tests.docs import make_demo
from tests.pictures import PICTURES, changed_copy
from tests.web import world
from tests.web.conftest import PEOPLE
from tests.web.serving import serving as on_loopback

CHROMIUM = "/usr/bin/chromium"
WIDE, PHONE = (1280, 900), (390, 844)
PATIENT_MS = 240_000  # a month of the demo is computed for its first explanation


@dataclass(frozen=True)
class Look:
    """How somebody looks at a page."""

    role: str = "admin"
    dark: bool = False
    phone: bool = False
    script: bool = True


@dataclass(frozen=True)
class Served:
    address: str
    folder: Path
    app: object

    def session(self, role: str) -> str:
        return str(self.app.state.desk.books.doors.open_session(PEOPLE[role], 3600))  # type: ignore[attr-defined]


@contextmanager
def serving(folder: Path) -> Iterator[Served]:
    app = create_app(folder)
    with on_loopback(app) as address:
        yield Served(address, folder, app)


def launch(playwright: Playwright) -> Browser:
    quiet = [
        "--disable-quic",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
    ]
    return playwright.chromium.launch(executable_path=CHROMIUM, args=quiet)


@contextmanager
def looking(
    browser: Browser, served: Served, look: Look, size: tuple[int, int] | None = None
) -> Iterator[BrowserContext]:
    """Logged in; nothing outside loopback can be asked, and what is tried is kept on the context as `strays`."""
    width, height = size or (PHONE if look.phone else WIDE)
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if look.dark else "light",
        java_script_enabled=look.script,
        reduced_motion="reduce",
    )
    context.add_cookies([{"name": COOKIE, "value": served.session(look.role), "url": served.address}])
    try:
        yield context
    finally:
        context.close()


def drawn(page: Page) -> None:
    """Until every chart is there; without JavaScript there is none to wait for."""
    if not page.locator("html.js").count():
        return
    expect(page.locator("[data-chart]:not([data-drawn])")).to_have_count(0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--project", type=Path)
    parser.add_argument("--role", default="admin", choices=list(PEOPLE))
    parser.add_argument("--to", type=Path, default=Path(tempfile.gettempdir(), "shots"))
    for flag in ("dark", "phone", "plain", "first", "docs"):
        parser.add_argument(f"--{flag}", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        browser = launch(playwright)
        if given.docs:
            draw_all(browser, given.project or make_demo(Path(scratch)), Path(scratch))
        else:
            draw(browser, given.project or world.make(Path(scratch, "project")).folder, given)
        browser.close()


def draw(browser: Browser, folder: Path, given: argparse.Namespace) -> None:
    given.to.mkdir(parents=True, exist_ok=True)
    look = Look(given.role, given.dark, given.phone, not given.plain)
    with serving(folder) as served, looking(browser, served, look) as context:
        for path in given.paths:
            named = f"{re.sub(r'[^a-z0-9]+', '-', path).strip('-') or 'overview'}.png"
            print(shot(context, served.address + path, given.to / named, whole=not given.first))


def shot(context: BrowserContext, url: str, file: Path, *, whole: bool = True) -> Path:
    page = context.new_page()
    page.set_default_timeout(PATIENT_MS)
    page.on("console", lambda message: print("console:", message.text))
    answer = page.goto(url)
    drawn(page)
    page.screenshot(path=file, full_page=whole)
    page.close()
    if answer is None or not answer.ok:
        raise RuntimeError(f"{url} answers {answer and answer.status}: {file} shows no page")
    return file


def draw_all(browser: Browser, demo: Path, scratch: Path) -> None:
    """Books of one's own: to look leaves a session in them."""
    own = Path(shutil.copytree(demo, scratch / "own"))
    places = {False: own, True: changed_copy(demo, scratch / "changed")}
    for one in PICTURES:
        look = Look(dark=one.dark, phone=one.phone)
        with serving(places[one.changed]) as served, looking(browser, served, look, one.size) as context:
            print(shot(context, served.address + one.url, one.file, whole=False))


if __name__ == "__main__":
    main()
