"""Shapes of chat memory: what is posted and what is answered."""

from __future__ import annotations

from memtree.config import Settings
from memtree.memories.memory import CATEGORIES, MAX_TAGS
from memtree.memories.rules.tags import MAX_GIVEN
from memtree_proxy.memories.chat.fields import MAX_MESSAGE_ID, SOURCE_TYPES
from memtree_proxy.memories.fields import MAX_IDS
from memtree_proxy.memories.user.fields import FILTER_CATEGORY, GIVEN_TIME, SOURCE_TYPE
from memtree_proxy.openapi.memories.curation_shapes import bulk_deletion, history_of, tombstones_of
from memtree_proxy.openapi.memories.parts import saved_row, told_row
from memtree_proxy.wire import parameter
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
)
from memtree_proxy.wire.types import (
    CHAT_ID,
    MEMORY_ID,
    NO_NUL,
    RELEVANCE,
    SAYS_SOMETHING,
    STANDING,
    STATE,
    TIME,
    VERSION,
)

CATEGORY: Json = {"type": "string", "enum": list(CATEGORIES)}

_ROW = {
    "id": MEMORY_ID,
    "content": described(STRING, "What is remembered."),
    "category": either(CATEGORY, NULL),
    "source_type": described(
        {"type": "string", "enum": list(SOURCE_TYPES)},
        "`model`: saved by the tool `save_memory`; `user`: by a person or a program.",
    ),
    "created_at": TIME,
    "updated_at": TIME,
    "expires_at": either(TIME, NULL),
    "deleted_at": described(either(TIME, NULL), "Null but for `include=deleted`."),
    "last_confirmed_at": described(
        either(TIME, NULL), "When a person said it, or said that it is right."
    ),
    "tags": array(STRING),
    "message_id": described(either(STRING, NULL), "The `messageId` that it was made from."),
    "state": STATE,
    **told_row("content"),
    "tainted": described(
        BOOLEAN,
        "A model saved it in a turn in which a tool or a web page spoke, or saved an instruction: "
        "models are shown it as a fact until a person confirms it.",
    ),
    "version": VERSION,
}
_VERSION = object_of(
    {
        "version": VERSION,
        "at": TIME,
        **{name: _ROW[name] for name in ("content", "category", "tags", "expires_at", "tainted")},
    }
)
SCHEMAS: dict[str, Json] = {
    "ChatMemory": object_of(_ROW, description="A memory of a chat."),
    "SavedChatMemory": saved_row(_ROW, "content"),
    "ChatMemoryPage": object_of(
        {
            "memories": array(schema("ChatMemory"), description="The newest first."),
            "next_cursor": described(
                either(STRING, NULL), "For the page after this one; null on the last."
            ),
            "total": described(COUNT, "All memories of the chat, whatever the filter."),
        }
    ),
    "ChatMemoryHits": object_of(
        {
            "memories": array(
                object_of({**_ROW, "relevance": RELEVANCE}), description="The best first."
            ),
            "degraded": described(
                array(STRING), "`embedder`: words alone ranked, or some memories lack a vector."
            ),
        }
    ),
    "ChatMemories": object_of({"memories": array(schema("ChatMemory"))}),
    "ChatMemoryHistory": history_of(_VERSION),
    "ChatTombstones": tombstones_of("content"),
}


def bodies(settings: Settings) -> dict[str, Json]:
    """Schemas of what is posted."""
    text = {
        **NO_NUL,
        "type": "string",
        "pattern": SAYS_SOMETHING,
        "maxLength": settings.max_text_chars,
    }
    given: dict[str, Json] = {
        "content": described(text, "The text to remember. Secrets are refused."),
        "category": described(either(CATEGORY, NULL), "Inferred from the content when absent."),
        "tags": described(
            either(array({"type": "string", "maxLength": MAX_GIVEN}, maxItems=MAX_TAGS), NULL),
            "Kept in lower case, with hyphens for white space.",
        ),
        "standing": either(STANDING, NULL),
    }
    message = {**NO_NUL, "type": "string", "minLength": 1, "maxLength": MAX_MESSAGE_ID}
    changed = {**given, "content": either(given["content"], NULL)}
    return {
        "NewChatMemory": object_of(
            {"messageId": described(message, "Kept as it is; no messages are."), **given},
            ("messageId", "content"),
            description="A memory to be made from a message of the chat.",
            additionalProperties=False,
        ),
        "ChatMemoryEdit": {
            **object_of(
                changed,
                (),
                description="What is to be changed: at least one field.",
                additionalProperties=False,
            ),
            "anyOf": [
                {"required": [name], "properties": {name: {"not": NULL}}} for name in changed
            ],
        },
        "MemoryIds": object_of(
            {"ids": array(STRING, minItems=1, maxItems=MAX_IDS)},
            description="Memories that were deleted.",
        ),
        "ChatMemoryMerge": object_of(
            {
                "replaces": described(STRING, "The id of the older memory."),
                "content": either(given["content"], NULL),
            },
            ("replaces",),
        ),
        "ChatBulkDeletion": bulk_deletion(
            {
                "category": either(FILTER_CATEGORY, NULL),
                "tags": given["tags"],
                "source_type": either(SOURCE_TYPE, NULL),
                "tainted": either(BOOLEAN, NULL),
                "standing": either(BOOLEAN, NULL),
                "conflicts": either(BOOLEAN, NULL),
                "created_from": either(GIVEN_TIME, NULL),
                "created_before": either(GIVEN_TIME, NULL),
            },
            {},
        ),
    }


EXAMPLES: dict[str, Json] = {
    "ChatMemory": {
        "messageId": "msg_abc123",
        "content": "The project deadline is March 15, 2026",
    },
    "ChatMemoryEdit": {"content": "The project deadline has been extended to April 1, 2026"},
    "MemoryIds": {"ids": ["mem_0b1c2d3e4f5a6b7c8d9e"]},
    "ChatMemoryMerge": {"replaces": "mem_0b1c2d3e4f5a6b7c8d9e"},
    "ChatBulkDeletion": {"filter": {"source_type": "model", "tainted": True}, "dry_run": True},
}
REQUEST_BODIES = {**{name: name for name in EXAMPLES}, "ChatMemory": "NewChatMemory"}


def request_bodies() -> dict[str, Json]:
    """`components.requestBodies`."""
    return {
        name: posted([shape], {"one": EXAMPLES[name]}) for name, shape in REQUEST_BODIES.items()
    }


def parameters() -> dict[str, Json]:
    """`components.parameters`, by name."""
    given = [
        parameter.path("chatId", "The chat, by an id that its owner chose.", CHAT_ID),
        parameter.path("memoryId", "The memory.", {**CHAT_ID, "examples": ["mem_0b1c2d3e"]}),
        parameter.query("category", "Memories of this category alone.", CATEGORY),
        parameter.query(
            "source_type",
            "Memories that came this way alone.",
            {"type": "string", "enum": list(SOURCE_TYPES)},
        ),
        parameter.query("tainted", "Memories that are tainted, or that are not.", BOOLEAN),
        parameter.query("standing", "Memories that stand in every prompt, or do not.", BOOLEAN),
        parameter.query("conflicts", "Memories that may replace another one, or may not.", BOOLEAN),
    ]
    return {one["name"]: one for one in given}
