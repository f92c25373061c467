"""Serve `/requests`: the log of a tenant's requests with their tokens, costs and savings, as a
list, singly, and as live events."""

from __future__ import annotations

import binascii
import struct
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import NamedTuple

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response

from memtree.context.context_memory import ContextMemory
from memtree.errors import BadRequest, Forbidden, NotFound, Unauthorized
from memtree.memories.fields.times import timestamp
from memtree.ports.request_log import (
    ALL,
    RequestFilter,
    RequestLog,
    RequestPlace,
    RequestRow,
)
from memtree_proxy.access.auth import Gate
from memtree_proxy.access.event_streams import (
    Event,
    EventStreams,
    last_event,
)
from memtree_proxy.context.conversations import MAX_ROWS, ROWS, json_answer
from memtree_proxy.observability.records.request_log import RequestLogWriter
from memtree_proxy.observability.records.request_rows import STATES, wrap_run
from memtree_proxy.request import fields
from memtree_proxy.request.clients import CLIENTS, OTHER
from memtree_proxy.request.delete_options import refuse_unknown
from memtree_proxy.wire.answer import shown
from memtree_proxy.wire.conversation_answers import PLAN, REQUEST, TOTALS
from memtree_proxy.wire.json_schema import Json
from memtree_proxy.wire.routes import route

FILTERS = ("since", "until", "state", "client", "conversation", "wrap")
PAGE = ("cursor", "limit")
EVENTS = 100  # rows read at once
_ROOT = "/requests"
_CURSOR = struct.Struct(">dQ")


class RequestQuery(NamedTuple):
    where: RequestFilter
    limit: int
    before: RequestPlace | None


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

    @route(f"GET {_ROOT}")
    async def page(self, request: Request) -> Response:
        tenant = await self._gate.tenant(request, counted=False)
        store = self._store()
        wanted = await self._read(tenant.id, request.query_params, (*FILTERS, *PAGE))
        page = await store.requests(tenant.id, wanted.limit + 1, wanted.where, wanted.before)
        listed = page[: wanted.limit]
        totals = await store.request_totals(tenant.id, wanted.where)
        more = made_cursor(listed[-1]) if len(page) > wanted.limit else None
        rows = await _titled(store, tenant.id, listed)
        return json_answer({"requests": rows, "totals": shown(TOTALS, totals), "next_cursor": more})

    @route(f"GET {_ROOT}/events")
    async def events(self, request: Request) -> Response:
        tenant = await self._gate.tenant(request, counted=False)
        self._store()
        wanted = await self._read(tenant.id, request.query_params, FILTERS)

        async def allowed() -> bool:
            try:
                return (await self._gate.tenant(request, counted=False)).id == tenant.id
            except Unauthorized:
                return False

        feed = RequestFeed(self._writer, tenant.id, wanted.where)
        return await self._streams.open(tenant.id, feed, last_event(request.headers), allowed)

    @route(f"GET {_ROOT}/{{request_id}}")
    async def show(self, request: Request) -> Response:
        tenant = await self._gate.tenant(request, counted=False)
        store = self._store()
        row = await store.request(tenant.id, request.path_params["request_id"][:64])
        if row is None:
            raise NotFound("nothing is known of this request", param="request_id")
        (titled,) = await _titled(store, tenant.id, [row])
        return json_answer({**titled, "plan": await self._plan(tenant.id, row)})

    def _store(self) -> RequestLog:
        if self._writer.store is None:
            raise Forbidden("There is no log of requests: the setting requests_log is off.")
        return self._writer.store

    async def _read(self, tenant: str, given: QueryParams, known: Sequence[str]) -> RequestQuery:
        """Read the query of the list. Raises `BadRequest` naming the parameter, and errors of the
        store."""
        refuse_unknown(given, known, "query parameter")
        where = RequestFilter(
            since=timestamp(given.get("since"), "since"),
            until=timestamp(given.get("until"), "until"),
            state=fields.choice(given.get("state"), "state", STATES),
            client=fields.choice(given.get("client"), "client", (*CLIENTS, OTHER)),
            wrap_run=_wrap(given.get("wrap")),
        )
        limit = fields.integer(given.get("limit"), "limit", 1, MAX_ROWS) or ROWS
        before = read_cursor(given.get("cursor"))
        if (named := given.get("conversation")) is not None:
            address = fields.address(named, "conversation")
            chain = await self._memory.conversations.chain(tenant, address)
            where = where._replace(addresses=frozenset({address, *chain}))
        return RequestQuery(where, limit, before)

    async def _plan(self, tenant: str, row: RequestRow) -> Json | None:
        if not row.epoch:
            return None
        try:
            plan = await self._memory.conversations.plan(tenant, row.address)
        except NotFound:
            return None
        if plan.epoch is None or plan.epoch.id != row.epoch:
            return None
        return shown(PLAN, plan, address=row.address.hex())


class RequestFeed:
    """`EventFeed` of one tenant's requests, filtered by `where`."""

    def __init__(self, writer: RequestLogWriter, tenant: str, where: RequestFilter = ALL) -> None:
        self._writer, self._tenant, self._where = writer, tenant, where

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
        return [Event(row.number, data) for row, data in zip(rows, titled, strict=True)]

    @property
    def _log(self) -> RequestLog:
        assert self._writer.store is not None
        return self._writer.store


async def _titled(store: RequestLog, tenant: str, rows: Sequence[RequestRow]) -> list[Json]:
    """Return the rows as JSON, with the current titles of their conversations."""
    titles = await store.titles(tenant, [row.address for row in rows if row.address])
    return [row_json(row, titles) for row in rows]


def row_json(row: RequestRow, titles: Mapping[bytes, str]) -> Json:
    return shown(REQUEST, row, title=titles.get(row.address, ""))


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


def _wrap(named: str | None) -> str | None:
    if named is not None and not wrap_run(named):
        raise BadRequest("wrap must be the id of a run of memtree wrap", param="wrap")
    return named
