"""Define answers of the routes of users' memories, their groups and settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from memtree.memories.memory import MemorySource
from memtree.memories.message_extraction import ExtractionReport, SkippedText
from memtree.memories.users.user_book import MembersAdded
from memtree.memories.users.user_memories import MOST_TOP_K, PLANS, MemoryGroup, UserSettings
from memtree_proxy.wire.answer import (
    SUCCESS,
    Answer,
    Shown,
    schema_of_answer,
    shown,
    shown_each,
)
from memtree_proxy.wire.curation import CATEGORY, SAID_OF_USER
from memtree_proxy.wire.json_schema import (
    BOOLEAN,
    COUNT,
    NULL,
    STRING,
    Json,
    array,
    described,
    either,
    schema,
)
from memtree_proxy.wire.memory_rows import (
    MAYBE_ID,
    MAYBE_STRING,
    ShownPage,
    ShownRow,
    hits_of,
    maybe_time,
    of_memory,
    page_of,
    saved,
    state_of,
    time,
)
from memtree_proxy.wire.types import MEMORY_ID

_GROUP_ID = described(STRING, "As in `grp_3f9a...`.", examples=["grp_0b1c2d3e4f5a6b7c8d9e"])
_SOURCE: Answer[MemorySource] = {
    "digest": Shown(STRING, says="SHA-256 of the message's text."),
    "start": Shown(COUNT, says="Where it begins in that text, in code points."),
    "end": Shown(COUNT),
    "address": Shown(
        MAYBE_STRING, lambda of: of.address or None, "Of the history that the message ends."
    ),
    "origin": Shown(
        MAYBE_STRING, lambda of: of.origin or None, "Of the first round of that history."
    ),
    "recorded_at": maybe_time("recorded"),
}


def _source(of: ShownRow) -> Json | None:
    source = of.memory.source
    return shown(_SOURCE, source) if source and source.digest else None


def _conversation(of: ShownRow) -> str | None:
    return (of.memory.source.address or None) if of.memory.source else None


ROW: Answer[ShownRow] = {
    "id": Shown(MEMORY_ID, "memory.id"),
    "number": Shown(COUNT, "memory.number", "The same as `memory_id` of the remember tool."),
    **of_memory(SAID_OF_USER),
    **state_of("text"),
    "group_id": Shown(
        either(_GROUP_ID, NULL),
        lambda of: of.group and of.group.id,
        "The group asked for, else the oldest that it is in.",
    ),
    "group_title": Shown(MAYBE_STRING, lambda of: of.group and of.group.title),
    "group_ids": Shown(array(_GROUP_ID), "groups", "All groups that it is in."),
    "source_type": Shown(
        STRING,
        "memory.source_type",
        "`user`: a person or a program; `model`: saved by a tool; `extraction`: from a "
        "conversation; `import`.",
    ),
    "conversation_id": Shown(
        MAYBE_STRING, _conversation, "The address of the history that it comes from."
    ),
    "source": Shown(
        either(schema_of_answer(_SOURCE), NULL), _source, "Where it was said, if it was extracted."
    ),
    "supersedes": Shown(MAYBE_ID, "memory.supersedes"),
    "superseded_by": Shown(MAYBE_ID, lambda of: of.memory.superseded_by or of.memory.duplicate_of),
}
SAVED, HITS = saved("text"), hits_of(ROW)

# -- groups ----------------------------------------------------------------------------------

GROUP: Answer[MemoryGroup] = {
    "id": Shown(_GROUP_ID),
    "title": Shown(STRING),
    "description": Shown(STRING),
    "category": Shown(either(CATEGORY, NULL)),
    "member_count": Shown(COUNT, "members", "Memories in it."),
    "created_at": time("created"),
    "updated_at": time("updated"),
}
_PAGE = page_of(ROW, "UserMemory", "user")
PAGE: Answer[ShownPage] = {
    "memories": _PAGE["memories"],
    "groups": Shown(
        array(schema("MemoryGroup")),
        lambda of: shown_each(GROUP, of.groups),
        "All groups, the oldest first.",
    ),
    **_PAGE,
}
MEMBERS_ADDED: Answer[MembersAdded] = {
    **SUCCESS,
    "added_count": Shown(COUNT, "added", "How many were not in it before."),
    "unknown": Shown(array(STRING), says="Ids that name no memory that is there."),
}

# -- settings --------------------------------------------------------------------------------


class ShownSettings(NamedTuple):
    settings: UserSettings
    plan: str


SETTINGS: Answer[ShownSettings] = {
    "memories_save_enabled": Shown(
        BOOLEAN,
        "settings.save",
        "Memories are made from conversations, and stand beside them.",
    ),
    "memories_chat_history_enabled": Shown(BOOLEAN, "settings.history", "Snapshots are kept."),
    "top_k": Shown({"type": "integer", "minimum": 1, "maximum": MOST_TOP_K}, "settings.top_k"),
    "score_threshold": Shown({"type": "number", "minimum": 0, "maximum": 1}, "settings.threshold"),
    "plan": Shown({"type": "string", "enum": list(PLANS)}),
}

# -- extraction ------------------------------------------------------------------------------


class Extracted(NamedTuple):
    """Outcome of extracting memories from a posted conversation. `stored`: with `dry_run`, the
    memories that would be stored."""

    dry_run: bool
    report: ExtractionReport
    stored: Sequence[ShownRow]
    snapshots: Sequence[ShownRow]


_PLANNED: Answer[ShownRow] = {
    **ROW,
    **dict.fromkeys(("id", "number"), Shown(NULL, lambda of: None)),
}
_SKIPPED: Answer[SkippedText] = {
    "text": Shown(
        STRING,
        lambda of: of.shown,
        "What it was about; empty for a `secret`. It is told here and kept nowhere.",
    ),
    "reason": Shown(
        STRING,
        lambda of: str(of.reason),
        "As in `question`, `request`, `duplicate` (a memory says it already), `secret`, "
        "`not_grounded` (a model claims what was not said), `cap` (one message gives so many "
        "and no more), `limit` (the tenant may have no more memories).",
    ),
}
EXTRACTED: Answer[Extracted] = {
    "dry_run": Shown(BOOLEAN),
    "messages": Shown(
        COUNT,
        "report.messages",
        "Messages of the user that were read: those that were not read before.",
    ),
    "stored": Shown(
        array(
            either(
                schema("UserMemory"), schema_of_answer(_PLANNED, description="It is not stored.")
            )
        ),
        lambda of: shown_each(_PLANNED if of.dry_run else ROW, of.stored),
        "New memories, or with `dry_run` what they would be.",
    ),
    "skipped": Shown(
        array(schema_of_answer(_SKIPPED)),
        lambda of: shown_each(_SKIPPED, of.report.skipped),
        "What no memory was made of.",
    ),
    "snapshots": Shown(
        array(schema("UserMemory")),
        lambda of: shown_each(ROW, of.snapshots),
        "Snapshots that are new, or changed.",
    ),
}
