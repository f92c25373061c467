"""An OpenAI-compatible upstream that answers by script, for tests that drive real clients.

A script belongs to an API key and moves on with every answer that was given whole. Messages are
never counted: the proxy in front of it rewrites them. Requests without tools (titles, a client's
own compaction) are side requests for a script that says `tools_only`: they are answered, and the
script stays where it is. Every request is kept with its exact bytes and what was answered.

What this file does not do: judge. See `outgoing.py` and `clients/rig.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

SIDE_TEXT = "A made-up title"
PIECE = 7  # characters of text or arguments in one chunk: less than a word, as real ones are
MODEL = "scripted"
JSON = [(b"content-type", b"application/json")]
SSE = [(b"content-type", b"text/event-stream")]


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Say:
    """One answer: text, or text with calls (several: in parallel)."""

    text: str
    calls: tuple[Call, ...] = ()
    reasoning: str = ""


@dataclass(frozen=True, slots=True)
class Fail:
    """An error in place of an answer, once."""

    status: int
    code: str
    retry_after: int | None = None


@dataclass(frozen=True, slots=True)
class Cut:
    """The next answer breaks off in its middle, once: the connection closes."""


Step = Say | Fail | Cut


@dataclass(slots=True)
class Seen:
    """One request as it came in, and the bytes that were answered. `step`: None for a side
    request, and for one after the script's end."""

    path: str
    headers: dict[str, str]
    raw: bytes
    step: int | None = None
    ids: tuple[str, ...] = ()  # of the calls in the answer
    status: int = 200
    answered: bytes = b""

    @property
    def body(self) -> dict[str, Any]:
        return dict(json.loads(self.raw))


@dataclass(slots=True)
class Script:
    """`over`: how many requests came after the last step."""

    key: str
    steps: list[Step]
    tools_only: bool
    at: int = 0
    over: int = 0
    seen: list[Seen] = field(default_factory=list)

    @property
    def done(self) -> bool:
        return self.at >= len(self.steps)

    def next(self, body: dict[str, Any]) -> tuple[int | None, Step, bool]:
        """Number of the step that answers, the step, and whether its answer is to be cut."""
        if self.tools_only and not body.get("tools"):
            return None, Say(SIDE_TEXT), False
        if self.done:
            self.over += 1
            return None, Say("The script is over."), False
        number = self.at
        step, self.at = self.steps[number], number + 1
        if isinstance(step, Cut):
            return number, self.steps[self.at], True
        return number, step, False


class Scripted:
    """The ASGI app. `script` first, then let a client come with that key."""

    def __init__(self) -> None:
        self.scripts: dict[str, Script] = {}
        self.strangers: list[str] = []  # paths asked for without a known key

    def script(self, key: str, steps: Sequence[Step], *, tools_only: bool = False) -> Script:
        """Begin a script, or let the one of this key go on with more steps."""
        if key in self.scripts:
            self.scripts[key].steps += steps
        else:
            self.scripts[key] = Script(key, list(steps), tools_only)
        return self.scripts[key]

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        headers = {name.decode(): value.decode("latin-1") for name, value in scope["headers"]}
        raw, more = b"", True
        while more:
            message = await receive()
            raw, more = raw + message.get("body", b""), message.get("more_body", False)
        if scope["method"] == "GET" and scope["path"].endswith("/models"):
            listed = [{"id": MODEL, "object": "model", "created": 1, "owned_by": "tests"}]
            await _whole(send, 200, JSON, encoded({"object": "list", "data": listed}))
            return
        script = self.scripts.get(headers.get("authorization", "").removeprefix("Bearer "))
        if script is None or not scope["path"].endswith("/chat/completions"):
            self.strangers.append(f"{scope['method']} {scope['path']}")
            await _whole(send, 404, JSON, _error(404, "not_found", "nothing is scripted for this"))
            return
        seen = Seen(scope["path"], headers, raw)
        script.seen.append(seen)
        await self._answer(script, seen, send)

    async def _answer(self, script: Script, seen: Seen, send: Any) -> None:
        body = seen.body
        seen.step, step, cut = script.next(body)
        if isinstance(step, Fail):
            await _refuse(seen, step, send)
            return
        assert isinstance(step, Say)
        answer = Answer(step, f"{script.key}-{len(script.seen)}", usage(seen.raw))
        seen.ids = answer.ids
        stream = bool(body.get("stream"))
        pieces = list(answer.stream(_wants_usage(body))) if stream else [answer.whole()]
        if cut:
            await _cut(seen, pieces, SSE if stream else JSON, send)
            return
        seen.answered = b"".join(pieces)
        if not stream:
            await _whole(send, 200, JSON, seen.answered)
            return
        await send({"type": "http.response.start", "status": 200, "headers": SSE})
        for piece in pieces:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


@dataclass(frozen=True, slots=True)
class Answer:
    """A step as bytes of the wire."""

    step: Say
    id: str
    usage: dict[str, int]

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(f"call_{self.id}_{index}" for index in range(len(self.step.calls)))

    @property
    def reason(self) -> str:
        return "tool_calls" if self.step.calls else "stop"

    def whole(self) -> bytes:
        message: dict[str, Any] = {"role": "assistant", "content": self.step.text}
        if self.step.reasoning:
            message["reasoning_content"] = self.step.reasoning
        if self.step.calls:
            message["tool_calls"] = [
                {"id": id_, "type": "function", "function": _function(call)}
                for id_, call in zip(self.ids, self.step.calls, strict=True)
            ]
        choice = {"index": 0, "message": message, "finish_reason": self.reason, "logprobs": None}
        return encoded({**self._head("chat.completion"), "choices": [choice], "usage": self.usage})

    def stream(self, with_usage: bool) -> Iterator[bytes]:
        yield self._chunk({"role": "assistant", "content": ""})
        for piece in cut_up(self.step.reasoning):
            yield self._chunk({"reasoning_content": piece})
        for piece in cut_up(self.step.text):
            yield self._chunk({"content": piece})
        for index, (id_, call) in enumerate(zip(self.ids, self.step.calls, strict=True)):
            function = {"name": call.name, "arguments": ""}
            first = {"index": index, "id": id_, "type": "function", "function": function}
            yield self._chunk({"tool_calls": [first]})
            for piece in cut_up(_function(call)["arguments"]):
                later = {"index": index, "function": {"arguments": piece}}
                yield self._chunk({"tool_calls": [later]})
        yield self._chunk({}, self.reason)
        if with_usage:
            head = self._head("chat.completion.chunk")
            yield _event({**head, "choices": [], "usage": self.usage})
        yield b"data: [DONE]\n\n"

    def _chunk(self, delta: dict[str, Any], reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": reason, "logprobs": None}
        return _event({**self._head("chat.completion.chunk"), "choices": [choice]})

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": f"chatcmpl-{self.id}", "object": kind, "created": 1, "model": MODEL}


def usage(raw: bytes) -> dict[str, int]:
    """Return what an upstream would count of the request that it got; some clients compact by
    it."""
    prompt = len(raw) // 4
    return {"prompt_tokens": prompt, "completion_tokens": 20, "total_tokens": prompt + 20}


def cut_up(text: str) -> list[str]:
    return [text[at : at + PIECE] for at in range(0, len(text), PIECE)]


def encoded(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _function(call: Call) -> dict[str, str]:
    return {"name": call.name, "arguments": json.dumps(call.arguments)}


def _event(value: object) -> bytes:
    return b"data: " + encoded(value) + b"\n\n"


def _wants_usage(body: dict[str, Any]) -> bool:
    return bool((body.get("stream_options") or {}).get("include_usage"))


def _error(status: int, code: str, text: str) -> bytes:
    kind = "rate_limit_error" if status == 429 else "server_error"
    return encoded({"error": {"message": text, "type": kind, "param": None, "code": code}})


async def _refuse(seen: Seen, step: Fail, send: Any) -> None:
    headers = list(JSON)
    if step.retry_after is not None:
        headers.append((b"retry-after", str(step.retry_after).encode()))
    seen.status = step.status
    seen.answered = _error(step.status, step.code, "the script wants an error here")
    await _whole(send, step.status, headers, seen.answered)


async def _cut(seen: Seen, pieces: list[bytes], headers: list[Any], send: Any) -> None:
    """Half of the answer; leaving without the end makes uvicorn close the connection."""
    seen.ids = ()
    if len(pieces) == 1:
        headers = [*headers, (b"content-length", str(len(pieces[0])).encode())]
        pieces = [pieces[0][: len(pieces[0]) // 2]]
    else:
        pieces = pieces[: len(pieces) // 2]
    seen.answered = b"".join(pieces)
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    for piece in pieces:
        await send({"type": "http.response.body", "body": piece, "more_body": True})


async def _whole(send: Any, status: int, headers: list[Any], body: bytes) -> None:
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": status, "headers": [*headers, length]})
    await send({"type": "http.response.body", "body": body})
