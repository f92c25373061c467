"""Rate limits of a tenant: requests per minute, and requests that wait for a tree at the same time.

Counts live in this process and are lost with it. Sizes of requests are limited by `request_body`
and `http_protocol`; `auth` determines the tenant.

Clients that try invalid keys are limited, too: after some failures in a minute, no new key of
theirs is looked up. They are identified by their address. Behind a front proxy in `trusted_proxies`
that is the address in `x-forwarded-for`; from any other peer the header is ignored. Without that
address a trusted proxy has no counter, which all of its clients would share.
"""

from __future__ import annotations

import asyncio
import ipaddress
import math
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from starlette.requests import Request

from memtree.config import Settings
from memtree.errors import RateLimited
from memtree.process.bounded import MAX_TENANTS
from memtree.process.threads import metered
from memtree.process.tracing import step
from memtree_proxy.http.headers import Authority

MINUTE = 60.0
UNCOUNTED_SECONDS = 5.0  # nearly every request is answered before it counts as waiting
WAIT_AGAIN_SECONDS = 10.0

Result = TypeVar("Result")
FORWARDED = "x-forwarded-for"
MOST_HOPS = 20  # of the header that are read, from the end
V6_PREFIX = 64  # bits that identify a customer, who owns all addresses below
_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class RequestRates:
    """A bucket for each tenant, filled with a minute's requests and refilled over a minute.

    Stored as one number, the time at which the bucket would be full (GCRA): a tenant without
    requests for a minute has a full bucket and needs no entry.
    """

    def __init__(
        self,
        per_minute: int,
        monotonic: Callable[[], float] = time.monotonic,
        what: str = "requests",
    ) -> None:
        """`per_minute`: 0 means no limit. `what`: names the counted events in errors."""
        self._per_minute, self._what = per_minute, what
        self._monotonic = monotonic
        self._full: OrderedDict[str, float] = OrderedDict()  # the latest is last

    def __len__(self) -> int:
        """Return the number of remembered tenants."""
        return len(self._full)

    def take(self, tenant: str) -> None:
        """Count one request. Raises `RateLimited` without counting it."""
        self.check(tenant)
        self.charge(tenant)

    def check(self, tenant: str) -> None:
        """Raise `RateLimited` if there is no room for another request."""
        if not self._per_minute:
            return
        now = self._monotonic()
        full = max(now, self._full.get(tenant, now)) + MINUTE / self._per_minute
        # Tolerance: sums of sixtieths must not refuse the last request of a minute.
        if full - now > MINUTE * (1 + 1e-9):
            raise RateLimited(
                f"Rate limit reached: {self._per_minute} {self._what} in a minute.",
                retry_after=full - now - MINUTE,
            )

    def charge(self, tenant: str, count: float = 1.0) -> None:
        """Count requests that were made, even if there was no room for them."""
        if not self._per_minute or not count:
            return
        now = self._monotonic()
        full = max(now, self._full.get(tenant, now)) + MINUTE / self._per_minute * count
        self._full[tenant] = full
        self._full.move_to_end(tenant)
        self._forget(now)

    def _forget(self, now: float) -> None:
        """Drop up to two entries, so that they are removed faster than added."""
        for _ in range(2):
            oldest = next(iter(self._full))
            if self._full[oldest] > now and len(self._full) <= MAX_TENANTS:
                return
            del self._full[oldest]


class Places:
    """Counts what each tenant has at once. `most`: of one tenant; `refusal`: said to one that wants
    more."""

    def __init__(self, most: float, refusal: str, retry_after: float = WAIT_AGAIN_SECONDS) -> None:
        self._most, self._refusal, self._retry_after = most, refusal, retry_after
        self._taken: Counter[str] = Counter()

    def __len__(self) -> int:
        """Return the number of remembered tenants: those with a place."""
        return len(self._taken)

    @property
    def all(self) -> int:
        """Return the number of places that all tenants have taken."""
        return self._taken.total()

    def enter(self, tenant: str) -> None:
        """Take a place; `leave` must follow. Raises `RateLimited` if all are taken."""
        if self._taken[tenant] >= self._most:
            raise RateLimited(self._refusal, retry_after=self._retry_after)
        self._taken[tenant] += 1

    def leave(self, tenant: str) -> None:
        if others := self._taken.pop(tenant, 1) - 1:
            self._taken[tenant] = others

    @contextmanager
    def place(self, tenant: str) -> Iterator[None]:
        """Take a place for the length of a block."""
        self.enter(tenant)
        try:
            yield
        finally:
            self.leave(tenant)


class WaitingRequests(Places):
    """Counts the requests of each tenant that wait for their tree."""

    def __init__(self, limit: int) -> None:
        super().__init__(
            limit, f"{limit} requests of yours are waiting for their memory to be built."
        )

    def waiting(self, tenant: str) -> int:
        return self._taken[tenant]

    async def counted(
        self,
        tenant: str,
        work: Coroutine[Any, Any, Result],
        uncounted: float | None = None,
    ) -> Result:
        """Return the result of `work`, which takes a place once it has run for `uncounted` seconds
        (None: for `UNCOUNTED_SECONDS`). Raises `RateLimited` if there is none, and stops the work.
        """
        task = asyncio.ensure_future(work)
        try:
            timeout = UNCOUNTED_SECONDS if uncounted is None else uncounted
            done, _ = await asyncio.wait((task,), timeout=timeout)
            if done:
                return task.result()
            with self.place(tenant), step("wait"):
                return await task
        finally:
            if not task.done():
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)


class CostlyWork:
    """Expensive work of each tenant: imports, extractions, documents and files to parse. Limits how
    many run at once, and their CPU time."""

    def __init__(
        self, at_once: int, seconds: int, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        """`seconds`: of CPU per minute. 0 means no limit."""
        whose = "imports, extractions or posts of documents or files of yours"
        self.places = Places(at_once or math.inf, f"{at_once} {whose} are running.")
        self._rates = RequestRates(
            seconds, monotonic, "seconds of CPU for imports, extractions and documents"
        )

    @contextmanager
    def place(self, tenant: str) -> Iterator[None]:
        """Take a place for a block. Raises `RateLimited` if the tenant has no place left, or no CPU
        time."""
        with self.places.place(tenant), metered() as meter:
            self._rates.check(tenant)
            try:
                yield
            finally:
                self._rates.charge(tenant, meter.seconds)


class FailedKeys:
    def __init__(self, settings: Settings, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._rates = RequestRates(settings.failed_keys_per_minute, monotonic, "wrong keys")
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
        if peer is None or not self._trusts(peer):
            return _network(peer)
        # The address that the proxy has seen, then the one that this hop reports, and so on.
        reported = ",".join(request.headers.getlist(FORWARDED)).rsplit(",", MOST_HOPS)
        hops = (_address(hop.strip()) for hop in reversed(reported))
        return _network(next((hop for hop in hops if hop is None or not self._trusts(hop)), None))

    def _trusts(self, address: _Address) -> bool:
        return any(address in network for network in self._proxies)


def _address(text: str) -> _Address | None:
    written = Authority.parse(text)  # some gateways add the port
    try:
        address = ipaddress.ip_address(written.host if written else text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def _network(address: _Address | None) -> str:
    if address is None or address.version == 4:
        return str(address or "")
    return str(ipaddress.ip_network((address, V6_PREFIX), strict=False))
