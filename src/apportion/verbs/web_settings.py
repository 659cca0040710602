"""`[web]` of apportion.toml: where the pages are, how people log in, and what their groups may see and do."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Any
from urllib.parse import urlsplit

from apportion.errors import ProjectError
from apportion.sources.outside.secrets import Secret, pointed, secret
from apportion.sources.settings import Stanza
from apportion.verbs.toml import Place, check_kind, check_section, nearest

LOGINS = ("link", "oidc", "proxy")
TOKEN, LOOPBACK, ANYONE = SCRAPERS = (
    "token",
    "loopback",
    "anyone",
)  # who gets `/metrics` without saying who they are: nobody, or these
ROLES = ("viewer", "lead", "finance", "admin")  # each may what those before it may
WEB_SHAPES: Mapping[str, Mapping[str, type]] = {
    "web": {
        "address": str, "login": str, "session_hours": int, "requests_per_minute": int, "body_bytes": int,
        "metrics": str, "oidc": dict, "proxy": dict, "groups": dict,
    },
    "web.oidc": {
        "issuer": str, "client_id": str, "client_secret": str, "groups_claim": str, "name_claim": str, "scopes": list, "ca_file": str,
    },
    "web.proxy": {"user_header": str, "groups_header": str, "trusted": list},
    "web.groups": {"role": str, "teams": list},
}  # fmt: skip
SCOPES = ("openid", "profile", "email")
RANGES = {"session_hours": (1, 720), "requests_per_minute": (1, 1_000_000), "body_bytes": (1024, 2**30)}
Network = IPv4Network | IPv6Network


@dataclass(frozen=True, slots=True)
class Group:
    """What a group of the login's provider may be here."""

    role: str
    teams: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Oidc:
    """`stanza` holds where the secret is; it is read when the server starts, not whenever the settings are."""

    issuer: str
    client_id: str
    stanza: Stanza
    groups_claim: str = "groups"
    name_claim: str = "preferred_username"
    scopes: tuple[str, ...] = SCOPES

    def secret(self) -> Secret | None:
        return secret(self.stanza, "client_secret")


@dataclass(frozen=True, slots=True)
class Proxy:
    user_header: str = "X-Forwarded-User"
    groups_header: str = "X-Forwarded-Groups"
    trusted: tuple[Network, ...] = ()

    def trusts(self, address: str) -> bool:
        try:
            found = ip_address(address.partition("%")[0])
        except ValueError:
            return False
        inner = getattr(found, "ipv4_mapped", None) or found
        return any(inner in network for network in self.trusted)


@dataclass(frozen=True, slots=True)
class Web:
    """`address` has no slash at its end; empty, it is where `serve` listens on loopback."""

    address: str = ""
    login: str = "link"
    session_hours: int = 12
    requests_per_minute: int = 3000
    body_bytes: int = 16 * 2**20
    metrics: str = TOKEN
    oidc: Oidc | None = None
    proxy: Proxy = field(default_factory=Proxy)
    groups: Mapping[str, Group] = field(default_factory=dict)

    def rights(self, groups: Iterable[str]) -> Group:
        """Of somebody in several groups: the highest role, and all their teams. In none: nothing to see."""
        found = [self.groups[name] for name in groups if name in self.groups]
        role = max((group.role for group in found), key=ROLES.index, default=ROLES[0])
        return Group(role, frozenset().union(*(group.teams for group in found)))


def read_web(section: Any, place: Place) -> Web:
    check_section(section, "web", WEB_SHAPES["web"], place)
    for key, (least, most) in RANGES.items():
        if not least <= section.get(key, least) <= most:
            raise wrong(f"{key} must be from {least} to {most}", place.of("web", key))
    login = section.get("login", LOGINS[0])
    if login not in LOGINS:
        raise wrong(f"login cannot be {login!r}", place.of("web", "login"), nearest(login, LOGINS))
    made = Web(
        **{key: section[key] for key in RANGES if key in section},
        login=login,
        metrics=section.get("metrics", TOKEN),
        address=base_url(section.get("address", ""), "address", place.of("web", "address")),
        oidc=read_oidc(section["oidc"], place) if "oidc" in section else None,
        proxy=read_proxy(section.get("proxy", {}), place),
        groups=dict(read_groups(section.get("groups", {}), place)),
    )
    check_login(made, place.of("web", "login"))
    check_metrics(made, place.of("web", "metrics"))
    return made


def check_metrics(web: Web, where: str) -> None:
    """Behind a proxy on the same machine everybody seems to be on loopback."""
    if web.metrics not in SCRAPERS:
        raise wrong(f"metrics cannot be {web.metrics!r}", where, nearest(web.metrics, SCRAPERS))
    if web.metrics == LOOPBACK and web.address and not is_loopback(urlsplit(web.address).hostname or ""):
        raise wrong(
            f'metrics = "loopback" does not go with {web.address}: a proxy on this machine would hand them to everybody',
            where,
            'leave it out and give Prometheus a token (`apportion token new`), or write "anyone" if that is meant',
        )


def check_login(web: Web, where: str) -> None:
    if web.login == "oidc" and web.oidc is None:
        raise wrong('login = "oidc" needs [web.oidc]', where, "add its issuer and client_id")
    if web.login == "proxy" and not web.proxy.trusted:
        raise wrong(
            'login = "proxy" needs the addresses that may say who somebody is',
            where,
            'add trusted = ["10.0.0.7"] under [web.proxy]',
        )


def read_oidc(section: Any, place: Place) -> Oidc:
    check_section(section, "web.oidc", WEB_SHAPES["web.oidc"], place)
    for key in ("issuer", "client_id"):
        if not section.get(key):
            raise wrong(f"[web.oidc] needs {key}", place.of("web", "oidc"), f'add {key} = "..."')
    stanza = Stanza(section, place.of("web", "oidc", "client_secret"))
    pointed(stanza, "client_secret")  # refuses a secret as it is
    scopes = texts(section.get("scopes", list(SCOPES)), "scopes", place, "oidc")
    if "openid" not in scopes:
        raise wrong("scopes must have openid", place.of("web", "oidc", "scopes"))
    claims = {key: section[key] for key in ("groups_claim", "name_claim") if section.get(key)}
    issuer = base_url(section["issuer"], "issuer", place.of("web", "oidc", "issuer"), bare=False)
    return Oidc(issuer, section["client_id"], stanza, scopes=scopes, **claims)


def read_proxy(section: Any, place: Place) -> Proxy:
    check_section(section, "web.proxy", WEB_SHAPES["web.proxy"], place)
    networks = []
    for text in texts(section.get("trusted", []), "trusted", place, "proxy"):
        try:
            networks.append(ip_network(text))
        except ValueError:
            raise wrong(
                f"trusted has {text!r}, which is no address", place.of("web", "proxy", "trusted"), "such as 10.0.0.0/24"
            ) from None
    headers = {key: section[key] for key in ("user_header", "groups_header") if section.get(key)}
    return Proxy(**headers, trusted=tuple(networks))


def read_groups(section: Any, place: Place) -> Iterable[tuple[str, Group]]:
    for name, group in section.items():
        where = place.of("web", "groups", name)
        check_kind(group, dict, f"{name} of [web.groups]", where)
        check_section(group, f"web.groups.{name}", WEB_SHAPES["web.groups"], place)
        role = group.get("role", ROLES[0])
        if role not in ROLES:
            raise wrong(f"role cannot be {role!r}", where, nearest(role, ROLES))
        yield name, Group(role, frozenset(texts(group.get("teams", []), "teams", place, "groups", name)))


def texts(value: list[Any], key: str, place: Place, *path: str) -> tuple[str, ...]:
    if not all(isinstance(one, str) and one for one in value):
        raise wrong(f'{key} must be a list such as ["a", "b"]', place.of("web", *path, key))
    return tuple(value)


def base_url(text: str, key: str, where: str, *, bare: bool = True) -> str:
    """An address that people's passwords and sessions go to: encrypted, unless it is this machine."""
    if not text:
        return ""
    parts = urlsplit(text)
    is_open = parts.scheme == "http" and not is_loopback(parts.hostname or "")
    odd = parts.username or parts.password or parts.query or parts.fragment or (bare and parts.path.strip("/"))
    if parts.scheme not in ("http", "https") or not parts.hostname or is_open or odd:
        raise wrong(
            f"{key} cannot be {text!r}", where, 'write it as "https://costs.example"; http is for loopback alone'
        )
    return text.rstrip("/") if bare else text


def is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def wrong(message: str, where: str, hint: str = "") -> ProjectError:
    return ProjectError("invalid-setting", message, where=where, hint=hint)
