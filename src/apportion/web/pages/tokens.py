"""`/tokens`, for everybody their own, and `/admin/tokens`, for admins all: keys for programs that ask the API."""

from collections.abc import Mapping

from apportion.books.tokens import LONGEST_S, Token
from apportion.errors import InputError
from apportion.model.times import instant_text
from apportion.reports.words import counted
from apportion.verbs.tokens import status_of, token_table, tokens
from apportion.verbs.web_settings import ROLES
from apportion.web.ask import Ask
from apportion.web.door.granting import DAYS, Wanted, granted
from apportion.web.page import Block, Form, Input, Link, Page, Prose, Rows, Tone
from apportion.web.pages.admin import HOME
from apportion.web.routes import Action, Route
from apportion.web.viewer import Deed

OWN, ALL = "/tokens", "/admin/tokens"
DIGITS = 9
TONES: dict[str, Tone] = {"good": "", "revoked": "quiet", "expired": "quiet"}


def own_tokens(ask: Ask) -> Page:
    found = tokens(ask.project, ask.viewer.name)
    title = (
        f"You have {counted(good(found), 'good token')} for programs."
        if good(found)
        else "You have no token for programs."
    )
    return page(ask, title, found, OWN)


def all_tokens(ask: Ask) -> Page:
    found = tokens(ask.project)
    owners = {one.owner for one in found if status_of(one) == "good"}
    title = (
        f"{counted(good(found), 'good token')} of {counted(len(owners), 'person', 'people')}."
        if owners
        else "No program has a token."
    )
    return page(ask, title, found, ALL)


def good(found: tuple[Token, ...]) -> int:
    return sum(status_of(one) == "good" for one in found)


def page(ask: Ask, title: str, found: tuple[Token, ...], path: str) -> Page:
    tones = [TONES[status_of(one)] for one in found]
    blocks: list[Block] = [
        Rows(token_table(found), "Tokens", tones=tones, empty="There is none yet."),
        making(ask, path),
    ]
    ending = tuple(f"{one.id} {one.label}" for one in found if status_of(one) == "good")
    if ending:
        says = "Whatever uses it is refused from then on."
        blocks.append(
            Form(f"{path}/revoke", (Input("token", "Token", choices=ending),), "Revoke it", "Revoke a token", says=says)
        )
    crumbs = (HOME,) if path == ALL else ()
    return Page("tokens", title, tuple(blocks), "apportion token list", crumbs=crumbs, timeless=True, fleeting=True)


def making(ask: Ask, path: str) -> Form:
    roles = ROLES[: ROLES.index(ask.viewer.role) + 1]
    deeds = ", ".join(sorted(ask.viewer.deeds))
    own = (
        "those that you see"
        if ask.viewer.teams is not None
        else "needed for viewer and lead, none for finance and admin"
    )
    inputs = (
        Input("label", "What it is for", needed=True),
        Input("role", "Role", choices=roles),
        Input("teams", "Teams", hint=f"with commas between them; {own}"),
        Input("deeds", "What it may do", "read", hint=f"with commas between them, of: {deeds}", needed=True),
        Input("days", "Days that it lasts", str(DAYS), "number", hint=f"at most {LONGEST_S // 86_400}", needed=True),
    )
    says = "It is shown once, and never does more than you may yourself when it is used."
    return Form(path, inputs, "Make it", "Make a token", says=says)


def make_token(ask: Ask, form: Mapping[str, str]) -> Page:
    """The only page that shows a key, and only this time: whoever loads it again makes no other."""
    days = form.get("days", "")
    if not days.isdecimal() or len(days) > DIGITS:
        raise InputError("invalid-number", f"the days that a token lasts must be a whole number, not {days[:40]!r}")
    wanted = Wanted(
        form.get("label", ""),
        form.get("role", ""),
        words(form.get("teams", "")),
        words(form.get("deeds", "")),
        int(days),
    )
    if wanted.label.strip() in {one.label for one in tokens(ask.project, ask.viewer.name) if status_of(one) == "good"}:
        raise InputError("token-label", "you have a good token of that name", hint="revoke it, or give another name")
    made, key = ask.desk.books.tokens.make(granted(ask.viewer, wanted, ask.project.policy.teams))
    said = ("Copy it now: it is not shown again. Programs send it along:",)
    used = f"{key}\n\nAuthorization: Bearer {key}"
    block = Prose(said, made.label, used, (Link("Tokens", ask.path),), "good")
    return Page(
        "token", f"Token {made.id} is good until {instant_text(made.until_s)}.", (block,), timeless=True, fleeting=True
    )


def words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def revoke_own(ask: Ask, form: Mapping[str, str]) -> str:
    ask.desk.books.tokens.revoke(form.get("token", "").partition(" ")[0], ask.viewer.name)
    return OWN


def revoke_any(ask: Ask, form: Mapping[str, str]) -> str:
    ask.desk.books.tokens.revoke(form.get("token", "").partition(" ")[0])
    return ALL


ROUTES = (Route(OWN, own_tokens), Route(ALL, all_tokens, Deed.admin))
ACTIONS = (
    Action(OWN, make_token, Deed.read),
    Action(ALL, make_token, Deed.admin),
    Action(f"{OWN}/revoke", revoke_own, Deed.read),
    Action(f"{ALL}/revoke", revoke_any, Deed.admin),
)
