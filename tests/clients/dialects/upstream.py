"""An upstream that speaks Messages and Responses and answers by a script for each API key.

`Scripted` (tests/made/scripted.py) for these two: what is said comes from the same steps, how it is
said and which requests are valid from `tests/wire`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.made.scripted import JSON, MODEL, SSE, Fail, Say, Script, Seen, Step, encoded
from tests.wire.messages import messages_rules
from tests.wire.responses import responses_rules
from tests.wire.rule_break import Fields, RuleBreak
from tests.wire.servers import messages_server, responses_server
from tests.wire.servers.messages_answer import MessagesAnswer
from tests.wire.servers.prompt_cache import BilledTokens
from tests.wire.servers.responses_answer import ResponsesAnswer
from tests.wire.servers.vendor import HttpFault, StreamFault, VendorRequest, leaked

# Last words of a request in which a client has its history summarised.
COMPACTING = ("CRITICAL: Respond with TEXT ONLY", "CONTEXT CHECKPOINT COMPACTION")
SUMMARY = "<summary>The parts that were read so far are summarised here.</summary>"
KINDS = {429: "rate_limit_error", 503: "overloaded_error", 529: "overloaded_error"}
BOUND = "thinking-of-another-prefix"  # the only rule whose break is refused, not just counted

DialectStep = Step | HttpFault | StreamFault


class DialectScript(Script):
    """`window`: tokens (a quarter of the bytes) that a request may have, 0 for any. `broken`: rules
    that requests broke, by the number of the request. `needs`: which reasoning each item of
    Responses was made with, by ids. `compactions`: summaries that the client asked for."""

    window: int = 0
    compactions: int = 0
    broken: list[tuple[int, RuleBreak]]
    needs: dict[str, str]


@dataclass(frozen=True, slots=True)
class Played:
    """An answer in pieces. `cut`: it breaks off behind them."""

    pieces: Sequence[bytes]
    cut: bool = False


def is_messages(path: str) -> bool:
    return path.endswith("/messages")


def is_compaction(body: Fields) -> bool:
    """Return True if a client asks for a summary of its history."""
    items = body.get("messages") or body.get("input") or []
    last = json.dumps(items[-2:], ensure_ascii=False)
    return any(words in last for words in COMPACTING)


class DialectUpstream:
    """The ASGI app. `script` first, then let a client come with that key."""

    def __init__(self) -> None:
        self.scripts: dict[str, DialectScript] = {}
        self.strangers: list[str] = []

    def script(
        self,
        key: str,
        steps: Sequence[DialectStep],
        *,
        tools_only: bool = False,
        window: int = 0,
    ) -> DialectScript:
        """Begin a script, or let the one of this key go on with more steps."""
        more: Any = list(steps)
        if key in self.scripts:
            self.scripts[key].steps += more
        else:
            made = DialectScript(key, more, tools_only)
            made.broken, made.needs, made.window = [], {}, window
            self.scripts[key] = made
        return self.scripts[key]

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        headers = {name.decode(): value.decode("latin-1") for name, value in scope["headers"]}
        raw, more = b"", True
        while more:
            message = await receive()
            raw, more = raw + message.get("body", b""), message.get("more_body", False)
        path = scope["path"]
        if scope["method"] in ("GET", "HEAD"):
            model = {"id": MODEL, "type": "model", "display_name": MODEL, "object": "model"}
            await _send(send, 200, encoded({"object": "list", "data": [model]}))
            return
        if path.endswith("/count_tokens"):
            await _send(send, 200, encoded({"input_tokens": len(raw) // 4}))
            return
        key = headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")
        script = self.scripts.get(key)
        if script is None or not path.endswith(("/messages", "/responses")):
            self.strangers.append(f"{scope['method']} {path}")
            await _send(send, 404, encoded({"error": {"message": f"no script for {path}"}}))
            return
        seen = Seen(path, headers, raw)
        script.seen.append(seen)
        request = VendorRequest("POST", path, b"", list(scope["headers"]), raw)
        await self._answer(script, seen, leaked(request), send)

    async def _answer(
        self, script: DialectScript, seen: Seen, found: list[RuleBreak], send: Any
    ) -> None:
        body = seen.body
        found += _broken(script, seen, body)
        script.broken += [(len(script.seen) - 1, one) for one in found]
        step = _next(script, seen, body, found)
        if isinstance(step, HttpFault):
            seen.status, seen.answered = step.status, step.body
            await _send(send, step.status, step.body, step.headers)
            return
        seen.answered = b"".join(step.pieces)
        headers = SSE if body.get("stream") else JSON
        if not body.get("stream") and not step.cut:
            await _send(send, 200, seen.answered)
            return
        if not body.get("stream"):
            headers = [*headers, (b"content-length", str(len(seen.answered) + 1).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for piece in step.pieces:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        if not step.cut:  # leaving without the end makes uvicorn close the connection
            await send({"type": "http.response.body", "body": b""})


def _broken(script: DialectScript, seen: Seen, body: Fields) -> list[RuleBreak]:
    if is_messages(seen.path):
        betas = seen.headers.get("anthropic-beta", "").split(",")
        return messages_rules.broken(body, betas)
    return responses_rules.broken(body, script.needs)


def _next(
    script: DialectScript, seen: Seen, body: Fields, found: Sequence[RuleBreak]
) -> HttpFault | Played:
    messages, tokens = is_messages(seen.path), len(seen.raw) // 4
    if script.window and tokens > script.window:
        if messages:
            text = messages_server.TOO_LONG.format(tokens, script.window)
            return messages_server.fault(400, "invalid_request_error", text)
        return responses_server.FAULTS["prompt too long"]
    for one in found:
        if one.rule == BOUND:
            text = messages_server.BOUND.format(one.where)
            return messages_server.fault(400, "invalid_request_error", text)
    if is_compaction(body):
        script.compactions += 1
        return Played(_pieces(script, seen, body, Say(SUMMARY)))
    seen.step, step, cut = script.next(body)
    if isinstance(step, Fail):
        return _fault(step, messages)
    if isinstance(step, HttpFault):
        return step
    if isinstance(step, StreamFault):
        pieces = _pieces(script, seen, body, step.said)
        return Played([*pieces[: step.pieces], step.event])
    assert isinstance(step, Say)
    pieces = _pieces(script, seen, body, step)
    if cut and len(pieces) == 1:
        return Played([pieces[0][: len(pieces[0]) // 2]], True)
    return Played(pieces[: len(pieces) // 2], True) if cut else Played(pieces)


def _fault(step: Fail, messages: bool) -> HttpFault:
    text, kind = "the script wants an error here", KINDS.get(step.status, "api_error")
    told = {} if step.retry_after is None else {"retry_after": str(step.retry_after)}
    if messages:
        return messages_server.fault(step.status, kind, text, **told)
    return responses_server.fault(step.status, kind, step.code, text, **told)


def _pieces(script: DialectScript, seen: Seen, body: Fields, said: Say) -> Sequence[bytes]:
    """Reported is what was sent: some clients compact by it."""
    billed, number = BilledTokens(len(seen.raw) // 4, 0, 0), len(script.seen)
    if is_messages(seen.path):
        message = MessagesAnswer.of(said, body, number, billed)
        return list(message.events()) if body.get("stream") else [message.whole()]
    answer = ResponsesAnswer.of(said, body, number, billed)
    first, *rest = answer.items
    if first["type"] == "reasoning":
        script.needs.update({str(item["id"]): str(first["id"]) for item in rest})
    return list(answer.events()) if body.get("stream") else [answer.whole()]


async def _send(
    send: Any, status: int, body: bytes, more: Sequence[tuple[bytes, bytes]] = ()
) -> None:
    headers = [*JSON, *more, (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
