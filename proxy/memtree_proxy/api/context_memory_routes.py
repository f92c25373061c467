"""Serves `/context_memory`: compresses posted messages, shows their tree, deletes their memory.

`/context_memory/status` tells what is pending. `/context_memory/delete` deletes the memory of a
history, of an address, or of the whole tenant. Any error of the store becomes an error of the
request, so a 200 means that everything is gone.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta
from starlette.requests import Request
from starlette.responses import Response

from memtree.config import Settings
from memtree.context.answer_state import State
from memtree.context.context_memory import Answer, AnswerDetails, CompressRequest, ContextMemory
from memtree.context.sent_requests import SentRequests
from memtree.dialects import posted_history
from memtree.dialects.posted_history import PostedDialectHistory
from memtree.errors import BadRequest, ContextOverflow
from memtree.history import json_body
from memtree.history.json_body import Body
from memtree.history.message import Message
from memtree.ports.context_store import Receipt
from memtree.process.threads import off_loop
from memtree.process.tracing import step
from memtree_proxy.chat import request_fields
from memtree_proxy.chat.request_fields import REQUEST_FIELDS
from memtree_proxy.http import log, request_body, request_trace
from memtree_proxy.http.auth import Gate
from memtree_proxy.http.decoding import OrNull, Posted, fields_of, names, queried
from memtree_proxy.http.known_bodies import KnownBodies, posted_beginning
from memtree_proxy.http.metrics import Metrics
from memtree_proxy.http.rate_limits import WaitingRequests
from memtree_proxy.http.request_log_writer import RequestLogWriter
from memtree_proxy.wire import request_options
from memtree_proxy.wire.context_bodies import ShownReceipt, Status, Tree, compressed
from memtree_proxy.wire.request_options import context_options, refuse_unknown
from memtree_proxy.wire.routes import route
from memtree_proxy.wire.values import NoQuery

_KNOWN = REQUEST_FIELDS | {"messages", "input"}
DIALECT = "context_memory"  # name in the log of requests
MAX_MODEL = 200  # characters of a model's name
NAMES = ("messages", "input", "address", "all")  # targets of a deletion


class StatusQuery(Posted, frozen=True):
    """`model`: the one for which the answer estimates when a chat is folded first."""

    model: Annotated[str, Meta(min_length=1, max_length=MAX_MODEL)] | None = None


@dataclass(frozen=True, slots=True)
class ContextRequest:
    ask: CompressRequest
    history: PostedDialectHistory
    model: str
    input_price: float | None
    index_only: bool
    explain: bool


class ContextMemoryRoutes:
    """Routes of `/context_memory`. `bodies`: cache of body prefixes, shared with the chat
    routes."""

    def __init__(
        self,
        memory: ContextMemory,
        gate: Gate,
        waits: WaitingRequests,
        settings: Settings,
        bodies: KnownBodies,
        sent: SentRequests,
    ) -> None:
        self._memory = memory
        self._gate = gate
        self._waits = waits
        self._settings = settings
        self._bodies = bodies
        self._sent = sent

    async def compress(self, request: Request) -> Response:
        trace = request_trace.of(request.scope)
        trace.keep(DIALECT, request.scope["headers"], relayed=False)
        posted = await self._read(request)
        started = time.perf_counter()
        trace.entry.model = posted.model
        trace.memory.input_price, trace.entry.explained = posted.input_price, posted.explain
        try:
            answer, details = await self._waits.counted(posted.ask.tenant, self._answered(posted))
        except ContextOverflow as error:
            trace.decide(State.REFUSED)
            trace.memory.mode, trace.memory.raw_tokens = posted.ask.mode, error.tokens
            raise
        finally:
            trace.memory.ms = (time.perf_counter() - started) * 1000
        trace.learn(answer)
        await self._sent.recall(posted.ask.tenant, posted.model, answer)
        saving = self._sent.saving(posted.ask.tenant, posted.model, answer, trace.entry.came)
        saved = saving.before if posted.index_only or posted.explain else saving.total
        explained = await asyncio.to_thread(details.explain) if posted.explain else None
        if posted.index_only:
            trace.entry.index_only, trace.memory.sent_tokens = True, 0
            sent, status = {}, 202
        else:
            sent, status = {posted.history.field: posted.history.sent(answer)}, 200
        return _json(compressed(answer, sent, explained, saved), status, trace.headers())

    async def _answered(self, posted: ContextRequest) -> tuple[Answer, AnswerDetails]:
        if posted.index_only:
            return await self._memory.index(posted.ask), AnswerDetails()
        return await self._memory.compress_with_details(posted.ask)

    @route("GET /context_memory/status", StatusQuery)
    async def status(self, request: Request) -> Response:
        tenant = await self._gate.tenant(request, counted=False)
        model = queried(StatusQuery, request.query_params).model
        pending = await self._memory.pending(tenant.id)
        status = Status.of(
            pending,
            await self._memory.summary_status(tenant.id),
            UNSET if model is None else request_fields.chat_folds_at(model, self._settings),
        )
        return _json(status)

    async def tree(self, request: Request) -> Response:
        posted = await self._read(request)
        tree = await self._waits.counted(posted.ask.tenant, self._memory.tree(posted.ask))
        return _json(Tree.of(tree))

    async def _read(self, request: Request) -> ContextRequest:
        tenant = await self._gate.tenant(request)
        queried(NoQuery, request.query_params)
        raw = await request_body.content(request, self._settings.max_body_bytes)

        def parse() -> ContextRequest:
            body = self._bodies.split(posted_beginning(self._bodies, tenant.id, raw))
            refuse_unknown(body.spans, _KNOWN, "field")
            options = context_options(body)
            history = posted_history.read(body, tenant.id, self._settings.max_messages)
            ask = request_fields.context_ask(
                tenant.id,
                body,
                request.headers,
                self._settings,
                history.messages,
                history.output_fields,
                options,
            )
            return ContextRequest(
                ask=history.complete(ask, request_fields.vendors_prices(ask.prices, body)),
                history=history,
                model=request_fields.model(body),
                input_price=request_fields.input_price(body, self._settings),
                index_only=options.index_only,
                explain=options.explain,
            )

        with step("parse"):
            return await off_loop(len(raw), parse)


def _json(
    made: msgspec.Struct, status: int = 200, headers: Sequence[tuple[bytes, bytes]] = ()
) -> Response:
    response = Response(msgspec.json.encode(made), status, media_type="application/json")
    response.raw_headers.extend(headers)
    return response


class _Everything(Posted, frozen=True):
    all: OrNull[bool] = False
    tenant: OrNull[bool] = False


@dataclass(frozen=True, slots=True)
class Target:
    """Target of a deletion: the history in canonical `messages`, the conversation at `address`, or,
    if both are empty, the whole tenant."""

    messages: Sequence[Message] = ()
    address: bytes | None = None

    @property
    def scope(self) -> str:
        if self.messages:
            return "history"
        return "tenant" if self.address is None else "address"


class Deletion:
    def __init__(
        self,
        memory: ContextMemory,
        gate: Gate,
        metrics: Metrics,
        settings: Settings,
        requests: RequestLogWriter,
    ) -> None:
        self._memory = memory
        self._gate = gate
        self._metrics = metrics
        self._settings = settings
        self._requests = requests

    async def delete(self, request: Request) -> Response:
        tenant = await self._gate.tenant(request)
        raw = await request_body.content(request, self._settings.max_body_bytes)
        most = self._settings.max_messages

        def read_options() -> tuple[bool, Target]:
            body = json_body.split(raw, halves=True)
            options = request_options.delete_options(
                request.query_params, body, (request_options.DRY_RUN,), posted=known_fields(body)
            )
            return options.dry_run, read_target(body, most, tenant.id)

        dry_run, target = await off_loop(len(raw), read_options)
        if dry_run:
            receipt = await self._forget(tenant.id, target, dry_run=True)
            return _json(shown_deletion(target, receipt, None))
        if target.scope == "tenant":
            await self._requests.forget(tenant.id)
        receipt = await self._forget(tenant.id, target, dry_run=False)
        self._metrics.deleted(target.scope)
        log.event(
            "context_memory.deleted",
            tenant=tenant.id[:10],
            scope=target.scope,
            addresses=receipt.addresses,
            nodes=receipt.nodes,
        )
        return _json(shown_deletion(target, receipt, datetime.now(UTC)))

    async def _forget(self, tenant: str, target: Target, *, dry_run: bool) -> Receipt:
        if target.messages:
            ask = CompressRequest(tenant, target.messages)
            return await self._memory.forget_history(ask, dry_run=dry_run)
        if target.address is not None:
            return await self._memory.forget_address(tenant, target.address, dry_run=dry_run)
        return await self._memory.forget_tenant(tenant, dry_run=dry_run)


def known_fields(body: Body) -> frozenset[str]:
    """Return the fields that the body may hold. Fields of chat requests are allowed only with a
    history."""
    own = frozenset({*NAMES, "tenant"})
    posted = any(posted_history.is_given(body, name) for name in NAMES[:2])
    return own | REQUEST_FIELDS if posted else own


def read_target(body: Body, most: int | None = None, tenant: str = "") -> Target:
    """Read the target of a deletion. `most`: messages that may be posted. Raises `BadRequest`
    naming the field, or all alternatives unless exactly one is given."""
    everything = fields_of(_Everything, body, names(_Everything))
    given = [name for name in NAMES[:3] if posted_history.is_given(body, name)]
    given += ["all"] if everything.all or everything.tenant else []
    if len(given) != 1:
        posted = f"not {' and '.join(given)}" if given else "there is none"
        raise BadRequest(
            f"give exactly one of messages, input, address, or all: true; {posted}",
            param=given[-1] if given else None,
        )
    if given[0] in NAMES[:2]:
        return Target(messages=posted_history.read(body, tenant, most).messages)
    if given == ["address"]:
        return Target(address=request_fields.address(body.value("address"), "address"))
    return Target()


def shown_deletion(target: Target, receipt: Receipt, now: datetime | None) -> ShownReceipt:
    """Return the answer. `now`: time of the deletion; None for a dry run, which counts no jobs."""
    address = None if target.address is None else target.address.hex()
    at = None if now is None else now.strftime("%Y-%m-%dT%H:%M:%SZ")
    return ShownReceipt.of(receipt, at, scope=target.scope, address=address)
