"""Saved memories of ChatGPT, as far as its data export holds them.

`conversations.json` has no list of them, but what the model saved: messages of the assistant to
the tool `bio`, whose text is the memory, and in some versions the list as it was then, as
`model_set_context` of a message. All branches of a conversation count. Some exports are said to
hold `memory.json`, a list of objects with `content`; that is read as well. A list that was copied
from the settings is plain text (`plain_list.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from memtree.memories.transfer.file_items import FileItem, FileMemory, LineResult, LineStatus
from memtree.memories.transfer.formats.foreign import moment, no_object
from memtree.memories.transfer.formats.json_entries import FileEntry
from memtree.memories.transfer.formats.plain_list import list_line

_BIO = "bio"
_SAID = ("content", "text", "memory")
_FORGET = re.compile(r"(?:please )?(?:forget|delete|remove)\b", re.IGNORECASE)


def chatgpt_items(entries: Iterable[FileEntry | LineResult]) -> Iterator[FileItem]:
    """Yield the memories. One that was saved twice, or stands in a list as well, comes twice."""
    for entry in entries:
        if isinstance(entry, LineResult):
            yield entry
        elif entry.key == "mapping" and isinstance(entry.value, dict):
            yield from _conversation(entry.line, entry.value)
        elif entry.key not in ("", "memories"):
            continue
        elif wrong := no_object(entry.line, entry.value):
            yield wrong
        elif isinstance(nodes := entry.value.get("mapping"), dict):
            yield from _conversation(entry.line, nodes)
        else:
            yield _listed(entry.line, entry.value)


def _listed(line: int, fields: dict[str, Any]) -> FileItem:
    if fields.get("enabled") is False:
        return LineResult(line, LineStatus.SKIPPED, "not_active", "it is switched off there")
    text = next((fields[name] for name in _SAID if isinstance(fields.get(name), str)), None)
    if text is None:
        message = "must be a conversation, or an object with content"
        return LineResult(line, LineStatus.INVALID, "not_a_memory", message)
    created = fields.get("created_at", fields.get("create_time"))
    return FileMemory(line, text, created=moment(created))


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
    if content.get("content_type") == "model_editable_context":
        return _context(line, content.get("model_set_context"), created)
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


def _context(line: int, listed: object, created: float | None) -> list[FileItem]:
    if not isinstance(listed, str):
        return []
    entries = (list_line(row) for row in listed.split("\n"))
    return [FileMemory(line, text, created=day or created) for text, day in entries if text]
