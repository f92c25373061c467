"""Task folders of the editor extensions Cline, Roo Code and Kilo Code.

A task is `api_conversation_history.json`: Anthropic messages with the program's own notes. The next
request does not carry all of them: Cline cuts out a range (noted in `ui_messages.json`) and
shortens texts (`context_history.json`); Roo and Kilo hide the messages that a summary or a cut
replaces (notes on the messages: `getEffectiveApiHistory` in src/core/condense/index.ts).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from memtree.errors import BadRequest
from memtree_proxy.imports import blocks
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
)

HISTORY = "api_conversation_history.json"
SHOWN = "ui_messages.json"
EDITS = "context_history.json"
FLAVOURS = {"cline": blocks.CLINE, "roo": blocks.ROO, "kilo": blocks.KILO}

CLINE_LOST = "result missing"  # ContextManager.ensureToolResultsFollowToolUse
ROO_LOST = "Task was interrupted before this tool call could be completed."  # Task.ts, on resuming
_FOLDERS = (
    ("saoudrizwan.claude-dev", "cline"),
    ("kilocode", "kilo"),
    ("kilo-code", "kilo"),
    ("rooveterinaryinc", "roo"),
    ("roo-cline", "roo"),
    ("roo-code", "roo"),
)
_ROO_NOTES = frozenset({"isSummary", "condenseParent", "truncationParent", "isTruncationMarker"})

Beside = Callable[[str], Any]


def owner(origin: str, messages: Sequence[Fields]) -> str:
    """Return the program that a task belongs to, from the extension's folder in the path or else
    from the notes on the messages."""
    for word, program in _FOLDERS:
        if word in origin.lower():
            return program
    if any("modelInfo" in message for message in messages):
        return "cline"
    return "roo" if any(_ROO_NOTES & message.keys() for message in messages) else "cline"


def read(name: str, data: Any, id_: str, whole: bool, beside: Beside, format_: str) -> Conversation:
    """Read the conversation of a task. `beside`: returns the parsed file of a name in the same
    folder, None if there is no such file. `format_`: a name in FLAVOURS."""
    if not isinstance(data, list):
        raise BadRequest(f"{name}: must be an array of messages", param=name)
    messages = objects(data, f"{name}: messages")
    kept = messages
    if not whole and format_ == "cline":
        kept = _cut(messages, beside(SHOWN), beside(EDITS))
    elif not whole:
        kept = _effective(messages)
    dropped = len(messages) - len(kept)
    if format_ != "cline":
        kept = _merged(kept)
    lost = CLINE_LOST if format_ == "cline" else ROO_LOST
    made = paired(blocks.converted(kept, FLAVOURS[format_]), lambda _: lost)
    times = [message["ts"] for message in messages if isinstance(message.get("ts"), int | float)]
    when = max(times, default=int(id_) if id_.isdecimal() else 0)
    # The user's task, without the tags and context that were sent with it.
    first: Fields = next(iter(listed(beside(SHOWN))), {})
    title = titled(first.get("text"), made)
    return Conversation(format_, id_, title, moment(when), tuple(made), dropped)


def _cut(messages: list[Fields], shown: Any, edits: Any) -> list[Fields]:
    """Return the messages that Cline sends: the first two and those behind the range, with their
    latest texts."""
    key = "conversationHistoryDeletedRange"
    ranges = [event[key] for event in listed(shown) if isinstance(event.get(key), list)]
    start = 2
    if ranges and len(ranges[-1]) == 2 and isinstance(ranges[-1][1], int):
        start = max(2, ranges[-1][1] + 1)
    latest = _latest(edits)
    numbered = list(enumerate(messages))
    return [_edited(message, latest.get(at, {})) for at, message in numbered[:2] + numbered[start:]]


def _latest(edits: Any) -> dict[int, dict[int, str]]:
    """Return the latest texts as message -> block -> text. The file holds [[message, [kind,
    [[block, [[time, type, [text]]]]]]]]."""
    texts: dict[int, dict[int, str]] = {}
    try:
        for message, (_, inner) in edits or ():
            for block, changes in inner:
                _, kind, content, *_ = changes[-1]
                if kind == "text":
                    texts.setdefault(message, {})[block] = str(content[0])
    except (TypeError, ValueError, IndexError):
        return {}  # Cline continues without edits that it cannot read
    return texts


def _edited(message: Fields, texts: dict[int, str]) -> Fields:
    content = message.get("content")
    if not texts or not isinstance(content, list):
        return message
    changed = [
        {**block, "text": texts[at]}
        if at in texts and fields(block).get("type") == "text"
        else block
        for at, block in enumerate(content)
    ]
    return {**message, "content": changed}


def _effective(messages: list[Fields]) -> list[Fields]:
    """Return the messages that Roo and Kilo send: from the last summary on, without those that a
    summary or a cut hides."""
    summaries = [at for at, item in enumerate(messages) if item.get("isSummary") is True]
    if summaries:
        messages = _answering(messages[summaries[-1] :])
    condensed = {text(item.get("condenseId")) for item in messages if item.get("isSummary")} - {""}
    cut = {
        text(item.get("truncationId")) for item in messages if item.get("isTruncationMarker")
    } - {""}
    return [
        item
        for item in messages
        if text(item.get("truncationParent")) not in cut
        and (summaries or text(item.get("condenseParent")) not in condensed)
    ]


def _answering(messages: list[Fields]) -> list[Fields]:
    """Remove results whose calls a summary has replaced."""
    known = {
        text(block.get("id"))
        for message in messages
        if message.get("role") == "assistant"
        for block in listed(message.get("content"))
        if block.get("type") == "tool_use"
    }
    kept = []
    for message in messages:
        content = message.get("content")
        if message.get("role") == "user" and isinstance(content, list):
            content = [
                block
                for block in listed(content)
                if block.get("type") != "tool_result" or text(block.get("tool_use_id")) in known
            ]
            if not content:
                continue
        kept.append({**message, "content": content})
    return kept


def _merged(messages: list[Fields]) -> list[Fields]:
    """Merge consecutive user messages into one (`mergeConsecutiveApiMessages`)."""
    done: list[Fields] = []
    merged: list[Any] | None = None
    for message in messages:
        if not done or not _mergeable(done[-1], message):
            done.append(message)
            merged = None
            continue
        if merged is None:
            merged = [*_as_list(done[-1])]
            done[-1] = {**done[-1], "content": merged}
        merged += _as_list(message)
    return done


def _mergeable(before: Fields, new: Fields) -> bool:
    marks = before.get("isTruncationMarker") or new.get("isTruncationMarker")
    return (
        before.get("role") == new.get("role") == "user" and not marks and not new.get("isSummary")
    )


def _as_list(message: Fields) -> list[Any]:
    content = message.get("content")
    if isinstance(content, list):
        return content
    return [] if content is None else [{"type": "text", "text": str(content)}]
