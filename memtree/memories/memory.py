"""Define a memory and what is known of it. Times are unix seconds, None where there is none."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, NamedTuple

MAX_TEXT_CHARS = 16_000  # of a memory's text, by default
MAX_TAGS = 32
CATEGORIES = ("preference", "fact", "instruction")  # of chat memory
USER_CATEGORIES = ("fact", "preference", "schedule", "general", "snapshot")  # a user may have more
SNAPSHOT = "snapshot"  # the kind and category of what a conversation was about: never injected
EXTRACTED = "extraction"  # the source type of what was extracted from a conversation
IMPORTED = "import"
WORDING = "wording"  # what differs where no single value can be named


@dataclass(frozen=True, slots=True)
class MemorySource:
    """Where a memory comes from: `message` is an id that a caller gave, opaque; `start` and `end`
    are code points in the text of the message with this `digest`, which stands at the end of the
    history with this `address` (hex). `origin`: the address of the beginning of that history
    (`history/conversation_beginning.py`), "" where the message stands in it: a history with the
    origin and without the address is another branch of the same conversation. `recorded`: when it
    was said or read, unix seconds. No text."""

    message: str = ""
    start: int = 0
    end: int = 0
    digest: str = ""
    address: str = ""
    origin: str = ""
    recorded: float | None = None


class MemoryState(enum.StrEnum):
    """The state of a memory: it counts, or why it does not."""

    LIVE = "live"
    EXPIRED = "expired"
    SUPERSEDED = "superseded"
    DUPLICATE = "duplicate"
    DELETED = "deleted"


class PossibleUpdate(NamedTuple):
    """An older memory that a newer one may replace. `differs`: one changed value or negation, as
    in `8090 -> 8091`; `WORDING` where none can be named."""

    id: str
    text: str
    differs: tuple[str, ...] = ()


class EntityMention(NamedTuple):
    """Somebody or something that a memory names. `type`: `person`, `organization`, `place`,
    `concept` and the like."""

    name: str
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFields:
    """The fields of a memory beside its text. They are declared once for drafts, for lines of
    files, and for what is stored. `confidence`: how sure it is, 0 to 1. `happened`: when what it
    tells of happens, unix seconds. `last_confirmed`: when somebody last said that it is so."""

    kind: str = ""
    data: Mapping[str, Any] | None = None
    category: str | None = None
    tags: tuple[str, ...] = ()
    source_type: str = "user"
    source_provider: str | None = None
    importance: float = 0.5
    capture_mode: str | None = None
    session_id: str | None = None
    thread_id: str | None = None
    expires: float | None = None
    last_confirmed: float | None = None
    tainted: bool = False
    source: MemorySource | None = None
    confidence: float = 1.0
    happened: float | None = None
    mentions: tuple[EntityMention, ...] = ()

    def said_of_it(self) -> dict[str, Any]:
        """Return the values of these fields by name, for another form of the same memory."""
        return {each.name: getattr(self, each.name) for each in fields(MemoryFields)}


@dataclass(frozen=True, slots=True)
class NewMemory(MemoryFields):
    """A memory that is not stored yet. `text_hash`: of the canonical text (16 bytes); `terms`: its
    term statistics, packed (`memories.search`); both are made by whoever saves. `standing`: the
    topic under which it stands in every prompt of its scope, "" for none."""

    id: str
    text: str
    text_hash: bytes
    terms: bytes
    created: float
    supersedes: str | None = None
    standing: str = ""


@dataclass(frozen=True, slots=True)
class Memory(MemoryFields):
    """A stored memory. `number`: its integer id within the tenant. `version`: 1 at first, one more
    with every change. `deleted`: when it was soft-deleted. `superseded_by`, `duplicate_of`: the id
    of the one that counts in its place. `conflicting`: it was stored as one that may replace
    others; `updates`: those, while both count (of what lists, searches and look-ups read).
    `standing`: as in `NewMemory`."""

    id: str
    number: int
    text: str
    created: float
    updated: float
    deleted: float | None = None
    supersedes: str | None = None
    superseded_by: str | None = None
    duplicate_of: str | None = None
    version: int = 1
    conflicting: bool = False
    updates: tuple[PossibleUpdate, ...] = ()
    standing: str = ""

    @property
    def said(self) -> float:
        """When somebody last said that it is so."""
        return self.created if self.last_confirmed is None else self.last_confirmed

    def live(self, now: float) -> bool:
        """Return True if searches, lists and injection may show it."""
        return self.state(now) is MemoryState.LIVE

    def state(self, now: float) -> MemoryState:
        if self.deleted is not None:
            return MemoryState.DELETED
        if self.superseded_by or self.duplicate_of:
            return MemoryState.SUPERSEDED if self.superseded_by else MemoryState.DUPLICATE
        expired = self.expires is not None and self.expires <= now
        return MemoryState.EXPIRED if expired else MemoryState.LIVE


class Unset(enum.Enum):
    """The value of a field that a change leaves as it is."""

    UNSET = "unset"


UNSET: Final = Unset.UNSET


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """A change of a stored memory; fields that are `UNSET` stay. A new `text` comes with its
    `text_hash` and `terms`, and takes the vectors of the old one away."""

    at: float
    text: str | Unset = UNSET
    text_hash: bytes = b""
    terms: bytes = b""
    category: str | Unset | None = UNSET
    tags: tuple[str, ...] | Unset = UNSET
    data: Mapping[str, Any] | Unset | None = UNSET
    expires: float | Unset | None = UNSET
    last_confirmed: float | Unset = UNSET
    tainted: bool | Unset = UNSET
    confidence: float | Unset = UNSET
    happened: float | Unset | None = UNSET
    mentions: tuple[EntityMention, ...] | Unset = UNSET
    standing: str | Unset = UNSET


@dataclass(frozen=True, slots=True)
class Tombstone:
    """The rest of a memory that was forgotten (`text` is empty) or corrected (`replaced_by` names
    the memory that took its place)."""

    id: str
    number: int
    at: float
    reason: str = ""
    text: str = ""
    replaced_by: str | None = None
