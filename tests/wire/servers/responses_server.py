"""A fake of the Responses API: strict, remembers which reasoning its items were made with, and has
a prompt cache."""

from __future__ import annotations

import json

from tests.made.scripted import Say
from tests.wire.responses.responses_rules import broken
from tests.wire.rule_break import Fields, RuleBreak
from tests.wire.servers.prompt_cache import BilledTokens, PrefixCache
from tests.wire.servers.responses_answer import ResponsesAnswer
from tests.wire.servers.vendor import (
    HttpFault,
    Reply,
    StreamFault,
    VendorRequest,
    VendorServer,
    sse,
    thoughtful,
)


def error(kind: str, code: str | None, message: str, param: str | None = None) -> bytes:
    """The body of an error, as one object."""
    said = {"message": message, "type": kind, "param": param, "code": code}
    return json.dumps({"error": said}).encode()


def fault(
    status: int, kind: str, code: str | None, message: str = "it broke", **headers: str
) -> HttpFault:
    listed = tuple((k.replace("_", "-").encode(), v.encode()) for k, v in headers.items())
    return HttpFault(status, error(kind, code, message), listed)


INVALID = "invalid_request_error"
TOO_LONG = (
    "Your input exceeds the context window of this model. Please adjust your input and try again."
)
FAULTS: dict[str, HttpFault] = {
    "invalid": fault(400, INVALID, None, "Missing required parameter: 'model'."),
    "foreign reasoning": fault(400, INVALID, "invalid_encrypted_content"),
    "prompt too long": fault(400, INVALID, "context_length_exceeded", TOO_LONG),
    "authentication": fault(401, INVALID, "invalid_api_key"),
    "permission": fault(403, INVALID, "model_not_allowed"),
    "not found": fault(404, INVALID, "model_not_found"),
    "too large": fault(413, INVALID, "request_too_large"),
    "rate limit": fault(429, "tokens", "rate_limit_exceeded", retry_after="7"),
    "quota": fault(429, "insufficient_quota", "insufficient_quota"),
    "internal": fault(500, "server_error", None),
    "overloaded": fault(503, "server_error", "server_is_overloaded", retry_after="1"),
    "timeout": fault(504, "server_error", None),
    "no JSON": HttpFault(502, b"<html>Bad gateway</html>"),
}  # fmt: skip


def failed(code: str, message: str = "it broke", pieces: int = 3) -> StreamFault:
    """A `response.failed` behind `pieces` of an answer."""
    said = {"id": "resp_0", "object": "response", "created_at": 1, "status": "failed",
            "error": {"code": code, "message": message}, "output": [], "usage": None}  # fmt: skip
    data = {"type": "response.failed", "sequence_number": pieces, "response": said}
    return StreamFault(sse("response.failed", data), pieces)


def stream_error(code: str, pieces: int = 3) -> StreamFault:
    """An `error` event, which some clients ignore."""
    data = {"type": "error", "sequence_number": pieces, "code": code, "message": "it broke",
            "param": None}  # fmt: skip
    return StreamFault(sse("error", data), pieces)


class ResponsesServer(VendorServer):
    paths = ("/responses",)

    def reset(self, reply: Reply = thoughtful, *, encode: bool = False) -> None:
        super().reset(reply, encode=encode)
        self.cache = PrefixCache()
        self.billed: list[BilledTokens] = []
        self.needs: dict[str, str] = {}

    def judge(self, body: Fields, seen: VendorRequest) -> list[RuleBreak]:
        return broken(body, self.needs)

    def refusal(self, breaks: list[RuleBreak]) -> HttpFault:
        return fault(400, INVALID, None, "; ".join(map(str, breaks)))

    def too_long(self, tokens: int, most: int) -> HttpFault:
        return FAULTS["prompt too long"]

    def pieces(self, said: Say, body: Fields) -> list[bytes]:
        billed = self.cache.bill(body)
        self.billed.append(billed)
        answer = ResponsesAnswer.of(said, body, self.answers, billed)
        if answer.items and answer.items[0]["type"] == "reasoning":
            own = str(answer.items[0]["id"])
            self.needs.update({str(item["id"]): own for item in answer.items[1:]})
        return list(answer.events()) if body.get("stream") else [answer.whole()]

    def own_headers(self, seen: VendorRequest) -> list[tuple[bytes, bytes]]:
        return [(b"x-request-id", b"req_" + str(len(self.seen)).encode())]
