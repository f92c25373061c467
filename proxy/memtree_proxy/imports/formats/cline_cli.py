"""Sessions of the Cline command line (`~/.cline/data/sessions/ID/ID.messages.json`).

Before sending, Cline shortens long results and removes its own tags from the user's text
(`MessageBuilder.buildForApi`, read in @cline/core 3.0.65 and compared with the requests it sent);
the AI SDK then writes OpenAI messages. The limit of 6 MB for all text is not mirrored.
"""

from __future__ import annotations

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
    text,
    titled,
    tool_call,
)
from memtree_proxy.imports.formats import outdated
from memtree_proxy.imports.formats.pairing import paired

RESULT_CHARS = outdated.RESULT_CHARS
FILE_CHARS = 50_000
ASSISTANT_CHARS = 200_000
MARKUP_CHARS = 12_000
MARKUP_TIMES = 8
EMPTY = "ERROR: EMPTY CONTENT"
_BARS = r"(?:[|｜]\s*)?"
_MARKUP = re.compile(  # up to the end of the name; the rest, up to >, is searched for separately
    rf"<\s*+{_BARS}DSML\s*+{_BARS}(?:tool_calls|invoke)\b"
    r"|<\s*+(?:/\s*+)?(?:tool_calls?|function_calls?|invoke)\b",
    re.IGNORECASE,
)
NO_MEDIA = "[media omitted: invalid or exceeds size limit]"


def read(name: str, data: Fields, id_: str) -> Conversation:
    stored = objects(data.get("messages"), f"{name}: messages")
    shown = [row for row in stored if fields(row.get("metadata")).get("displayOnly") is not True]
    hidden = outdated.reads(shown)
    made: list[Fields] = []
    for message in shown:
        made += _user(message, hidden) if message.get("role") == "user" else _assistant(message)
    done = paired(made, _missing)
    times = [row["ts"] for row in stored if isinstance(row.get("ts"), int | float)]
    when = moment(max(times, default=0)) or moment(data.get("updated_at"))
    return Conversation(
        "cline", text(data.get("sessionId")) or id_, titled("", done), when, tuple(done)
    )


def _missing(name: str) -> str:
    value = f"Tool execution was interrupted before a result was produced. Tool: {name}."
    return js.stringify([{"type": "text", "text": value}])


def _user(message: Fields, hidden: outdated.Hidden) -> list[Fields]:
    """Convert a user message: results become messages of their own, followed by the user's text."""
    content = _content(message)
    output = [
        _result(outdated.without(block, hidden))
        for block in content
        if block.get("type") == "tool_result"
    ]
    parts = [part for block in content if (part := _part(block))]
    if parts or not content:
        output.append({"role": "user", "content": _joined(parts)})
    return output


def _joined(parts: list[Fields]) -> Any:
    blank = all(part["type"] == "text" and not js.trim(part["text"]) for part in parts)
    if blank:
        return EMPTY
    return parts[0]["text"] if len(parts) == 1 and parts[0]["type"] == "text" else parts


def _part(block: Fields) -> Fields | None:
    kind = block.get("type")
    if kind == "text":
        return {"type": "text", "text": js.well_formed(_written(text(block.get("text"))))}
    if kind == "image":
        return image(block.get("mediaType"), block.get("data"))
    if kind == "file":
        content = js.cut_middle(text(block.get("content")), FILE_CHARS, outdated.truncated)
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
    texts = [_said(text(part.get("text"))) for part in content if part.get("type") == "text"]
    thoughts = [text(part.get("thinking")) for part in content if part.get("type") == "thinking"]
    calls = [
        tool_call(part.get("id"), part.get("name"), _arguments(part.get("input", {})))
        for part in content
        if part.get("type") == "tool_use"
    ]
    if not calls and not thoughts and not any(js.trim(part) for part in texts):
        texts = [EMPTY]
    made: Fields = {"role": "assistant", "content": "".join(texts) or (None if calls else "")}
    if thoughts and any(thoughts):
        made["reasoning_content"] = "".join(thoughts)
    if calls:
        made["tool_calls"] = calls
    return [made]


def _said(shown: str) -> str:
    """Return the assistant's text, cut if it is endless or repeats the markup of tool calls."""
    if js.length(shown) > MARKUP_CHARS and _is_markup(shown):
        return js.cut_middle(shown, MARKUP_CHARS, _repeated)
    return js.well_formed(js.cut_middle(shown, ASSISTANT_CHARS, _omitted))


def _is_markup(shown: str) -> bool:
    """Return True if the text repeats tags of tool calls."""
    at = times = 0
    while times < MARKUP_TIMES and (match := _MARKUP.search(shown, at)):
        at = shown.find(">", match.end()) + 1
        if not at:
            return False
        times += 1
    return times == MARKUP_TIMES


def _arguments(given: Any) -> str:
    if not isinstance(given, str):
        return js.well_formed(js.stringify(given))
    return given if outdated.parsed(given) is not outdated.NOTHING else js.stringify(given)


def _result(block: Fields) -> Fields:
    content = block.get("content")
    return {
        "role": "tool",
        "tool_call_id": text(block.get("tool_use_id")),
        "content": js.well_formed(_output(content)),
    }


def _output(content: Any) -> str:
    """Return a tool's output as the AI SDK writes it: text unchanged, everything else as JSON."""
    if not isinstance(content, list):
        return js.cut_middle(text(content), RESULT_CHARS, outdated.truncated)
    content = [js.shortened(item, RESULT_CHARS, outdated.truncated) for item in content]
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


def _omitted(chars: int) -> str:
    return f"\n\n...[assistant text truncated: omitted {chars} chars]...\n\n"


def _repeated(chars: int) -> str:
    why = "due to repeated tool-call markup"
    return f"\n\n...[assistant text truncated: omitted {chars} chars {why}]...\n\n"
