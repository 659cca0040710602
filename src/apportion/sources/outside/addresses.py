"""Addresses that are never asked unless the user allows it: a machine's own metadata service hands out its credentials to whoever asks from there."""

import socket
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from apportion.errors import InputError

METADATA = tuple(
    ip_network(text)
    for text in (
        "169.254.0.0/16",  # link-local: AWS, Azure, Google, Oracle, OpenStack metadata
        "fe80::/10",
        "fd00:ec2::/32",  # AWS over IPv6
        "fd20:ce::254/128",  # Google over IPv6
        "100.100.100.200/32",  # Alibaba
        "168.63.129.16/32",  # Azure's host
        "192.0.0.192/32",  # Oracle, older
        "0.0.0.0/8",
        "::/128",
        "224.0.0.0/4",
        "ff00::/8",
    )
)
NAT64 = (ip_network("64:ff9b::/96"), ip_network("64:ff9b:1::/48"))
Address = IPv4Address | IPv6Address


def inner(address: Address) -> list[Address]:
    """The address, and the IPv4 address that it stands for: `is_global` of Python believes what NAT64 and 6to4 wrap."""
    if isinstance(address, IPv4Address):
        return [address]
    wrapped: list[Address | None] = [address, address.ipv4_mapped, address.sixtofour]
    wrapped += address.teredo or ()
    if (
        any(address in network for network in NAT64) or int(address) >> 32 == 0
    ):  # `::a.b.c.d` is the old way to write it
        wrapped.append(IPv4Address(int(address) & 0xFFFF_FFFF))
    return [found for found in wrapped if found is not None]


def is_refused(address: str) -> bool:
    plain = ip_address(address.partition("%")[0])
    if plain.is_loopback:
        return False
    return any(found in network for found in inner(plain) for network in METADATA)


def is_private(address: str) -> bool:
    """Not one of the public internet: this machine, this network, or where a machine's credentials are handed out."""
    plain = ip_address(address.partition("%")[0])
    return is_refused(address) or any(not found.is_global for found in inner(plain))


def check_host(host: str, port: int, where: str, *, allowed: bool) -> None:
    """Every address of a name must be one that may be asked; a name that nobody knows is the connection's own error to tell."""
    if allowed:
        return
    try:
        found = {str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)}
    except OSError:
        return
    for address in sorted(found):
        check_address(address, host, where)


def check_address(address: str, host: str, where: str) -> None:
    if is_refused(address):
        raise InputError(
            "address-refused",
            f"{host} is {address}: link-local and metadata addresses are not asked",
            where=where,
            hint="correct the url; where it is meant, set allow_link_local = true on the source",
        )
