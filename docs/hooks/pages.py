"""What a page says of itself: its title and description for readers and search engines, and the names of the files that it shows."""

import re
from html import escape

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.pages import Page

CONTENTS = "docs/README.md"
FILE = re.compile(r"<!-- file: (\S+) -->\n```(\w+)\n")
NO_PROSE = re.compile(r"^ *```.*?^ *```$|<!--.*?-->|<[^>]+>|^[#!][^\n]*|\{ \.[^}]*\}", re.MULTILINE | re.DOTALL)
LONGEST = 200


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **_: object) -> str:
    heading = re.search(r"^# (.+)$", markdown, re.MULTILINE)
    if page.is_homepage:
        page.meta.setdefault("hide", ["navigation", "toc"])
    elif heading:
        page.meta.setdefault("title", plain(heading[1]))  # in full; the navigation has a short name
    page.meta.setdefault(
        "description", escape(description(markdown) or config.site_description or "")
    )  # the theme does not
    if page.file.src_uri == CONTENTS:
        markdown = markdown.replace("\n**", '\n<div class="contents" markdown>\n\n**', 1) + "\n</div>\n"
    return FILE.sub(r'```\2 title="\1"' + "\n", markdown)


def description(markdown: str) -> str:
    """The first paragraph of prose, cut at the end of a sentence or of a word."""
    prose = (part.strip() for part in re.split(r"\n\s*\n", NO_PROSE.sub("", markdown)))
    text = plain(next((part for part in prose if part and part[0] not in "|-*0123456789"), ""))
    if len(text) <= LONGEST:
        return text
    cut = text[:LONGEST]
    return cut[: cut.rindex(". ") + 1] if ". " in cut else cut[: cut.rindex(" ")] + " …"


def plain(text: str) -> str:
    return " ".join(re.sub(r"[*`]", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)).split())
