"""Decide from its URL alone if an upstream is local; no name is resolved.

>>> is_local("http://localhost:11434/v1"), is_local("http://192.168.1.7:8000/v1")
(True, True)
>>> is_local("https://api.openai.com/v1")
False
"""

from __future__ import annotations

import ipaddress
import socket
from functools import lru_cache
from urllib.parse import urlsplit

_NAMES = frozenset({"localhost", "host.docker.internal"})
_ENDINGS = (".localhost", ".local")
# Not `is_private`, which also includes addresses of documentation and of carriers
_PRIVATE = tuple(
    ipaddress.ip_network(block)
    for block in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")
)

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


@lru_cache(maxsize=64)
def is_local(url: str | None) -> bool:
    """Return True for loopback, private and link-local addresses, names without a dot (Docker, a
    LAN), `*.localhost`, `*.local` and `host.docker.internal`; False for a malformed URL."""
    try:
        host = urlsplit(url or "").hostname or ""
    except ValueError:  # unclosed brackets
        return False
    host = host.rstrip(".")
    address = _address(host)
    if address is not None:
        return _is_own(address)
    if not host or ":" in host:
        return False
    return "." not in host or host in _NAMES or host.endswith(_ENDINGS)


def _address(host: str) -> Address | None:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return _loose_address(host)
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def _loose_address(host: str) -> ipaddress.IPv4Address | None:
    """Parse IPv4 as clients do, also `127.1`, one number, octal, hexadecimal. Its last part is a
    number, which no host name ends with."""
    if not host.rpartition(".")[2][:1].isdecimal() or not host.isascii():
        return None
    try:
        return ipaddress.IPv4Address(socket.inet_aton(host))
    except (OSError, ValueError):
        return None


def _is_own(address: Address) -> bool:
    """Return True for `0.0.0.0` and `::`, which as an upstream mean this machine, and for private
    addresses."""
    return (
        address.is_loopback
        or address.is_link_local
        or address.is_unspecified
        or any(address in block for block in _PRIVATE)
    )
