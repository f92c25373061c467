"""Saved memories of ChatGPT, as far as its data export holds them.

`conversations.json` has no list of them, but what the model saved: messages of the assistant to
the tool `bio`, whose text is the memory. All branches of a conversation count. A list that was
copied from the settings is plain text (`plain_list.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from memtree.memories.transfer.file_items import FileItem, FileMemory, LineResult, LineStatus
from memtree.memories.transfer.formats.foreign import moment, no_object
from memtree.memories.transfer.formats.json_entries import FileEntry

_BIO = "bio"
_FORGET = re.compile(r"(?:please )?(?:forget|delete|remove)\b", re.IGNORECASE)


def chatgpt_items(entries: Iterable[FileEntry | LineResult]) -> Iterator[FileItem]:
    """Yield the memories. One that was saved twice comes twice."""
    for entry in entries:
        if isinstance(entry, LineResult):
            yield entry
        elif entry.key == "mapping" and isinstance(entry.value, dict):
            yield from _conversation(entry.line, entry.value)
        elif entry.key:
            continue
        elif wrong := no_object(entry.line, entry.value):
            yield wrong
        elif isinstance(nodes := entry.value.get("mapping"), dict):
            yield from _conversation(entry.line, nodes)
        else:
            yield LineResult(
                entry.line, LineStatus.INVALID, "not_a_memory", "must be a conversation"
            )


def _conversation(line: int, nodes: dict[str, Any]) -> Iterator[FileItem]:
    items: list[FileItem] = []
    for node in nodes.values():
        message = node.get("message") if isinstance(node, dict) else None
        if isinstance(message, dict):
            items += _saved(line, message)
    yield from sorted(items, key=lambda item: getattr(item, "created", None) or 0.0)


def _saved(line: int, message: dict[str, Any]) -> list[FileItem]:
    content, author = message.get("content"), message.get("author")
    if not isinstance(content, dict):
        return []
    created = moment(message.get("create_time"))
    role = author.get("role") if isinstance(author, dict) else None
    parts = content.get("parts")
    if role != "assistant" or message.get("recipient") != _BIO or not isinstance(parts, list):
        return []
    text = "\n".join(part for part in parts if isinstance(part, str)).strip()
    if not text:
        return []
    if _FORGET.match(text):
        why = "asks to forget something; delete that memory yourself"
        return [LineResult(line, LineStatus.SKIPPED, "forget_request", why)]
    return [FileMemory(line, text, created=created)]
