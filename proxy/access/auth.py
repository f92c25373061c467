"""Credentials become tenants: who may come in, and as whom.

With access keys configured only those values are let in. Without, any value of a header is a tenant
of its own, and no value is the tenant `anonymous` on a server that only its own machine can reach.
After a credential changed, an operator may let the new one in as the old one's tenant (`aliases`).
A credential is never kept: tenants and cache entries are made from its hash.

A cookie counts only as a value of a configured key. Cookies know no ports: any web app on
localhost may have set one called `session`.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from starlette.requests import Request

from memtree.bounded import remember
from memtree.errors import StoreCorrupt, StoreUnavailable, Unauthorized
from memtree.ports.store import Credentials
from proxy.access.rate_limits import RequestRates
from proxy.observability import request_trace

ANONYMOUS = "anonymous"
SESSION_COOKIE = "session"
KEYS_SECONDS = 2.0  # how long a key or a revocation may take to be noticed
MAX_CACHED = 4096

_NO_KEY = "You did not provide an API key."
_DOMAIN = b"memtree tenant v1\x00"

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Tenant:
    """`keyed`: let in by one of our keys, so the credential means nothing to the upstream."""

    id: str
    keyed: bool


def credentials(request: Request) -> Iterator[str]:
    """The values that a request carries in headers of its own, the most deliberate first."""
    scheme, _, value = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and value.strip():
        yield value.strip()
    if value := request.headers.get("x-api-key", "").strip():
        yield value


def tenant_id(credential: str) -> str:
    """The tenant that a value names on a server without keys; says nothing about the value."""
    return "t_" + hashlib.sha256(_DOMAIN + credential.encode()).hexdigest()


async def bare_tenant(keys: Credentials, credential: str | None) -> str:
    """The tenant that a server without keys lets this credential in as."""
    name = tenant_id(credential) if credential else ANONYMOUS
    return (await keys.aliases()).get(name, name)


def is_loopback(host: str) -> bool:
    """Whether a server bound to `host` can be reached from its own machine alone."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


class Gate:
    """Lets requests in. `loopback`: the server is bound to a loopback address.
    `operator_key`: the setting `metrics_key`. `rates`: none, and nobody is counted."""

    def __init__(
        self,
        keys: Credentials,
        loopback: bool,
        monotonic: Callable[[], float] = time.monotonic,
        *,
        operator_key: str | None = None,
        rates: RequestRates | None = None,
    ) -> None:
        self._keys = keys
        self._loopback = loopback
        self._operator_key = operator_key
        self._rates = rates
        self._configured: RecentLookups[bool] = RecentLookups(monotonic)
        self._tenants: RecentLookups[str | None] = RecentLookups(monotonic)
        self._aliases: RecentLookups[dict[str, str]] = RecentLookups(monotonic)

    async def tenant(self, request: Request, *, counted: bool = True) -> Tenant:
        """`counted`: this is one of the requests that a tenant may make in a minute.

        Raises `Unauthorized`, `StoreUnavailable` where keys cannot be looked up, or `RateLimited`.
        """
        tenant = await self._find(request)
        request_trace.of(request.scope).tenant = tenant.id
        if counted and self._rates is not None:
            self._rates.take(tenant.id)
        return tenant

    async def operator(self, request: Request) -> None:
        """Let in who may see numbers of the whole server. Raises as `tenant` does.

        An access key is not enough: it would let one tenant measure the others. Without access
        keys a server on loopback has one user, who needs nothing unless a key was set.
        """
        if self._operator_key is None:
            if self._loopback and await self.keyless():
                return
            raise Unauthorized("This needs the operator's key: set MEMTREE_METRICS_KEY.")
        wanted = self._operator_key.encode()
        given = [value.encode() for value in credentials(request)]
        if not any(hmac.compare_digest(value, wanted) for value in given):
            raise Unauthorized("Incorrect API key provided." if given else _NO_KEY)

    async def keyless(self) -> bool:
        """Whether there are no access keys. Raises `StoreUnavailable` where nobody can tell."""
        return not await self._configured.get("", self._keys.has_keys)

    async def _find(self, request: Request) -> Tenant:
        values = list(credentials(request))
        if not await self.keyless():
            values += filter(None, [request.cookies.get(SESSION_COOKIE, "").strip()])
            for value in values:
                if known := await self._known(value):
                    return Tenant(known, keyed=True)
            raise Unauthorized("Incorrect API key provided." if values else _NO_KEY)
        if not values and not self._loopback:
            raise Unauthorized(_NO_KEY)
        name = tenant_id(values[0]) if values else ANONYMOUS
        aliases = await self._aliases.get("", self._keys.aliases)
        return Tenant(aliases.get(name, name), keyed=False)

    async def _known(self, value: str) -> str | None:
        async def look_up() -> str | None:
            return await self._keys.tenant_of(value)

        return await self._tenants.get(tenant_id(value), look_up)


class RecentLookups(Generic[Value]):
    """Values looked up a moment ago. When the store fails, the last known value still counts:
    a chat goes on without the store (DESIGN, promise 10)."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._known: OrderedDict[str, tuple[float, Value]] = OrderedDict()

    async def get(self, key: str, look_up: Callable[[], Awaitable[Value]]) -> Value:
        now = self._monotonic()
        known = self._known.get(key)
        if known and now - known[0] < KEYS_SECONDS:
            return known[1]
        try:
            value = await look_up()
        except (StoreUnavailable, StoreCorrupt):
            if known is None:
                raise
            value = known[1]
        remember(self._known, key, (now, value), MAX_CACHED)
        return value
