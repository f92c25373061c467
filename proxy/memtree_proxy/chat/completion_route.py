r"""Serve chats in all dialects, with the history shortened by memory, and count their tokens.

No failure on our side stops a chat on `/chat/completions`, `/messages` or `/responses`: if a
history cannot be read, or memory fails, the request is relayed unchanged (without our own fields),
and `x-memtree-state` says so. Only three things stop a request: a field of ours with a wrong type,
a history too large for the model's window, and too many waiting requests of one tenant.

    read -> memory -> upstream -> relay         nearly always
              \-> slow: 200 and signs of life             `keepalive`
                       \-> refused: changed, once more     `retry`
                       \-> calls tools of ours: answered, once more    `tool_rounds`

`/messages/count_tokens` counts a history as memory would send it. Nothing is indexed. Clients count
fragments (a tool, one message) far more often than whole histories. If memory has folded a
conversation and its next request would continue from that, the folded form is counted; everything
else is counted as it came.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace

from starlette.requests import Request
from starlette.responses import Response

from memtree.config import Settings
from memtree.context.answer import Answer
from memtree.context.answer_details import AnswerDetails
from memtree.context.answer_state import State
from memtree.context.context_memory import ContextMemory
from memtree.context.sent_requests import SentRequests
from memtree.context.turn_request import CompressRequest
from memtree.dialects.tool_definitions import ToolGroup
from memtree.errors import BadRequest, ContextOverflow
from memtree.jobs.memory_services import MemoryServices
from memtree.process.bounded import remember
from memtree.process.tracing import step
from memtree_proxy.chat import chat_memories, learned_refusals, model_tables, tool_rounds
from memtree_proxy.chat.chat_exchange import ChatExchange
from memtree_proxy.chat.chat_memories import ChatMemories
from memtree_proxy.chat.chat_request import ChatRequest
from memtree_proxy.chat.keepalive import (
    JsonKeepalive,
    KeepaliveForm,
    KeepalivePace,
    KeepaliveResponse,
    SseKeepalive,
)
from memtree_proxy.chat.learned_refusals import LearnedRefusals
from memtree_proxy.chat.request_reader import RequestReader
from memtree_proxy.chat.retry import RetryingUpstream
from memtree_proxy.chat.tool_rounds import ToolSession
from memtree_proxy.dialects.dialect import Dialect
from memtree_proxy.http import body_budget, log, request_body, request_trace
from memtree_proxy.http.auth import Gate
from memtree_proxy.http.known_bodies import KnownBodies
from memtree_proxy.http.rate_limits import WaitingRequests
from memtree_proxy.upstream.relay import Relay, RelayedReply
from memtree_proxy.upstream.server_key import ServerKey
from memtree_proxy.upstream.upstreams import UPSTREAMS, Upstreams

MAX_KEPT = 4_096


class OfferedTools:
    """Remembers which of our tools the requests of an epoch have, if the model's thinking is bound
    to them. Epochs that were not used for longest are forgotten.

    The first request of an epoch decides. A later one may have fewer, if the client leaves no place
    for ours, but never others: each change would invalidate the thinking since.
    """

    def __init__(self) -> None:
        self._groups: OrderedDict[tuple[str, str], tuple[ToolGroup, ...]] = OrderedDict()

    def settled(self, tenant: str, epoch: str, session: ToolSession | None) -> ToolSession | None:
        """Return the session with only the tools of its epoch; None if it has none of them."""
        key = (tenant, epoch)
        present = session.offer.groups if session else ()
        first = self._groups.get(key, present)
        remember(self._groups, key, first, MAX_KEPT)
        if session is None or present == first:
            return session
        return session.only(first)


@dataclass(frozen=True, slots=True)
class CompletionServices:
    """Services that the routes of all dialects share."""

    memory: ContextMemory
    memories: MemoryServices
    gate: Gate
    upstreams: Upstreams
    settings: Settings
    waits: WaitingRequests
    pace: KeepalivePace
    bodies: KnownBodies
    server_key: ServerKey
    sent: SentRequests


_Prepared = tuple[ChatExchange, bytes]  # with the body for the upstream


class CompletionRoute:
    """`dialect`: of the route. `learned`: what its upstreams refused."""

    def __init__(
        self, dialect: Dialect, services: CompletionServices, learned: LearnedRefusals
    ) -> None:
        self._dialect = dialect
        self._services = services
        self._memory, self._settings = services.memory, services.settings
        self._waits, self._pace = services.waits, services.pace
        self._offered = OfferedTools()
        self._learned, self._thinking = learned.limits, learned.thinking
        self._reader = RequestReader(dialect, services.settings, self._learned, services.bodies)
        self._memories = ChatMemories(services.memory, services.memories, services.settings)

    async def complete(self, request: Request) -> Response:
        trace = request_trace.of(request.scope)
        trace.keep(self._dialect.name, request.scope["headers"])
        tenant = await self._services.gate.tenant(request)
        upstreams: Upstreams = request.scope.get(UPSTREAMS, self._services.upstreams)
        destination = upstreams.of(request.scope["path"], request.headers)
        posted = await request_body.read(request, self._settings.max_body_bytes)
        started = time.perf_counter()
        user = await self._memories.user(request, tenant)
        with step("parse"):
            chat = await self._reader.read(request, tenant.id, posted, user)
        recorder = await self._services.server_key.lend(
            request, tenant, destination.api_key, chat.body or chat.content
        )
        trace.entry.model = chat.model
        exchange = ChatExchange(request, tenant, destination, posted, chat, trace, recorder)
        try:
            return await self._answered(exchange, started)
        finally:  # as soon as that can no longer delay the answer
            self._memories.hand_over(chat)

    def forget(self, tenant: str | None) -> None:
        """Drop cached data of a tenant's posted requests, because something of the tenant was
        deleted (None: of an unknown one)."""
        self._dialect.forget()
        self._services.bodies.forget(tenant)
        self._thinking.forget(tenant)

    async def _answered(self, exchange: ChatExchange, started: float) -> Response:
        chat, trace = exchange.chat, exchange.trace
        if chat.ask is None and not chat.memories.any:  # no memory to wait for
            trace.decide(chat.state, chat.reason)
            prepared = self._unpacked(exchange)
            trace.memory.ms = (time.perf_counter() - started) * 1000
            return Relay(await self._answer(*prepared, begun=False), trace.headers())
        async with AsyncExitStack() as owned:
            memory = asyncio.create_task(self._prepare(exchange, started))
            owned.push_async_callback(_cancelled, memory)
            done, _ = await asyncio.wait((memory,), timeout=self._pace.quiet)
            if not done and (form := self._form(chat)) is not None:
                response = self._keepalive(exchange, memory, form)
                owned.pop_all()  # the response owns the task from now on
                return response
            if not done:
                with self._waits.place(exchange.tenant.id), step("wait"):
                    await memory
        reply = await self._answer(*memory.result(), begun=False)
        return Relay(reply, trace.headers())

    # -- memory ------------------------------------------------------------------------------

    async def _prepare(self, exchange: ChatExchange, started: float) -> _Prepared:
        """Prepare the upstream request, even if memory fails. Raises `ContextOverflow`."""
        trace = exchange.trace
        trace.decide(exchange.chat.state, exchange.chat.reason)
        try:
            exchange = await self._memories.injected(exchange)
            return await self._remember(exchange)
        except BadRequest:
            trace.decide(State.INVALID_HISTORY)
        except ContextOverflow as error:
            trace.decide(State.REFUSED)
            trace.memory.raw_tokens, trace.error = error.tokens, error.code
            raise
        except Exception as error:  # noqa: BLE001  promise 10: the chat goes on without memory
            log.failure("chat.memory_failed", error)
            trace.decide(State.INTERNAL)
            if exchange.chat.ask is not None:
                await self._count(exchange.chat.ask, trace)
        finally:
            trace.memory.ms = (time.perf_counter() - started) * 1000
        return self._unpacked(exchange)

    async def _count(self, ask: CompressRequest, trace: request_trace.Trace) -> None:
        """Count a history that is sent whole because memory failed, if it can be read."""
        with suppress(Exception):  # the failure is logged already
            posted = await self._memory.read(ask)
            size = posted.tokens + posted.system_tokens
            trace.memory.raw_tokens = trace.memory.sent_tokens = size

    async def _remember(self, exchange: ChatExchange) -> _Prepared:
        ask = exchange.chat.ask
        if ask is None:
            return self._unpacked(exchange)
        exchange.trace.memory.mode = ask.mode
        if not model_tables.by_subscription(exchange.request.headers):
            exchange.trace.memory.input_price = model_tables.input_price_of(
                exchange.chat.model, self._settings.input_prices
            )
        ask, (answer, details) = await self._compressed(ask, exchange.chat)
        await self._services.sent.recall(ask.tenant, exchange.chat.model, answer)
        if answer.folds:
            self._thinking.fold(ask.tenant)
        thinks_from = await learned_refusals.thinks_from(self._memory, self._thinking, ask)
        chat = chat_memories.with_room(replace(exchange.chat, ask=ask), answer)
        chat = replace(chat, thinks_from=thinks_from)
        session = tool_rounds.begin(chat, answer, details.folded, self._memories.tools(chat))
        if self._dialect.prefix_bound and answer.epoch:
            session = self._offered.settled(ask.tenant, answer.epoch, session)
        exchange = replace(exchange, chat=chat).answered(answer, session)
        with step("pack"):
            return exchange, exchange.body()

    async def _compressed(
        self, whole: CompressRequest, chat: ChatRequest
    ) -> tuple[CompressRequest, tuple[Answer, AnswerDetails]]:
        """Compress for the window learned from refusals. If that window leaves no room for the
        request, it is forgotten and the upstream is tried: it may accept more by now."""
        window = self._learned.window(whole.tenant, chat.model)
        ask = whole if window is None else chat.narrowed(whole, window)
        try:
            return ask, await self._memory.compress_with_details(ask)
        except ContextOverflow:
            if ask is whole:
                raise
        self._learned.forget_window(whole.tenant, chat.model)
        return whole, await self._memory.compress_with_details(whole)

    def _unpacked(self, exchange: ChatExchange) -> _Prepared:
        """Return the history as it was posted, because context memory is off or has failed."""
        session = tool_rounds.begin(exchange.chat, None, None, self._memories.tools(exchange.chat))
        exchange = exchange.answered(None, session)
        return exchange, exchange.body()

    # -- waiting -----------------------------------------------------------------------------

    def _form(self, chat: ChatRequest) -> KeepaliveForm | None:
        """Return the form of heartbeats for a waiting client; None to wait silently."""
        if chat.streams:
            return SseKeepalive(self._dialect)
        return JsonKeepalive(self._dialect) if self._settings.json_wait == "spaces" else None

    def _keepalive(
        self, exchange: ChatExchange, memory: asyncio.Task[_Prepared], form: KeepaliveForm
    ) -> Response:
        """Return an answer that begins while memory still works; it cancels memory if it ends
        first."""
        self._waits.enter(exchange.tenant.id)

        # The place becomes free as soon as memory has ended: streams do not count.
        memory.add_done_callback(lambda _: self._waits.leave(exchange.tenant.id))

        async def reply() -> RelayedReply:
            with step("wait"):
                prepared = await memory
            return await self._answer(*prepared, begun=True)

        return KeepaliveResponse(reply, form, self._pace.beat, memory.cancel)

    # -- the upstream ------------------------------------------------------------------------

    async def _answer(self, exchange: ChatExchange, body: bytes, *, begun: bool) -> RelayedReply:
        """Return the answer, with all rounds in which the model calls our tools. `begun`: the
        client has its 200 already."""
        session = exchange.session
        readable = begun or session is not None
        upstream = RetryingUpstream(
            self._memory, self._learned, self._thinking, exchange, readable=readable
        )
        reply = await upstream.reply(body)
        content = exchange.chat.content
        if len(content) > body_budget.FREE:
            # A stream may take minutes. What was unpacked counts on: little was sent for it.
            unpacked = max(0, len(content) - len(exchange.posted))
            body_budget.drop_to(exchange.request.scope, unpacked)
        if session is None:
            return reply

        async def again() -> RelayedReply:
            exchange.trace.rounds.recalls += 1
            return await upstream.again()

        return await tool_rounds.answered(reply, session, again)


async def _cancelled(task: asyncio.Task[_Prepared]) -> None:
    """Cancel a task that nobody waits for any more; has no effect on one that has ended."""
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


class TokenCountRoute(CompletionRoute):
    """Counts as the completions of its dialect would be sent, with what their upstream refused."""

    async def count(self, request: Request) -> Response:
        services = self._services
        tenant = await services.gate.tenant(request)
        upstreams: Upstreams = request.scope.get(UPSTREAMS, services.upstreams)
        destination = upstreams.of(request.scope["path"], request.headers)
        posted = await request_body.read(request, services.settings.max_body_bytes)
        user = await self._memories.user(request, tenant)
        chat = await self._reader.read(request, tenant.id, posted, user)
        await services.server_key.lend(
            request, tenant, destination.api_key, chat.body or chat.content
        )
        trace = request_trace.of(request.scope)
        exchange = ChatExchange(request, tenant, destination, posted, chat, trace)
        return Relay(await exchange.forward(await self._body(chat)))

    async def _body(self, chat: ChatRequest) -> bytes:
        """Return the body to count. Our tools are in it as in a folded request."""
        ask = self._memories.unchosen(chat).ask
        if ask is None or ask.whole:
            return chat.plain
        memory = self._services.memory
        if (window := self._learned.window(ask.tenant, chat.model)) is not None:
            ask = chat.narrowed(ask, window)
        try:
            answer = await memory.standing_answer(ask)
            thinks_from = await learned_refusals.thinks_from(memory, self._thinking, ask)
        except Exception as error:  # noqa: BLE001  promise 10: it is counted without memory
            log.failure("chat.not_counted", error)
            return chat.plain
        chat = replace(chat, thinks_from=thinks_from)
        if answer is None:
            return chat.with_messages(None)
        return chat.with_messages(answer, also=chat.offer.fields(last=False) if chat.offer else {})
