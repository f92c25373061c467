"""Retries: a refused chat request, changed and sent once more.

Two refusals can be answered without the client: the upstream finds the prompt too long (memory
packs it smaller), or its model takes no tools (ours are left out). Both may come as a status, or as
the first event of a stream that began with 200. Each request is changed at most once; whatever else
the upstream says is the client's.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable
from contextlib import ExitStack

from memtree.context.context_memory import ContextMemory
from memtree.errors import BadRequest, ContextOverflow, MemTreeError
from proxy.chat import context_overflow
from proxy.chat.exchange import PreparedChat
from proxy.chat.model_limits import ModelLimits
from proxy.chat.peek import FirstEventReply, peek
from proxy.chat.reply import is_encoded, is_event_stream
from proxy.observability import log
from proxy.server_tools import refusal
from proxy.upstream.relay import RelayedReply


class RetryingUpstream:
    """The upstream as one exchange calls it, round after round. What a refusal says of the model is
    kept in `learned`. `readable`: replies are wanted without content-encoding."""

    def __init__(
        self,
        memory: ContextMemory,
        learned: ModelLimits,
        prepared: PreparedChat,
        *,
        readable: bool,
    ) -> None:
        self._memory = memory
        self._learned = learned
        self._exchange = prepared.exchange
        self._session = prepared.session
        self._sent = prepared.sent
        self._readable = readable

    async def reply(self, body: bytes) -> RelayedReply:
        """The reply to `body`, or to the same request as the upstream takes it."""
        reply = await self._forward(body)
        if self._exchange.chat.ask is None and self._session is None:
            return reply
        if self._may_be_refused(reply.status):
            with ExitStack() as unused:
                unused.callback(reply.close)
                peeked = await peek(reply)
                other = await self._changed(body, reply.status, peeked.beginning)
                if other is not None:
                    return other
                unused.pop_all()
                return peeked
        if is_event_stream(reply) and not is_encoded(reply):
            return FirstEventReply(reply, self._instead(body))
        return reply

    def _may_be_refused(self, status: int) -> bool:
        if status in context_overflow.STATUSES:
            return True
        return self._session is not None and refusal.may_be_about_tools(status)

    def _instead(self, body: bytes) -> Callable[[bytes], Awaitable[RelayedReply | None]]:
        """For a stream that begins with an error: another one that can take its place."""

        async def instead(event: bytes) -> RelayedReply | None:
            try:
                other = await self._changed(body, 400, event)
            except MemTreeError:
                return None
            if other is None:
                return None
            if other.status == 200 and is_event_stream(other) and not is_encoded(other):
                return other
            other.close()
            return None

        return instead

    async def _changed(self, body: bytes, status: int, error: bytes) -> RelayedReply | None:
        """The reply to the same request as the upstream takes it; None where `error` (decoded) is
        about something else, or nothing can be done about it."""
        other = await self._shorter(body, status, error)
        return other if other is not None else await self._toolless(status, error)

    async def _toolless(self, status: int, error: bytes) -> RelayedReply | None:
        """The reply to the same request without our tools, where `error` is about tools."""
        session, chat = self._session, self._exchange.chat
        if session is None or session.withdrawn or session.rounds:
            return None
        if not refusal.is_about_tools(status, error):
            return None
        session.withdrawn = True
        reply = await self._forward(session.body(chat))
        if reply.status == 200:  # else it was about something else
            self._learned.learn_toolless(self._exchange.tenant.id, chat.model)
            log.event("chat.toolless", status=status)
        return reply

    async def _shorter(self, body: bytes, status: int, error: bytes) -> RelayedReply | None:
        """The reply to the same request packed smaller, where `error` is about its length."""
        ask, session = self._exchange.chat.ask, self._session
        overflow = context_overflow.overflow_of(status, error)
        if overflow is None or ask is None or not self._sent:
            return None
        added = session.size if session else 0
        sent = self._sent + ask.tools_tokens + added
        window = context_overflow.window(overflow, sent, ask.reserve)
        if window >= ask.window:
            return None
        smaller = dataclasses.replace(
            context_overflow.narrowed(ask, window),
            whole=False,
            tools_tokens=ask.tools_tokens + added,
        )
        try:
            answer, details = await self._memory.compress_with_details(smaller)
        except (BadRequest, ContextOverflow):
            return None
        except Exception as failure:  # noqa: BLE001  the client gets what the upstream said
            log.failure("chat.memory_failed", failure)
            return None
        if session:
            session.repack(smaller, answer, details.folded)
        again = self._exchange.body(answer, session)
        if len(again) >= len(body):
            return None
        self._learned.learn(ask.tenant, self._exchange.chat.model, window)
        trace = self._exchange.trace
        trace.overflows += 1
        log.event("chat.overflow", window=window, sent=sent, again=answer.sent_tokens)
        self._sent = self._exchange.learn(answer)
        return await self._forward(again)

    async def _forward(self, body: bytes) -> RelayedReply:
        return await self._exchange.forward(body, readable=self._readable)
