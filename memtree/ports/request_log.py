"""Port of the log of single requests: numbers, ids and words of fixed lists, never text.

The only free text is a model's name, cut short. Rows are deleted with their tenant, after
`LOG_DAYS`, and, oldest first, if there are more than a tenant or a store may have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

LOG_DAYS = 30
TENANT_ROWS = 100_000
ROW_BYTES = 320  # with its entries in two indexes; measured: 290 in SQLite
STORE_ROWS = (256 << 20) // ROW_BYTES
LONGEST_MODEL = 100  # characters
UNKNOWN = -1  # stands for a number that was not reported
# status of a request whose client disconnected before its answer was complete; as in nginx
CLIENT_GONE = 499


class RequestRow(NamedTuple):
    """One request that has ended.

    `number`: increases with each row written to the store. `time`: unix seconds when it came, also
    part of `id`. `client`, `dialect`, `state`, `reason`, `error_type`: of fixed lists, "" for none.
    `address`, `epoch`: empty if memory had none. `conversation`: address of the first known request
    whose history is a beginning of this one. `turn`: its number within its epoch, from 1; 0 if
    unknown. Tokens and milliseconds are `UNKNOWN` if they were not reported, except `saved_tokens`:
    see `memtree.budget.prices`. `saved_before`: what the earlier requests of its conversation
    saved. `memories`: how many it contained; `recalled`: rounds of recall tools; `retries`: how
    often it was sent again with changes. `wrap_run`: id of the run of `memtree wrap` that it
    belongs to.
    """

    number: int
    id: str
    time: float
    client: str
    dialect: str
    model: str
    address: bytes
    conversation: bytes
    state: str
    reason: str
    epoch: bytes
    turn: int
    posted_tokens: int
    sent_tokens: int
    cached_tokens: int
    written_tokens: int
    output_tokens: int
    saved_tokens: int
    saved_before: int
    first_token_ms: int
    total_ms: int
    memories: int
    recalled: int
    retries: int
    wrap_run: str
    status: int
    error_type: str


class RequestPlace(NamedTuple):
    """Position of a row in a list, newest first."""

    time: float
    number: int


class RequestFilter(NamedTuple):
    """Filter of rows; a field that is None is ignored. `since` (inclusive), `until` (exclusive):
    unix seconds. `addresses`: of one conversation; `conversation`: address of one of its requests,
    for one that is not stored."""

    since: float | None = None
    until: float | None = None
    state: str | None = None
    client: str | None = None
    addresses: frozenset[bytes] | None = None
    conversation: bytes | None = None
    wrap_run: str | None = None


class RequestTotals(NamedTuple):
    """Sums over rows. `folded`: requests in which memory folded something. Tokens that were not
    reported count as zero."""

    requests: int = 0
    folded: int = 0
    posted_tokens: int = 0
    sent_tokens: int = 0
    saved_tokens: int = 0


class StateSums(NamedTuple):
    """Sums over rows of one state."""

    state: str
    requests: int
    posted_tokens: int
    sent_tokens: int
    saved_tokens: int


ALL = RequestFilter()


def time_of(id_: str) -> float | None:
    """Return when the request with this id came (unix seconds); None for a malformed id. Ids begin
    with their time, so that the index of times finds them.

    >>> time_of("19b06ef8a5000001")
    1765347920.464
    """
    try:
        return int(id_[:11], 16) / 1000 if len(id_) == 16 else None
    except ValueError:
        return None


class RequestLog(Protocol):
    """Log of requests. Raises as `TreeStore` does."""

    async def add_requests(self, rows: Mapping[str, Sequence[RequestRow]]) -> int:
        """Store these rows, by tenant, in one transaction, which assigns their numbers. Returns the
        greatest one."""
        ...

    async def requests(
        self,
        tenant: str,
        limit: int,
        where: RequestFilter = ALL,
        before: RequestPlace | None = None,
    ) -> list[RequestRow]:
        """Return rows, newest first; `before`: only those after this position."""
        ...

    async def request_totals(self, tenant: str, where: RequestFilter = ALL) -> RequestTotals: ...

    async def span_sums(
        self, tenant: str, spans: Sequence[tuple[float, float]]
    ) -> list[list[StateSums]]:
        """Return for each span of time (unix seconds, end exclusive) the sums of requests that
        memory handled, by state."""
        ...

    async def request(self, tenant: str, id_: str) -> RequestRow | None: ...

    async def requests_after(
        self, tenant: str, number: int, limit: int, where: RequestFilter = ALL
    ) -> list[RequestRow]:
        """Return the rows with a number greater than `number`, in ascending order."""
        ...

    async def last_request(self) -> int:
        """Return the greatest number of all rows in the store; 0 if there are none."""
        ...

    async def logged_tenants(self) -> list[str]:
        """Return the tenants that have rows, by name."""
        ...

    async def previous_request(
        self, tenant: str, model: str | None, addresses: Sequence[bytes]
    ) -> RequestRow | None:
        """Return the newest request with this model (None: any) at one of these addresses that the
        provider answered, even if the client disconnected early."""
        ...

    async def titles(self, tenant: str, addresses: Sequence[bytes]) -> dict[bytes, str]:
        """Return the titles of the conversations that these addresses belong to: of several the
        last used; addresses without a conversation are left out."""
        ...

    async def trim_requests(self, now: float, tenants: Sequence[str] | None = None) -> int:
        """Delete rows that are too old, and surplus rows of these tenants (None: all) and of the
        store. Returns how many."""
        ...
