"""Chats of SillyTavern (`data/USER/chats/CHARACTER/*.jsonl`, and group chats).

The first line may be a header; each other line is a message, whose `mes` is the text shown, one of
its `swipes`. Mirrors `setOpenAIMessages` (public/scripts/openai.js) with its default settings:
hidden messages are not sent, a narrator has the role system, and in groups the speaker's name comes
first. Prompts and lore that SillyTavern adds are not in the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memtree_proxy.imports.conversation import (
    Conversation,
    Fields,
    fields,
    listed,
    moment,
    paired,
    text,
    titled,
)
from memtree_proxy.imports.conversation import tool_call as call


def read(lines: Sequence[Fields], id_: str, name: str, *, names: bool = False) -> Conversation:
    """Read a chat. `name`: of the file, the title if the header names no character. `names`: begin
    every message with the speaker's name, which SillyTavern itself does in groups alone."""
    spoken = [line for line in lines if "mes" in line or "swipes" in line]
    header = next((line for line in lines if "mes" not in line and "swipes" not in line), {})
    speakers = {
        text(line.get("name"))
        for line in spoken
        if not (line.get("is_user") or line.get("is_system") or _narrated(line))
    }
    named = names or len(speakers) > 1
    made = paired(message for line in spoken for message in _messages(line, named))
    dated = [when for line in spoken if (when := moment(line.get("send_date")))]
    character = text(header.get("character_name"))
    title = name if character in ("", "unused") else f"{character} - {name}"
    return Conversation(
        "sillytavern", id_, titled(title, made), max(dated, default=""), tuple(made)
    )


def _narrated(line: Fields) -> bool:
    return fields(line.get("extra")).get("type") == "narrator"


def _messages(line: Fields, named: bool) -> list[Fields]:
    used = listed(fields(line.get("extra")).get("tool_invocations"))
    if used:
        return _tools(used)
    shown = _shown(line).replace("\r", "")
    if line.get("is_system") or not shown:
        return []
    if _narrated(line):
        return [{"role": "system", "content": shown}]
    if named and (speaker := text(line.get("name"))):
        shown = f"{speaker}: {shown}"
    return [{"role": "user" if line.get("is_user") else "assistant", "content": shown}]


def _shown(line: Fields) -> str:
    if isinstance(line.get("mes"), str):
        return str(line["mes"])
    swipes: Any = line.get("swipes")
    at = line.get("swipe_id") or 0
    in_range = isinstance(swipes, list) and isinstance(at, int) and 0 <= at < len(swipes)
    return text(swipes[at]) if in_range else ""


def _tools(used: list[Fields]) -> list[Fields]:
    calls = [call(use.get("id"), use.get("name"), text(use.get("parameters"))) for use in used]
    results = [
        {
            "role": "tool",
            "tool_call_id": text(use.get("id")),
            "content": text(use.get("result")) or "[No content]",
        }
        for use in used
    ]
    return [{"role": "assistant", "content": None, "tool_calls": calls}, *results]
