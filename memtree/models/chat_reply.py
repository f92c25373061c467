"""Calls to a model and its replies as values: which parameters the server accepts, what it
answered, or what its refusal is about.

Servers of one API differ. OpenAI's newer models refuse `max_tokens` and any temperature; DeepSeek
accepts `json_object` and no schema, LM Studio the reverse; others ignore all of it. So the first
call has all parameters, those that the server refuses are left out, and the accepted form is kept
(`KnownFormats`). Whoever makes the calls is an argument: `ChatEndpoint` with its retries and
limits, or a proxy with the credential of its caller.

    ResponseFormat()                    # a schema, max_tokens, a temperature
    lesser(ResponseFormat(), "room")    # with max_completion_tokens

Every kind of answer is accepted: text, parts of text, only reasoning, a tool call, a refusal,
nothing at all. Cheap to import: no SDK is needed here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from memtree.errors import SummarizerUnavailable
from memtree.ports.models import ModelQuestion, Usage
from memtree.text import tokens

SCHEMA, OBJECT, PLAIN = "json_schema", "json_object", ""
ROOMS = ("max_tokens", "max_completion_tokens", "")
# Above 0, so that the second draft after a rejection differs.
TEMPERATURE = 0.3
# Extra tokens of room for models that reason first: none until the model was seen to reason.
SPARE = (0, 4_096, 16_384)
REACH = 2_000  # characters of an error that are searched

# Subjects of a refusal.
FORMAT, ROOM, TEMPER, EFFORT = "format", "room", "temperature", "effort"
CONTENT, UNKNOWN = "content", ""


@dataclass(frozen=True, slots=True)
class ResponseFormat:
    """`effort` is sent to models that were seen to reason; `dull`: the server accepts no
    `effort`."""

    format: str = SCHEMA
    room: str = ROOMS[0]
    temperature: bool = True
    spare: int = SPARE[0]
    effort: str = ""
    dull: bool = False


def body(
    form: ResponseFormat,
    model: str,
    messages: Sequence[Mapping[str, str]],
    room: int,
    schema: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the request body. `room`: tokens that the answer may take. `schema`: a
    `response_format` with a JSON schema."""
    request: dict[str, Any] = {"model": model, "messages": list(messages)}
    if form.format == SCHEMA:
        request["response_format"] = schema
    elif form.format == OBJECT:
        request["response_format"] = {"type": OBJECT}
    if form.room:
        request[form.room] = room + form.spare
    if form.temperature:
        request["temperature"] = TEMPERATURE
    if form.effort:
        request["reasoning_effort"] = form.effort
    return request


_NAMES = (
    (CONTENT, ("context_length", "context length", "context size", "context_size",
               "context window", "content_filter", "content filter", "content_policy",
               "content management", "prompt is too long")),
    (EFFORT, ("reasoning_effort", "reasoning effort")),
    (ROOM, ("max_tokens", "max_completion_tokens", "max_new_tokens")),
    (TEMPER, ("temperature",)),
    (FORMAT, ("response_format", "json_schema", "json_object", "json_validate", "grammar",
              "structured output", "schema", "json mode")),
)  # fmt: skip


def complaint(param: str | None, text: str) -> str:
    """Return the subject of a refusal (400 or 422). `param`, `text`: as the server names it."""
    for words in ((param or "").lower(), text[:REACH].lower()):
        for about, names in _NAMES:
            if any(name in words for name in names):
                return about
    return UNKNOWN


def lesser(form: ResponseFormat, about: str) -> ResponseFormat | None:
    """Return the form without the refused parameter; None if nothing is left to leave out."""
    if about == UNKNOWN:
        about = EFFORT if form.effort else FORMAT if form.format else ROOM
    if about == EFFORT and form.effort:
        return replace(form, effort="", dull=True)
    if about == FORMAT and form.format:
        return replace(form, format=OBJECT if form.format == SCHEMA else PLAIN)
    if about == TEMPER and form.temperature:
        return replace(form, temperature=False)
    if about == ROOM and form.spare:
        return replace(form, spare=0)  # the room exceeds what the model can write
    if about == ROOM and form.room:
        return replace(form, room=ROOMS[ROOMS.index(form.room) + 1])
    return None


REFUSED = frozenset({400, 413, 422})  # statuses of a refused form, or text


class CallFailed(SummarizerUnavailable):
    """A call failed. `billed`: the server may have worked on it all the same."""

    def __init__(self, message: str, *, wait: float = 0.0, billed: bool = False) -> None:
        super().__init__(message, wait=wait)
        self.billed = billed


class CallRefused(CallFailed):
    """The server refuses the form of the call, or its text. `about`: a word of
    `py`."""

    def __init__(self, message: str, about: str) -> None:
        super().__init__(message)
        self.about = about


@dataclass(frozen=True, slots=True)
class ChatReply:
    """`text`: the answer. `hidden`: reasoning that came with it. `cut`: the answer ended at the
    token limit. `usage`: None if the server reports none."""

    text: str
    hidden: str = ""
    cut: bool = False
    usage: Usage | None = None
    thinks: bool = False

    def used(self, sent: int) -> Usage:
        """Return the tokens as the server reports them, or counted here if it reports none.
        `sent`: tokens of the prompt."""
        if self.usage is not None:
            return self.usage
        written = f"{self.text}{self.hidden if self.hidden != self.text else ''}"
        size = tokens.count(written.encode(errors="replace").decode())
        return Usage(sent, size, counted=True)


def refusal(body: Any) -> str:
    """Return the subject of a refused call, a word of `py`. `body`: the decoded
    error in any of the usual forms."""
    if not isinstance(body, dict):
        return complaint(None, str(body or ""))
    said = " ".join(str(body.get(name) or "") for name in ("code", "type"))
    param = body.get("param")
    text = body.get("message") or body.get("detail") or body.get("error") or ""
    return complaint(param if isinstance(param, str) else None, f"{said} {text}")


def refusal_in(content: bytes) -> str:
    """Return the subject of a refused call, by the body of the answer."""
    try:
        body = msgspec.json.decode(content)
        error = body.get("error") if isinstance(body, dict) else None
        return refusal(error if isinstance(error, dict) else body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return refusal(content[: 4 * REACH].decode(errors="replace"))


def read_answer(content: bytes) -> ChatReply | None:
    """Read the answer in a body; None if it is not a chat completion (or is an error with status
    200)."""
    try:
        answer = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if not isinstance(answer, dict) or not isinstance(answer.get("choices"), list):
        return None
    usage = _object(answer.get("usage"))
    choice = _object(answer["choices"][0]) if answer["choices"] else {}
    if choice.get("error") or (answer.get("error") and not choice):
        return None
    message = _object(choice.get("message"))
    text, hidden = _text(message.get("content")), _reasoning(message)
    cut = choice.get("finish_reason") in ("length", "max_tokens")
    text = text or _called(message)
    if not text and not cut:
        text = hidden  # a server that labels the whole answer as reasoning
    details = _object(usage.get("completion_tokens_details"))
    thinks = bool(hidden) or _number(details.get("reasoning_tokens")) > 0
    return ChatReply(text, hidden, cut, _usage(usage), thinks or (cut and not text))


def _text(content: Any) -> str:
    """Return content as text: a string, or its parts without reasoning."""
    if isinstance(content, str):
        return content
    parts = [_object(part) for part in content] if isinstance(content, list) else []
    texts = [
        part.get("text") for part in parts if part.get("type") in (None, "text", "output_text")
    ]
    return "".join(text for text in texts if isinstance(text, str))


def _reasoning(message: Mapping[str, Any]) -> str:
    for name in ("reasoning_content", "reasoning"):
        if text := _text(message.get(name)):
            return text
    return ""


def _called(message: Mapping[str, Any]) -> str:
    """Return the arguments of a tool that was never offered: some models answer so when JSON is
    requested."""
    calls = message.get("tool_calls")
    offered = calls if isinstance(calls, list) else []
    functions = [_object(_object(call).get("function")) for call in offered]
    functions.append(_object(message.get("function_call")))
    return "\n".join(f["arguments"] for f in functions if isinstance(f.get("arguments"), str))


def _usage(usage: Mapping[str, Any]) -> Usage | None:
    """Return the tokens as the server counts them. Some include reasoning in the total only: it
    counts as output."""
    read, written = _number(usage.get("prompt_tokens")), _number(usage.get("completion_tokens"))
    if not read:
        return None
    details = _object(usage.get("prompt_tokens_details"))
    cached = _number(details.get("cached_tokens")) or _number(usage.get("prompt_cache_hit_tokens"))
    written = max(written, _number(usage.get("total_tokens")) - read)
    return Usage(read, written, min(cached, read))


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _number(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


FRUITLESS = 3  # empty answers in a row after which the form is considered the cause
TEXT_REFUSED = ChatReply("")  # told from a model's empty reply by its identity


class KnownFormats:
    """Formats known for one server and model, for the lifetime of this process."""

    def __init__(self) -> None:
        self.form = ResponseFormat()
        self._confirmed = False
        self._fruitless = 0

    async def ask(
        self, question: ModelQuestion, call: Callable[[ResponseFormat], Awaitable[ChatReply]]
    ) -> ChatReply:
        """Return the reply to a question, `TEXT_REFUSED` if the server refuses its text. `call`:
        makes one call in a form. Raises what it raises; `CallRefused` if no form is left."""
        form, said = await self._accepted(question, call, self.form)
        # An answer that began and was cut off is too long by itself; more room is only for
        # reasoning.
        begun = question.key in said.text.lower() or question.fruitful(said.text, not said.cut)
        if said.cut and not begun and (larger := self.grow(form)):
            _, said = await self._accepted(question, call, larger)
        return said

    async def _accepted(
        self,
        question: ModelQuestion,
        call: Callable[[ResponseFormat], Awaitable[ChatReply]],
        form: ResponseFormat,
    ) -> tuple[ResponseFormat, ChatReply]:
        """Return the reply, and the form in which the server accepted the call."""
        tried = form
        while True:
            try:
                said = await call(tried)
            except CallRefused as error:
                lesser_form = self.without(tried, error.about)
                if lesser_form is None and (error.about == CONTENT or self._confirmed):
                    return tried, TEXT_REFUSED
                if lesser_form is None:
                    raise
                tried = lesser_form
            else:
                useful = question.fruitful(said.text, not said.cut) or said.cut
                self.worked(tried, tried != form, useful)
                if said.thinks:
                    self.thinks()
                return tried, said

    def without(self, form: ResponseFormat, about: str) -> ResponseFormat | None:
        """Return the format to try after `form` was refused; None if the form is not the cause."""
        if about == CONTENT or (about == UNKNOWN and self._confirmed):
            return None
        return lesser(form, about)

    def worked(self, form: ResponseFormat, tried: bool, fruitful: bool) -> None:
        """Record an accepted form. `tried`: it was determined in this call, after refusals.
        `fruitful`: the answer was not empty."""
        if tried:
            self.form = form
        self._confirmed = True
        self._fruitless = 0 if fruitful else self._fruitless + 1
        if self._fruitless >= FRUITLESS and self.form.format:
            self.form = lesser(self.form, FORMAT) or self.form
            self._fruitless = 0

    def thinks(self) -> None:
        """Record that the model reasons before it answers: ask it to be brief, if it accepts
        that."""
        if not self.form.dull:
            self.form = replace(self.form, effort="low")

    def grow(self, form: ResponseFormat) -> ResponseFormat | None:
        """Return a form with more room, after an answer that used it up and was empty; None at the
        maximum."""
        larger = [spare for spare in SPARE if spare > form.spare]
        if not larger or not form.room:
            return None
        form = replace(form, spare=larger[0])
        self.form = replace(self.form, spare=max(self.form.spare, larger[0]))
        return form
