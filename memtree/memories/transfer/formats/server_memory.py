"""The file of the MCP server `server-memory`, and what its tool `read_graph` answers.

A line each: `{"type": "entity", "name", "entityType", "observations": [...]}` and
`{"type": "relation", "from", "to", "relationType"}`. Every observation becomes a memory of its own,
"NAME: OBSERVATION", with the entity's type as a tag, and so does every relation, as a sentence.

    >>> _sentence({"from": "Ada Klein", "to": "Harbour Lab", "relationType": "works_at"})
    'Ada Klein works at Harbour Lab'
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from memtree.memories.transfer.file_items import FileItem, FileMemory, LineResult, LineStatus
from memtree.memories.transfer.formats.foreign import found_tags, no_object
from memtree.memories.transfer.formats.json_entries import FileEntry

_TYPES = {"entities": "entity", "relations": "relation"}  # by the list of a document


def server_memory_items(entries: Iterable[FileEntry | LineResult]) -> Iterator[FileItem]:
    for entry in entries:
        if isinstance(entry, LineResult):
            yield entry
        elif wrong := no_object(entry.line, entry.value):
            yield wrong
        else:
            kind = _TYPES.get(entry.key) or entry.value.get("type")
            if kind == "entity":
                yield from _entity(entry.line, entry.value)
            elif kind == "relation" and (text := _sentence(entry.value)):
                yield FileMemory(entry.line, text)
            else:
                yield _invalid(entry.line, "must be an entity or a relation with its names")


def _entity(line: int, fields: dict[str, Any]) -> Iterator[FileItem]:
    name, seen = fields.get("name"), fields.get("observations")
    type_ = fields.get("entityType")
    if not isinstance(name, str) or not name.strip() or not isinstance(seen, list):
        yield _invalid(line, "an entity must have a name and a list of observations")
        return
    tags = found_tags([type_])
    for observation in seen:
        if isinstance(observation, str):
            yield FileMemory(line, f"{name.strip()}: {observation.strip()}", tags=tags)
        else:
            yield _invalid(line, "an observation must be a text")
    if not seen and isinstance(type_, str) and type_.strip():
        yield FileMemory(line, f"{name.strip()}: {type_.strip()}", tags=tags)


def _sentence(fields: dict[str, Any]) -> str:
    """Empty where something of it is missing."""
    words = [fields.get(name) for name in ("from", "relationType", "to")]
    if not all(isinstance(word, str) and word.strip() for word in words):
        return ""
    first, verb, last = (" ".join(str(word).split()) for word in words)
    return f"{first} {verb.replace('_', ' ')} {last}"


def _invalid(line: int, message: str) -> LineResult:
    return LineResult(line, LineStatus.INVALID, "not_a_memory", message)
