"""After the build: every link and anchor leads somewhere, and no page asks another host for anything. Links to other hosts are counted, not followed."""

import logging
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError

LOG = logging.getLogger("mkdocs.hooks.links")
ASKED = {"src", "srcset", "poster", "data"}  # what a browser fetches by itself; `href` it fetches of <link> alone
IN_STYLES = re.compile(r"(?:url\(|@import)\s*[\"']?((?:https?:)?//[^\"')]+)")


class Found(HTMLParser):
    """The ids of a page, its links, and what a browser fetches to show it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = {"", "__top"}
        self.links: set[str] = set()
        self.asked: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if not value:
                continue
            if name in {"id", "name"}:
                self.ids.add(value)
            elif name == "href":
                self.links.add(value)
            if name in ASKED or (name == "href" and tag == "link"):
                self.asked.add(value)


def on_post_build(config: MkDocsConfig, **_: object) -> None:
    site = Path(config.site_dir)
    pages = {path: Found(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    wrong = [*strays(site, pages), *broken(site, pages)]
    if wrong:
        raise PluginError("\n".join(sorted(wrong)))
    elsewhere = {link for page in pages.values() for link in page.links if urlsplit(link).netloc}
    LOG.info(
        "%d pages; all links and anchors lead somewhere; %d links to other hosts, not followed",
        len(pages),
        len(elsewhere),
    )


def strays(site: Path, pages: dict[Path, Found]) -> Iterator[str]:
    """What a page or a style sheet would fetch from another host."""
    for path, page in pages.items():
        yield from (f"{path.relative_to(site)} would fetch {asked}" for asked in page.asked if urlsplit(asked).netloc)
    for sheet in site.rglob("*.css"):
        yield from (
            f"{sheet.relative_to(site)} would fetch {asked}"
            for asked in IN_STYLES.findall(sheet.read_text(encoding="utf-8"))
        )


def broken(site: Path, pages: dict[Path, Found]) -> Iterator[str]:
    for path, page in pages.items():
        here = f"/{path.relative_to(site)}"
        for link in page.links | page.asked:
            parts = urlsplit(urljoin(here, link))
            if parts.scheme or parts.netloc:
                continue
            there = site / unquote(parts.path).lstrip("/")
            there = there / "index.html" if there.is_dir() else there
            if not there.is_file():
                yield f"{here[1:]} links to {link}, which is not there"
            elif there in pages and unquote(parts.fragment) not in pages[there].ids:
                yield f"{here[1:]} links to {link}, and that page has no such anchor"
