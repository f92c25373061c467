"""A model for summaries that answers by script: as a port in this process, and on a real socket.

    model = ScriptedSummarizer()                     # a `Summarizer`
    async with serving(Summaries()) as server:       # an OpenAI-compatible endpoint, `server.url`

Both take the same steps: used up one a call, then `always`, then good answers. A good answer is
made of sentences of the prompt's own text and passes `checking.check`. Every call is kept, with the
parts that it asked for.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

from memtree.errors import SummarizerUnavailable
from memtree.ports.models import SummaryDrafts, Usage
from memtree.text import tokens
from memtree.tree.summary_prompts import Task, prompt
from memtree.tree.summary_replies import read
from tests.made import embeddings
from tests.made.embeddings import Half, Raw, Silence, Status

SHORT = "In short: "  # how every good body begins: no extraction does


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a prompt as a model sees it: pieces of (label, text)."""

    id: str
    cap: int
    pieces: tuple[tuple[str, str], ...]

    @property
    def text(self) -> str:
        return "\n".join(text for _, text in self.pieces)


@dataclass(frozen=True)
class Asked:
    """One call. `body`: the whole request; of the port only its messages."""

    body: dict[str, Any]
    headers: dict[str, str] = field(default_factory=dict)
    path: str = ""

    @property
    def messages(self) -> list[dict[str, str]]:
        return list(self.body["messages"])

    @cached_property
    def parts(self) -> list[Part]:
        return parts_of(self.messages[-1]["content"])

    @cached_property
    def tokens(self) -> int:
        return sum(tokens.count_many(one["content"] for one in self.messages))


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer of a model. `more`: other fields of the message, such as `reasoning_content`.
    `hidden`: tokens of reasoning that are billed and not shown. `usage` False: none is told."""

    text: str | None
    finish: str = "stop"
    more: dict[str, Any] = field(default_factory=dict)
    hidden: int = 0
    cached: int = 0
    usage: bool = True

    @property
    def tokens(self) -> int:
        return tokens.count(self.text or "") + self.hidden


@dataclass(frozen=True, slots=True)
class Unavailable:
    """The port raises `SummarizerUnavailable` with these; the server answers 503."""

    wait: float = 0.0
    cost: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class Held:
    """A good answer (or that of `then`) once the event is set."""

    event: asyncio.Event
    then: Callable[[Asked], Answer] | None = None


@dataclass(frozen=True, slots=True)
class Drip:
    """White space, byte by byte, until the client goes away; the port is silent."""


Step = (
    Drip | Status | Raw | Half | Silence | Unavailable | Held | Answer | Callable[[Asked], Answer]
)


class Hand:
    """A clock that is moved by hand, and by those who sleep."""

    def __init__(self) -> None:
        self.at = 100.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.at += seconds
        await asyncio.sleep(0)


class Script:
    """Script that port and server share: steps in, a record of calls out.

    `latency`: seconds before each answer, for benchmarks.
    """

    def __init__(self, *steps: Step, always: Step | None = None, latency: float = 0.0) -> None:
        self.steps: list[Step] = list(steps)
        self.always = always
        self.latency = latency
        self.asked: list[Asked] = []
        self.input_tokens = self.output_tokens = 0  # of answered calls
        self.open = self.peak = 0  # calls at once

    @property
    def calls(self) -> int:
        return len(self.asked)

    @property
    def prompts(self) -> list[str]:
        return [one.messages[-1]["content"] for one in self.asked]

    @property
    def summarised(self) -> Counter[str]:
        """How often each part was asked for, by its text: 1 each where nothing is paid twice."""
        return Counter(part.text for one in self.asked for part in one.parts)

    def _next(self) -> Step | None:
        return self.steps.pop(0) if self.steps else self.always

    async def _answer(self, step: Step | None, asked: Asked) -> Answer:
        if self.latency:
            await asyncio.sleep(self.latency)
        if isinstance(step, Held):
            await step.event.wait()
            step = step.then
        assert not isinstance(step, Drip | Status | Raw | Half | Silence | Unavailable | Held)
        answer = step if isinstance(step, Answer) else (step or good)(asked)
        self.input_tokens += asked.tokens
        self.output_tokens += answer.tokens
        return answer


class ScriptedSummarizer(Script):
    """The port itself, without a network. `Status` and `Half` raise, its `retry-after` is `wait`;
    `Raw` is the model's text; `Silence` lasts until the call is cancelled."""

    def __init__(
        self, *steps: Step, recipe: str = "scripted/1", always: Step | None = None, **more: Any
    ) -> None:
        super().__init__(*steps, always=always, **more)
        self.recipe = recipe
        self.closed = False

    async def write(self, tasks: Sequence[Task]) -> SummaryDrafts:
        if self.closed:
            raise SummarizerUnavailable("the scripted summariser is closed")
        asked = Asked({"messages": prompt(tasks)})
        self.asked.append(asked)
        self.open += 1
        self.peak = max(self.peak, self.open)
        try:
            answer = await self._said(self._next(), asked)
        finally:
            self.open -= 1
        ids = [task.id for task in tasks]
        drafts = read(answer.text or "", ids, answer.finish != "length")
        return SummaryDrafts(
            drafts, Usage(asked.tokens, answer.tokens, answer.cached, not answer.usage)
        )

    async def close(self) -> None:
        self.closed = True

    async def _said(self, step: Step | None, asked: Asked) -> Answer:
        if isinstance(step, Status):
            wait = float(step.headers.get("retry-after", 0))
            raise SummarizerUnavailable(f"the script answers {step.code}", wait=wait)
        if isinstance(step, Unavailable):
            raise SummarizerUnavailable("the script is down", wait=step.wait, cost=step.cost)
        if isinstance(step, Half):
            raise SummarizerUnavailable("the script breaks off")
        if isinstance(step, Silence | Drip):
            await asyncio.Event().wait()
        if isinstance(step, Raw):
            step = Answer(step.body.decode(errors="replace"))
        return await self._answer(step, asked)


class Summaries(Script):
    """The ASGI app. `refuses`: parameters (or forms of `response_format`) that it answers with 400,
    as OpenAI words it. `tells` False: no usage in its answers."""

    def __init__(self, *steps: Step, always: Step | None = None, **more: Any) -> None:
        super().__init__(*steps, always=always, **more)
        self.refuses: set[str] = set()
        self.refusal = 400
        self.key: str | None = None
        self.tells = True
        self.empty = False  # the account
        self.url = ""

    @property
    def answered(self) -> list[Asked]:
        """The calls whose parameters were accepted."""
        return [one for one in self.asked if not self._refused(one)]

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        raw, more = b"", True
        while more:
            message = await receive()
            raw, more = raw + message.get("body", b""), message.get("more_body", False)
        headers = {name.decode(): value.decode("latin-1") for name, value in scope["headers"]}
        asked = Asked(json.loads(raw), headers, scope["path"])
        self.asked.append(asked)
        self.open += 1
        self.peak = max(self.peak, self.open)
        try:
            await self._serve(asked, receive, send)
        finally:
            self.open -= 1

    async def _serve(self, asked: Asked, receive: Any, send: Any) -> None:
        kind = {"content-type": "application/json"}
        if self.key and asked.headers.get("authorization") != f"Bearer {self.key}":
            await _send(send, 401, kind, _error(asked, "", "no such key"))
            return
        if self.empty:
            await _send(send, 429, kind, _error(asked, "", "no", "insufficient_quota"))
            return
        if name := self._refused(asked):
            await _send(send, self.refusal, kind, _error(asked, name, _unsupported(name)))
            return
        step = self._next()
        if isinstance(step, Silence):
            while (await receive())["type"] != "http.disconnect":
                pass
        elif isinstance(step, Raw):
            await _send(send, 200, {"content-type": step.kind}, step.body)
        elif isinstance(step, Drip):
            await _drip(receive, send)
        elif isinstance(step, Half):
            await _begin(send, json.dumps(self._whole(asked, good(asked))).encode())
        elif isinstance(step, Status | Unavailable):
            status = step if isinstance(step, Status) else Status(503)
            await _send(send, status.code, kind | status.headers, _error(asked, "", "no"))
        else:
            answer = await self._answer(step, asked)
            await _send(send, 200, kind, json.dumps(self._whole(asked, answer)).encode())

    def _refused(self, asked: Asked) -> str:
        form = asked.body.get("response_format", {}).get("type", "")
        for name in sorted(self.refuses):
            value = asked.body.get(name)
            if name == form or (value is not None and not (name == "temperature" and value == 1)):
                return name
        return ""

    def _whole(self, asked: Asked, answer: Answer) -> dict[str, Any]:
        message = {"role": "assistant", "content": answer.text} | answer.more
        choice = {"index": 0, "message": message, "finish_reason": answer.finish}
        whole = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
        whole |= {"choices": [choice]}  # type: ignore[dict-item]
        if self.tells and answer.usage:
            whole |= {"usage": _usage(asked, answer)}  # type: ignore[dict-item]
        return whole


@asynccontextmanager
async def serving(app: Summaries) -> AsyncIterator[Summaries]:
    """The endpoint on a port of its own; `app.url` leads there."""
    async with embeddings.serving(cast("embeddings.Embeddings", app)):
        yield app


# ---------------------------------------------------------------- what is asked


def parts_of(content: str) -> list[Part]:
    """The second message of a prompt, read as `prompts.prompt` writes it."""
    first, *lines = content.split("\n")
    mark = first.removeprefix("Mark: ")
    found: list[tuple[str, int, list[tuple[str, list[str]]]]] = []
    for line in lines:
        if opened := re.fullmatch(rf"{mark} part (\S+): body <= (\d+) tokens", line):
            found.append((opened[1], int(opened[2]), []))
        elif line == f"{mark} end":
            break
        elif line.startswith(f"{mark} "):
            found[-1][2].append((line.removeprefix(f"{mark} "), []))
        else:
            found[-1][2][-1][1].append(line)
    return [
        Part(id_, cap, tuple((label, "\n".join(text)) for label, text in pieces))
        for id_, cap, pieces in found
    ]


# ---------------------------------------------------------------- what is answered


def good(asked: Asked) -> Answer:
    return Answer(json_of({part.id: summary(part) for part in asked.parts}))


def fenced(asked: Asked) -> Answer:
    return Answer(f"Here are the notes:\n```json\n{good(asked).text}\n```\nAnything else?")


def thinking(asked: Asked) -> Answer:
    return Answer(f"<think>There are parts {{1}}.</think>\n{good(asked).text}", hidden=40)


def garbage(asked: Asked) -> Answer:
    return Answer('{"parts": [[{"id": 7, "headline": 3}, null, "�')


def empty(asked: Asked) -> Answer:
    return Answer(json_of({part.id: ("", "") for part in asked.parts}))


def half(asked: Asked) -> Answer:
    """Cut off within the last part."""
    text = good(asked).text or ""
    return Answer(text[:-30], finish="length")


def nothing_but_reasoning(asked: Asked) -> Answer:
    """All of the room went into thoughts."""
    return Answer(None, "length", {"reasoning_content": "Let me see what the user"}, hidden=900)


def refusal(asked: Asked) -> Answer:
    return Answer(None, more={"refusal": "I cannot help with that."})


def one_missing(asked: Asked) -> Answer:
    return Answer(json_of({part.id: summary(part) for part in asked.parts[:-1]}))


def foreign(asked: Asked) -> Answer:
    """In a language that the text is not written in."""
    said = ("Разговор о сборке", "Пользователь задал вопрос, помощник подробно ответил на него.")
    return Answer(json_of({part.id: said for part in asked.parts}))


def invented(asked: Asked) -> Answer:
    """With a path and an error that stand nowhere in the text."""
    found = {part.id: summary(part) for part in asked.parts}
    tail = " The cause was FlumeOverrunError in src/flume/overrun_guard.py."
    return Answer(json_of({id_: (one, body + tail) for id_, (one, body) in found.items()}))


def too_long(asked: Asked) -> Answer:
    return Answer(json_of({p.id: (summary(p)[0], "It goes on. " * p.cap) for p in asked.parts}))


_ORDER = re.compile(r"\bwrite:? (.+)", re.IGNORECASE)


def obeying(asked: Asked) -> Answer:
    """A weak model: does what the text says with "... write <that>"."""
    found = {}
    for part in asked.parts:
        order = _ORDER.search(part.text)
        found[part.id] = (order[1][:60], order[1]) if order else summary(part)
    return Answer(json_of(found))


def saying(headline: str, body: str) -> Callable[[Asked], Answer]:
    """Say the same for every part."""
    return lambda asked: Answer(json_of({part.id: (headline, body) for part in asked.parts}))


def json_of(found: dict[str, tuple[str, str]]) -> str:
    parts = [{"id": id_, "headline": one, "body": body} for id_, (one, body) in found.items()]
    return json.dumps({"parts": parts}, ensure_ascii=False)


_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|\n+")
_WHOLE = re.compile(r"\w[^{}()\[\]\"“”'`<>|\\]*[.。]")
# What the check takes for an order, or for a note about notes.
_RISKY = re.compile(
    r"\b(?:you|your|please|ignore|must|always|never|summar\w+|conversation)\b", re.I
)


def summary(part: Part) -> tuple[str, str]:
    """(headline, body) of whole sentences of the part, in order, within its cap."""
    kept: dict[str, str] = {}  # by their words: lines that differ in numbers alone are a loop
    room = part.cap - tokens.count(SHORT)
    for _, text in part.pieces:
        for sentence in _SENTENCE.split(text):
            sentence = sentence.removeprefix(SHORT).strip()
            size = tokens.count(sentence) + 1
            words = re.sub(r"[\d\W]+", " ", sentence)
            if (
                size <= room
                and words not in kept
                and _WHOLE.fullmatch(sentence)
                and not _RISKY.search(sentence)
            ):
                kept[words] = sentence
                room -= size
    said = list(kept.values()) or ["Talk without whole sentences."]
    return tokens.prefix(said[0], 18).strip(" .,;:。"), SHORT + " ".join(said)


# ---------------------------------------------------------------- the wire


def _usage(asked: Asked, answer: Answer) -> dict[str, Any]:
    return {
        "prompt_tokens": asked.tokens,
        "completion_tokens": answer.tokens,
        "total_tokens": asked.tokens + answer.tokens,
        "prompt_tokens_details": {"cached_tokens": answer.cached},
        "completion_tokens_details": {"reasoning_tokens": answer.hidden},
    }


def _unsupported(name: str) -> str:
    instead = " Use 'max_completion_tokens' instead." if name == "max_tokens" else ""
    return f"Unsupported parameter: '{name}' is not supported with this model.{instead}"


def _error(asked: Asked, param: str, text: str, code: str | None = None) -> bytes:
    # As unkind servers do: prompt and key come back in the error, when it is not about a parameter.
    said = text if param else f"{text}: {asked.messages} {asked.headers}"
    error = {"message": said, "type": "invalid_request_error", "param": param or None}
    code = code or ("unsupported_parameter" if param else None)
    return json.dumps({"error": error | {"code": code}}).encode()


async def _begin(send: Any, body: bytes) -> None:
    """Half of an answer; leaving without its end makes uvicorn close the connection."""
    length = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": length})
    await send({"type": "http.response.body", "body": body[: len(body) // 2], "more_body": True})


async def _drip(receive: Any, send: Any) -> None:
    gone = asyncio.create_task(receive())
    await send({"type": "http.response.start", "status": 200, "headers": []})
    while not gone.done():
        await send({"type": "http.response.body", "body": b" ", "more_body": True})
        await asyncio.wait([gone], timeout=0.01)


async def _send(send: Any, status: int, headers: dict[str, str], body: bytes) -> None:
    await embeddings.send_answer(send, status, headers, body)
