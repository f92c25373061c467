"""Port of a store of single requests: numbers, ids and words of fixed lists, never text.

The one free text is a model's name, cut short. Rows go with their tenant, after `LOG_DAYS`, and
where there are more than a tenant or a store may have: then the oldest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

LOG_DAYS = 30
TENANT_ROWS = 100_000
ROW_BYTES = 288  # with the entries in two indexes; measured: 271 in SQLite
STORE_ROWS = (256 << 20) // ROW_BYTES
LONGEST_MODEL = 100  # characters
UNKNOWN = -1  # of a number that nobody told
CLIENT_GONE = 499  # status of a request whose client went before its answer was whole; nginx's


class RequestRow(NamedTuple):
    """One request that has ended.

    `number`: grows with each row that is written, in the whole store. `time`: unix seconds when it
    came, as `id` has it. `client`, `dialect`, `state`, `reason`, `error_type`: of fixed lists, ""
    for none. `address`, `epoch`: empty where memory had none. `turn`: which request of its epoch
    it is, from 1; 0 where that is not known. Tokens and milliseconds are `UNKNOWN` where nobody
    told them, but for `saved_tokens`: see `memtree.budget.savings`. `saved_before`: what the
    earlier requests of its conversation saved. `memories`: how many stood in it; `recalled`:
    rounds of recall tools; `retries`: how often it was sent again, changed. `wrap_run`: id of the
    run of `memtree wrap` that it belongs to.
    """

    number: int
    id: str
    time: float
    client: str
    dialect: str
    model: str
    address: bytes
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
    """Where a row stands in a list, newest first."""

    time: float
    number: int


class RequestFilter(NamedTuple):
    """Filter of rows; a field that is None asks nothing. `since`, `until` (which is not included):
    unix seconds. `addresses`: of one conversation."""

    since: float | None = None
    until: float | None = None
    state: str | None = None
    client: str | None = None
    addresses: frozenset[bytes] | None = None
    wrap_run: str | None = None


class RequestTotals(NamedTuple):
    """Sums over rows. `folded`: those in which memory folded something. Tokens that nobody told
    count as none."""

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
    """When the request with this id came (unix seconds); None for what is no id. Ids begin with
    their time, so that they are found by the index of it.

    >>> time_of("19b06ef8a5000001")
    1765347920.464
    """
    try:
        return int(id_[:11], 16) / 1000 if len(id_) == 16 else None
    except ValueError:
        return None


class RequestLog(Protocol):
    """Raises as `TreeStore` does."""

    async def add_requests(self, rows: Mapping[str, Sequence[RequestRow]]) -> int:
        """Keep these, by tenant, in one transaction; their numbers are given here. Returns the
        greatest one."""
        ...

    async def requests(
        self,
        tenant: str,
        limit: int,
        where: RequestFilter = ALL,
        before: RequestPlace | None = None,
    ) -> list[RequestRow]:
        """Return rows, newest first; `before`: only those behind this place."""
        ...

    async def request_totals(self, tenant: str, where: RequestFilter = ALL) -> RequestTotals: ...

    async def span_sums(
        self, tenant: str, spans: Sequence[tuple[float, float]]
    ) -> list[list[StateSums]]:
        """Sums for each span of time (unix seconds, its end not included) of what memory was asked
        for, by state."""
        ...

    async def request(self, tenant: str, id_: str) -> RequestRow | None: ...

    async def requests_after(
        self, tenant: str, number: int, limit: int, where: RequestFilter = ALL
    ) -> list[RequestRow]:
        """Return the rows with a number greater than `number`, in ascending order."""
        ...

    async def last_request(self) -> int:
        """The greatest number of all rows in the store; 0 where there are none."""
        ...

    async def logged_tenants(self) -> list[str]:
        """Those that have rows, by name."""
        ...

    async def previous_request(
        self, tenant: str, model: str | None, addresses: Sequence[bytes]
    ) -> RequestRow | None:
        """The newest one with this model (None: with any) at one of these addresses that the
        provider answered, if only until the client went."""
        ...

    async def titles(self, tenant: str, addresses: Sequence[bytes]) -> dict[bytes, str]:
        """The titles of the conversations that these addresses end or go on to: the last used
        where there are several, nothing where there is none any more."""
        ...

    async def trim_requests(self, now: float, tenants: Sequence[str] | None = None) -> int:
        """Delete what is too old, and of these tenants (None: of all) and of the store what is too
        much. Returns how many rows."""
        ...
