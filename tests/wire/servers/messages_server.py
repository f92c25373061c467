"""A fake of the Messages API: strict, with thinking that knows its prefix, and a prompt cache."""

from __future__ import annotations

import json
from typing import Any

from tests.made.scripted import Say
from tests.wire.messages.messages_rules import broken
from tests.wire.rule_break import Fields, RuleBreak, rules
from tests.wire.servers.messages_answer import MessagesAnswer
from tests.wire.servers.prompt_cache import BilledTokens, MarkedCache
from tests.wire.servers.vendor import (
    CHARS_PER_TOKEN,
    HttpFault,
    Reply,
    StreamFault,
    VendorRequest,
    VendorServer,
    thoughtful,
)

BOUND = (
    "messages.{}.content.0: Invalid signature in thinking block. The block is bound to a different "
    "conversation and cannot be used here."
)
_OF_THINKING = {"thinking-of-another-prefix", "thinking-gap", "thinking-came-back"}


def error(kind: str, message: str) -> bytes:
    """The body of an error, as one object."""
    said = {"type": kind, "message": message}
    return json.dumps({"type": "error", "error": said, "request_id": "req_1"}).encode()


def fault(status: int, kind: str, message: str, **headers: str) -> HttpFault:
    listed = tuple((k.replace("_", "-").encode(), v.encode()) for k, v in headers.items())
    return HttpFault(status, error(kind, message), listed)


TOO_LONG = "prompt is too long: {} tokens > {} maximum"
FAULTS: dict[str, HttpFault] = {
    "invalid": fault(400, "invalid_request_error", "max_tokens: Field required"),
    "bound thinking": fault(400, "invalid_request_error", BOUND.format(1)),
    "prompt too long": fault(400, "invalid_request_error", TOO_LONG.format(250_000, 200_000)),
    "authentication": fault(401, "authentication_error", "invalid x-api-key"),
    "billing": fault(402, "billing_error", "no credit"),
    "permission": fault(403, "permission_error", "not for you"),
    "not found": fault(404, "not_found_error", "model: nobody"),
    "too large": fault(413, "request_too_large", "Request exceeds the maximum size"),
    "rate limit": fault(429, "rate_limit_error", "slow down", retry_after="7"),
    "internal": fault(500, "api_error", "Internal server error"),
    "timeout": fault(504, "timeout_error", "Request timed out"),
    "overloaded": fault(529, "overloaded_error", "Overloaded", x_should_retry="true"),
    "no JSON": HttpFault(502, b"<html>Bad gateway</html>"),
}  # fmt: skip


def stream_fault(kind: str, message: str = "it broke", pieces: int = 3) -> StreamFault:
    """An `error` event behind `pieces` of an answer."""
    return StreamFault(b"event: error\ndata: " + error(kind, message) + b"\n\n", pieces)


class MessagesServer(VendorServer):
    paths = ("/messages", "/messages/count_tokens")

    def reset(self, reply: Reply = thoughtful, *, encode: bool = False) -> None:
        super().reset(reply, encode=encode)
        self.cache = MarkedCache()
        self.billed: list[BilledTokens] = []

    def judge(self, body: Fields, seen: VendorRequest) -> list[RuleBreak]:
        if not seen.header("anthropic-version"):
            return [RuleBreak("version-missing", "anthropic-version")]
        if seen.path.endswith("count_tokens"):
            body = {"max_tokens": 1, **body}
        betas = [name.strip() for name in (seen.header("anthropic-beta") or "").split(",")]
        return broken(body, betas)

    def refusal(self, breaks: list[RuleBreak]) -> HttpFault:
        if rules(breaks) <= _OF_THINKING:
            return fault(400, "invalid_request_error", BOUND.format(breaks[0].where))
        return fault(400, "invalid_request_error", "; ".join(map(str, breaks)))

    def too_long(self, tokens: int, most: int) -> HttpFault:
        return fault(400, "invalid_request_error", TOO_LONG.format(tokens, most))

    def pieces(self, said: Say, body: Fields) -> list[bytes]:
        billed = self.cache.bill(body)
        self.billed.append(billed)
        answer = MessagesAnswer.of(said, body, self.answers, billed)
        return list(answer.events()) if body.get("stream") else [answer.whole()]

    async def _judged(self, seen: VendorRequest, receive: Any, send: Any) -> None:
        if not seen.path.endswith("count_tokens"):
            await super()._judged(seen, receive, send)
            return
        seen.breaks = self.judge(seen.body, seen)
        if seen.breaks:
            await self._refuse(seen, self.refusal(seen.breaks), send)
        else:
            tokens = len(seen.raw) // CHARS_PER_TOKEN
            await self.answer_json(seen, {"input_tokens": tokens}, send)

    def own_headers(self, seen: VendorRequest) -> list[tuple[bytes, bytes]]:
        number = str(len(self.seen)).encode()
        return [
            (b"request-id", b"req_" + number),
            (b"anthropic-ratelimit-tokens-remaining", b"1000"),
        ]
