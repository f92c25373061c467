"""`/messages/count_tokens`: count a history as memory would send it. Nothing is indexed.

Clients count fragments (a tool, one message) far more often than whole histories. If memory has
folded a conversation and its next request would continue from that, the folded form is counted;
everything else is counted as it came.
"""

from __future__ import annotations

import dataclasses

from starlette.requests import Request
from starlette.responses import Response

from memtree_proxy.chat import thinking_marks
from memtree_proxy.chat.chat_exchange import ChatExchange
from memtree_proxy.chat.chat_request import ChatRequest
from memtree_proxy.chat.completion_route import CompletionRoute
from memtree_proxy.http import log, request_body, request_trace
from memtree_proxy.upstream.relay import Relay
from memtree_proxy.upstream.upstreams import UPSTREAMS, Upstreams


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
            thinks_from = await thinking_marks.thinks_from(memory, self._thinking, ask)
        except Exception as error:  # noqa: BLE001  promise 10: it is counted without memory
            log.failure("chat.not_counted", error)
            return chat.plain
        chat = dataclasses.replace(chat, thinks_from=thinks_from)
        if answer is None:
            return chat.with_messages(None)
        return chat.with_messages(answer, also=chat.offer.fields(last=False) if chat.offer else {})
