"""Sessions of opencode and of the Kilo command line, which is a fork of it.

Both keep their sessions in SQLite (`~/.local/share/opencode/opencode.db`,
`~/.local/share/kilo/kilo.db`), and `opencode export` writes a session as JSON: {info, messages:
[{info, parts}]}. The parts that are sent are chosen by `filterCompacted` and `toModelMessages`
(packages/opencode/src/session/message-v2.ts) and written by the AI SDK; read in opencode 1.18.33
and Kilo 7.7.7 and compared with the requests they sent.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memtree_proxy.imports import js
from memtree_proxy.imports.conversation import (
    Conversation,
    Fields,
    fields,
    listed,
    moment,
    objects,
    paired,
    text,
    titled,
    tool_call,
)

CLEARED = "[Old tool result content cleared]"
INTERRUPTED = "[Tool execution was interrupted]"
ATTACHED = "Attached media from tool result:"
# Kilo adds a part with the time of day to the user's text and does not store it. Addresses leave
# out its tag, but not the line breaks before it.
KILO_PART = "\n\n<environment_details>\n</environment_details>"


def read(name: str, data: Fields, whole: bool, kilo: bool = False) -> Conversation:
    info = fields(data.get("info"))
    stored = objects(data.get("messages"), f"{name}: messages")
    # Messages from the point on to which the user reverted are not sent.
    reverted = text(fields(info.get("revert")).get("messageID"))
    ids = [text(_info(message).get("id")) for message in stored]
    seen = stored[: ids.index(reverted)] if reverted in ids else stored
    kept = seen if whole else _since_compaction(seen)
    made = paired(message for entry in kept for message in _sent(entry, kilo))
    time = fields(info.get("time"))
    when = moment(time.get("updated") or time.get("created"))
    dropped = 0 if whole else len(stored) - len(kept)
    title = titled(info.get("title"), made)
    format_ = "kilo" if kilo else "opencode"
    return Conversation(format_, text(info.get("id")), title, when, tuple(made), dropped)


def _info(stored: Fields) -> Fields:
    return fields(stored.get("info"))


def _since_compaction(stored: list[Fields]) -> list[Fields]:
    """Return the messages from the newest answered summary request on (`filterCompacted`). Rounds
    that the compaction kept stand behind the summary, before later messages."""
    summarised: set[str] = set()
    for at in range(len(stored) - 1, -1, -1):
        info = _info(stored[at])
        if info.get("role") == "user" and text(info.get("id")) in summarised:
            parts = listed(stored[at].get("parts"))
            part = next((each for each in parts if each.get("type") == "compaction"), None)
            if part is not None:
                return _reordered(stored, at, text(part.get("tail_start_id")))
        if info.get("summary") and info.get("finish") and not info.get("error"):
            summarised.add(text(info.get("parentID")))
    return stored


def _reordered(stored: list[Fields], request: int, tail: str) -> list[Fields]:
    ids = [text(_info(message).get("id")) for message in stored]
    after = stored[request:]
    if tail not in ids[:request]:
        return after
    request_id = ids[request]
    summary = next(
        at
        for at, message in enumerate(after)
        if _info(message).get("summary") and text(_info(message).get("parentID")) == request_id
    )
    return [*after[: summary + 1], *stored[ids.index(tail) : request], *after[summary + 1 :]]


def _sent(stored: Fields, kilo: bool) -> Iterator[Fields]:
    info, parts = _info(stored), listed(stored.get("parts"))
    if info.get("role") == "user":
        yield from _user(parts, kilo)
    elif info.get("role") == "assistant" and not _failed(info, parts):
        yield from _assistant(parts)


def _failed(info: Fields, parts: list[Fields]) -> bool:
    """Return True for an answer that ended in an error and is not sent. An answer that the user
    interrupted is sent if it has any content but reasoning."""
    error = fields(info.get("error"))
    said = any(part.get("type") not in ("step-start", "reasoning") for part in parts)
    return bool(error) and not (error.get("name") == "MessageAbortedError" and said)


def _user(parts: list[Fields], kilo: bool) -> Iterator[Fields]:
    content: list[Fields] = []
    for part in parts:
        kind = part.get("type")
        if kind == "text" and not part.get("ignored") and part.get("text"):
            content.append(_text(text(part["text"])))
        elif kind == "file" and part.get("mime") not in ("text/plain", "application/x-directory"):
            content.append(_file(part))
        elif kind == "compaction":
            content.append(_text("What did we do so far?"))
        elif kind == "subtask":
            content.append(_text("The following tool was executed by the user"))
    if content and kilo:
        content.append(_text(KILO_PART))
    if len(content) == 1 and content[0]["type"] == "text":
        yield {"role": "user", "content": content[0]["text"]}
    elif content:
        yield {"role": "user", "content": content}


def _assistant(parts: list[Fields]) -> Iterator[Fields]:
    """Yield a message for each step, followed by the results of its tools."""
    step: list[Fields] = []
    shown: list[Fields] = []
    for part in [*parts, {"type": "step-start"}]:
        if part.get("type") == "step-start":
            yield from _step(step)
            step = []
        else:
            step.append(part)
        state = fields(part.get("state"))
        if part.get("type") == "tool" and state.get("status") == "completed" and not _old(state):
            shown += [_file(attachment) for attachment in listed(state.get("attachments"))]
    if shown:
        yield {"role": "user", "content": [_text(ATTACHED), *shown]}


def _step(parts: list[Fields]) -> Iterator[Fields]:
    words = [text(part.get("text")) for part in parts if part.get("type") == "text"]
    thoughts = [text(part.get("text")) for part in parts if part.get("type") == "reasoning"]
    tools = [part for part in parts if part.get("type") == "tool"]
    if not (words or thoughts or tools):
        return
    message: Fields = {"role": "assistant", "content": "".join(words)}
    if any(thoughts):
        message["reasoning_content"] = "".join(thoughts)
    if tools:
        message["tool_calls"] = [_call(part) for part in tools]
    yield message
    for part in tools:
        result = _result(fields(part.get("state")))
        yield {"role": "tool", "tool_call_id": text(part.get("callID")), "content": result}


def _call(part: Fields) -> Fields:
    given = fields(part.get("state")).get("input", {})
    return tool_call(part.get("callID"), part.get("tool"), js.well_formed(js.stringify(given)))


def _result(state: Fields) -> str:
    status = state.get("status")
    if status == "completed":
        return CLEARED if _old(state) else text(state.get("output"))
    if status == "error":
        notes = fields(state.get("metadata"))
        output = notes.get("output")
        if notes.get("interrupted") is True and isinstance(output, str):
            return output
        return text(state.get("error"))
    return INTERRUPTED


def _old(state: Fields) -> bool:
    return bool(fields(state.get("time")).get("compacted"))


def _text(shown: str) -> Fields:
    return {"type": "text", "text": shown}


def _file(part: Fields) -> Fields:
    url, mime = text(part.get("url")), text(part.get("mime"))
    if mime.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": url}}
    name: Any = part.get("filename") or "document.pdf"
    return {"type": "file", "file": {"filename": name, "file_data": url}}
