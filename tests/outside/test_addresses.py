"""Metadata services hand out credentials: no spelling of their addresses is asked."""

import pytest

from apportion.sources.outside.addresses import is_refused


@pytest.mark.parametrize(
    "address",
    [
        "169.254.169.254",
        "169.254.0.1",
        "fe80::1",
        "fe80::1%eth0",
        "::ffff:169.254.169.254",
        "64:ff9b::a9fe:a9fe",  # NAT64
        "64:ff9b:1::a9fe:a9fe",
        "2002:a9fe:a9fe::",  # 6to4
        "::169.254.169.254",
        "2001:0:a9fe:a9fe::1",  # Teredo, by its server
        "fd00:ec2::254",
        "100.100.100.200",
        "168.63.129.16",
        "0.0.0.0",
        "::",
        "224.0.0.1",
        "ff02::1",
    ],
)
def test_refused(address: str) -> None:
    assert is_refused(address)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "::1",
        "10.0.0.1",
        "192.168.1.2",
        "100.64.0.1",
        "8.8.8.8",
        "fd12::1",
        "2001:db8::1",
        "64:ff9b::808:808",
    ],
)
def test_asked(address: str) -> None:
    assert not is_refused(address)
