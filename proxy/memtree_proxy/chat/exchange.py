"""One chat request on its way to the upstream, with memory's result."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request

from memtree.context.answer import Answer
from memtree_proxy.access.auth import Tenant
from memtree_proxy.chat.chat_request import ChatRequest
from memtree_proxy.chat.tool_session import ToolSession
from memtree_proxy.observability.request_trace import Trace
from memtree_proxy.upstream.relay import RelayedReply, forward
from memtree_proxy.upstream.server_key import Recorder
from memtree_proxy.upstream.upstreams import Destination


@dataclass(frozen=True, slots=True)
class ChatExchange:
    """One request, and the parts that answer it. `posted`: the body as it came, encoded or not.
    `recorder`: reads the answers for objects that the provider keeps; None for no recorder."""

    request: Request
    tenant: Tenant
    destination: Destination
    posted: bytes
    chat: ChatRequest
    trace: Trace
    recorder: Recorder | None = None

    def body(self, answer: Answer | None, session: ToolSession | None) -> bytes:
        """Return the body for the upstream with the messages of an answer; None: the posted
        ones."""
        return session.body(self.chat) if session else self.chat.with_messages(answer)

    def learn(self, answer: Answer | None) -> int:
        """Record what memory sends (None: nothing), and the memories in it. Returns the tokens of
        its messages."""
        trace, placed = self.trace, self.chat.placed
        if answer is None:
            trace.memory.saved = placed.ids if placed else ()
            return 0
        trace.learn(answer)
        if answer.folds or placed is None:
            return answer.sent_tokens
        trace.memory.saved = placed.ids
        trace.memory.sent_tokens = answer.sent_tokens + placed.tokens
        return trace.memory.sent_tokens

    async def forward(self, body: bytes, *, readable: bool = False) -> RelayedReply:
        """Send `body` and return the upstream's reply. `readable`: request it without
        content-encoding, because its bytes are read here, or follow others."""
        self.trace.entry.sent_bytes = len(body)
        changed = body is not self.chat.content
        dropped = ((b"content-encoding", changed), (b"accept-encoding", readable))
        upstream, api_key, key_header = self.destination
        reply = await forward(
            self.request,
            upstream,
            self.tenant,
            body if changed else self.posted,
            api_key=api_key,
            key_header=key_header,
            without=frozenset(name for name, drops in dropped if drops),
            also=[(b"accept-encoding", b"identity")] if readable else None,
        )
        return self.recorder.reading(reply) if self.recorder else reply


@dataclass(frozen=True, slots=True)
class PreparedChat:
    """The first request to the upstream. `exchange`: with the memories of the chat. `sent`: tokens
    of its messages, 0 without context memory; `answer`: what memory sends. `session`: set if the
    model has our tools."""

    exchange: ChatExchange
    body: bytes
    sent: int = 0
    answer: Answer | None = None
    session: ToolSession | None = None
