"""Pictures of the site, to look at: python -m tests.site.pictures [PATH...] [--to FOLDER]; the first page unless paths are given."""

import argparse
import tempfile
from itertools import product
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.browser import PHONE, launch
from tests.site import sites

LOOKS = {"light": ((1400, 1000), False), "dark": ((1400, 1000), True), "phone": (PHONE, False)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="*", default=[""])
    parser.add_argument("--to", type=Path, default=Path(tempfile.gettempdir(), "shots"))
    given = parser.parse_args()
    given.to.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        done = sites.build(sites.ROOT, Path(folder))
        if done.returncode:
            raise SystemExit(done.stdout)
        browser = launch(playwright)
        with sites.serving(Path(folder)) as address:
            for path, look in product(given.paths, LOOKS):
                print(
                    shot(
                        browser,
                        address + path,
                        given.to / f"{path.strip('/').replace('/', '-') or 'first-page'}-{look}.png",
                        look,
                    )
                )
        browser.close()


def shot(browser: Browser, url: str, file: Path, look: str) -> Path:
    (width, height), dark = LOOKS[look]
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light")
    page.goto(url, wait_until="networkidle")
    page.screenshot(path=file)
    page.close()
    return file


if __name__ == "__main__":
    main()
