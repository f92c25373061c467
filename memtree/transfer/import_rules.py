"""Apply the rules of saving to each memory of a file.

A file is anybody's word. So what it brings anew is marked as imported, is refused where it holds a
secret, and is tainted: it is shown as a fact, and nothing more, until a person confirms it. An
export that is brought back whole (`restorable`) keeps what it says of itself, under the same rules
for texts.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

from memtree.agents.memory_schema import checked_kind
from memtree.agents.structured_memory import (
    TEXT,
    checked_data,
    refuse_secrets_in,
    structured_memory,
    structured_text,
)
from memtree.errors import BadRequest, SecretRejected
from memtree.memories.checked_fields import refuse_secrets
from memtree.memories.draft import MemoryDraft, checked_name, checked_text, new_memory
from memtree.memories.memory import (
    IMPORTED,
    USER_CATEGORIES,
    EntityMention,
    Memory,
    MemoryFields,
    MemorySource,
    NewMemory,
    Tombstone,
)
from memtree.memories.memory_store import MemoryRecord
from memtree.memories.search.vector_bytes import packed_terms
from memtree.memories.user_memories import MAX_DESCRIPTION_CHARS, MAX_TITLE_CHARS
from memtree.text.normal_form import text_hash
from memtree.transfer.file_items import FileGroup, FileMemory, FileTombstone, LineResult, LineStatus

MOST_DATA_CHARS = 32_768  # of a memory's data as JSON: more than any route takes
MOST_MESSAGE_CHARS = 1_000  # of the id of a message, which callers choose
_HEX = re.compile(r"(?:[0-9a-f]{2}){0,64}")
FACT = "fact"  # the kind of an agent's memory that is a text alone


def importable(
    item: FileMemory,
    id_: str,
    now: float,
    most_chars: int,
    format_: str,
    *,
    of_agent: bool = False,
    allow_secrets: bool = False,
) -> NewMemory | LineResult:
    """A memory of a file as a new one, or why not. `of_agent`: its text is made from its data; of
    what is a text alone, the text is the data."""
    if dropped := left_out(item, now):
        return dropped
    try:
        if of_agent:
            return _structured(item, id_, now, most_chars, format_, allow_secrets)
        return _new(item, id_, now, most_chars, format_)
    except (BadRequest, SecretRejected) as error:
        return refusal(item, error, most_chars)


def restorable(
    item: FileMemory, most_chars: int, *, of_agent: bool = False, allow_secrets: bool = False
) -> MemoryRecord | LineResult:
    """A memory of our own export as it was, or why not. `of_agent`: its text is made from its data;
    what its schema says does not matter, since it may have changed after the memory was stored."""
    record = item.record
    if record is None:
        return LineResult(item.line, LineStatus.INVALID, "no_id", "it has no id to keep")
    before = [version.version for version in record.versions]
    # What a line says of itself is counted to only where it brings as many versions.
    if len(before) != record.memory.version - 1 or before != [*range(1, len(before) + 1)]:
        why = "versions must be all those before the memory's own"
        return LineResult(item.line, LineStatus.INVALID, "field", why)
    try:
        if of_agent:
            memory, *versions = (
                _restructured(each, most_chars, allow_secrets)
                for each in (record.memory, *record.versions)
            )
            record = record._replace(memory=memory, versions=tuple(versions))
        for memory in (record.memory, *record.versions):
            _check(memory, most_chars, allow_secrets=of_agent and allow_secrets)
        if record.tombstone is not None:
            _check_left(record.tombstone, most_chars)
    except (BadRequest, SecretRejected) as error:
        return refusal(item, error, most_chars)
    text = record.memory.text
    return record._replace(text_hash=text_hash(text), terms=packed_terms(text))


def checked_group(item: FileGroup) -> FileGroup | LineResult:
    """A group under the rules for texts."""
    group = item.group
    try:
        checked_text(group.title, MAX_TITLE_CHARS, "title")
        if group.description:
            checked_text(group.description, MAX_DESCRIPTION_CHARS, "description")
        if group.category is not None:
            checked_name(group.category, "category")
    except (BadRequest, SecretRejected) as error:
        return _refused(item.line, error)
    return item


def checked_left(item: FileTombstone, most_chars: int) -> FileTombstone | LineResult:
    """A tombstone under the rules for texts."""
    try:
        _check_left(item.tombstone, most_chars)
    except (BadRequest, SecretRejected) as error:
        return _refused(item.line, error)
    return item


def _check_left(left: Tombstone, most_chars: int) -> None:
    for value in (left.text, left.reason):
        if value:
            checked_text(value, most_chars)


def _refused(line: int, error: BadRequest | SecretRejected) -> LineResult:
    if isinstance(error, SecretRejected):
        return LineResult(line, LineStatus.REFUSED, "secret", error.message)
    return LineResult(line, LineStatus.INVALID, "field", error.message)


def refusal(item: FileMemory, error: BadRequest | SecretRejected, most_chars: int) -> LineResult:
    if isinstance(error, BadRequest):
        if len(item.text) > most_chars:
            return LineResult(item.line, LineStatus.REFUSED, "too_long", error.message)
        if item.data is None and not item.text.strip():
            return LineResult(item.line, LineStatus.INVALID, "empty", "the text is empty")
    return _refused(item.line, error)


def left_out(item: FileMemory, now: float) -> LineResult | None:
    """Why a memory is not wanted, however good it is."""
    record = item.record
    if record and (record.memory.superseded_by or record.memory.duplicate_of):
        why = "a later memory of the file counts in its place"
        return LineResult(item.line, LineStatus.SKIPPED, "superseded", why)
    if item.expires is not None and item.expires <= now:
        return LineResult(item.line, LineStatus.SKIPPED, "expired", "it has expired")
    return None


def _new(item: FileMemory, id_: str, now: float, most_chars: int, format_: str) -> NewMemory:
    text = checked_text(item.text, most_chars)
    created = _created(item, now)
    if item.thread_id is not None:
        checked_name(item.thread_id, "thread_id")
    if item.kind:
        checked_name(item.kind, "kind")
    _check_data(item.data)
    _check_source(item.source)
    said = {**_imported(item, created, format_), "last_confirmed": created}
    return new_memory(MemoryDraft(text, **said), id_, created, most_chars)


def _structured(
    item: FileMemory, id_: str, now: float, most_chars: int, format_: str, allow_secrets: bool
) -> NewMemory:
    plain = item.category if item.category in USER_CATEGORIES else FACT
    names = {
        "thread_id": item.thread_id, "session_id": item.session_id, "category": item.category
    }  # fmt: skip
    for name, value in names.items():
        if value is not None:
            checked_name(value, name)
    if item.data is None and not item.text.strip():
        raise BadRequest("text must not be empty", param="text")
    _check_source(item.source)
    created = _created(item, now)
    said: dict[str, Any] = {
        **_imported(item, created, format_),
        "kind": checked_kind(item.kind or plain, "kind"),
        "data": {TEXT: item.text.strip()} if item.data is None else dict(item.data),
    }
    return structured_memory(
        id_, MemoryFields(**said), created, most=most_chars, allow_secrets=allow_secrets
    ).memory


def _imported(item: FileMemory, created: float, format_: str) -> dict[str, Any]:
    """The fields of a memory that came in a file of this format. Its mode of capture stays behind:
    it is the word of whoever wrote the file."""
    return {
        **item.said_of_it(),
        "capture_mode": None,
        "source_type": IMPORTED,
        "tainted": True,
        "source_provider": format_,
        "source": _source(item, created),
        "mentions": checked_mentions(item.mentions),
    }


def _created(item: FileMemory, now: float) -> float:
    return now if item.created is None or item.created > now else item.created


def _source(item: FileMemory, created: float) -> MemorySource | None:
    source = item.source or MemorySource()
    if source.recorded is None and item.created is not None:
        source = replace(source, recorded=created)
    return None if source == MemorySource() else source


def checked_mentions(mentions: tuple[EntityMention, ...]) -> tuple[EntityMention, ...]:
    """Raises `BadRequest` and `SecretRejected`."""
    for mention in mentions:
        for value in mention:
            checked_name(value, "mentions")
    return mentions


def _restructured(memory: Memory, most_chars: int, allow_secrets: bool) -> Memory:
    if memory.data is None:
        return memory
    checked_data(memory.data)
    if not allow_secrets:
        refuse_secrets_in(memory.data)
    return replace(memory, text=structured_text(memory.kind, memory.data, most_chars))


def _check(memory: Memory, most_chars: int, *, allow_secrets: bool) -> None:
    checked_text(memory.text, most_chars, allow_secrets=allow_secrets)
    names = {
        "category": memory.category,
        "kind": memory.kind or None,
        "source_type": memory.source_type,
        "source_provider": memory.source_provider,
        "capture_mode": memory.capture_mode,
        "session_id": memory.session_id,
        "thread_id": memory.thread_id,
    }
    for name, value in names.items():
        if value is not None:
            checked_name(value, name)
    for tag in memory.tags:
        refuse_secrets(tag)
    checked_mentions(memory.mentions)
    _check_source(memory.source)
    if not allow_secrets:
        _check_data(memory.data)


def _check_source(source: MemorySource | None) -> None:
    """The id of a message is anybody's, what else it says of the message is hexadecimal."""
    if source is None:
        return
    if source.message.strip():
        checked_text(source.message, MOST_MESSAGE_CHARS, "source")
    for name in ("digest", "address", "origin"):
        if not _HEX.fullmatch(getattr(source, name)):
            raise BadRequest(f"{name} of a source must be hexadecimal", param="source")


def _check_data(data: object) -> None:
    if data:
        try:
            written = json.dumps(data, ensure_ascii=False, allow_nan=False)
            written.encode()
        except (ValueError, RecursionError):
            raise BadRequest("data must be plain JSON", param="data") from None
        if len(written) > MOST_DATA_CHARS:
            raise BadRequest(f"data has more than {MOST_DATA_CHARS:,} characters", param="data")
        refuse_secrets(written)
