"""`/chat/completions`: the history shortened by memory on its way to the upstream.

Whatever goes wrong on our side, the chat goes on: a history that cannot be read, or an error
inside memory, sends the request on as it came (our own fields taken out) and says so in
`x-memtree-state`. Three things stop a request: a field of ours with a wrong type, a history that no
model of this window can take, and more waiting requests of one tenant than may wait.

    read -> memory -> upstream -> relay         nearly always
              \\-> slow: 200 and signs of life   `waiting`
                       \\-> too long: once more, smaller    `overflow`, `looking`
                       \\-> calls tools of ours: answered, once more    `tools`
"""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response

from memtree.config import Settings
from memtree.context.context_memory import Answer, ContextMemory
from memtree.errors import BadRequest, ContextOverflow, MemTreeError
from memtree.tracing import step
from proxy.access.auth import Gate, Tenant
from proxy.access.rate_limits import WaitingRequests
from proxy.chat import chat_request as turn
from proxy.chat import context_overflow, recall_rounds, recall_session
from proxy.chat.chat_request import INVALID, ChatRequest, ShadowRequest
from proxy.chat.keepalive import (
    JsonKeepalive,
    KeepaliveForm,
    KeepalivePace,
    KeepaliveResponse,
    SseKeepalive,
)
from proxy.chat.model_limits import ModelLimits
from proxy.chat.peek import FirstEventReply, begun, header, is_encoded
from proxy.chat.recall_session import Session
from proxy.chat.shadow import ShadowRunner
from proxy.http import content_encoding, json_body, request_body
from proxy.observability import log, request_trace
from proxy.observability.request_trace import Trace
from proxy.request.memory_switch import OWN_HEADERS
from proxy.server_tools import refusal
from proxy.upstream.client import Upstream
from proxy.upstream.relay import Relay, RelayedReply, configured, forward

INTERNAL = "degraded:internal"
OVERFLOW = "degraded:overflow"
STREAM_TYPE = "text/event-stream"


@dataclasses.dataclass(slots=True)
class ChatExchange:
    """One chat request on its way. `posted`: the body as it came, encoded or not. `sent`: tokens
    that memory sent last, in messages. `session`: the model has tools of ours."""

    request: Request
    tenant: Tenant
    upstream: Upstream
    posted: bytes
    turn: ChatRequest
    seen: Trace
    early: bool = False  # the client has its 200 already
    sent: int = 0
    session: Session | None = None

    def body(self, answer: Answer) -> bytes:
        """The body for the upstream with what memory sends."""
        turn, session = self.turn, self.session
        return session.body(turn) if session else turn.with_messages(answer)


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
    ) -> None:
        self._memory = memory
        self._gate = gate
        self._upstream = upstream
        self._settings = settings
        self._waits = waits
        self._pace = pace
        self._shadows = shadows
        self._learned = ModelLimits()

    async def complete(self, request: Request) -> Response:
        tenant = await self._gate.tenant(request)
        upstream = configured(self._upstream)
        posted = await request_body.read(request, self._settings.max_body_bytes)
        seen = request_trace.of(request.scope)
        started = time.perf_counter()
        with step("parse"):
            read = await self._read(request, tenant.id, posted)
        exchange = ChatExchange(request, tenant, upstream, posted, read, seen)
        if read.shadow is not None:
            return await self._untouched(exchange, read.shadow)
        memory = asyncio.create_task(self._remember(exchange, started))
        try:
            done, _ = await asyncio.wait((memory,), timeout=self._pace.quiet)
            if not done and (form := self._form(read)) is not None:
                return self._waiting(exchange, memory, form)
            if not done:
                with self._waits.place(tenant.id), step("wait"):
                    await memory
            return Relay(await self._answer(exchange, memory.result()), seen.headers())
        except BaseException:
            memory.cancel()
            await asyncio.gather(memory, return_exceptions=True)
            raise

    # -- reading -----------------------------------------------------------------------------

    async def _read(self, request: Request, tenant: str, posted: bytes) -> ChatRequest:
        given = request_body.encoded(request)
        limit = self._settings.max_body_bytes

        def read() -> ChatRequest:
            content = content_encoding.decoded(posted, given, limit) if given else posted
            return turn.read(tenant, content, request.headers, self._settings, self._learned)

        try:
            # A few encoded bytes may be a second's work.
            return await (
                asyncio.to_thread(read) if given else json_body.off_loop(len(posted), read)
            )
        except MemTreeError as error:
            if not given or error.param != content_encoding.HEADER:
                raise
            return turn.unread(posted, request.headers, self._settings)

    async def _untouched(self, exchange: ChatExchange, shadowed: ShadowRequest) -> Response:
        """As with memory off; measured as soon as that can hold up nothing of it any more."""
        read, seen = exchange.turn, exchange.seen
        seen.state = seen.mode = read.state
        try:
            return Relay(await self._forward(exchange, read.plain), seen.headers())
        finally:
            self._shadows.follow(exchange.tenant.id, shadowed)

    # -- memory ------------------------------------------------------------------------------

    async def _remember(self, exchange: ChatExchange, started: float) -> bytes:
        """The body for the upstream. Raises `ContextOverflow`."""
        read, seen = exchange.turn, exchange.seen
        try:
            return await self._remembered(exchange)
        except BadRequest:
            seen.state = INVALID
            return read.plain
        except ContextOverflow as error:
            seen.state, seen.raw_tokens = OVERFLOW, error.tokens
            seen.error = error.code
            raise
        except Exception as error:  # noqa: BLE001  promise 10: the chat goes on without memory
            log.failure("chat.memory_failed", error)
            seen.state = INTERNAL
            return read.plain
        finally:
            seen.memory_ms = (time.perf_counter() - started) * 1000

    async def _remembered(self, exchange: ChatExchange) -> bytes:
        read, seen = exchange.turn, exchange.seen
        seen.state = read.state
        if read.ask is None:
            return read.plain
        seen.mode = read.ask.mode
        answer = await self._memory.compress(read.ask)
        self._learn(exchange, answer)
        exchange.session = recall_session.begin(read, answer)
        with step("pack"):
            return exchange.body(answer)

    def _learn(self, exchange: ChatExchange, answer: Answer) -> None:
        exchange.seen.learn(answer)
        exchange.sent = answer.sent_tokens

    # -- waiting -----------------------------------------------------------------------------

    def _form(self, read: ChatRequest) -> KeepaliveForm | None:
        """How to keep the client waiting; None: in silence."""
        if read.streams:
            return SseKeepalive()
        return JsonKeepalive() if self._settings.json_wait == "spaces" else None

    def _waiting(
        self, exchange: ChatExchange, memory: asyncio.Task[bytes], form: KeepaliveForm
    ) -> Response:
        self._waits.enter(exchange.tenant.id)
        exchange.early = True

        # Its place is free as soon as memory is done or given up: streams are not counted.
        memory.add_done_callback(lambda _: self._waits.leave(exchange.tenant.id))

        async def reply() -> RelayedReply:
            with step("wait"):
                body = await memory
            return await self._answer(exchange, body)

        return KeepaliveResponse(reply, form, self._pace.beat, memory.cancel)

    # -- the upstream ------------------------------------------------------------------------

    async def _answer(self, exchange: ChatExchange, body: bytes) -> RelayedReply:
        """The answer, with all rounds in which the model calls tools of ours."""
        reply = await self._reply(exchange, body)
        session = exchange.session
        if session is None:
            return reply

        async def again() -> RelayedReply:
            exchange.seen.recall_rounds += 1
            return await self._reply(exchange, session.body(exchange.turn))

        return await recall_rounds.answered(reply, session, again)

    async def _reply(self, exchange: ChatExchange, body: bytes) -> RelayedReply:
        """The upstream's answer; where it finds the prompt too long, that to a shorter one, and
        where it takes no tools, that to one without ours."""
        reply = await self._forward(exchange, body)
        if exchange.turn.ask is None:
            return reply
        if reply.status in context_overflow.STATUSES or (
            exchange.session and refusal.may(reply.status)
        ):
            try:
                looked = await begun(reply)
                other = await self._changed(exchange, body, reply.status, looked.beginning)
            except BaseException:
                reply.close()
                raise
            if other is None:
                return looked
            looked.close()
            return other
        if header(reply, b"content-type").startswith(STREAM_TYPE) and not is_encoded(reply):
            return FirstEventReply(reply, self._instead(exchange, body))
        return reply

    def _instead(
        self, exchange: ChatExchange, body: bytes
    ) -> Callable[[bytes], Awaitable[RelayedReply | None]]:
        """For a stream that begins with an error: another one that can take its place."""

        async def instead(event: bytes) -> RelayedReply | None:
            try:
                other = await self._changed(exchange, body, 400, event)
            except MemTreeError:
                return None
            if other is None:
                return None
            kind = header(other, b"content-type")
            if other.status == 200 and kind.startswith(STREAM_TYPE) and not is_encoded(other):
                return other
            other.close()
            return None

        return instead

    async def _changed(
        self, exchange: ChatExchange, body: bytes, status: int, said: bytes
    ) -> RelayedReply | None:
        """The answer to the same request as the upstream takes it; None: it says nothing of that,
        or it cannot be had."""
        other = await self._shorter(exchange, body, status, said)
        return other if other is not None else await self._toolless(exchange, status, said)

    async def _toolless(
        self, exchange: ChatExchange, status: int, said: bytes
    ) -> RelayedReply | None:
        """The answer to the same request without our tools, where `said` is about tools."""
        session, turn = exchange.session, exchange.turn
        if session is None or session.withdrawn or session.rounds or turn.ask is None:
            return None
        if not refusal.read(status, said):
            return None
        session.withdrawn = True
        reply = await self._forward(exchange, session.body(turn))
        if reply.status == 200:  # else it was about something else
            self._learned.learn_toolless(turn.ask.tenant, turn.model)
            log.event("chat.toolless", status=status)
        return reply

    async def _shorter(
        self, exchange: ChatExchange, body: bytes, status: int, said: bytes
    ) -> RelayedReply | None:
        """The answer to the same request packed smaller, where `said` is about its length."""
        ask = exchange.turn.ask
        found = context_overflow.read(status, said)
        if found is None or ask is None or not exchange.sent:
            return None
        session = exchange.session
        more = session.size if session else 0
        sent = exchange.sent + ask.tools_tokens + more
        window = context_overflow.window(found, sent, ask.reserve)
        if window >= ask.window:
            return None
        smaller = dataclasses.replace(
            context_overflow.narrowed(ask, window),
            whole=False,
            tools_tokens=ask.tools_tokens + more,
        )
        try:
            answer = await self._memory.compress(smaller)
        except (BadRequest, ContextOverflow):
            return None
        except Exception as error:  # noqa: BLE001  the client gets what the upstream said
            log.failure("chat.memory_failed", error)
            return None
        if session:
            session.packed(smaller, answer)
        again = exchange.body(answer)
        if len(again) >= len(body):
            return None
        self._learned.learn(ask.tenant, exchange.turn.model, window)
        exchange.seen.overflows += 1
        log.event("chat.overflow", window=window, sent=sent, again=answer.sent_tokens)
        self._learn(exchange, answer)
        return await self._forward(exchange, again)

    async def _forward(self, exchange: ChatExchange, body: bytes) -> RelayedReply:
        changed = body is not exchange.turn.content
        without = OWN_HEADERS
        if changed:
            without |= {b"content-encoding"}
        readable = exchange.early or exchange.session is not None
        if readable:
            without |= {b"accept-encoding"}
        return await forward(
            exchange.request,
            exchange.upstream,
            exchange.tenant,
            body if changed else exchange.posted,
            api_key=self._settings.upstream_api_key,
            without=without,
            also=[(b"accept-encoding", b"identity")] if readable else None,
        )
