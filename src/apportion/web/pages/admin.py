"""`/admin`: who comes in, what is read from where, and what was posted by whom."""

import time
from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from apportion.books.doors import Login
from apportion.model.times import instant_text
from apportion.render.sheet import Table
from apportion.reports.report import Cell, Column
from apportion.reports.words import counted
from apportion.verbs.brought import brought
from apportion.verbs.tokens import minute
from apportion.verbs.web_settings import Group
from apportion.web.ask import Ask, NotThereError
from apportion.web.frame import Entry
from apportion.web.page import Figure, Figures, Form, Input, Link, Page, Prose, Rows
from apportion.web.routes import Action, Route
from apportion.web.viewer import Deed, Role

HOME = Link("Admin", "/admin")
BY = {"link": "the link of serve", "oidc": "the organisation's login", "proxy": "the proxy", "token": "a token"}


def admin(ask: Ask) -> Page:
    books = ask.desk.books
    people, now = books.doors.logins(), int(time.time())
    good = sum(token.is_good(now) for token in books.tokens.listed())
    runs = books.runs()
    last = f"the last on {instant_text(runs[-1].posted_s)[:10]}" if runs else ""
    figures = (
        Figure("people", str(len(people)), note=f"{sum(bool(one.sessions) for one in people)} logged in now"),
        Figure("tokens", str(good), "/admin/tokens", "good now"),
        Figure("sources", str(len(ask.project.sources)), "/admin/sources"),
        Figure("runs", str(len(runs)), "/admin/runs", last),
        Figure("audit", "log", "/admin/audit", "who did what, when and why"),
    )
    title = f"{counted(len(people), 'person', 'people')} came in so far, and {counted(good, 'token')} of programs {'is' if good == 1 else 'are'} good."
    return Page(
        "admin",
        title,
        (Figures(figures), *people_blocks(people), login_block(ask)),
        "apportion audit --what login",
        timeless=True,
        fleeting=True,
    )


def people_blocks(people: Sequence[Login]) -> tuple[Rows | Form, ...]:
    rows = tuple(
        (
            one.person.name, one.person.role, "all" if one.person.teams is None else ", ".join(sorted(one.person.teams)) or "none",
            BY.get(one.person.by, one.person.by), minute(one.first_s), minute(one.last_s), one.sessions,
        )
        for one in people
    )  # fmt: skip
    table = plain_table(
        "name role teams came_by first_login last_login", rows, Column("sessions", "open sessions", "count")
    )
    inside = tuple(one.person.name for one in people if one.sessions)
    links = {"name": ["/admin/audit?" + urlencode({"who": one.person.name}) for one in people]}
    listed = Rows(table, "Who came in", links, empty="Nobody came in yet.")
    if not inside:
        return (listed,)
    says = "They have to log in again, and get the role and teams that their groups have then."
    return listed, Form(
        "/admin/sessions",
        (Input("name", "Person", choices=inside),),
        "End their sessions",
        "End somebody's sessions",
        says=says,
    )


def login_block(ask: Ask) -> Prose:
    web = ask.project.settings.web
    ways = {
        "link": "People come in by the link that `apportion serve` prints: whoever reads that terminal is an admin.",
        "oidc": f"People log in at {web.oidc.issuer if web.oidc else ''}; their groups decide what they see.",
        "proxy": f"A proxy says who people are, in {web.proxy.user_header} and {web.proxy.groups_header}.",
    }
    groups = [f"{name}: {group.role}, {team_words(group)}" for name, group in web.groups.items()]
    return Prose((ways[web.login], f"A session lasts {web.session_hours} h."), "How people log in", "\n".join(groups))


def team_words(group: Group) -> str:
    if group.role in (Role.finance, Role.admin):
        return "all teams"
    return ", ".join(sorted(group.teams)) or "no team"


def sources(ask: Ask) -> Page:
    rows: list[tuple[Cell, ...]] = [
        (
            one.source,
            one.kind,
            minute(one.received_s) if one.deliveries else "never",
            minute(one.reaches_s) if one.deliveries else None,
            one.deliveries,
            one.doubtful,
        )
        for one in brought(ask.project)
        if one.kind
    ]
    counts = (Column("deliveries", "deliveries", "count"), Column("problems", "rows with problems", "count"))
    table = plain_table("source kind last_delivery data_until", tuple(rows), *counts)
    silent = sum(row[2] == "never" for row in rows)
    said = f", of which {silent} never delivered" if silent else ""
    title = f"{counted(len(rows), 'source')} of apportion.toml{said}."
    block = Rows(table, "Sources", {"source": ["/health"] * len(rows)}, empty="apportion.toml names no source.")
    return Page("sources", title, (block,), "apportion check", crumbs=(HOME,), timeless=True, fleeting=True)


def runs(ask: Ask) -> Page:
    found = ask.desk.books.runs()[::-1]
    names = "run kind period about policy posted cause"
    rows = tuple(
        (
            one.run_id,
            one.kind,
            one.period,
            one.about,
            one.policy_version,
            instant_text(one.posted_s),
            one.cause,
            one.entries,
        )
        for one in found
    )
    table = plain_table(names, rows, Column("entries", "entries", "count"))
    title = f"{counted(len(found), 'run')} of the ledger, the newest first."
    links = {"period": [f"/?period={one.period}" for one in found]}
    block = Rows(table, "Runs", links, empty="Nothing is posted yet.")
    return Page("runs", title, (block,), "apportion audit --what run", crumbs=(HOME,), timeless=True, fleeting=True)


def plain_table(names: str, rows: tuple[tuple[Cell, ...], ...], *more: Column) -> Table:
    """Columns of text by their names; one that is empty throughout is left out."""
    return Table((*(Column(name, name.replace("_", " "), quiet=True) for name in names.split()), *more), rows)


def end_sessions(ask: Ask, form: Mapping[str, str]) -> str:
    if not ask.desk.books.doors.end_sessions_of(form.get("name", "")):
        raise NotThereError("session of such a person")
    return "/admin"


ROUTES = (
    Route("/admin", admin, Deed.admin, Entry("Admin", "/admin", "a", Deed.admin)),
    Route("/admin/sources", sources, Deed.admin),
    Route("/admin/runs", runs, Deed.admin),
)
ACTIONS = (Action("/admin/sessions", end_sessions, Deed.admin),)
