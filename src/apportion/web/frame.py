"""What stands around every page: navigation, months, filters, the ways to have the same elsewhere. And the answers that are no pages."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse

from apportion.render.formats import render
from apportion.web.ask import FORMATS, Ask
from apportion.web.look import blocks_html, page_html, templates
from apportion.web.page import Link, Page
from apportion.web.viewer import Deed

STATIC = Path(__file__).parent / "static"


@dataclass(frozen=True, slots=True)
class Entry:
    """A page in the navigation, the key that opens it, and what one must be allowed to see it."""

    text: str
    href: str
    key: str = ""
    deed: Deed = Deed.read


@cache
def version() -> str:
    """Of what the browser keeps: another whenever one of the files is."""
    files = sorted(STATIC.glob("apportion.*"))
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:10]


def html(ask: Ask, page: Page, entries: Sequence[Entry], csrf: str) -> HTMLResponse:
    body = (
        ask.desk.kept(("html", ask.permalink, ask.viewer.teams, ask.viewer.deeds), lambda: blocks_html(page))
        if page.is_kept
        else blocks_html(page, csrf)
    )
    nav = [
        {"text": one.text, "href": ask.link(one.href), "key": one.key, "here": one.href == ask.path}
        for one in entries
        if ask.viewer.may(one.deed)
    ]
    return HTMLResponse(page_html(page, body, {**frame(ask), "nav": nav, "csrf": csrf}))


def frame(ask: Ask) -> dict[str, Any]:
    months = sorted(ask.known_months, reverse=True)
    if months and ask.period not in months:
        months.insert(0, ask.period)
    own = [(name, value) for name, values in ask.query.items() if name != "period" for value in values]
    where = list(ask.query.get("where", ()))
    return {
        "version": version(),
        "trouble": trouble(ask),
        "viewer": ask.viewer,
        "path": ask.path,
        "period": ask.period if months else "",
        "months": months,
        "carried": own,
        "filters": [Link(one, ask.link(ask.path, where=[other for other in where if other != one])) for one in where],
        "permalink": ask.permalink,
        "as_json": other_form(ask, ".json"),
        "as_csv": other_form(ask, ".csv"),
    }


def trouble(ask: Ask) -> str:
    """What every page says while an edited file cannot be read. What is wrong with it is for those who may read it: its words are of every team."""
    error = ask.desk.trouble
    if error is None:
        return ""
    what = f"{error.where}: {error.message}" if ask.viewer.may(Deed.whole) else "the policy cannot be read as it is now"
    return f"{what}. Until it is mended, these pages go by what was there before."


def other_form(ask: Ask, form: str) -> str:
    path, mark, query = ask.permalink.partition("?")
    path = path.removesuffix(".html")
    return ("/overview" if path == "/" else path) + form + mark + query


def asked_path(request: Request) -> str:
    """As it was written: names may have slashes and question marks, which only there are told from the path's own."""
    return str(request.scope["raw_path"].decode("utf-8", "replace"))


def split_form(path: str) -> tuple[str, str]:
    """A name, and the form that is asked for by its ending."""
    for form in FORMATS:
        if path.endswith(form):
            return path.removesuffix(form), form
    return path, ".html"


def rendered(ask: Ask, page: Page, form: str) -> tuple[str, str]:
    """Text and its type."""
    kind = {".json": "application/json", ".csv": "text/csv; charset=utf-8"}[form]
    said = replace(page, notes=(*filter(None, [trouble(ask)]), *page.notes))
    return render(said.sheet(), form.removeprefix(".")), kind


def bare(title: str, paragraphs: Sequence[str], links: Sequence[Link] = (), status: int = 200) -> HTMLResponse:
    """A page for somebody who is not in, or about something that went wrong."""
    text = (
        templates().get_template("bare.html").render(title=title, paragraphs=paragraphs, links=links, version=version())
    )
    return HTMLResponse(text, status)
