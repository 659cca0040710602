"""`[[notify]]` of apportion.toml: channels by which people are told, of what, of whom and how often."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from apportion.books.hooks import CHANNEL, EVENTS
from apportion.errors import ProjectError
from apportion.sources.outside.mail import PORTS, MailServer
from apportion.sources.outside.secrets import Secret, pointed, secret
from apportion.sources.settings import Stanza
from apportion.verbs.toml import Place, check_kind, nearest, unknown_key
from apportion.verbs.web_settings import is_loopback, wrong

EMAIL, SLACK, TEAMS, WEBHOOK = "email", "slack", "teams", "webhook"
SHARED: Mapping[str, type] = {
    "name": str, "kind": str, "events": list, "teams": list, "per_hour": int, "quiet": str,
}  # fmt: skip
NOTIFY_SHAPES: Mapping[str, Mapping[str, type]] = {
    EMAIL: {
        **SHARED, "host": str, "port": int, "tls": str, "username": str, "password": str, "from": str, "to": object, "ca_file": str,
    },
    SLACK: {**SHARED, "url": str},
    TEAMS: {**SHARED, "url": str},
    WEBHOOK: {**SHARED, "url": str, "secret": str},
}  # fmt: skip
NOTIFY_KEYS: Mapping[str, type] = {key: kind for shape in NOTIFY_SHAPES.values() for key, kind in shape.items()}
NEEDED = {EMAIL: ("host", "from", "to"), SLACK: ("url",), TEAMS: ("url",), WEBHOOK: ("url", "secret")}
SECRETS = ("password", "url", "secret")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
ADDRESS = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*")
QUIET = re.compile(r"([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)")
PER_HOUR, MOST_PER_HOUR, MOST_PORT = 12, 1000, 65_535


@dataclass(frozen=True, slots=True)
class Outlet:
    """Those of a channel who are told the same: all of it, or one team's of a channel that names people by team."""

    id: str
    teams: frozenset[str] | None
    to: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Channel:
    """`quiet` are minutes of the day, in the policy's time zone. Secrets are read when something is sent, not whenever the settings are."""

    name: str
    kind: str
    events: tuple[str, ...]
    per_hour: int
    quiet: tuple[int, int] | None
    outlets: tuple[Outlet, ...]
    stanza: Stanza

    def secret(self, key: str) -> Secret | None:
        return secret(self.stanza, key)

    @property
    def sender(self) -> str:
        return self.stanza.text("from")

    def mail_server(self) -> MailServer:
        given = self.stanza
        tls = given.text("tls", "starttls")
        port = given.number("port", PORTS[tls], 1, MOST_PORT)
        return MailServer(
            given.text("host"),
            port,
            tls,
            given.text("username", ""),
            self.secret("password"),
            given.text("ca_file", ""),
        )

    def is_quiet(self, minute: int) -> bool:
        """Whether a minute of the day is one of those in which nothing is sent; the span may go over midnight."""
        if self.quiet is None:
            return False
        first, last = self.quiet
        return first <= minute < last if first <= last else minute >= first or minute < last


def read_notify(stanzas: Any, place: Place) -> Iterator[Channel]:
    check_kind(stanzas, list, "[[notify]]", place.of("notify"))
    seen: set[str] = set()
    for number, stanza in enumerate(stanzas):
        where = place.of("notify", str(number))
        check_kind(stanza, dict, "[[notify]]", where)
        made = channel_of(stanza, Keys(place, str(number)))
        if made.name in seen:
            raise wrong(f"two channels are called {made.name!r}", where, "rename one")
        seen.add(made.name)
        yield made


@dataclass(frozen=True, slots=True)
class Keys:
    place: Place
    number: str

    def of(self, *path: str) -> str:
        return self.place.of("notify", self.number, *path)


def channel_of(stanza: Mapping[str, Any], keys: Keys) -> Channel:
    kind = stanza.get("kind", "")
    if kind not in NOTIFY_SHAPES:
        raise wrong(
            f"a channel cannot be of kind {kind!r}" if kind else "a channel needs a kind",
            keys.of("kind"),
            nearest(str(kind), NOTIFY_SHAPES, "kinds"),
        )
    check_keys(stanza, kind, keys)
    given = Stanza(stanza, keys.of())
    for key in SECRETS:
        pointed(given, key)  # refuses a secret as it is
    name, per_hour = stanza["name"], stanza.get("per_hour", PER_HOUR)
    if not NAME.fullmatch(name):
        raise wrong(f"a channel cannot be called {name!r}", keys.of("name"), "letters, digits, - and _, at most 40")
    if not 1 <= per_hour <= MOST_PER_HOUR:
        raise wrong(f"per_hour must be from 1 to {MOST_PER_HOUR}", keys.of("per_hour"))
    if kind == EMAIL:
        check_mail(stanza, keys)
    events = texts(stanza.get("events", list(EVENTS)), "events", keys)
    for event in events:
        if event not in EVENTS:
            raise ProjectError(
                "unknown-event",
                f"nothing is told of {event!r}",
                where=keys.of("events"),
                hint=nearest(event, EVENTS, "events"),
            )
    return Channel(name, kind, events, per_hour, quiet_of(stanza, keys), outlets_of(stanza, keys), given)


def check_keys(stanza: Mapping[str, Any], kind: str, keys: Keys) -> None:
    shape = NOTIFY_SHAPES[kind]
    for key, value in stanza.items():
        if key not in shape:
            raise unknown_key(key, shape, keys.of(key), f"setting of [[notify]] of kind {kind}")
        if shape[key] is not object:
            check_kind(value, shape[key], f"{key} of [[notify]]", keys.of(key))
    for key in ("name", *NEEDED[kind]):
        if not stanza.get(key):
            raise wrong(f"a channel of kind {kind} needs {key}", keys.of(), f'add {key} = "..."')


def check_mail(stanza: Mapping[str, Any], keys: Keys) -> None:
    tls = stanza.get("tls", "starttls")
    if tls not in PORTS:
        raise wrong(f"tls cannot be {tls!r}", keys.of("tls"), nearest(tls, PORTS))
    if ("username" in stanza) != ("password" in stanza):
        raise wrong("username and password go together", keys.of(), "give both or neither")
    if tls == "none" and "password" in stanza and not is_loopback(stanza["host"]):
        raise wrong(
            "a password would be sent in the open",
            keys.of("tls"),
            'write tls = "starttls" or "tls"; "none" is for loopback',
        )
    address_of(stanza["from"], "from", keys)
    Stanza(stanza, keys.of("port")).number("port", PORTS[tls], 1, MOST_PORT)


def quiet_of(stanza: Mapping[str, Any], keys: Keys) -> tuple[int, int] | None:
    if "quiet" not in stanza:
        return None
    found = QUIET.fullmatch(stanza["quiet"])
    if not found or found[0][:5] == found[0][6:]:
        raise wrong('quiet must be a span such as "22:00-07:00"', keys.of("quiet"))
    first, last = int(found[1]) * 60 + int(found[2]), int(found[3]) * 60 + int(found[4])
    return first, last


def outlets_of(stanza: Mapping[str, Any], keys: Keys) -> tuple[Outlet, ...]:
    """One, or where `to` is a table one for each of its teams, so that nobody is told of another's."""
    name, to = f"{CHANNEL}{stanza['name']}", stanza.get("to")
    if isinstance(to, dict):
        if "teams" in stanza:
            raise wrong("teams is for a channel whose `to` is not by team", keys.of("teams"), "leave it out")
        return tuple(
            Outlet(f"{name}/{team}", frozenset([team]), addresses(given, keys)) for team, given in sorted(to.items())
        )
    teams = frozenset(texts(stanza["teams"], "teams", keys)) if "teams" in stanza else None
    return (Outlet(name, teams, addresses(to, keys) if stanza["kind"] == EMAIL else ()),)


def addresses(given: Any, keys: Keys) -> tuple[str, ...]:
    some = [given] if isinstance(given, str) else given
    if not isinstance(some, list) or not some:
        raise wrong("to must be addresses, or a table of them by team", keys.of("to"), 'such as ["ops@example.com"]')
    return tuple(address_of(one, "to", keys) for one in some)


def address_of(text: Any, key: str, keys: Keys) -> str:
    if not isinstance(text, str) or not ADDRESS.fullmatch(text):
        raise wrong(f"{key} has {text!r}, which is no address", keys.of(key), "such as ops@example.com")
    return text


def texts(value: list[Any], key: str, keys: Keys) -> tuple[str, ...]:
    if not value or not all(isinstance(one, str) and one for one in value):
        raise wrong(f'{key} must be a list such as ["a", "b"]', keys.of(key))
    return tuple(dict.fromkeys(value))
