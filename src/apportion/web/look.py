"""Pages as HTML. Templates escape everything; nothing that came from outside is ever markup, script or style."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from apportion.render.figures import legible
from apportion.web.page import Page

HERE = Path(__file__).parent


@cache
def templates() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters["legible"] = legible
    environment.filters["data"] = data
    return environment


def data(value: object) -> Markup:
    """JSON inside a page: no `<` may end the element that holds it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))  # noqa: S704  # just escaped


def blocks_html(page: Page, csrf: str = "") -> Markup:
    """The blocks alone: what can be kept for all who may see the same."""
    text = templates().get_template("blocks.html").render(page=page, csrf=csrf)
    return Markup(text)  # noqa: S704  # made by a template that escapes


def page_html(page: Page, body: Markup, frame: dict[str, Any]) -> str:
    return templates().get_template("page.html").render(page=page, body=body, **frame)
