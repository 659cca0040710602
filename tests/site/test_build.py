"""The site is whole: every page has its place, title and description, nothing is asked elsewhere, and what is wrong fails the build."""

import json
import re
from html import unescape
from pathlib import Path

import pytest

from tests.site import sites

OUTSIDE = re.compile(r"""(?:\bsrc|\bsrcset|<link[^>]*\bhref)=["']?(?:https?:)?//|url\(["']?(?:https?:)?//|@import""")


def pages(site: Path) -> dict[str, str]:
    return {
        str(path.relative_to(site)): path.read_text(encoding="utf-8")
        for path in site.rglob("index.html")
        if path.parent.name != "assets"
    }


def test_every_page_of_the_docs_is_there(site: Path) -> None:
    wanted = {
        path.relative_to(sites.ROOT / "docs").with_suffix("")
        for path in (sites.ROOT / "docs").rglob("*.md")
        if path.stem not in {"README", "index"}
    }
    assert {path for path in wanted if not (site / path / "index.html").is_file()} == set()


def test_every_page_is_reached_from_the_navigation(site: Path) -> None:
    front = (site / "index.html").read_text(encoding="utf-8")
    linked = set(re.findall(r'<a href="([^"]*)" class="md-nav__link', front)) | {"./", "contents/"}
    assert {f"{Path(page).parent}/" for page in pages(site)} - linked == set()


def test_the_order_is_the_users(site: Path) -> None:
    front = (site / "index.html").read_text(encoding="utf-8")
    tabs = [tab.strip() for tab in re.findall(r'class="md-tabs__link">\s*([^<]+)', front)]
    assert tabs == ["Home", "Tutorials", "How-to", "Reference", "Explanation", "Migrate", "Examples", "Project"]


def test_every_page_says_what_it_is(site: Path) -> None:
    titles, told = {}, {}
    for name, text in pages(site).items():
        title = re.search(r"<title>(.+?) - Apportion</title>|<title>(Apportion)</title>", text)
        said = re.search(r'<meta name="description" content="([^"]+)"', text)
        assert title, name
        assert said, name
        assert len(unescape(said[1])) > 20, (name, said[1])
        titles[name], told[name] = title[0], said[1]
    assert len(set(titles.values())) == len(titles)
    assert len(set(told.values())) > len(told) * 0.9


def test_nothing_is_asked_elsewhere(site: Path) -> None:
    files = [path for ending in ("html", "css", "xml") for path in site.rglob(f"*.{ending}")]
    assert len(files) > 80
    assert [path for path in files if OUTSIDE.search(path.read_text(encoding="utf-8"))] == []


def test_every_page_can_be_searched_for(site: Path) -> None:
    index = json.loads((site / "search/search_index.json").read_text(encoding="utf-8"))
    found = {entry["location"].partition("#")[0] for entry in index["docs"]}
    assert {f"{Path(page).parent}/" for page in pages(site)} - found == {"./"} - found
    assert any("sacct" in entry["text"] for entry in index["docs"])


def test_the_files_of_an_example_can_be_taken_along(site: Path) -> None:
    here = "examples/two-teams/policy.yaml"
    assert (site / here).read_bytes() == (sites.ROOT / here).read_bytes()
    assert 'href="policy.yaml"' in (site / "examples/two-teams/index.html").read_text(encoding="utf-8")


def test_a_shown_file_has_its_name(site: Path) -> None:
    text = (site / "tutorials/first-statement/index.html").read_text(encoding="utf-8")
    assert '<span class="filename">lab/policy.yaml</span>' in text


def test_every_source_has_a_page(site: Path) -> None:
    from apportion.sources.registry import source_kinds

    shown = "".join(path.read_text(encoding="utf-8") for path in (sites.ROOT / "docs/how-to").glob("*.md"))
    assert [kind for kind in source_kinds() if kind != "demo" and f'kind = "{kind}"' not in shown] == []


MISTAKES = {
    "a link to nothing": ({"docs/index.md": "# Home\n\nSee [it](how-to/gone.md).\n"}, "how-to/gone.md"),
    "an anchor that is not there": ({"docs/index.md": "# Home\n\nSee [it](how-to/first.md#gone).\n"}, "#gone"),
    "a link in HTML": ({"docs/index.md": '# Home\n\n<a href="gone/">it</a>\n'}, "gone/, which is not there"),
    "an anchor in HTML": ({"docs/index.md": '# Home\n\n<a href="how-to/first/#gone">it</a>\n'}, "no such anchor"),
    "an absolute link": ({"docs/index.md": "# Home\n\nSee [it](/how-to/first.md).\n"}, "absolute link"),
    "a page in no list": (
        {"docs/how-to/second.md": "# Second\n"},
        "in no list of docs/README.md: docs/how-to/second.md",
    ),
    "a page in two lists": (
        {"docs/README.md": sites.SMALL["docs/README.md"] + "- More: [first](how-to/first.md)\n"},
        "more than once: docs/how-to/first.md",
    ),
    "a list with nothing behind it": (
        {"docs/README.md": sites.SMALL["docs/README.md"] + "- More: [gone](how-to/gone.md)\n"},
        "lists how-to/gone.md",
    ),
    "a picture from elsewhere": (
        {"docs/index.md": "# Home\n\n![It](https://example.com/a.png)\n"},
        "would fetch https",
    ),
    "letters from elsewhere": (
        {"docs/assets/site.css": "@font-face { src: url(//example.com/a.woff2) }"},
        "assets/site.css would fetch",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_fails_the_build(mistake: str, tmp_path: Path) -> None:
    changes, said = MISTAKES[mistake]
    done = sites.build(sites.small(tmp_path / "root", changes), tmp_path / "site")
    assert done.returncode != 0, done.stdout
    assert said in done.stdout


NOTEBOOK = {
    "nbformat": 4,
    "nbformat_minor": 5,
    "metadata": {},
    "cells": [
        {"cell_type": "markdown", "id": "a", "metadata": {}, "source": ["# By hand\n", "\n", "One cell."]},
        {
            "cell_type": "code",
            "id": "b",
            "metadata": {},
            "execution_count": 1,
            "source": "print(6 * 7)",
            "outputs": [
                {"output_type": "stream", "name": "stdout", "text": ["42\n"]},
                {
                    "output_type": "execute_result",
                    "metadata": {},
                    "execution_count": 1,
                    "data": {"text/plain": "None", "text/html": "<table><tr><td>rich</td></tr></table>"},
                },
            ],
        },
    ],
}


def test_a_small_site_with_a_notebook(tmp_path: Path) -> None:
    listed = sites.SMALL["docs/README.md"] + "- Tutorials: [by hand](tutorials/hand.ipynb)\n"
    changes = {"docs/README.md": listed, "docs/tutorials/hand.ipynb": json.dumps(NOTEBOOK)}
    done = sites.build(sites.small(tmp_path / "root", changes), tmp_path / "site")
    assert done.returncode == 0, done.stdout
    page = (tmp_path / "site/tutorials/hand/index.html").read_text(encoding="utf-8")
    assert "<td>rich</td>" in page
    assert re.search(r"<code>42\s*</code>", page)
    assert 'href="../hand.ipynb"' in page
    assert (tmp_path / "site/tutorials/hand.ipynb").is_file()
    assert 'href="../tutorials/hand/"' in (tmp_path / "site/contents/index.html").read_text(encoding="utf-8")


def test_folders_and_files_outside_the_docs_come_along(tmp_path: Path) -> None:
    done = sites.build(sites.small(tmp_path / "root", {}), tmp_path / "site")
    assert done.returncode == 0, done.stdout
    first = (tmp_path / "site/how-to/first/index.html").read_text(encoding="utf-8")
    assert '<a href="../../examples/">copy</a>' in first
    assert '<meta name="description" content="A page about one thing. Why, and copy.">' in first
    why = (tmp_path / "site/explanation/why/index.html").read_text(encoding="utf-8")
    assert '<a href="../../contents/">Folder</a>' in why
    one = (tmp_path / "site/examples/one/index.html").read_text(encoding="utf-8")
    assert "The files of this folder." in one
    assert 'href="policy.yaml"' in one
    assert (tmp_path / "site/examples/two/policy.yaml").read_text(encoding="utf-8") == "policy: two\n"
    assert (tmp_path / "site/project/architecture/index.html").is_file()
