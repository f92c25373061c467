"""Conversations that every format is turned into, and how the shapes of foreign files are asked
for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec

from memtree.errors import BadRequest
from memtree_proxy.imports import js

Fields = dict[str, Any]

FORMATS = ("chatgpt", "cline", "roo", "kilo", "opencode", "sillytavern", "claude-code", "codex")
TITLE_CHARS = 80


@dataclass(frozen=True, slots=True)
class Conversation:
    """`messages`: OpenAI messages, as the program would send them next. `date`: of the last
    change, ISO 8601 in UTC, empty where unknown. `dropped`: messages that the program itself has
    condensed or cut away, and that are therefore not in `messages`."""

    format: str
    id: str
    title: str
    date: str
    messages: tuple[Fields, ...]
    dropped: int = 0


def objects(value: Any, where: str) -> list[Fields]:
    """A list of objects. Raises `BadRequest` naming the place that is not one."""
    if not isinstance(value, list):
        raise BadRequest(f"{where}: must be an array")
    for index, item in enumerate(value):
        if not isinstance(item, dict):
            raise BadRequest(f"{where}[{index}]: must be an object")
    return value


def listed(value: Any) -> list[Fields]:
    """The objects of a list; nothing where it is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def fields(value: Any) -> Fields:
    return value if isinstance(value, dict) else {}


def text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def moment(value: Any) -> str:
    """A time as a number of seconds or milliseconds, or as ISO text, in ISO 8601 to the minute."""
    try:
        if isinstance(value, int | float) and value > 0:
            seconds = value / 1000 if value > 1e11 else value
            return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%MZ")
        if isinstance(value, str) and value:
            time = datetime.fromisoformat(value)
            time = time if time.tzinfo else time.replace(tzinfo=UTC)
            return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%MZ")
    except (ValueError, OverflowError, OSError):
        pass
    return ""


def titled(given: Any, messages: Sequence[Fields]) -> str:
    """The title a file gives, else the beginning of the first words of the user."""
    texts = (words(message) for message in messages if message.get("role") == "user")
    shown = text(given) or next((said for said in texts if said.strip()), "") or "untitled"
    line = " ".join("".join(c if c.isprintable() else " " for c in shown).split())
    return line if len(line) <= TITLE_CHARS else f"{line[: TITLE_CHARS - 1]}…"


def raw_message(message: Fields) -> bytes:
    """The message's JSON, also of text that is no valid Unicode."""
    try:
        return msgspec.json.encode(message)
    except UnicodeEncodeError:  # half a surrogate pair, which the routes refuse
        return js.well_formed(json.dumps(message, ensure_ascii=False)).encode()


def words(message: Fields) -> str:
    """The text of an OpenAI message."""
    content = message.get("content")
    if isinstance(content, list):
        return "".join(text(part.get("text")) for part in listed(content))
    return text(content)


def tool_call(id_: Any, name: Any, arguments: str) -> Fields:
    return {
        "id": text(id_),
        "type": "function",
        "function": {"name": text(name), "arguments": arguments},
    }


def image(media_type: Any, data: Any) -> Fields:
    url = f"data:{text(media_type)};base64,{text(data)}"
    return {"type": "image_url", "image_url": {"url": url}}
