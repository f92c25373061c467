"""Serve `/requests`: the log of a tenant's requests with their tokens, costs and savings, as a
list, singly, and as live events."""

from __future__ import annotations

import binascii
import struct
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from math import isfinite
from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from memtree.context.context_memory import ContextMemory
from memtree.errors import BadRequest, Forbidden, NotFound, Unauthorized
from memtree.memories.checked_fields import timestamp
from memtree.ports.request_log import RequestFilter, RequestLog, RequestPlace, RequestRow
from memtree_proxy.api.conversation_routes import MAX_ROWS, ROWS
from memtree_proxy.http.auth import Gate
from memtree_proxy.http.decoding import FieldError, OrNull, Posted, queried
from memtree_proxy.http.event_streams import Event, EventStreams, last_event
from memtree_proxy.http.headers import CLIENTS, OTHER
from memtree_proxy.http.request_log_writer import RequestLogWriter
from memtree_proxy.http.request_rows import STATES, wrap_run
from memtree_proxy.wire.conversation_bodies import (
    LoggedRequest,
    Plan,
    RequestPage,
    ShownRequest,
    Totals,
    shown_request,
)
from memtree_proxy.wire.routes import answer, route
from memtree_proxy.wire.values import Address, copied

EVENTS = 100  # rows read at once
_ROOT = "/requests"
_CURSOR = struct.Struct(">dQ")


class RequestQuery(Posted, frozen=True):
    """Filters of the log."""

    since: str | None = None
    until: str | None = None
    state: str | None = None
    client: str | None = None
    conversation: Address | None = None
    wrap: str | None = None

    def check(self) -> None:
        for name, known in (("state", STATES), ("client", (*CLIENTS, OTHER))):
            if getattr(self, name) not in (None, *known):
                raise FieldError(name, f"must be one of {', '.join(known)}")
        if self.wrap is not None and not wrap_run(self.wrap):
            raise FieldError("wrap", "must be the id of a run of memtree wrap")


class RequestListing(RequestQuery, frozen=True):
    limit: OrNull[Annotated[int, Meta(ge=1, le=MAX_ROWS)]] = ROWS
    cursor: str | None = None


class RequestRoutes:
    def __init__(
        self,
        writer: RequestLogWriter,
        memory: ContextMemory,
        gate: Gate,
        streams: EventStreams,
    ) -> None:
        self._writer, self._memory, self._gate = writer, memory, gate
        self._streams = streams

    @route(f"GET {_ROOT}", RequestListing)
    async def page(self, request: Request) -> Response:
        tenant = await self._gate.tenant(request, counted=False)
        store = self._store()
        query = queried(RequestListing, request.query_params)
        where, limit = await self._filter(tenant.id, query), query.limit
        before = read_cursor(query.cursor)
        page = await store.requests(tenant.id, limit + 1, where, before)
        listed = page[:limit]
        totals = copied(Totals, await store.request_totals(tenant.id, where))
        more = made_cursor(listed[-1]) if len(page) > limit else None
        rows = await _titled(store, tenant.id, listed)
        return answer(RequestPage(requests=rows, totals=totals, next_cursor=more))

    @route(f"GET {_ROOT}/events", RequestQuery)
    async def events(self, request: Request) -> Response:
        tenant = await self._gate.tenant(request, counted=False)
        store = self._store()
        where = await self._filter(tenant.id, queried(RequestQuery, request.query_params))

        async def allowed() -> bool:
            try:
                return (await self._gate.tenant(request, counted=False)).id == tenant.id
            except Unauthorized:
                return False

        feed = RequestFeed(self._writer, store, tenant.id, where)
        return await self._streams.open(tenant.id, feed, last_event(request.headers), allowed)

    @route(f"GET {_ROOT}/{{request_id}}")
    async def show(self, request: Request) -> Response:
        tenant = await self._gate.tenant(request, counted=False)
        store = self._store()
        row = await store.request(tenant.id, request.path_params["request_id"][:64])
        if row is None:
            raise NotFound("nothing is known of this request", param="request_id")
        (titled,) = await _titled(store, tenant.id, [row])
        return answer(copied(LoggedRequest, titled, plan=await self._plan(tenant.id, row)))

    def _store(self) -> RequestLog:
        if self._writer.store is None:
            raise Forbidden("There is no log of requests: the setting requests_log is off.")
        return self._writer.store

    async def _filter(self, tenant: str, query: RequestQuery) -> RequestFilter:
        """Return the filter of the rows. Raises `BadRequest` naming the parameter, and errors of
        the store."""
        where = RequestFilter(
            since=timestamp(query.since, "since"),
            until=timestamp(query.until, "until"),
            state=query.state,
            client=query.client,
            wrap_run=query.wrap,
        )
        if query.conversation is None:
            return where
        address = bytes.fromhex(query.conversation)
        chain = await self._memory.conversations.chain(tenant, address)
        if not chain:  # a conversation of this length has no tree: the log alone knows it
            return where._replace(conversation=address)
        return where._replace(addresses=frozenset({address, *chain}))

    async def _plan(self, tenant: str, row: RequestRow) -> Plan | None:
        if not row.epoch:
            return None
        try:
            plan = await self._memory.conversations.plan(tenant, row.address)
        except NotFound:
            return None
        if plan.epoch is None or plan.epoch.id != row.epoch:
            return None
        return Plan.of(plan, row.address)


class RequestFeed:
    """`EventFeed` of one tenant's requests, filtered by `where`."""

    def __init__(
        self, writer: RequestLogWriter, log: RequestLog, tenant: str, where: RequestFilter
    ) -> None:
        self._writer, self._log, self._tenant, self._where = writer, log, tenant, where

    async def count(self) -> int:
        return await self._log.last_request()

    async def changed(self, after: int, timeout: float) -> int:
        """Wait up to `timeout` seconds for a new row. Rows that other processes write meanwhile are
        seen at its end."""
        if (newest := await self.count()) > after:
            return newest
        await self._writer.changed(timeout)
        return await self.count()

    async def events(self, after: int) -> list[Event]:
        rows = await self._log.requests_after(self._tenant, after, EVENTS, self._where)
        titled = await _titled(self._log, self._tenant, rows)
        return [
            Event(row.number, msgspec.to_builtins(data))
            for row, data in zip(rows, titled, strict=True)
        ]


async def _titled(store: RequestLog, tenant: str, rows: Sequence[RequestRow]) -> list[ShownRequest]:
    """Return the rows with the current titles of their conversations."""
    titles = await store.titles(tenant, [row.address for row in rows if row.address])
    return [shown_request(row, titles) for row in rows]


def made_cursor(row: RequestRow) -> str:
    """Return the cursor of the page that follows this row."""
    return urlsafe_b64encode(_CURSOR.pack(row.time, row.number)).decode().rstrip("=")


def read_cursor(cursor: str | None) -> RequestPlace | None:
    """Decode a cursor. Raises `BadRequest` for a cursor that `made_cursor` did not make."""
    if cursor is None:
        return None
    try:
        packed = urlsafe_b64decode(cursor.encode("ascii") + b"==")
        place = RequestPlace(*_CURSOR.unpack(packed))
        known = urlsafe_b64encode(packed).decode().rstrip("=") == cursor
    except (UnicodeEncodeError, binascii.Error, struct.error):
        known = False
    if not known or not isfinite(place.time) or place.number >= 1 << 63:
        raise BadRequest("cursor must be the next_cursor of an earlier page", param="cursor")
    return place
