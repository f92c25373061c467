"""Limit clients that try invalid keys: after some failures in a minute, no new key of theirs is
looked up.

Clients are identified by their address. Behind a front proxy that is the address in
`x-forwarded-for`: a proxy is trusted if `public_url` or `trusted_proxies` says that there is one.
Without that address a trusted proxy has no counter, which all of its clients would share.
"""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Callable, Iterator

from starlette.requests import Request

from memtree.config import Settings
from memtree_proxy.access.rate_limits import RequestRates

FORWARDED = "x-forwarded-for"
MOST_HOPS = 20  # of the header that are read, from the end
V6_PREFIX = 64  # bits that identify a customer, who owns all addresses below


class FailedKeys:
    def __init__(self, settings: Settings, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._rates = RequestRates(settings.failed_keys_per_minute, monotonic, "wrong keys")
        self._any_peer = settings.public_url is not None
        self._proxies = [ipaddress.ip_network(each) for each in settings.trusted_proxies]

    def check(self, request: Request) -> None:
        """Raise `RateLimited` if too many keys of this client have failed."""
        if client := self.client(request):
            self._rates.check(client)

    def count(self, request: Request) -> None:
        """Count a failed key of this client."""
        if client := self.client(request):
            self._rates.charge(client)

    def client(self, request: Request) -> str:
        """Return the network of a client; "" if it is unknown."""
        peer = _address(request.client.host) if request.client else None
        if peer is None or not (self._any_peer or self._trusts(peer)):
            return _network(peer)
        hops = _hops(request)
        return _network(next((hop for hop in hops if hop is None or not self._trusts(hop)), None))

    def _trusts(self, address: _Address) -> bool:
        return any(address in network for network in self._proxies)


_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def _hops(request: Request) -> Iterator[_Address | None]:
    """Yield the address that the proxy has seen, then the one that this hop reports, and so on."""
    hops = ",".join(request.headers.getlist(FORWARDED)).rsplit(",", MOST_HOPS)
    return (_address(hop.strip()) for hop in reversed(hops))


def _address(text: str) -> _Address | None:
    try:
        address = ipaddress.ip_address(text.strip("[]"))
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def _network(address: _Address | None) -> str:
    if address is None or address.version == 4:
        return str(address or "")
    return str(ipaddress.ip_network((address, V6_PREFIX), strict=False))
