"""Sessions of the Cline command line (`~/.cline/data/sessions/ID/ID.messages.json`).

Before sending, Cline shortens long results and removes its own tags from the user's text
(`MessageBuilder.buildForApi`, read in @cline/core 3.0.65 and compared with the requests it sent);
the AI SDK then writes OpenAI messages. What it does to odd sessions is not repeated: a remark in
place of file reads that a later read has made obsolete (from 64 KB on), the limits for the text of
an answer and of a request. Such a session has its memory from its first request through MemTree on.
"""

from __future__ import annotations

import json
import re
from typing import Any

from memtree_proxy.imports import js
from memtree_proxy.imports.conversation import (
    Conversation,
    Fields,
    fields,
    image,
    listed,
    moment,
    objects,
    paired,
    text,
    titled,
    tool_call,
)

RESULT_CHARS = 8_000
FILE_CHARS = 50_000
EMPTY = "ERROR: EMPTY CONTENT"
NO_MEDIA = "[media omitted: invalid or exceeds size limit]"


def read(name: str, data: Fields, id_: str) -> Conversation:
    stored = objects(data.get("messages"), f"{name}: messages")
    shown = [row for row in stored if fields(row.get("metadata")).get("displayOnly") is not True]
    made: list[Fields] = []
    for message in shown:
        made += _user(message) if message.get("role") == "user" else _assistant(message)
    done = paired(made, _missing)
    times = [row["ts"] for row in stored if isinstance(row.get("ts"), int | float)]
    when = moment(max(times, default=0)) or moment(data.get("updated_at"))
    return Conversation(
        "cline", text(data.get("sessionId")) or id_, titled("", done), when, tuple(done)
    )


def _missing(name: str) -> str:
    value = f"Tool execution was interrupted before a result was produced. Tool: {name}."
    return js.stringify([{"type": "text", "text": value}])


def _user(message: Fields) -> list[Fields]:
    """Convert a user message: results become messages of their own, followed by the user's text."""
    content = _content(message)
    output = [_result(block) for block in content if block.get("type") == "tool_result"]
    parts = [part for block in content if (part := _part(block))]
    if parts or not content:
        output.append({"role": "user", "content": _joined(parts)})
    return output


def _joined(parts: list[Fields]) -> Any:
    if all(part["type"] == "text" and not js.trim(part["text"]) for part in parts):
        return EMPTY
    return parts[0]["text"] if len(parts) == 1 and parts[0]["type"] == "text" else parts


def _part(block: Fields) -> Fields | None:
    kind = block.get("type")
    if kind == "text":
        return {"type": "text", "text": js.well_formed(_written(text(block.get("text"))))}
    if kind == "image":
        return image(block.get("mediaType"), block.get("data"))
    if kind == "file":
        content = js.cut_middle(text(block.get("content")), FILE_CHARS, _truncated)
        path = text(block.get("path"))
        return {"type": "text", "text": f'<file_content path="{path}">\n{content}\n</file_content>'}
    return None


def _written(shown: str) -> str:
    """Return the user's text without the tags that Cline puts around it (`normalizeUserInput`)."""
    shown = js.trim(shown)
    for tag in ("user_input", "user_command"):
        inner = _unwrapped(shown, tag)
        shown = js.trim(inner if inner != shown else _untagged(shown, tag))
    return shown


def _unwrapped(shown: str, tag: str) -> str:
    """Return the text with each `<tag ...>` and the next `</tag>` removed and their content
    kept."""
    pieces: list[str] = []
    done = 0
    closing = f"</{tag}>"
    opening = re.compile(rf"<{tag}\b")
    while match := opening.search(shown, done):
        start = shown.find(">", match.end()) + 1
        end = shown.find(closing, start) if start else -1
        if end < 0:
            break
        pieces += (shown[done : match.start()], shown[start:end])
        done = end + len(closing)
    return "".join(pieces) + shown[done:]


def _untagged(shown: str, tag: str) -> str:
    """Return the text without any `<tag...>`."""
    pieces: list[str] = []
    done = 0
    while (start := shown.find(f"<{tag}", done)) >= 0:
        end = shown.find(">", start)
        if end < 0:
            break
        pieces.append(shown[done:start])
        done = end + 1
    return "".join(pieces) + shown[done:]


def _assistant(message: Fields) -> list[Fields]:
    content = _content(message)
    texts = [
        js.well_formed(text(part.get("text"))) for part in content if part.get("type") == "text"
    ]
    thoughts = [text(part.get("thinking")) for part in content if part.get("type") == "thinking"]
    calls = [
        tool_call(part.get("id"), part.get("name"), _arguments(part.get("input", {})))
        for part in content
        if part.get("type") == "tool_use"
    ]
    if not calls and not thoughts and not any(js.trim(part) for part in texts):
        texts = [EMPTY]
    made: Fields = {"role": "assistant", "content": "".join(texts) or (None if calls else "")}
    if any(thoughts):
        made["reasoning_content"] = "".join(thoughts)
    if calls:
        made["tool_calls"] = calls
    return [made]


def _arguments(given: Any) -> str:
    if not isinstance(given, str):
        return js.well_formed(js.stringify(given))
    try:
        json.loads(given)
    except (ValueError, RecursionError):
        return js.stringify(given)
    return given


def _result(block: Fields) -> Fields:
    return {
        "role": "tool",
        "tool_call_id": text(block.get("tool_use_id")),
        "content": js.well_formed(_output(block.get("content"))),
    }


def _output(content: Any) -> str:
    """Return a tool's output as the AI SDK writes it: text unchanged, everything else as JSON."""
    if not isinstance(content, list):
        return js.cut_middle(text(content), RESULT_CHARS, _truncated)
    content = [js.shortened(item, RESULT_CHARS, _truncated) for item in content]
    if content and all(_is_plain(item) for item in content):
        return js.stringify(
            [_media(item) or {"type": "text", "text": item["text"]} for item in content]
        )
    images: list[Fields] = []
    shown = _hoisted(content, images)
    if images:
        return js.stringify([{"type": "text", "text": js.stringify(shown)}, *images])
    return js.stringify(shown if NO_MEDIA in js.stringify(shown) else content)


def _hoisted(value: Any, images: list[Fields]) -> Any:
    """Return the output without its images, which are appended to `images`."""
    if isinstance(value, list):
        kept = []
        for item in value:
            if media := _media(item):
                images.append(media)
            elif fields(item).get("type") == "image":
                kept.append(NO_MEDIA)
            elif fields(item).get("type") == "text" and isinstance(item.get("text"), str):
                kept.append(item["text"])
            else:
                kept.append(_hoisted(item, images))
        return kept
    if not isinstance(value, dict):
        return value
    if media := _media(value):
        images.append(media)
        return "[image attached]"
    return {key: _hoisted(item, images) for key, item in value.items()}


def _is_plain(value: Any) -> bool:
    block = fields(value)
    is_text = block.get("type") == "text" and isinstance(block.get("text"), str)
    return is_text or _media(value) is not None


def _media(value: Any) -> Fields | None:
    """Return an image of a result in the AI SDK's form."""
    if not js.is_image(value):
        return None
    data = {"type": "data", "data": value["data"]}
    return {"type": "file", "data": data, "mediaType": value["mediaType"]}


def _content(message: Fields) -> list[Fields]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if js.trim(content) else []
    return listed(content)


def _truncated(units: int) -> str:
    """Return the mark that replaces the middle of a long result."""
    return f"\n\n...[truncated {units} chars]...\n\n"
