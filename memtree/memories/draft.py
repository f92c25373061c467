"""Check what a caller saves or changes as a memory, and make of it what is stored."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass, replace
from typing import Any

from memtree.errors import BadRequest
from memtree.memories.checked_fields import refuse_secrets
from memtree.memories.memory import (
    MAX_TEXT_CHARS,
    UNSET,
    Memory,
    MemoryChange,
    MemoryFields,
    NewMemory,
    Unset,
)
from memtree.memories.memory_topics import (
    FACT,
    category_of,
    is_own_word,
    pinned,
    standing_topic,
    trust_of,
)
from memtree.memories.search.vector_bytes import packed_terms
from memtree.text.normal_form import text_hash

MAX_NAME_CHARS = 200  # of a category, a session, a provider


class DedupPolicy(enum.StrEnum):
    """`INSERT`: no look at neighbours. `SKIP`: nothing is stored where the same is there already.
    `ASK`: stored anyway, and the neighbours are told."""

    INSERT = "insert"
    SKIP = "skip_if_near"
    ASK = "ask"


@dataclass(frozen=True, slots=True)
class MemoryDraft(MemoryFields):
    """`category` None: inferred from the text. `tainted`, `standing`: as in `trust_of`."""

    text: str
    standing: bool | None = None


@dataclass(frozen=True, slots=True)
class Edit:
    """Fields that are `UNSET` stay as they are."""

    text: str | Unset = UNSET
    category: str | Unset | None = UNSET
    tags: tuple[str, ...] | Unset = UNSET
    expires: float | Unset | None = UNSET
    standing: bool | Unset = UNSET


def checked_text(
    text: str, most: int = MAX_TEXT_CHARS, name: str = "text", *, allow_secrets: bool = False
) -> str:
    """Check a text and return it as it is kept. Raises `BadRequest` naming the field, and
    `SecretRejected`."""
    if not text.strip():
        raise BadRequest(f"{name} must not be empty", param=name)
    if len(text) > most:
        raise BadRequest(f"{name} has {len(text)} characters; at most {most} are kept", param=name)
    _refuse_unstorable(text, name)
    if not allow_secrets:
        refuse_secrets(text)
    return text.strip()


def new_text(text: str, at: float, most: int = MAX_TEXT_CHARS) -> MemoryChange:
    """Return the change of a memory that says something else from now on. Raises as `checked_text`
    does."""
    text = checked_text(text, most)
    return MemoryChange(at, text, text_hash(text), packed_terms(text), last_confirmed=at)


def change_of(edit: Edit, old: Memory, at: float, most: int = MAX_TEXT_CHARS) -> MemoryChange:
    """Return the change that a person's edit makes to a memory. Their words, and what they pin, are
    trusted, whoever wrote it before. Raises as `checked_text` does."""
    kept = isinstance(edit.text, Unset)
    said = old.text if isinstance(edit.text, Unset) else edit.text
    standing: str | Unset = UNSET
    if not isinstance(edit.standing, Unset):
        standing = pinned(said, edit.standing)
    elif not kept and (old.tainted or old.standing == standing_topic(old.text)):
        standing = standing_topic(said)  # no person has decided otherwise
    change = MemoryChange(at) if isinstance(edit.text, Unset) else new_text(edit.text, at, most)
    return replace(
        change,
        category=edit.category,
        tags=edit.tags,
        expires=edit.expires,
        tainted=UNSET if kept and edit.standing is not True else False,
        standing=standing,
    )


def new_memory(draft: MemoryDraft, id_: str, now: float, most: int = MAX_TEXT_CHARS) -> NewMemory:
    """Make what is stored of a draft. Raises as `checked_text` does, also for its other fields."""
    text = checked_text(draft.text, most)
    given = draft.said_of_it()
    for name in ("category", "source_provider", "session_id"):
        if given[name] is not None:
            checked_name(given[name], name)
    for tag in draft.tags:
        refuse_secrets(tag)
    if not (math.isfinite(draft.importance) and 0 <= draft.importance <= 1):
        raise BadRequest("importance must be a number from 0 to 1", param="importance")
    category = draft.category or category_of(text)
    trust = trust_of(text, draft, category, draft.standing)
    said: dict[str, Any] = {
        **given,
        "category": category,
        "last_confirmed": now if draft.last_confirmed is None else draft.last_confirmed,
        **trust._asdict(),
    }
    return NewMemory(id_, text, text_hash(text), packed_terms(text), now, **said)


def inheriting(draft: MemoryDraft, old: Memory) -> MemoryDraft:
    """Return a correction with the fields of the old memory that it does not give itself. One by a
    person stands where the old memory did; one by a model is tainted, whatever it replaces."""
    return replace(
        draft,
        category=draft.category or old.category,
        tags=draft.tags or old.tags,
        source_provider=draft.source_provider or old.source_provider,
        importance=old.importance,
        capture_mode=draft.capture_mode or old.capture_mode,
        session_id=draft.session_id or old.session_id,
        thread_id=draft.thread_id or old.thread_id,
        tainted=draft.tainted or not is_own_word(draft),
        standing=True if old.standing else None,
        kind=draft.kind or old.kind,
    )


def in_place(old: Memory, text: str, id_: str, now: float) -> NewMemory:
    """Make a memory of a part of another's text, or of other words for the same. It has all that is
    known of that one, stands only where that did, and counts as written by the same writer."""
    standing = standing_topic(text) or (FACT if old.standing == FACT else "")
    said = {**old.said_of_it(), "last_confirmed": old.said}
    stands = standing if old.standing else ""
    return NewMemory(id_, text, text_hash(text), packed_terms(text), now, standing=stands, **said)


def checked_name(value: str, name: str) -> str:
    """Check a short free text that is shown beside a memory."""
    if not 0 < len(value) <= MAX_NAME_CHARS:
        raise BadRequest(f"{name} must have 1 to {MAX_NAME_CHARS} characters", param=name)
    _refuse_unstorable(value, name)
    refuse_secrets(value)
    return value


def _refuse_unstorable(text: str, name: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadRequest(f"{name} holds half a character (a lone surrogate)", param=name) from None
    if "\0" in text:
        raise BadRequest(f"{name} holds a NUL character", param=name)
