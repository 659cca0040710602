"""The order of the site is that of docs/README.md: its groups are how-tos, its lines `- Name: ...` are sections. A page in no list, or in two, is refused."""

import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import Files

HOME, CONTENTS = "docs/index.md", "docs/README.md"
GROUP = re.compile(r"\*\*(.+)\*\*")
SECTION = re.compile(r"- (\w[\w ]*): (\[.+)")
LINK = re.compile(r"\[([^]]+)\]\(([^)#]+)\)")
Entry = dict[str, str]


def on_files(files: Files, config: MkDocsConfig, **_: object) -> Files:
    listed = files.get_file_from_path(CONTENTS)
    pages = {file.src_uri: file.content_string for file in files.documentation_pages()}
    groups, sections = lists(listed.content_string if listed else "", set(pages))
    check(
        [path for entries in (*groups.values(), *sections.values()) for entry in entries for path in entry.values()],
        pages,
    )
    config.nav = navigation(groups, sections, pages)
    return files


def lists(text: str, pages: set[str]) -> tuple[dict[str, list[Entry]], dict[str, list[Entry]]]:
    """The groups of how-tos, and the sections in their order."""
    groups: dict[str, list[Entry]] = {}
    sections: dict[str, list[Entry]] = {}
    group: list[Entry] = []
    for line in text.splitlines():
        if heading := GROUP.fullmatch(line):
            group = groups.setdefault(heading[1], [])
        elif section := SECTION.fullmatch(line):
            sections.setdefault(section[1], []).extend(entries(section[2], pages))
        elif line.startswith("- "):
            group += entries(line, pages)
    return groups, sections


def entries(line: str, pages: set[str]) -> Iterator[Entry]:
    for name, target in LINK.findall(line):
        path = os.path.normpath(PurePosixPath("docs", target))
        page = (
            path.removesuffix(".ipynb") + ".md" if path.endswith(".ipynb") else path
        )  # docs/hooks/notebooks.py makes it
        if page not in pages:
            raise PluginError(f"docs/README.md lists {target}, and there is no such page")
        yield {name[0].upper() + name[1:]: page}


def check(listed: list[str], pages: dict[str, str]) -> None:
    twice = sorted(page for page, times in Counter(listed).items() if times > 1)
    nowhere = sorted(page for page in pages if page.startswith("docs/") and page not in {HOME, CONTENTS, *listed})
    if twice:
        raise PluginError(f"docs/README.md lists more than once: {', '.join(twice)}")
    if nowhere:
        raise PluginError(f"in no list of docs/README.md: {', '.join(nowhere)}")


def navigation(groups: dict[str, list[Entry]], sections: dict[str, list[Entry]], pages: dict[str, str]) -> list[object]:
    """The user's order: learn, do, then what is looked up and read. Pages that came along from outside docs/ stand at the end."""
    known = {HOME, CONTENTS} | {
        page for part in (*groups.values(), *sections.values()) for entry in part for page in entry.values()
    }
    along = [{title(pages[page]): page} for page in sorted(pages) if page not in known]
    tutorials = sections.pop("Tutorials", [])
    how_to = [CONTENTS, *({name: entries} for name, entries in groups.items())]
    parts = {"Tutorials": tutorials, "How-to": how_to, **sections, "Project": along}
    return [{"Home": HOME}, *({name: part} for name, part in parts.items() if part)]


def title(text: str) -> str:
    found = re.search(r"^# (.+)$", text, re.MULTILINE)
    return found[1] if found else "Page"
