"""The form of a call to a model: which parameters its server accepts, determined by trying.

Servers of one API differ. OpenAI's newer models refuse `max_tokens` and any temperature; DeepSeek
accepts `json_object` and no schema, LM Studio the reverse; others ignore all of it. So the first
call has all parameters, those that the server refuses are left out, and the accepted form is kept.

    ResponseFormat()                    # a schema, max_tokens, a temperature
    lesser(ResponseFormat(), "room")    # with max_completion_tokens

Pure; `known_formats.py` keeps what is known of a server.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

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
