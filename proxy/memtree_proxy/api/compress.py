"""Serve `/context_memory`: compress posted messages, report the status, show the tree as JSON."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta
from starlette.requests import Request
from starlette.responses import Response

from memtree.config import Settings
from memtree.context.answer_state import State
from memtree.context.context_memory import (
    Answer,
    AnswerDetails,
    CompressRequest,
    ContextMemory,
)
from memtree.context.sent_requests import SentRequests
from memtree.dialects import posted_history
from memtree.dialects.posted_history import PostedDialectHistory
from memtree.errors import ContextOverflow
from memtree.process.threads import off_loop
from memtree.process.tracing import step
from memtree.unfolding.explain import Explanation
from memtree_proxy.chat import fields
from memtree_proxy.chat.request_request_fields import REQUEST_FIELDS
from memtree_proxy.http import request_body, request_trace
from memtree_proxy.http.access_auth import Gate
from memtree_proxy.http.decoding import Posted, queried
from memtree_proxy.http.known_bodies import KnownBodies, posted_beginning
from memtree_proxy.http.rate_limits import WaitingRequests
from memtree_proxy.wire.context_answers import Status, compressed
from memtree_proxy.wire.delete_options import refuse_unknown
from memtree_proxy.wire.options import context_options
from memtree_proxy.wire.routes import route
from memtree_proxy.wire.tree_answers import Explain, Tree
from memtree_proxy.wire.values import NoQuery

_KNOWN = REQUEST_FIELDS | {"messages", "input"}
DIALECT = "context_memory"  # name in the log of requests
MAX_MODEL = 200  # characters of a model's name


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
            return _json(rendered(answer, {}, explained, saved), 202, trace.headers())
        sent = {posted.history.field: posted.history.sent(answer)}
        return _json(rendered(answer, sent, explained, saved), 200, trace.headers())

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
            UNSET if model is None else fields.chat_folds_at(model, self._settings),
        )
        return _json(msgspec.json.encode(status))

    async def tree(self, request: Request) -> Response:
        posted = await self._read(request)
        tree = await self._waits.counted(posted.ask.tenant, self._memory.tree(posted.ask))
        return _json(msgspec.json.encode(Tree.of(tree)))

    async def _read(self, request: Request) -> ContextRequest:
        tenant = await self._gate.tenant(request)
        queried(NoQuery, request.query_params)
        raw = await request_body.content(request, self._settings.max_body_bytes)

        def parse() -> ContextRequest:
            body = self._bodies.split(posted_beginning(self._bodies, tenant.id, raw))
            refuse_unknown(body.spans, _KNOWN, "field")
            options = context_options(body)
            history = posted_history.read(body, tenant.id, self._settings.max_messages)
            ask = fields.context_ask(
                tenant.id,
                body,
                request.headers,
                self._settings,
                history.messages,
                history.output_fields,
                options,
            )
            return ContextRequest(
                ask=history.complete(ask, fields.vendors_prices(ask.prices, body)),
                history=history,
                model=fields.model(body),
                input_price=fields.input_price(body, self._settings),
                index_only=options.index_only,
                explain=options.explain,
            )

        with step("parse"):
            return await off_loop(len(raw), parse)


def rendered(
    answer: Answer, sent: Mapping[str, bytes], explained: Explanation | None, saved: int
) -> bytes:
    """Render the answer as JSON. `sent`: the returned history, if any, as raw JSON by field name.
    `saved`: tokens saved in the conversation so far."""
    made = compressed(answer, sent, saved)
    if explained is not None:
        made = msgspec.structs.replace(made, explain=Explain.of(explained))
    return msgspec.json.encode(made)


def _json(
    content: bytes, status: int = 200, headers: list[tuple[bytes, bytes]] | None = None
) -> Response:
    response = Response(content, status, media_type="application/json")
    response.raw_headers.extend(headers or ())
    return response
