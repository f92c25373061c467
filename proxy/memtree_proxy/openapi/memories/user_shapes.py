"""Shapes of user memories: what is posted and what is answered."""

from __future__ import annotations

from memtree.config import Settings
from memtree.memories.users.user_categories import MAX_CATEGORY
from memtree.memories.users.user_memories import (
    MAX_DESCRIPTION_CHARS,
    MAX_TITLE_CHARS,
    MOST_TOP_K,
    PLANS,
)
from memtree_proxy.http.own_headers import USER_HEADER
from memtree_proxy.openapi.memories.curation_shapes import (
    edit_of,
    hits_of,
    posted_fields,
)
from memtree_proxy.openapi.memories.parts import saved_row, told_row
from memtree_proxy.wire import curation, parameter
from memtree_proxy.wire.answer import schema_of_answer
from memtree_proxy.wire.json_schema import (
    BOOLEAN,
    COUNT,
    NULL,
    STRING,
    Json,
    array,
    described,
    either,
    object_of,
    posted,
    schema,
    when_given,
)
from memtree_proxy.wire.shape import schema_of
from memtree_proxy.wire.types import (
    CHAT_ID,
    MEMORY_ID,
    NO_NUL,
    SAYS_SOMETHING,
    STATE,
    TIME,
)

_GROUP_ID = described(STRING, "As in `grp_3f9a...`.", examples=["grp_0b1c2d3e4f5a6b7c8d9e"])
_MAYBE_TIME, _MAYBE_STRING = either(TIME, NULL), either(STRING, NULL)
_SOURCE = object_of(
    {
        "digest": described(STRING, "SHA-256 of the message's text."),
        "start": described(COUNT, "Where it begins in that text, in code points."),
        "end": COUNT,
        "address": described(_MAYBE_STRING, "Of the history that the message ends."),
        "origin": described(_MAYBE_STRING, "Of the first round of that history."),
        "recorded_at": _MAYBE_TIME,
    }
)

ROW = {
    "id": MEMORY_ID,
    "number": described(COUNT, "The same as `memory_id` of the remember tool."),
    **schema_of_answer(curation.SAID_OF_USER)["properties"],
    "state": STATE,
    **told_row("text"),
    "created_at": TIME,
    "updated_at": TIME,
    "deleted_at": described(_MAYBE_TIME, "Null but for `include=deleted`."),
    "last_confirmed_at": _MAYBE_TIME,
    "group_id": described(
        either(_GROUP_ID, NULL), "The group asked for, else the oldest that it is in."
    ),
    "group_title": _MAYBE_STRING,
    "group_ids": described(array(_GROUP_ID), "All groups that it is in."),
    "source_type": described(
        STRING,
        "`user`: a person or a program; `model`: saved by a tool; `extraction`: from a "
        "conversation; `import`.",
    ),
    "conversation_id": described(_MAYBE_STRING, "The address of the history that it comes from."),
    "source": described(either(_SOURCE, NULL), "Where it was said, if it was extracted."),
    "supersedes": either(MEMORY_ID, NULL),
    "superseded_by": either(MEMORY_ID, NULL),
}
_GROUP = {
    "id": _GROUP_ID,
    "title": STRING,
    "description": STRING,
    "category": either(curation.CATEGORY, NULL),
    "member_count": described(COUNT, "Memories in it."),
    "created_at": TIME,
    "updated_at": TIME,
}
_DONE: Json = {"const": True}
_INTEGER: Json = {"type": ["integer", "string"], "pattern": r"^\s*[+-]?[0-9]+\s*$"}
_PLAN: Json = {"type": "string", "enum": list(PLANS)}
SCHEMAS: dict[str, Json] = {
    "UserMemory": object_of(ROW, description="A memory of a user."),
    "SavedMemory": saved_row(ROW, "text"),
    "MemoryPage": object_of(
        {
            "memories": array(schema("UserMemory"), description="The newest first."),
            "groups": array(schema("MemoryGroup"), description="All groups, the oldest first."),
            "next_cursor": described(_MAYBE_STRING, "For the page after this; null on the last."),
            "total": described(COUNT, "All memories of the user, whatever the filter."),
        }
    ),
    "MemoryHits": hits_of(ROW),
    "Memories": object_of({"memories": array(either(schema("UserMemory"), schema("AgentMemory")))}),
    "MemoryHistory": schema_of_answer(curation.AGENT_HISTORY),
    "Tombstones": schema_of_answer(curation.TOMBSTONES),
    "MemoryDeleted": object_of(
        {
            "success": _DONE,
            "deleted_from_groups": described(COUNT, "Groups that it was in."),
            "deleted": described(COUNT, "It and its twins: others that say the same."),
        }
    ),
    "BulkReceipt": curation.BULK_RECEIPT,
    "DryRun": curation.DRY_RUN,
    "MemoryGroup": object_of(_GROUP, description="Memories that belong together."),
    "MemoryGroups": object_of({"groups": array(schema("MemoryGroup"))}),
    "GroupMembersAdded": object_of(
        {
            "success": _DONE,
            "added_count": described(COUNT, "How many were not in it before."),
            "unknown": described(array(STRING), "Ids that name no memory that is there."),
        }
    ),
    "Done": object_of({"success": _DONE}),
    "MemorySettings": object_of(
        {
            "memories_save_enabled": described(
                BOOLEAN, "Memories are made from conversations, and stand beside them."
            ),
            "memories_chat_history_enabled": described(BOOLEAN, "Snapshots are kept."),
            "top_k": {"type": "integer", "minimum": 1, "maximum": MOST_TOP_K},
            "score_threshold": {"type": "number", "minimum": 0, "maximum": 1},
            "plan": _PLAN,
        }
    ),
}


_NAMED: Json = {
    "type": "string",
    "maxLength": MAX_CATEGORY,
    "pattern": r"^[^\W_]([\w .:/+-]{0,62}\w)?$",
}
_TITLE: Json = {
    **NO_NUL,
    "type": "string",
    "pattern": SAYS_SOMETHING,
    "maxLength": MAX_TITLE_CHARS,
}
_NEW_GROUP: dict[str, Json] = {
    "title": _TITLE,
    "description": either({**NO_NUL, "type": "string", "maxLength": MAX_DESCRIPTION_CHARS}, NULL),
    "category": either(_NAMED, NULL),
}
_CHANGEABLE: dict[str, Json] = {
    "memories_save_enabled": either(BOOLEAN, NULL),
    "memories_chat_history_enabled": either(BOOLEAN, NULL),
    "top_k": described(either(_INTEGER, NULL), "Clamped."),
    "score_threshold": described(either({"type": "number"}, NULL), "Clamped."),
}
_BODIES: dict[str, Json] = {
    "MemorySettlement": schema_of(curation.MemorySettlement),
    "BulkDeletion": curation.deletion_schema(agents=True),
    "NewMemoryGroup": object_of(_NEW_GROUP, ("title",), description="A group to be made."),
    "MemoryGroupEdit": {
        **object_of({**_NEW_GROUP, "title": either(_TITLE, NULL)}, ()),
        "anyOf": [when_given("title"), {"required": ["description"]}, {"required": ["category"]}],
    },
    "GroupMembers": object_of(
        {"memory_ids": array(STRING, minItems=1, maxItems=curation.MAX_IDS)},
        description="Memories that are there.",
    ),
    "MemorySettingsEdit": {
        **object_of(
            {**_CHANGEABLE, "plan": described(NULL, "Set with the key: a value is a 403.")}, ()
        ),
        "anyOf": [when_given(name) for name in _CHANGEABLE],
    },
}


def bodies(settings: Settings) -> dict[str, Json]:
    """Schemas of what is posted."""
    given = posted_fields(
        "text",
        settings,
        _NAMED,
        f"{curation.OWN} Inferred from the text when absent.",
        expires_at=described(
            either(curation.A_TIME.schema, NULL),
            "Not found after it; must lie in the future. A date is its start.",
        ),
    )
    return {
        "NewMemory": object_of(
            given, ("text",), description="A memory to be made.", additionalProperties=False
        ),
        "MemoryEdit": edit_of(given, "text"),
        "MemoryMerge": curation.merge_schema(curation.MemoryMerge, "text", settings),
        **_BODIES,
    }


EXAMPLES: dict[str, Json] = {
    "MemoryMerge": {"replaces": "mem_0b1c2d3e4f5a6b7c8d9e"},
    "MemorySettlement": {"with": "mem_0b1c2d3e4f5a6b7c8d9e", "action": "replace"},
    "BulkDeletion": {"filter": {"source_type": "extraction", "tainted": True}, "dry_run": True},
    "NewMemoryGroup": {
        "title": "Project Context",
        "description": "Information about my current project",
        "category": "fact",
    },
    "MemoryGroupEdit": {"title": "Work Projects"},
    "GroupMembers": {"memory_ids": ["mem_abc123", "mem_def456"]},
    "MemorySettingsEdit": {"memories_save_enabled": True, "top_k": 5},
}


def request_bodies() -> dict[str, Json]:
    """`components.requestBodies`."""
    return {name: posted([name], {"one": value}) for name, value in EXAMPLES.items()}


def parameters() -> dict[str, Json]:
    """Return `components.parameters` of user memories, by name."""
    given = [
        parameter.header(
            USER_HEADER,
            "The user within the tenant; none: the tenant itself. Beside a cookie it is ignored.",
            CHAT_ID,
        ),
        parameter.path("memory_id", "The memory.", {**CHAT_ID, "examples": ["mem_0b1c2d3e"]}),
        parameter.path("group_id", "The group.", {**CHAT_ID, "examples": ["grp_0b1c2d3e"]}),
    ]
    return {entry["name"]: entry for entry in given}
