"""Find the tenant of a request by its credential, and the scope that the request names.

With access keys configured only their values are accepted. Without, any value of a header is a
tenant of its own, and no value is this machine's user, the tenant `local`, on a server that only
its own machine can reach; a request that a proxy forwards from elsewhere is `anonymous`. The user
may also prove to be it (`LocalUser`). Every request under a path of `memtree wrap` is `local`, with
keys or without: its credential is for the upstream only.

The header `x-memtree-key` takes precedence. It is for this server only: the client's own
credential, which may change every few hours, is then relayed to the upstream. After a credential
has changed, an operator may map the new one to the old one's tenant (`aliases`).

A credential is never stored: tenants and cache entries are made from its hash. A cookie counts only
as a value of a configured key. Cookies ignore ports: any web app on localhost may have set one
called `session`.

The scope is the tenant itself, or one of its users (`x-user-id`), or the agents' memories that
`agentId` and `subjectId` name in the query or body:

    agentId                 what the agent remembers without a subject
    agentId, subjectId      what it remembers of one subject
    * in place of either    every agent, every subject of the tenant; on routes that allow several
    neither                 no agent's: the caller decides
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from starlette.datastructures import QueryParams
from starlette.requests import Request

from memtree.agents.agent_memory import ALL, AgentScopes
from memtree.agents.grant_book import GrantBook
from memtree.agents.wallets import ProvenWallet, WalletProof
from memtree.errors import BadRequest, StoreCorrupt, StoreUnavailable, Unauthorized
from memtree.memories.scope import PLACEHOLDER, Scope, checked_id, is_placeholder
from memtree.ports.context_store import Credentials
from memtree.process import threads
from memtree.process.bounded import remember
from memtree.tenant_names import ANONYMOUS, LOCAL
from memtree_proxy.http import body_budget, request_body, request_trace
from memtree_proxy.http.decoding import KNOWN_QUERY, check_query
from memtree_proxy.http.headers import TENANT_KEY, USER_HEADER, WALLET_HEADERS, Authority, own_value
from memtree_proxy.http.rate_limits import FailedKeys, RequestRates
from memtree_proxy.http.request_body import WRAP_RUN

# Of the keys of this machine's user: an unknown credential with it never becomes a tenant.
LOCAL_PREFIX = "mt-local-"
CODE_SECONDS = 60
EARLY_SECONDS = 5  # by which the clock of the code's maker may be ahead
LONGEST_CODE = 200


class LocalUser:
    """This machine's user on a server without access keys, the tenant `local`. `secret`: in the
    state file of this process, which nobody else may read.

    The secret itself is never sent. `memtree ui` derives a code from it, which a page exchanges
    once and within a minute for a key that only this process knows; and a server proves with it
    that it wrote the file, since another program may listen on its port by now.
    """

    def __init__(self, secret: str, clock: Callable[[], float] = time.time) -> None:
        self._secret = secret
        self._clock = clock
        self._key = LOCAL_PREFIX + _signed(secret, "key")
        self._used: dict[str, float] = {}  # used codes, and when they would expire

    def redeem(self, code: str) -> str:
        """Exchange a code for the key of this machine's user. Raises `Unauthorized`."""
        now = self._clock()
        first = code.partition(".")[0][:LONGEST_CODE]
        made = float(first) if first.isascii() and first.isdigit() else 0.0
        right = _with_mark(self._secret, code.rpartition(".")[0])
        known = hmac.compare_digest(right, code.encode())
        if not known or not -EARLY_SECONDS <= now - made <= CODE_SECONDS or code in self._used:
            raise Unauthorized(
                f"This address was used already, or is older than {CODE_SECONDS} seconds, or "
                "is from another start of the server. Run `memtree ui` again."
            )
        self._used = {each: end for each, end in self._used.items() if end >= now}
        self._used[code] = made + CODE_SECONDS
        return self._key

    def check(self, key: str) -> None:
        """Raise `Unauthorized` for a key made by an earlier start of the server."""
        if not hmac.compare_digest(key.encode(), self._key.encode()):
            raise Unauthorized(
                "This key belongs to an earlier start of the server. Run `memtree ui` again."
            )

    def proof(self, nonce: str) -> str:
        return server_proof(self._secret, nonce)


def new_secret() -> str:
    return secrets.token_urlsafe(32)


def new_code(secret: str, now: float | None = None) -> str:
    """Make a code for a single use: `TIME.NONCE.SIGNATURE`."""
    made = int(time.time() if now is None else now)
    return _with_mark(secret, f"{made}.{secrets.token_urlsafe(9)}").decode()


def server_proof(secret: str, nonce: str) -> str:
    """Return the answer to this nonce that only the server that wrote the state file can give."""
    return _signed(secret, f"server {nonce}")


def _with_mark(secret: str, content: str) -> bytes:
    return f"{content}.{_signed(secret, f'code {content}')}".encode()


def _signed(secret: str, text: str) -> str:
    return hmac.new(secret.encode(), text.encode(), hashlib.sha256).hexdigest()


SESSION_COOKIE = "session"
KEYS_SECONDS = 2.0  # how long a new key or a revocation may take to be effective
MAX_CACHED = 4096
# Headers that proxies add, beside `x-forwarded-*`; no client of this machine does.
FORWARDING = frozenset({"forwarded", "via", "x-real-ip", "cf-connecting-ip", "true-client-ip"})
_NO_KEY = "You did not provide an API key."
_DOMAIN = b"memtree tenant v1\x00"
# Separates wallets from header values: addresses are public, and a client that sends one as its
# bearer token must not become that wallet's tenant.
_WALLET_DOMAIN = b"memtree wallet tenant v1\x00"
_PROVEN = "memtree_wallet"  # key in the state of a request
Value = TypeVar("Value")


class WalletHeaders(NamedTuple):
    address: str
    timestamp: str
    signature: str


class WalletAccess:
    """Checks the proof of a wallet in a request. `max_body_bytes`: most bytes of a body, which must
    be read before the proof can be checked, because its hash is signed."""

    def __init__(self, book: GrantBook, max_body_bytes: int) -> None:
        self.book, self._limit = book, max_body_bytes

    async def proven(self, request: Request, sent: WalletHeaders) -> ProvenWallet:
        """Check a proof. Raises as `GrantBook.proven`, and `RequestTooLarge`."""
        body = await request_body.kept(request, self._limit)
        return await self.book.proven(
            WalletProof(*sent, method=request.method, paths=signed_paths(request), body=body)
        )


def sent_headers(request: Request) -> WalletHeaders | None:
    """Return the three headers of a wallet's proof, None if none of them was sent. Raises
    `BadRequest` that names the missing one."""
    values = [request.headers.getlist(name) for name in WALLET_HEADERS]
    if not any(values):
        return None
    for name, given in zip(WALLET_HEADERS, values, strict=True):
        if len(given) != 1:
            problem = "is repeated" if given else "is missing: a wallet's proof has three headers"
            raise BadRequest(f"{name} {problem}", param=name)
    return WalletHeaders(*(given[0].strip() for given in values))


def signed_paths(request: Request) -> tuple[str, ...]:
    """Return the forms of a request's path that a client may have signed: with our prefix, or as
    its SDK knows it, without; with the query, or without. The SDKs' own form is first. Slashes
    beyond those of the route are in none of them."""
    path = request_body.sent_path(request.scope)
    plain = request_body.without_prefix(path)
    query = request.scope["query_string"].decode("latin-1")
    query_part = f"?{query}" if query else ""
    return tuple(dict.fromkeys((plain + query_part, path + query_part, plain, path)))


@dataclass(frozen=True, slots=True)
class Tenant:
    """Tenant of a request. `keyed`: authenticated by one of our keys in a header meant for
    upstreams, where the key has no meaning."""

    id: str
    keyed: bool


def credentials(request: Request) -> Iterator[str]:
    """Yield the credentials in a request's headers, the most explicit first."""
    # A request that is relayed pays for each look at its headers.
    sent = dict(reversed(request.headers.raw))  # the first of several lines counts
    if TENANT_KEY in sent and (value := _own_key(request)):
        yield value
    scheme, _, value = sent.get(b"authorization", b"").decode("latin-1").partition(" ")
    if scheme.lower() == "bearer" and value.strip():
        yield value.strip()
    for name in (b"x-api-key", b"api-key"):  # Anthropic's, and Azure's
        if name in sent and (value := sent[name].decode("latin-1").strip()):
            yield value


def _own_key(request: Request) -> str:
    """Return the credential for this server only, from a client whose own credential is for the
    upstream, or changes every few hours."""
    name = TENANT_KEY.decode()
    value = own_value(request.headers, name) if name in request.headers else ""
    if value and is_placeholder(value):
        raise BadRequest(f"{name} {PLACEHOLDER}", param=name)
    return value


def tenant_id(credential: str) -> str:
    """Return the tenant of a value on a server without keys; it reveals nothing of the value."""
    return "t_" + hashlib.sha256(_DOMAIN + credential.encode()).hexdigest()


def wallet_tenant(address: str) -> str:
    """Return the tenant of a wallet (by its canonical address) without another credential."""
    return "t_" + hashlib.sha256(_WALLET_DOMAIN + address.encode()).hexdigest()


async def bare_tenant(keys: Credentials, credential: str) -> str:
    """Return the tenant of a credential on a server without keys."""
    name = tenant_id(credential)
    return (await keys.aliases()).get(name, name)


def is_loopback(host: str) -> bool:
    """Return True if a server bound to `host` can be reached only from its own machine."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def comes_from_here(request: Request) -> bool:
    """Return True unless a request to a server on loopback shows that it began elsewhere: a proxy
    says for whom it forwards, or the client knows the server by another name than this machine's
    own, as through a forwarded port. HTTP/1.0 is what nginx speaks by default."""
    if request.scope.get("http_version") == "1.0":
        return False
    if any(name in FORWARDING or name.startswith("x-forwarded-") for name in request.headers):
        return False
    host = request.headers.get("host")
    written = Authority.parse(host) if host else None
    peer = request.client.host if request.client else "localhost"
    return is_loopback(peer) and (not host or (written is not None and is_loopback(written.host)))


class Gate:
    """Authenticates requests. `loopback`: the server is bound to a loopback address.
    `operator_key`: the setting `metrics_key`. `rates`: None to count no requests. `wallets`: None
    to ignore wallets' proofs. `failures`: None to count no wrong keys. `local`: authenticates this
    machine's user while there are no access keys."""

    def __init__(
        self,
        keys: Credentials,
        loopback: bool,
        monotonic: Callable[[], float] = time.monotonic,
        *,
        operator_key: str | None = None,
        rates: RequestRates | None = None,
        wallets: WalletAccess | None = None,
        failures: FailedKeys | None = None,
        local: LocalUser | None = None,
    ) -> None:
        self._failures = failures
        self._local = local
        self._wallets = wallets
        self._keys = keys
        self._loopback = loopback
        self._operator_key = operator_key
        self._rates = rates
        self._configured: RecentLookups[bool] = RecentLookups(monotonic)
        self._tenants: RecentLookups[str | None] = RecentLookups(monotonic)
        self._aliases: RecentLookups[dict[str, str]] = RecentLookups(monotonic)

    async def tenant(self, request: Request, *, counted: bool = True) -> Tenant:
        """Authenticate a request and return its tenant. `counted`: it counts toward the tenant's
        requests per minute.

        Raises `Unauthorized`, `StoreUnavailable` if keys cannot be looked up, or `RateLimited`.
        """
        return self._admitted(request, await self._find(request), counted=counted)

    async def memory_tenant(self, request: Request, *, counted: bool = True) -> Tenant:
        """Return the tenant for a route of memories, like `tenant`, but also accept a wallet's
        proof: the wallet is bound to the tenant. On a server without keys the proof is a credential
        by itself: without another one in the headers the tenant is the wallet's own.

        Raises as `tenant` does, `BadRequest` and `Unauthorized` for an invalid proof, `Conflict` if
        the wallet belongs to another tenant, `Forbidden` if the proof does, and `RequestTooLarge`.
        """
        sent = sent_headers(request) if self._wallets else None
        if sent is None or self._wallets is None:
            return await self.tenant(request, counted=counted)
        alone = not any(credentials(request)) and await self.keyless()
        tenant = None if alone else await self.tenant(request, counted=counted)
        wallet: ProvenWallet | None = getattr(request.state, _PROVEN, None)
        known = wallet is not None
        wallet = wallet or await self._wallets.proven(request, sent)
        if tenant is None:
            name = await self._renamed(wallet_tenant(wallet.address))
            tenant = self._admitted(request, Tenant(name, keyed=False), counted=counted)
            body_budget.belongs_to(request.scope, name)
        if not known:  # a stream that outlives its proof checks again
            await self._wallets.book.prove(tenant.id, wallet)
            setattr(request.state, _PROVEN, wallet)
        return tenant

    async def operator(self, request: Request) -> None:
        """Authenticate the operator, who may see numbers of the whole server. Raises as `tenant`
        does.

        An access key is not enough: it would let one tenant measure the others. Without access keys
        a server on loopback has one user, who needs no credential unless a key was set.
        """
        if self._operator_key is None:
            if await self.opens_without_key():
                return
            raise Unauthorized("This needs the operator's key: set MEMTREE_METRICS_KEY.")
        if self._failures:
            self._failures.check(request)
        wanted = self._operator_key.encode()
        given = [value.encode() for value in credentials(request)]
        if not any(hmac.compare_digest(value, wanted) for value in given):
            raise self._refusal(request, bool(given))

    async def keyless(self) -> bool:
        """Return True if there are no access keys. Raises `StoreUnavailable` if that cannot be
        determined."""
        return not await self._configured.get("", self._keys.has_keys)

    async def opens_without_key(self) -> bool:
        """Return True if requests without a credential are accepted."""
        return self._loopback and await self.keyless()

    async def _find(self, request: Request) -> Tenant:
        if WRAP_RUN in request.scope.get("state", ()):
            return Tenant(LOCAL, keyed=False)
        values = list(credentials(request))
        if not await self.keyless():
            values += filter(None, [request.cookies.get(SESSION_COOKIE, "").strip()])
            if self._failures and not any(self._tenants.known(tenant_id(each)) for each in values):
                self._failures.check(request)
            for place, value in enumerate(values):
                if tenant := await self._known(value):
                    ours = place > 0 or not _own_key(request) or await self._any_known(values[1:])
                    return Tenant(tenant, keyed=ours)
            raise self._refusal(request, bool(values))
        if not values and not self._loopback:
            raise Unauthorized(_NO_KEY)
        if self._local and values and values[0].startswith(LOCAL_PREFIX):
            self._local.check(values[0])
            return Tenant(LOCAL, keyed=not _own_key(request))
        name = await self._renamed(tenant_id(values[0]) if values else ANONYMOUS)
        if not values and name == ANONYMOUS and comes_from_here(request):
            name = LOCAL
        return Tenant(name, keyed=False)

    def _refusal(self, request: Request, given: bool) -> Unauthorized:
        if given and self._failures:
            self._failures.count(request)
        return Unauthorized("Incorrect API key provided." if given else _NO_KEY)

    def _admitted(self, request: Request, tenant: Tenant, *, counted: bool) -> Tenant:
        if KNOWN_QUERY in request.scope:
            check_query(request)
        request_trace.of(request.scope).tenant = tenant.id
        threads.OWNER.set(tenant.id)
        if counted and self._rates is not None:
            self._rates.take(tenant.id)
        return tenant

    async def _renamed(self, name: str) -> str:
        aliases = await self._aliases.get("", self._keys.aliases)
        return aliases.get(name, name)

    async def _any_known(self, values: Sequence[str]) -> bool:
        """Return True if one of the credentials sent besides a key for this server only is one of
        our keys: then they are not relayed. While the store fails, a credential that was not looked
        up before counts as none."""
        for value in values:
            try:
                if await self._known(value):
                    return True
            except (StoreUnavailable, StoreCorrupt):
                continue
        return False

    async def _known(self, value: str) -> str | None:
        async def look_up() -> str | None:
            return await self._keys.tenant_of(value)

        return await self._tenants.get(tenant_id(value), look_up)


class RecentLookups(Generic[Value]):
    """Recently looked-up values. When the store fails, the last known value still counts: a chat
    continues without the store (DESIGN, promise 10)."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._known: OrderedDict[str, tuple[float, Value]] = OrderedDict()

    def known(self, key: str) -> Value | None:
        """Return the result of the last look-up, however old."""
        return self._known[key][1] if key in self._known else None

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


AGENT, SUBJECT = AGENT_FIELDS = ("agentId", "subjectId")


def agent_scopes(named: Mapping[str, object], tenant: str, place: str = "") -> AgentScopes | None:
    """Return the scopes; None if no agent is named. `place`: prefix of the fields in errors. Raises
    `BadRequest` that names the field."""
    names = (f"{place}{AGENT}", f"{place}{SUBJECT}")
    return meant_agents(named.get(AGENT), named.get(SUBJECT), tenant, names)


def meant_agents(
    agent: object, subject: object, tenant: str, names: tuple[str, str]
) -> AgentScopes | None:
    """Return the scopes; None if neither is given. `names`: of the two fields in errors. Raises
    `BadRequest`."""
    agent_name, subject_name = names
    if agent is None:
        if subject is not None:
            raise BadRequest(
                f"{subject_name} needs {agent_name}, which may be {ALL}", param=subject_name
            )
        return None
    return AgentScopes(
        tenant,
        None if agent == ALL else checked_id(agent, agent_name),
        "" if subject is None else None if subject == ALL else checked_id(subject, subject_name),
    )


def queried_agents(query: QueryParams, tenant: str) -> AgentScopes | None:
    """Read the scopes as `agent_scopes` does; a repeated field is a 400, since two readers may see
    two agents."""
    for name in AGENT_FIELDS:
        if len(query.getlist(name)) > 1:
            raise BadRequest(f"{name} is given twice", param=name)
    return agent_scopes(query, tenant)


def single_scope(scopes: AgentScopes) -> Scope:
    """Return the single scope. Raises `BadRequest` if there may be several."""
    scope = scopes.single
    if scope is None:
        name = AGENT if scopes.agent is None else SUBJECT
        raise BadRequest(f"{name} must be one name; {ALL} is for lists and searches", param=name)
    return scope


def user_scope(request: Request, tenant: Tenant) -> Scope:
    """Return the tenant itself, or the user within it that `x-user-id` names; raises `BadRequest`
    for an invalid id.

    A browser's cookie authenticates only its owner, so together with a valid cookie the header is
    ignored.
    """
    headers = request.headers
    if USER_HEADER not in headers or (tenant.keyed and request.cookies.get(SESSION_COOKIE)):
        return Scope.of_user(tenant.id)
    return Scope.of_user(tenant.id, checked_id(own_value(headers, USER_HEADER), USER_HEADER))
