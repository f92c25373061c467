"""Retries: a refused chat request is changed and sent once more.

Three refusals can be handled without the client: the upstream finds the prompt too long (memory
packs it smaller), its model supports no tools (ours are removed), or thinking in the history does
not match a prompt that memory changes, or no longer changes (thinking is removed). They may come as
a status, as the body of a 200, or in a stream before any content. Each request is changed at most
once; any other error is passed to the client.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from functools import partial

from memtree.context.context_memory import ContextMemory
from memtree.errors import BadRequest, ContextOverflow, MemTreeError
from memtree.process.threads import off_loop
from memtree_proxy.chat import context_overflow, learned_refusals
from memtree_proxy.chat.chat_exchange import ChatExchange
from memtree_proxy.chat.chat_request import unthinking
from memtree_proxy.chat.context_overflow import KEPT_SHARE, MOST_RETRIED
from memtree_proxy.chat.learned_refusals import ModelLimits, ThinkingMarks
from memtree_proxy.chat.upstream_reply import (
    FirstEventReply,
    WatchedReply,
    is_encoded,
    is_error,
    is_event_stream,
    is_json,
    is_unmeasured_json,
    may_be_error,
    peek,
)
from memtree_proxy.dialects import tool_offer
from memtree_proxy.http import log
from memtree_proxy.upstream.relay import RelayedReply


class RetryingUpstream:
    """The upstream as one exchange calls it, round after round. Refusals that concern the model are
    recorded in `learned`, those that concern a history in `thinking`. `readable`: replies must have
    no content-encoding."""

    def __init__(
        self,
        memory: ContextMemory,
        learned: ModelLimits,
        thinking: ThinkingMarks,
        exchange: ChatExchange,
        *,
        readable: bool,
    ) -> None:
        self._memory = memory
        self._learned = learned
        self._thinking = thinking
        self._exchange = exchange
        self._readable = readable

    async def reply(self, body: bytes) -> RelayedReply:
        """Return the reply to `body`, or to the changed request if the upstream refuses it."""
        reply = await self._forward(body)
        chat, tenant = self._exchange.chat, self._exchange.tenant.id
        model, session = chat.model, self._exchange.session
        # A refusal may be due to us if we added or changed a part, now or in an earlier request.
        ours = chat.ask is not None or session is not None
        if not ours and not (chat.dialect.prefix_bound and self._thinking.has_folded(tenant)):
            return reply
        if reply.status != 200:
            refused = reply.status in context_overflow.STATUSES or (
                session is not None and tool_offer.may_be_about_tools(reply.status)
            )
            return await self._unrefused(reply, body) if refused else reply
        streams = is_event_stream(reply)
        if not streams and may_be_error(reply):
            reply = await self._unrefused(reply, body)
        elif (streams or is_unmeasured_json(reply)) and not is_encoded(reply):
            reply = FirstEventReply(reply, self._first_error, self._instead(body, streams=streams))
        if reply.status == 200 and self._learned.is_untested(tenant, model):
            confirm = partial(self._learned.confirm, tenant, model)
            return WatchedReply(reply, self._first_error, confirm)
        return reply

    async def again(self) -> RelayedReply:
        """Return the reply to the request with the results of its tool calls."""
        return await self.reply(self._exchange.body())

    @property
    def _first_error(self) -> Callable[[bytes], bool | None]:
        return self._exchange.chat.dialect.errors.first_error

    async def _unrefused(self, reply: RelayedReply, body: bytes) -> RelayedReply:
        """Return the reply to a changed request; `reply` if that is no error, or none that can be
        handled. An error of status 200 counts as a 400."""
        with ExitStack() as unused:
            unused.callback(reply.close)
            peeked = await peek(reply)
            if reply.status != 200 or is_error(peeked.beginning):
                status = 400 if reply.status == 200 else reply.status
                other = await self._changed(body, status, peeked.beginning)
                if other is not None:
                    return other
            unused.pop_all()
            return peeked

    def _instead(
        self, body: bytes, *, streams: bool
    ) -> Callable[[bytes], Awaitable[RelayedReply | None]]:
        """Return a function that replaces a reply that begins as an error by another one of its
        kind, a stream or JSON."""
        fits = is_event_stream if streams else is_json

        async def instead(event: bytes) -> RelayedReply | None:
            try:
                other = await self._changed(body, 400, event)
            except MemTreeError:
                return None
            if other is None:
                return None
            if other.status == 200 and fits(other) and not is_encoded(other):
                return other
            other.close()
            return None

        return instead

    async def _changed(self, body: bytes, status: int, error: bytes) -> RelayedReply | None:
        """Return the reply to a changed request; None if `error` (decoded) is about something else,
        or cannot be handled."""
        for changed in (self._unthinking, self._shorter, self._toolless):
            other = await changed(body, status, error)
            if other is not None:
                return other
        return None

    async def _unthinking(self, body: bytes, status: int, error: bytes) -> RelayedReply | None:
        """Return the reply to the same request without thinking, if `error` is about that."""
        exchange = self._exchange
        posted, tenant = exchange.chat, exchange.tenant.id
        if not posted.dialect.prefix_bound or not learned_refusals.is_about_thinking(status, error):
            return None
        try:
            chat = await off_loop(len(body), lambda: unthinking(posted, tenant))
        except BadRequest:
            return None
        headers = exchange.request.headers
        if chat.body is None or learned_refusals.is_the_client_s(chat.body, headers):
            return None
        exchange = dataclasses.replace(exchange, chat=chat)
        if exchange.session and chat.history is not None:
            exchange.session.unbind(chat.history)
        again = exchange.body()
        if len(again) >= len(body):
            return None
        self._exchange = exchange
        exchange.trace.rounds.thinking_replays += 1
        reply = await self._forward(again)
        if reply.status == 200 and exchange.answer is not None:
            self._thinking.mark(tenant, exchange.answer.address)
        log.event("chat.thinking_left_out", status=reply.status, messages=chat.thinks_from)
        return reply

    async def _toolless(self, body: bytes, status: int, error: bytes) -> RelayedReply | None:
        """Return the reply to the same request without our tools, if `error` is about tools."""
        session, chat = self._exchange.session, self._exchange.chat
        if session is None or session.withdrawn or session.rounds:
            return None
        if not tool_offer.is_about_tools(status, error):
            return None
        session.withdrawn = True
        reply = await self._forward(session.body(chat))
        if reply.status == 200:  # otherwise the error was about something else
            self._learned.learn_toolless(self._exchange.tenant.id, chat.model)
            log.event("chat.tools_left_out", status=status)
        return reply

    async def _shorter(self, body: bytes, status: int, error: bytes) -> RelayedReply | None:
        """Return the reply to the same request packed smaller, if `error` is about its length."""
        chat, session = self._exchange.chat, self._exchange.session
        ask = chat.ask
        if ask is None or not self._exchange.sent:
            return None
        added = session.size if session else 0
        sent = self._exchange.sent + ask.tools_tokens + added
        overflow = context_overflow.overflow_of(status, error, sent)
        if overflow is None:
            return None
        named = context_overflow.named_window(overflow, sent, chat.output)
        window = named or context_overflow.smaller_window(KEPT_SHARE, sent, chat.output)
        if window >= ask.window:
            return None
        smaller = dataclasses.replace(
            chat.narrowed(ask, window),
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
            if chat.history is not None:
                session.unbind(chat.history)
        exchange = dataclasses.replace(self._exchange, answer=answer)
        again = exchange.body()
        if len(again) >= len(body):
            return None
        if named and overflow.explained:
            self._learned.learn_named(ask.tenant, chat.model, named)
        trace = self._exchange.trace
        trace.rounds.overflows += 1
        log.event("chat.overflow", window=window, sent=sent, again=answer.sent_tokens)
        self._exchange = exchange.answered(answer, session)
        reply = await self._exchange.forward(again, readable=True)
        if reply.status != 200:  # the error may not have been about the length
            return reply
        if not (overflow.explained or named):  # only this size is known to be refused
            window = context_overflow.smaller_window(MOST_RETRIED, sent, chat.output)
        learn = partial(self._learned.learn, ask.tenant, chat.model, window)
        return WatchedReply(reply, self._first_error, learn)

    async def _forward(self, body: bytes) -> RelayedReply:
        return await self._exchange.forward(body, readable=self._readable)
