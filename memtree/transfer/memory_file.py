"""Recognise the format of a file of memories, and read its items.

The bytes are text in any encoding of Unicode. Without a named format, the first entries of a JSON
file tell which one it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Any, NamedTuple

import msgspec

from memtree.errors import BadRequest
from memtree.text.json_lines import as_utf8, lines
from memtree.transfer.export_format import FORMAT, own_items
from memtree.transfer.file_items import (
    AUTO,
    CHATGPT,
    CLAUDE_AI,
    FORMATS,
    MEM0,
    MEMTREE,
    OPENMEMORY,
    SERVER_MEMORY,
    TEXT,
    FileItem,
    FileMemory,
    LineResult,
    LineStatus,
)
from memtree.transfer.foreign_formats import (
    CLAUDE_TEXTS,
    Entries,
    chatgpt_items,
    claude_items,
    list_items,
    list_line,
    mem0_items,
    openmemory_items,
    server_memory_items,
)
from memtree.transfer.json_entries import FileEntry, broken, document_entries, line_entries

PART_END = b"\n\x1e\n"  # between the files of an export: no JSON holds this control character
MOST_PARTS = 1_000
_LOOKED_AT = 2_000  # entries, until one tells the format
_FIRST_LINES = 20
_LONGEST_FIRST = 1_000_000  # bytes of a line that is tried
_JSON = re.compile(rb"\s*(?:\{|\[\s*[\[{\"\]])")
_PIECE_OF_JSON = re.compile(rb'"[^"\\\n]{1,80}"\s{0,9}:|\A[\s\[\]{},]+\Z')
_JUDGED, _JUDGED_CHARS = 200, 500  # lines, and bytes of each, that tell whether a list is damaged


class MemoryFile(NamedTuple):
    """`items` can be gone through once."""

    format: str
    items: Iterator[FileItem]


def read_memory_file(raw: bytes, format_: str = AUTO) -> MemoryFile:
    """`raw`: a file, or the parts of an export with `PART_END` between them. `format_`: one of
    FORMATS, or AUTO. Raises `BadRequest` for a file that is empty or of a kind that is not
    known."""
    raw = as_utf8(raw)
    if format_ not in (AUTO, *FORMATS):
        raise BadRequest(f"format must be one of {', '.join((AUTO, *FORMATS))}", param="format")
    if not raw or raw.isspace():
        raise BadRequest("the file is empty")
    parts = raw.split(PART_END, MOST_PARTS)
    if format_ == TEXT or not any(map(_JSON.match, parts)):
        if format_ not in (AUTO, TEXT, CHATGPT):
            raise BadRequest(f"the file is not JSON, so it cannot be of the format {format_}")
        if format_ == AUTO:
            _refuse_damaged(raw)
        return MemoryFile(CHATGPT if format_ == CHATGPT else TEXT, list_items(raw))
    entries = _entries(parts)
    if format_ == AUTO:
        seen: list[FileEntry | LineResult] = []
        for entry in entries:
            seen.append(entry)
            format_ = _format_of(entry) if isinstance(entry, FileEntry) else ""
            if format_ or len(seen) >= _LOOKED_AT:
                break
        if not format_ or format_ == AUTO:
            faults = [entry for entry in seen if isinstance(entry, LineResult)]
            if faults and len(faults) == len(seen):
                message, line = faults[0].message, faults[0].line
                raise BadRequest(f"the file cannot be read: {message} (line {line})")
            raise BadRequest(
                "the file contains no memories in a known format; set format to one of "
                f"{', '.join(FORMATS)}"
            )
        entries = chain(seen, entries)
    return MemoryFile(format_, _READERS[format_](entries))


def _refuse_damaged(raw: bytes) -> None:
    """Raise `BadRequest` for JSON whose beginning is lost: as a list, each piece of its syntax
    would be a memory."""
    judged = list(islice(lines(raw), _JUDGED))
    pieces = sum(bool(_PIECE_OF_JSON.search(line.text[:_JUDGED_CHARS])) for line in judged)
    if 2 * pieces > len(judged):
        raise BadRequest(
            f"the file is damaged: {pieces} of its first {len(judged)} lines hold JSON, and line "
            f"{judged[0].number} does not begin any; export it again, or name the format text to "
            "read it as a list",
            param="format",
        )


def _has_lines(raw: bytes) -> bool:
    """Return True if each line is an object of its own, told by the first ones."""
    if raw.lstrip()[:1] != b"{":
        return False
    for place, line in enumerate(islice(lines(raw), _FIRST_LINES)):
        if not line.text.startswith(b"{") or len(line.text) > _LONGEST_FIRST:
            continue
        try:
            value = msgspec.json.decode(line.text)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            if not place and line.text.endswith((b"{", b"[", b",")):
                return False  # a document over several lines
            continue
        follows = line.end < len(raw) and not raw[line.end :].isspace()
        return follows or not _is_document(value)
    return False


def _is_document(value: dict[str, Any]) -> bool:
    """Return True if an object holds memories, and is none."""
    lists = ("results", "memories", "entities", "relations", "conversations")
    return any(isinstance(value.get(name), list) for name in lists) or isinstance(
        value.get("mapping"), dict
    )


def _entries(parts: Iterable[bytes]) -> Iterator[FileEntry | LineResult]:
    """The entries of each part, whatever is broken in those before it; numbers go on."""
    number = 0
    for part in parts:
        before = number
        try:
            entries = line_entries(part) if _has_lines(part) else document_entries(part.decode())
        except UnicodeDecodeError as error:
            entries = iter([broken(1, error)])
        for entry in entries:
            number = before + entry.line
            yield entry._replace(line=number) if before else entry


def _format_of(entry: FileEntry) -> str:
    """Empty where the entry does not tell."""
    key, value = entry.key, entry.value
    if key == "mapping" and isinstance(value, dict):
        return CHATGPT
    if key in CLAUDE_TEXTS:
        return CLAUDE_AI
    if isinstance(value, str):
        return TEXT if not key else ""
    if not isinstance(value, dict):
        return ""
    if any(name in value for name in CLAUDE_TEXTS):
        return CLAUDE_AI
    if isinstance(value.get("mapping"), dict):
        return CHATGPT
    if "entityType" in value or "relationType" in value:
        return SERVER_MEMORY
    structured = isinstance(value.get("kind"), str) and isinstance(value.get("data"), dict)
    if value.get("format") == FORMAT or (
        key == "" and (structured or isinstance(value.get("text"), str))
    ):
        return MEMTREE
    if key not in ("", "results", "memories"):
        return ""
    if isinstance(value.get("memory"), str):
        return MEM0
    is_openmemory = isinstance(value.get("content"), str) and "state" in value
    return OPENMEMORY if is_openmemory and "role" not in value else ""


def _texts(entries: Entries) -> Iterator[FileItem]:
    """The texts of a JSON list."""
    for entry in entries:
        if isinstance(entry, LineResult):
            yield entry
        elif isinstance(entry.value, str):
            text, created = list_line(entry.value)
            yield FileMemory(entry.line, text, created=created)
        else:
            yield LineResult(entry.line, LineStatus.INVALID, "no_text", "must be a text")


_READERS: dict[str, Callable[[Entries], Iterator[FileItem]]] = {
    MEMTREE: own_items,
    MEM0: mem0_items,
    OPENMEMORY: openmemory_items,
    SERVER_MEMORY: server_memory_items,
    CHATGPT: chatgpt_items,
    CLAUDE_AI: claude_items,
    TEXT: _texts,
}
