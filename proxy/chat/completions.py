"""`/chat/completions`: the history shortened by memory on its way to the upstream.

Whatever goes wrong on our side, the chat goes on: a history that cannot be read, or an error
inside memory, sends the request on as it came (our own fields taken out) and says so in
`x-memtree-state`. Three things stop a request: a field of ours with a wrong type, a history that no
model of this window can take, and more waiting requests of one tenant than may wait.

    read -> memory -> upstream -> relay         nearly always
              \\-> slow: 200 and signs of life             `keepalive`
                       \\-> refused: changed, once more     `retry`
                       \\-> calls tools of ours: answered, once more    `tool_rounds`
"""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack
from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response

from indexer.memory_services import MemoryServices
from memtree.config import Settings
from memtree.context.context_memory import ContextMemory
from memtree.context.state import State
from memtree.errors import BadRequest, ContextOverflow, MemTreeError
from memtree.tracing import step
from proxy.access.auth import Gate
from proxy.access.rate_limits import WaitingRequests
from proxy.chat import chat_request, tool_rounds, tool_session
from proxy.chat.chat_request import ChatRequest, ShadowRequest
from proxy.chat.exchange import ChatExchange, PreparedChat
from proxy.chat.keepalive import (
    JsonKeepalive,
    KeepaliveForm,
    KeepalivePace,
    KeepaliveResponse,
    SseKeepalive,
)
from proxy.chat.memories import chat_memories
from proxy.chat.memories.chat_memories import ChatMemories
from proxy.chat.memories.sources import ChatUser
from proxy.chat.model_limits import ModelLimits
from proxy.chat.retry import RetryingUpstream
from proxy.chat.shadow import ShadowRunner
from proxy.http import content_encoding, json_body, request_body
from proxy.observability import log, request_trace
from proxy.upstream.client import Upstream
from proxy.upstream.relay import Relay, RelayedReply, configured


class ChatCompletions:
    def __init__(
        self,
        memory: ContextMemory,
        gate: Gate,
        upstream: Upstream | None,
        settings: Settings,
        waits: WaitingRequests,
        pace: KeepalivePace,
        shadows: ShadowRunner,
        memories: MemoryServices,
    ) -> None:
        self._memory = memory
        self._gate = gate
        self._upstream = upstream
        self._settings = settings
        self._waits = waits
        self._pace = pace
        self._shadows = shadows
        self._learned = ModelLimits()
        self._memories = ChatMemories(memory, memories, settings)

    async def complete(self, request: Request) -> Response:
        tenant = await self._gate.tenant(request)
        upstream = configured(self._upstream)
        posted = await request_body.read(request, self._settings.max_body_bytes)
        started = time.perf_counter()
        user = await self._memories.user(request, tenant)
        with step("parse"):
            chat = await self._read(request, tenant.id, posted, user)
        trace = request_trace.of(request.scope)
        api_key = self._settings.upstream_api_key
        exchange = ChatExchange(request, tenant, upstream, api_key, posted, chat, trace)
        try:
            if chat.shadow is not None:
                return await self._untouched(exchange, chat.shadow)
            return await self._answered(exchange, started)
        finally:  # as soon as that can no longer delay it
            self._memories.hand_over(chat)

    async def _answered(self, exchange: ChatExchange, started: float) -> Response:
        chat, trace = exchange.chat, exchange.trace
        async with AsyncExitStack() as owned:
            memory = asyncio.create_task(self._prepare(exchange, started))
            owned.push_async_callback(_cancelled, memory)
            done, _ = await asyncio.wait((memory,), timeout=self._pace.quiet)
            if not done and (form := self._form(chat)) is not None:
                response = self._keepalive(exchange, memory, form)
                owned.pop_all()  # the response has the task from now on
                return response
            if not done:
                with self._waits.place(exchange.tenant.id), step("wait"):
                    await memory
        reply = await self._answer(memory.result(), begun=False)
        return Relay(reply, trace.headers())

    async def _read(
        self, request: Request, tenant: str, posted: bytes, user: ChatUser
    ) -> ChatRequest:
        given = request_body.encoded(request)
        limit = self._settings.max_body_bytes

        def read() -> ChatRequest:
            content = content_encoding.decoded(posted, given, limit) if given else posted
            return chat_request.read(
                tenant, content, request.headers, self._settings, self._learned, user
            )

        try:
            # A few encoded bytes may be a second's work.
            return await (
                asyncio.to_thread(read) if given else json_body.off_loop(len(posted), read)
            )
        except MemTreeError as error:
            if not given or error.param != content_encoding.HEADER:
                raise
            return chat_request.unread(posted, request.headers, self._settings)

    async def _untouched(self, exchange: ChatExchange, shadowed: ShadowRequest) -> Response:
        """As with memory off; measured as soon as that can no longer delay it."""
        trace = exchange.trace
        trace.decide(exchange.chat.state)
        trace.mode = exchange.chat.state
        try:
            prepared = self._unpacked(await self._memories.injected(exchange))
            reply = await self._answer(prepared, begun=False)
            return Relay(reply, trace.headers())
        finally:
            self._shadows.follow(exchange.tenant.id, shadowed)

    # -- memory ------------------------------------------------------------------------------

    async def _prepare(self, exchange: ChatExchange, started: float) -> PreparedChat:
        """What goes to the upstream, whatever happens to memory. Raises `ContextOverflow`."""
        trace = exchange.trace
        trace.decide(exchange.chat.state)
        try:
            exchange = await self._memories.injected(exchange)
            return await self._remember(exchange)
        except BadRequest:
            trace.decide(State.INVALID_HISTORY)
        except ContextOverflow as error:
            trace.decide(State.REFUSED)
            trace.raw_tokens, trace.error = error.tokens, error.code
            raise
        except Exception as error:  # noqa: BLE001  promise 10: the chat goes on without memory
            log.failure("chat.memory_failed", error)
            trace.decide(State.INTERNAL)
        finally:
            trace.memory_ms = (time.perf_counter() - started) * 1000
        return self._unpacked(exchange)

    async def _remember(self, exchange: ChatExchange) -> PreparedChat:
        ask = exchange.chat.ask
        if ask is None:
            return self._unpacked(exchange)
        exchange.trace.mode = ask.mode
        answer, details = await self._memory.compress_with_details(ask)
        chat = chat_memories.with_room(exchange.chat, answer)
        exchange = replace(exchange, chat=chat)
        sent = exchange.learn(answer)
        session = tool_session.begin(chat, answer, details.folded, self._memories.tools(chat))
        with step("pack"):
            return PreparedChat(exchange, exchange.body(answer, session), sent, session)

    def _unpacked(self, exchange: ChatExchange) -> PreparedChat:
        """The history as it was posted: context memory is off, or has failed."""
        exchange.learn(None)
        session = tool_session.begin(exchange.chat, None, None, self._memories.tools(exchange.chat))
        return PreparedChat(exchange, exchange.body(None, session), session=session)

    # -- waiting -----------------------------------------------------------------------------

    def _form(self, chat: ChatRequest) -> KeepaliveForm | None:
        """How to keep the client waiting; None: in silence."""
        if chat.streams:
            return SseKeepalive()
        return JsonKeepalive() if self._settings.json_wait == "spaces" else None

    def _keepalive(
        self, exchange: ChatExchange, memory: asyncio.Task[PreparedChat], form: KeepaliveForm
    ) -> Response:
        """An answer that begins while memory is still at work, which it ends with itself."""
        self._waits.enter(exchange.tenant.id)

        # Its place is free as soon as memory has ended: streams are not counted.
        memory.add_done_callback(lambda _: self._waits.leave(exchange.tenant.id))

        async def reply() -> RelayedReply:
            with step("wait"):
                prepared = await memory
            return await self._answer(prepared, begun=True)

        return KeepaliveResponse(reply, form, self._pace.beat, memory.cancel)

    # -- the upstream ------------------------------------------------------------------------

    async def _answer(self, prepared: PreparedChat, *, begun: bool) -> RelayedReply:
        """The answer, with all rounds in which the model calls tools of ours. `begun`: the client
        has its 200 already."""
        exchange, session = prepared.exchange, prepared.session
        readable = begun or session is not None
        upstream = RetryingUpstream(self._memory, self._learned, prepared, readable=readable)
        reply = await upstream.reply(prepared.body)
        if session is None:
            return reply

        async def again() -> RelayedReply:
            exchange.trace.recall_rounds += 1
            return await upstream.reply(session.body(exchange.chat))

        return await tool_rounds.answered(reply, session, again)


async def _cancelled(task: asyncio.Task[PreparedChat]) -> None:
    """End a task that nobody waits for any more; nothing happens to one that has ended."""
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
