"""Check which client a wrong key is counted for: the last hop that is no proxy of ours."""

from __future__ import annotations

import pytest
from starlette.requests import Request

from memtree.config import Settings
from memtree_proxy.access.rate_limits import FailedKeys

OURS = Settings(trusted_proxies=("2001:db8:1::/48", "10.0.0.0/8"))


def client(peer: str, *forwarded: str, settings: Settings = OURS) -> str:
    headers = [(b"x-forwarded-for", line.encode()) for line in forwarded]
    scope = {"type": "http", "headers": headers, "client": (peer, 9)}
    return FailedKeys(settings).client(Request(scope))


@pytest.mark.parametrize(
    ("forwarded", "network"),
    [
        (["2001:db8:9::1, 2001:db8:7:1:2::5"], "2001:db8:7:1::/64"),
        (["2001:db8:9::1, 2001:db8:7:1:2::5, 2001:db8:1:5::2"], "2001:db8:7:1::/64"),
        (["2001:db8:9::1", "[2001:db8:7:1:2::5]", "2001:db8:1::2,10.1.1.1"], "2001:db8:7:1::/64"),
        (["2001:db8:9::1, ::ffff:198.51.100.1"], "198.51.100.1"),
        (["2001:db8:9::1, ::ffff:198.51.100.1, ::ffff:10.0.0.7"], "198.51.100.1"),
        (["2001:db8:9::1, 198.51.100.1:49152, 10.0.0.7:443"], "198.51.100.1"),
        (["[2001:db8:7:1:2::5]:49152, 10.0.0.7"], "2001:db8:7:1::/64"),
        (["2001:db8:9::1, nobody, 2001:db8:1::2"], ""),
        (["2001:db8:1::2"], ""),
        ([], ""),
    ],
)
def test_hops_are_read_from_the_last_one_on(forwarded: list[str], network: str) -> None:
    assert client("2001:db8:1::1", *forwarded) == network


def test_a_peer_that_is_no_proxy_is_the_client() -> None:
    assert client("2001:db8:7:1:2::5", "198.51.100.1") == "2001:db8:7:1::/64"
    assert client("::ffff:198.51.100.1", "203.0.113.9") == "198.51.100.1"
    behind = Settings(public_url="https://memory.example.com")
    assert client("127.0.0.1", "203.0.113.9", settings=behind) == "127.0.0.1"
