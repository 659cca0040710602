"""One file that asks for nothing outside: style inside, no script, and a policy that forbids both to anything else."""

import base64
import hashlib
from functools import cache
from importlib.resources import files

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from apportion.render.statement.layout import page_of
from apportion.reports.statement.shape import Statement

FOLDER = files("apportion.render.statement") / "template"


def render(statement: Statement) -> bytes:
    template, style = parts_of(statement.template)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return template.render(page=page_of(statement), style=Markup(style), digest=digest).encode()  # noqa: S704  # our own file


@cache
def parts_of(name: str) -> tuple[Template, str]:
    folder = FOLDER / name
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string((folder / "statement.html").read_text(encoding="utf-8"))
    return template, (folder / "statement.css").read_text(encoding="utf-8")
