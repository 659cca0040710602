"""`/admin/audit`: who did what, when and why, newest first."""

from urllib.parse import urlencode

from apportion.books.audit import Note
from apportion.errors import InputError
from apportion.render.sheet import Table
from apportion.reports.report import Column
from apportion.verbs.tokens import minute
from apportion.web.ask import Ask
from apportion.web.page import Block, Form, Input, Link, Page, Prose, Rows
from apportion.web.pages.admin import HOME
from apportion.web.routes import Route
from apportion.web.viewer import Deed

MOST = 100
DIGITS = 19  # that a database takes for a number
NAMES = ("number", "when", "who", "what", "why", "detail")


def audit(ask: Ask) -> Page:
    who, what = ask.one("who"), ask.one("what")
    found = ask.desk.books.audit_page(who, what, number(ask.one("before")), MOST + 1)
    shown = found[:MOST]
    rows = tuple((str(n), minute(one.at_s), one.who, one.what, one.why, one.detail) for n, one in shown)
    table = Table(tuple(Column(name, name, quiet=name == "why") for name in NAMES), rows)
    links = {
        "who": [address(who=one.who, what=what) for _, one in shown],
        "what": [address(who=who, what=one.what) for _, one in shown],
    }
    blocks: list[Block] = [question(who, what), Rows(table, "Notes", links, empty="Nothing of that is noted.")]
    if len(found) > MOST:
        blocks.append(Prose(links=(Link("Earlier notes", address(who=who, what=what, before=str(shown[-1][0]))),)))
    command = "apportion audit" + (f" --what {what!r}" if " " in what else f" --what {what}" if what else "")
    return Page("audit", title(shown, who, what), tuple(blocks), command, crumbs=(HOME,), timeless=True, fleeting=True)


def question(who: str, what: str) -> Form:
    inputs = (Input("who", "Who", who), Input("what", "What", what, hint="such as run, login, token, policy, dispute"))
    return Form("/admin/audit", inputs, "Show", post=False)


def title(shown: list[tuple[int, Note]], who: str, what: str) -> str:
    narrowed = (f" by {who}" if who else "") + (f" of the kind {what!r}" if what else "")
    if not shown:
        return f"Nothing{narrowed} is noted in the audit log."
    return f"What was done{narrowed}: notes {shown[-1][0]} to {shown[0][0]} of the audit log."


def address(**asked: str) -> str:
    return "/admin/audit?" + urlencode({name: value for name, value in asked.items() if value})


def number(text: str) -> int:
    if text and not (text.isdecimal() and len(text) < DIGITS):
        raise InputError("invalid-number", f"before must be the number of a note, not {text[:40]!r}")
    return int(text or 0)


ROUTES = (Route("/admin/audit", audit, Deed.admin),)
