"""The site sees the repository as it is: a page keeps its path from the root, so a relative link works on the site as it works in the repository.

What pages link to outside docs/ comes along: pages as pages, everything else as a download. A folder without a page gets one that lists its files.
"""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

CONTENTS = PurePosixPath("docs/README.md")
ICON = PurePosixPath("src/apportion/web/static/icon.svg")  # the server's own
PLACES = {CONTENTS: "contents/index.html", ICON: "assets/icon.svg"}
TO_COPY = {"examples", "deploy"}  # folders whose files are meant to be taken along
FENCE = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s#]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig, **_: object) -> Files:
    """MkDocs' own paths begin in docs/; ours begin one folder above it."""
    root = Path(config.config_file_path).parent
    theirs = [file for file in files if file.src_dir != config.docs_dir]
    ours = [CONTENTS, ICON, *(PurePosixPath("docs", file.src_uri) for file in files if is_ours(file, config))]
    return Files([*theirs, *(placed(path, root, config) for path in reachable(ours, root))])


def is_ours(file: File, config: MkDocsConfig) -> bool:
    return file.src_dir == config.docs_dir and file.inclusion is InclusionLevel.INCLUDED


def reachable(known: Iterable[PurePosixPath], root: Path) -> list[PurePosixPath]:
    """These, and what they and their neighbours link to."""
    found = dict.fromkeys(known)
    waiting = list(found)
    while waiting:
        path = waiting.pop()
        new = [there for there in (*linked(path, root), *beside(path, root)) if there not in found]
        found |= dict.fromkeys(new)
        waiting += new
    return list(found)


def linked(path: PurePosixPath, root: Path) -> Iterator[PurePosixPath]:
    """Files that a page links to. What does not exist is left to MkDocs, which says so."""
    if path.suffix == ".md" and (root / path).is_file():
        for target, _ in LINK.findall(FENCE.sub("", (root / path).read_text(encoding="utf-8"))):
            there = page_of(joined(path, target), root)
            if "://" not in target and (
                (root / there).exists() or ((root / there.parent).is_dir() and there.name == "README.md")
            ):
                yield there


def joined(page: PurePosixPath, target: str) -> PurePosixPath:
    return PurePosixPath(os.path.normpath(page.parent / unquote(target)))


def page_of(path: PurePosixPath, root: Path) -> PurePosixPath:
    """A folder stands for its first page, of docs/ for the first that is listed; the list of all pages is that of the how-tos."""
    if not (root / path).is_dir():
        return path
    if path.parts[0] != "docs":
        return path / "README.md"
    listed = (joined(CONTENTS, target) for target, _ in LINK.findall((root / CONTENTS).read_text(encoding="utf-8")))
    return next((page for page in listed if page.parent == path and path.name != "how-to"), CONTENTS)


def beside(path: PurePosixPath, root: Path) -> Iterator[PurePosixPath]:
    """What lies with the first page of a folder that is meant to be copied, down to folders with a page of their own."""
    if path.name != "README.md" or path.parts[0] not in TO_COPY:
        return
    for folder, folders, names in os.walk(root / path.parent):
        folders[:] = sorted(
            name for name in folders if name[0] not in "._" and not Path(folder, name, "README.md").exists()
        )
        yield from (PurePosixPath(Path(folder, name).relative_to(root)) for name in sorted(names))


def placed(path: PurePosixPath, root: Path, config: MkDocsConfig) -> File:
    made = File(
        str(path),
        str(root),
        config.site_dir,
        config.use_directory_urls,
        dest_uri=PLACES.get(path) or destination(path),
        inclusion=InclusionLevel.INCLUDED,
    )
    if not (root / path).exists():
        made.content_string = f"# {path.parent}\n\nThe files of this folder.\n"
    return made


def destination(path: PurePosixPath) -> str:
    if path.parts[0] == "docs":
        path = path.relative_to("docs")
    elif len(path.parts) == 1:
        path = PurePosixPath("project", path.name.lower())
    if path.suffix == ".md":
        return str((path.parent if path.stem in {"README", "index"} else path.with_suffix("")) / "index.html")
    return str(path) if path.suffix else f"{path}.txt"  # a file without an ending would be no text to a browser


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **_: object) -> str:
    """Links to folders lead to pages, and the files of a folder to copy are listed."""
    root, here = Path(config.config_file_path).parent, PurePosixPath(page.file.src_uri)

    def led(link: re.Match[str]) -> str:
        there = joined(here, link[1])
        return f"]({os.path.relpath(page_of(there, root), here.parent)})" if (root / there).is_dir() else link[0]

    files = [path.relative_to(here.parent) for path in beside(here, root) if path != here]
    listed = "".join(f"- [{path}]({path})\n" for path in files)
    return LINK.sub(led, markdown) + (f"\n\n## Files\n\n{listed}" if listed else "")
