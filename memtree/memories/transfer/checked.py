"""What may be stored of a file: the rules of saving, applied to each memory of it.

A file is anybody's word. So what it brings anew is marked as imported, is refused where it holds a
secret, and is tainted where it speaks to the model: such a line is shown as a fact, and nothing
more, until a person confirms it. An export that is brought back whole (`restorable`) keeps what it
says of itself, under the same rules for texts.
"""

from __future__ import annotations

import json
from dataclasses import replace

from memtree.errors import BadRequest, SecretRejected
from memtree.memories.draft import MemoryDraft, checked_name, checked_text, new_memory
from memtree.memories.memory import IMPORTED, Memory, MemorySource, NewMemory
from memtree.memories.ports import MemoryRecord
from memtree.memories.rules.canonical import text_hash
from memtree.memories.rules.categories import category_of
from memtree.memories.rules.secret_check import refuse_secrets
from memtree.memories.search.text_terms import packed_terms
from memtree.memories.transfer.file_items import FileGroup, FileMemory, LineResult, LineStatus
from memtree.memories.transfer.formats.foreign import speaks_to_model
from memtree.memories.user_memories import MAX_DESCRIPTION_CHARS, MAX_TITLE_CHARS

_INSTRUCTION = "instruction"


def importable(
    item: FileMemory, id_: str, now: float, most_chars: int, format_: str
) -> NewMemory | LineResult:
    """A memory of a file as a new one, or why not."""
    record = item.record
    if record and (record.memory.superseded_by or record.memory.duplicate_of):
        why = "a later memory of the file counts in its place"
        return LineResult(item.line, LineStatus.SKIPPED, "superseded", why)
    if item.expires is not None and item.expires <= now:
        return LineResult(item.line, LineStatus.SKIPPED, "expired", "it has expired")
    try:
        return _new(item, id_, now, most_chars, format_)
    except (BadRequest, SecretRejected) as error:
        return refusal(item, error, most_chars)


def restorable(item: FileMemory, most_chars: int) -> MemoryRecord | LineResult:
    """A memory of our own export as it was, or why not."""
    record = item.record
    if record is None:
        return LineResult(item.line, LineStatus.INVALID, "no_id", "it has no id to keep")
    before = [version.version for version in record.versions]
    if before != list(range(1, record.memory.version)):
        why = "versions must be all those before the memory's own"
        return LineResult(item.line, LineStatus.INVALID, "field", why)
    try:
        for memory in (record.memory, *record.versions):
            _check(memory, most_chars)
        if record.tombstone is not None:
            check_left(record.tombstone.text, record.tombstone.reason, most_chars)
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
    except SecretRejected as error:
        return LineResult(item.line, LineStatus.REFUSED, "secret", error.message)
    except BadRequest as error:
        return LineResult(item.line, LineStatus.INVALID, "field", error.message)
    return item


def check_left(text: str, reason: str, most_chars: int) -> None:
    """The words of a tombstone. Raises `BadRequest` and `SecretRejected`."""
    for value in (text, reason):
        if value:
            checked_text(value, most_chars)


def refusal(item: FileMemory, error: BadRequest | SecretRejected, most_chars: int) -> LineResult:
    if isinstance(error, SecretRejected):
        return LineResult(item.line, LineStatus.REFUSED, "secret", error.message)
    if len(item.text) > most_chars:
        return LineResult(item.line, LineStatus.REFUSED, "too_long", error.message)
    if not item.text.strip():
        return LineResult(item.line, LineStatus.INVALID, "empty", "the text is empty")
    return LineResult(item.line, LineStatus.INVALID, "field", error.message)


def _new(item: FileMemory, id_: str, now: float, most_chars: int, format_: str) -> NewMemory:
    text = checked_text(item.text, most_chars)
    created = now if item.created is None or item.created > now else item.created
    if item.thread_id is not None:
        checked_name(item.thread_id, "thread_id")
    if item.kind:
        checked_name(item.kind, "kind")
    _check_data(item.data)
    told = category_of(text)
    orders = _INSTRUCTION in (item.category, told) or speaks_to_model(text)
    source = item.source or MemorySource()
    if source.recorded is None and item.created is not None:
        source = replace(source, recorded=created)
    draft = MemoryDraft(
        text,
        category=item.category or told,
        tags=item.tags,
        source_type=IMPORTED,
        source_provider=format_,
        importance=item.importance,
        session_id=item.session_id,
        thread_id=item.thread_id,
        expires=item.expires,
        last_confirmed=created,
        tainted=item.tainted or orders,
        source=None if source == MemorySource() else source,
        kind=item.kind,
        data=item.data,
    )
    return new_memory(draft, id_, created, most_chars)


def _check(memory: Memory, most_chars: int) -> None:
    checked_text(memory.text, most_chars)
    names = {
        "category": memory.category,
        "kind": memory.kind or None,
        "source_type": memory.source_type,
        "source_provider": memory.source_provider,
        "capture_mode": memory.capture_mode,
        "session_id": memory.session_id,
        "thread_id": memory.thread_id,
        "source": (memory.source and memory.source.message) or None,
    }
    for name, value in names.items():
        if value is not None:
            checked_name(value, name)
    for tag in memory.tags:
        refuse_secrets(tag)
    _check_data(memory.data)


def _check_data(data: object) -> None:
    if data:
        try:
            written = json.dumps(data, ensure_ascii=False, allow_nan=False)
            written.encode()
        except (ValueError, RecursionError):
            raise BadRequest("data must be plain JSON", param="data") from None
        refuse_secrets(written)
