"""`/login` and `/logout`: by the one-time link that `serve` prints, at an OpenID provider, or by what a proxy says."""

import hmac
import json
import re
import secrets
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from starlette.concurrency import run_in_threadpool

from apportion.books.doors import Person, hashed
from apportion.errors import ApportionError
from apportion.web.door.link import LINK, person_of_link
from apportion.web.door.oidc import Asked, LoginError, Provider, asked_text, person_of
from apportion.web.door.proxied import client_address, proxied_person
from apportion.web.door.session import door_of, form_of, is_csrf
from apportion.web.frame import bare
from apportion.web.page import Link

UNDER_WAY = "oidc"
UNDER_WAY_S = 600
BROWSER = "apportion-login"  # the cookie that ties a login under way to the browser that began it
OURS = re.compile(r"/(?![/\\])[^\s\\\x00-\x1f\x7f]*")
router = APIRouter(include_in_schema=False)


def ours(to: str) -> str:
    """Where to go on to: always a page of ours, and never back to the door."""
    return to if OURS.fullmatch(to) and not to.startswith(("/login", "/logout")) else "/"


@router.get("/login")
def login(request: Request, link: str = "", to: str = "") -> Response:
    """Without anything: what to do to get in."""
    door = door_of(request)
    if link and door.web.login == LINK:
        return by_link(request, link, to)
    if door.web.login == "oidc" and to:
        return RedirectResponse("/login/start?" + urlencode({"to": ours(to)}), 303)
    if door.web.login == "oidc":
        return bare(
            "Nobody is logged in here",
            ["You log in with your organisation's account."],
            [Link("Log in", "/login/start")],
        )
    if door.web.login == "proxy":
        return by_proxy(request, to)
    return no_link()


def by_link(request: Request, link: str, to: str) -> Response:
    if waiting := too_many(request):
        return waiting
    person = person_of_link(door_of(request).desk.books.doors, link)
    return with_session(request, person, to) if person else no_link("That link was used already, or is too old.")


def no_link(*said: str) -> Response:
    told = [*said, "Start `apportion serve` in a terminal and open the link that it prints; a link is good once."]
    return bare("Nobody is logged in here", told, status=401)


def by_proxy(request: Request, to: str) -> Response:
    if waiting := too_many(request):
        return waiting
    person = proxied_person(request, door_of(request).web)
    if person is None:
        said = [
            "You log in at the proxy in front of these pages, which did not say who you are.",
            "Open them at their own address.",
        ]
        return bare("Nobody is logged in here", said, status=401)
    return with_session(request, person, to)


@router.get("/login/start")
def start(request: Request, to: str = "") -> Response:
    door, provider = door_of(request), provider_of(request)
    if waiting := too_many(request):
        return waiting
    browser = request.cookies.get(browser_cookie(request), "") or secrets.token_urlsafe(32)
    asked = Asked(secrets.token_urlsafe(32), secrets.token_urlsafe(64), door.base(request) + "/login/callback")
    value = asked_text(asked, ours(to), hashed(browser))
    try:
        response = RedirectResponse(
            provider.login_url(asked, door.desk.books.doors.give_ticket(UNDER_WAY, value, UNDER_WAY_S)), 303
        )
    except ApportionError as error:
        return failed(error)
    give(request, response, browser_cookie(request), browser, UNDER_WAY_S)
    return response


@router.get("/login/callback")
def callback(request: Request, code: str = "", state: str = "", iss: str = "", error: str = "") -> Response:
    provider = provider_of(request)
    if waiting := too_many(request):
        return waiting
    try:
        under_way = taken(request, state)
        if error or not code:
            raise LoginError("the provider did not let you in" + (f" ({error[:60]})" if error else ""))
        if (iss or provider.names_itself()) and iss != provider.settings.issuer:
            raise LoginError("the answer comes from another provider than was asked")
        asked = Asked(under_way["nonce"], under_way["verifier"], under_way["redirect"])
        person = person_of(provider.claims(code, asked), door_of(request).web)
    except ApportionError as refused:
        return failed(refused)
    response = with_session(request, person, under_way["to"])
    take_back(request, response, browser_cookie(request))
    return response


def taken(request: Request, state: str) -> dict[str, str]:
    """What was asked, once, and by this browser."""
    value = door_of(request).desk.books.doors.take_ticket(UNDER_WAY, state) if state else None
    under_way: dict[str, str] = json.loads(value) if value else {}
    browser = hashed(request.cookies.get(browser_cookie(request), ""))
    if not under_way or not hmac.compare_digest(under_way["browser"], browser):
        raise LoginError("this login was not begun in this browser, took too long, or is over already", "begin again")
    return under_way


def provider_of(request: Request) -> Provider:
    provider = door_of(request).provider
    if provider is None:
        raise LoginError("nobody logs in by OpenID Connect here", "open /login")
    return provider


def failed(error: ApportionError) -> Response:
    said = [error.message, *([error.hint] if error.hint else [])]
    return bare("You are not logged in", said, [Link("Try again", "/login")], 401)


def too_many(request: Request) -> Response | None:
    """Whoever tries keys one after the other."""
    door = door_of(request)
    wait = door.attempts.take(client_address(request, door.web.proxy))
    if not wait:
        return None
    response = bare("Too many logins", [f"There were many from where you are. Try again in {wait} s."], status=429)
    response.headers["Retry-After"] = str(wait)
    return response


def browser_cookie(request: Request) -> str:
    return f"__Host-{BROWSER}" if door_of(request).is_https else BROWSER


def give(request: Request, response: Response, name: str, value: str, lasts_s: int) -> None:
    secure = door_of(request).is_https
    response.set_cookie(name, value, max_age=lasts_s, httponly=True, samesite="lax", secure=secure, path="/")


def take_back(request: Request, response: Response, name: str) -> None:
    response.delete_cookie(name, httponly=True, samesite="lax", secure=door_of(request).is_https, path="/")


def with_session(request: Request, person: Person, to: str) -> Response:
    """On to the page that was asked for."""
    door = door_of(request)
    response = RedirectResponse(ours(to), 303)
    give(request, response, door.cookie, door.begin(person), door.lasts_s)
    return response


@router.post("/logout")
async def logout(request: Request) -> Response:
    """Here, and where the provider has a place for it, there."""
    door = door_of(request)
    form = await form_of(request)
    key = request.cookies.get(door.cookie, "")
    if not is_csrf(request, form.get("csrf", "")):
        return RedirectResponse("/", 303)
    await run_in_threadpool(door.desk.books.doors.end_session, key)
    response = RedirectResponse("/logout/done", 303)
    take_back(request, response, door.cookie)
    return response


@router.get("/logout/done")
def logged_out(request: Request) -> Response:
    """The provider is asked by a step of its own: a form may lead nowhere but here (CSP), a page may."""
    door = door_of(request)
    try:
        there = door.provider.logout_url(door.base(request) + "/login") if door.provider else ""
    except ApportionError:
        there = ""  # it does not answer; here they are logged out
    links = [*([Link("Log out at your organisation, too", there)] if there else []), Link("Log in again", "/login")]
    response = bare("You are logged out", ["Whoever uses this browser next sees nothing of yours."], links)
    if there:
        response.headers["Refresh"] = f"2; url={there}"
    return response
