"""Define requests and answers that curate memories: bulk deletion, settling conflicts,
histories and tombstones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar

import msgspec

from memtree.errors import BadRequest
from memtree.memories.curation import DeletionReceipt, MemoryPast, ReplacedMemory
from memtree.memories.deletion_check import EVERYTHING
from memtree.memories.draft import checked_name
from memtree.memories.fields.times import timestamp
from memtree.memories.memory import (
    CATEGORIES,
    EXTRACTED,
    IMPORTED,
    USER_CATEGORIES,
    Memory,
    Tombstone,
)
from memtree.memories.ports import ANY, MemoryFilter
from memtree.wire.json_body import Body
from memtree_proxy.request import fields
from memtree_proxy.request.delete_options import refuse_unknown
from memtree_proxy.wire.agent_memories import A_MANY
from memtree_proxy.wire.answer import Answer, Shown, schema_of_answer, shown, shown_each
from memtree_proxy.wire.json_schema import (
    BOOLEAN,
    COUNT,
    NULL,
    STRING,
    Json,
    array,
    described,
    either,
)
from memtree_proxy.wire.memory_rows import MAYBE_ID, MAYBE_STRING, maybe_time, time
from memtree_proxy.wire.shape import Shape, Type, TypeNow, names, object_at, read
from memtree_proxy.wire.types import (
    A_TEXT,
    AN_ID,
    MEMORY_ID,
    NO_NUL,
    TAGS,
    TAGS_SAY,
    VERSION,
    YES_OR_NO,
    ids,
    one_of,
)

MAX_IDS = 1_000  # in one request
SOURCE_TYPES = ("user", "model", EXTRACTED, IMPORTED)
BULK_FIELDS = ("filter", "ids", "all")  # ways in which a bulk deletion selects memories

# -- posted ----------------------------------------------------------------------------------


def _name(value: object, name: str) -> str:
    return checked_name(fields.text(value, name) or "", name)


# Category in a filter: any name, since a filter may match nothing.
CATEGORY_NAME = Type({**NO_NUL, "type": "string", "minLength": 1, "maxLength": 200}, _name)
# The schema takes any string; a 400 says if it is no time, or not in the future.
A_TIME = Type({"type": "string", "examples": ["2031-03-07", "2031-03-07T10:30:00Z"]}, timestamp)
SOURCE_TYPE = one_of(*SOURCE_TYPES)


class BulkFilter(Shape, frozen=True, rename={"group": "group_id", "thread_id": "threadId"}):
    """Filter of memories; the attributes are named as in `MemoryFilter`."""

    category: Annotated[str | None, CATEGORY_NAME, "Of this category alone."] = None
    tags: Annotated[tuple[str, ...], TAGS, TAGS_SAY] = ()
    source_type: Annotated[str | None, SOURCE_TYPE, "That came this way alone."] = None
    group: Annotated[str | None, AN_ID, "Members of this group alone."] = None
    tainted: Annotated[bool | None, YES_OR_NO, "That wait for a person's word, or do not."] = None
    standing: Annotated[bool | None, YES_OR_NO, "That stand in every prompt, or do not."] = None
    conflicts: Annotated[bool | None, YES_OR_NO, "That may replace another one, or may not."] = None
    created_from: Annotated[float | None, A_TIME, "Made at this time or later."] = None
    created_before: Annotated[float | None, A_TIME, "Made before this time."] = None
    kind: Annotated[str | None, CATEGORY_NAME, "Of agents; and no `group_id`."] = None
    thread_id: Annotated[str | None, AN_ID] = None


# Filters by whose memories they select from.
AGENTS_FILTERS = ("kind", "threadId")
OF_CHATS = tuple(name for name in names(BulkFilter) if name not in ("group_id", *AGENTS_FILTERS))
OF_USERS, OF_AGENTS = (*OF_CHATS, "group_id"), (*OF_CHATS, *AGENTS_FILTERS)


def memory_filter(given: Mapping[str, Any], place: str = "", **states: Any) -> MemoryFilter:
    """Read a filter. `place`: prefix of field names in errors. `states`: flags that also let
    superseded, expired or deleted memories through."""
    return MemoryFilter(**msgspec.structs.asdict(read(BulkFilter, given, place=place)), **states)


def _filter(value: object, name: str, known: Sequence[str]) -> MemoryFilter:
    """Read the filter of a deletion. `known`: fields that it may have."""
    given = object_at(value, name)
    if set(given) - set(known):
        raise BadRequest(f"{name} knows only {', '.join(known)}", param=name)
    return memory_filter(given, f"{name}.", superseded=True, expired=True)


class BulkDeletion(Shape, frozen=True, rename={"agent_id": "agentId", "subject_id": "subjectId"}):
    filter: Annotated[MemoryFilter | None, TypeNow({}, _filter)] = None
    ids: Annotated[list[str] | None, ids(MAX_IDS)] = None
    all: Annotated[
        bool, YES_OR_NO, "Everything that is stored, also what expired or was replaced."
    ] = False
    dry_run: Annotated[bool, YES_OR_NO, "Count them, and delete nothing."] = False
    purge: Annotated[bool, YES_OR_NO, "Erase them at once, for good."] = False
    agent_id: Annotated[str, A_MANY, "As in the query; a body may name it, too."] = ""
    subject_id: Annotated[str, A_MANY] = ""

    def wanted(self, *, purged: bool) -> MemoryFilter:
        """Return the filter of the memories to delete. `purged`: with `all`, include deleted
        memories."""
        return replace(EVERYTHING, deleted=purged) if self.all else self.filter or ANY


def bulk_deletion(body: Body, known: Sequence[str]) -> BulkDeletion:
    """Read which memories to delete. Raises `BadRequest` unless the body selects them in exactly
    one way; a filter that matches every memory is refused. `known`: fields that a filter may
    have."""
    posted = read(BulkDeletion, body, known)
    if [posted.all, posted.filter is not None, posted.ids is not None].count(True) != 1:
        raise BadRequest("give exactly one of filter, ids and all: true")
    if posted.filter == EVERYTHING:
        raise BadRequest("filter must not be empty; all: true deletes everything", param="filter")
    return posted


class MemoryIds(Shape, frozen=True):
    ids: Annotated[list[str], ids(MAX_IDS)]

    MORE: ClassVar[Json] = {"description": "Memories that were deleted."}


class MemorySettlement(Shape, frozen=True, rename={"other": "with"}):
    other: Annotated[str, A_TEXT, "The id of the other memory."]
    action: Annotated[
        str,
        one_of("replace", "keep_both"),
        "Whether this memory counts in the place of the other.",
    ]

    MORE: ClassVar[Json] = {"additionalProperties": False}

    @classmethod
    def check(cls, given: Mapping[str, Any], place: str) -> None:
        refuse_unknown(given, names(cls), "field")
        if given.get("action") is None:
            raise BadRequest("action must be replace or keep_both", param="action")

    @property
    def replaces(self) -> bool:
        return self.action == "replace"


# -- answered --------------------------------------------------------------------------------

OWN = f"One of {', '.join(USER_CATEGORIES)}, or one of your own."
CATEGORY = described({"type": "string", "maxLength": 200}, OWN)
CHAT_CATEGORY: Json = {"type": "string", "enum": list(CATEGORIES)}


def _said(text: str, category: Json, tainted: str) -> Answer[Memory]:
    """Return the fields of a memory's version. `text`: the name of its text field."""
    return {
        text: Shown(STRING, "text", "What is remembered."),
        "category": Shown(either(category, NULL)),
        "tags": Shown(array(STRING)),
        "expires_at": maybe_time("expires"),
        "tainted": Shown(BOOLEAN, says=tainted),
        "version": Shown(VERSION),
    }


SAID_OF_USER = _said(
    "text",
    CATEGORY,
    "A model saved it in a turn in which a tool or a web page spoke, or it came in an import "
    "and reads like an instruction: models are shown it as a fact until a person confirms it.",
)
SAID_OF_CHAT = _said(
    "content",
    CHAT_CATEGORY,
    "A model saved it in a turn in which a tool or a web page spoke, or saved an instruction: "
    "models are shown it as a fact until a person confirms it.",
)
_SAID_OF_AGENT: Answer[Memory] = {
    **SAID_OF_USER,
    "kind": Shown(STRING, lambda memory: memory.kind, "Of an agent's memory, and so on.", True),
    "data": Shown(either({"type": "object"}, NULL), lambda memory: memory.data, optional=True),
    "confidence": Shown(
        {"type": "number", "minimum": 0, "maximum": 1},
        lambda memory: memory.confidence,
        optional=True,
    ),
}


def _history(said: Answer[Memory]) -> Answer[MemoryPast]:
    """Show the versions of a memory, and of the memories that it replaced."""
    version = {"version": said["version"], "at": time("updated"), **said}
    versions = array(schema_of_answer(version))
    replaced: Answer[ReplacedMemory] = {
        "id": Shown(MEMORY_ID, "tombstone.id"),
        "replaced_at": time("tombstone.at"),
        "replaced_by": Shown(MAYBE_ID, "tombstone.replaced_by"),
        "reason": Shown(MAYBE_STRING, lambda memory: memory.tombstone.reason or None),
        "versions": Shown(versions, lambda memory: shown_each(version, memory.versions)),
    }
    return {
        "id": Shown(MEMORY_ID, lambda past: past.versions[0].id),
        "versions": Shown(
            versions,
            lambda past: shown_each(version, past.versions),
            "The newest, which counts, first.",
        ),
        "replaced": Shown(
            array(schema_of_answer(replaced)),
            lambda past: shown_each(replaced, past.replaced),
            "Memories that it took the place of, and what these said.",
        ),
    }


HISTORY, CHAT_HISTORY = _history(SAID_OF_USER), _history(SAID_OF_CHAT)
AGENT_HISTORY = _history(_SAID_OF_AGENT)  # the document describes users' histories by it, too


def _tombstones(text: str) -> Answer[list[Tombstone]]:
    stone: Answer[Tombstone] = {
        "id": Shown(MEMORY_ID),
        "number": Shown(COUNT),
        "at": time("at"),
        "reason": Shown(MAYBE_STRING, lambda stone: stone.reason or None),
        text: Shown(MAYBE_STRING, lambda stone: stone.text or None, "Null of what was forgotten."),
        "replaced_by": Shown(MAYBE_ID),
    }
    listed = array(schema_of_answer(stone))
    return {"tombstones": Shown(listed, lambda stones: shown_each(stone, stones))}


TOMBSTONES, CHAT_TOMBSTONES = _tombstones("text"), _tombstones("content")

_APART: Answer[DeletionReceipt] = {
    "undelete_until": maybe_time("undelete_until", "Until then `undelete` brings them back."),
    "tombstones": Shown(COUNT, says="Ids and dates of those that were forgotten."),
    "snapshots": Shown(array(MEMORY_ID), says="Snapshots of conversations that quote one of them."),
    "other_scopes": Shown({"const": "kept"}, lambda receipt: "kept"),
}
RECEIPT: Answer[DeletionReceipt] = {
    "deleted": Shown(COUNT, lambda receipt: len(receipt.deleted)),
    "verified": Shown(
        BOOLEAN,
        says="No list, search, history, past list or export answers one of them, or a twin of "
        "it in its scope (looked for are up to 50).",
    ),
    "apart": Shown(
        schema_of_answer(_APART),
        lambda receipt: shown(_APART, receipt),
        "What stands apart. Equal texts of other scopes are not looked for.",
    ),
}

# -- the document ----------------------------------------------------------------------------
