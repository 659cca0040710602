"""What a reverse proxy says of a caller. Only an address on the list of [web.proxy] is believed; from anybody else the same headers are nothing."""

from ipaddress import IPv6Address, ip_address
from typing import TYPE_CHECKING

from apportion.books.doors import Person

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection

    from apportion.verbs.web_settings import Proxy, Web

BY = "proxy"
NETWORK_BITS = 64  # what one customer has of IPv6


def peer(request: "HTTPConnection") -> str:
    return request.client.host if request.client else ""


def client_address(request: "HTTPConnection", proxy: "Proxy") -> str:
    """The nearest address that is no proxy of ours; of IPv6 the network, as one machine has many addresses."""
    address = peer(request)
    hops = [part.strip() for part in ",".join(request.headers.getlist("x-forwarded-for")).split(",") if part.strip()]
    while hops and proxy.trusts(address):
        address = hops.pop()
    try:
        found = ip_address(address)
    except ValueError:
        return address[:64]
    return str(int(found) >> NETWORK_BITS) if isinstance(found, IPv6Address) else str(found)


def proxied_person(request: "HTTPConnection", web: "Web") -> Person | None:
    """Who the proxy says it is; None where it says nothing, or twice, or is not ours."""
    names = request.headers.getlist(web.proxy.user_header)
    if not web.proxy.trusts(peer(request)) or len(names) != 1 or not names[0].strip():
        return None
    said = ",".join(request.headers.getlist(web.proxy.groups_header))
    rights = web.rights(group.strip() for group in said.split(","))
    return Person(names[0].strip(), rights.role, rights.teams, BY)
