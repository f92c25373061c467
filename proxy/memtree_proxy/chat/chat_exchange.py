"""One chat request on its way to the upstream, with memory's result."""

from __future__ import annotations

from dataclasses import dataclass, replace

from starlette.requests import Request

from memtree.context.answer import Answer
from memtree_proxy.chat.chat_request import ChatRequest
from memtree_proxy.chat.tool_rounds import ToolSession
from memtree_proxy.http.auth import Tenant
from memtree_proxy.http.request_trace import Trace
from memtree_proxy.upstream.relay import RelayedReply, forward
from memtree_proxy.upstream.server_key import Recorder
from memtree_proxy.upstream.upstreams import Destination


@dataclass(frozen=True, slots=True)
class ChatExchange:
    """One request, and the parts that answer it. `posted`: the body as it came, encoded or not.
    `recorder`: reads the answers for objects that the provider keeps; None for no recorder.
    `answer`: what memory sends, None without context memory; `session`: set if the model has our
    tools; `sent`: tokens of the messages that memory sends."""

    request: Request
    tenant: Tenant
    destination: Destination
    posted: bytes
    chat: ChatRequest
    trace: Trace
    recorder: Recorder | None = None
    answer: Answer | None = None
    session: ToolSession | None = None
    sent: int = 0

    def body(self) -> bytes:
        """Return the body for the upstream, with what memory sends or the posted messages."""
        return (
            self.session.body(self.chat) if self.session else self.chat.with_messages(self.answer)
        )

    def answered(self, answer: Answer | None, session: ToolSession | None) -> ChatExchange:
        """Return the exchange with what memory sends (None: nothing), and record it, and the
        memories in it."""
        trace, placed, sent = self.trace, self.chat.placed, 0
        if answer is None:
            trace.memory.saved = placed.ids if placed else ()
        else:
            trace.learn(answer)
            sent = answer.sent_tokens
            if not answer.folds and placed is not None:
                trace.memory.saved = placed.ids
                trace.memory.sent_tokens = sent = sent + placed.tokens
        return replace(self, answer=answer, session=session, sent=sent)

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
