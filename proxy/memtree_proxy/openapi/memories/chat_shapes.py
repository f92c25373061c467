"""Shapes of chat memory: what is posted and what is answered."""

from __future__ import annotations

from memtree.config import Settings
from memtree_proxy.memories.chat.fields import MAX_MESSAGE_ID, SOURCE_TYPES
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
)
from memtree_proxy.wire.shape import schema_of
from memtree_proxy.wire.types import (
    CHAT_ID,
    MEMORY_ID,
    NO_NUL,
    STATE,
    TIME,
    VERSION,
)

_SAID = schema_of_answer(curation.SAID_OF_CHAT)["properties"]
_ROW = {
    "id": MEMORY_ID,
    "content": described(STRING, "What is remembered."),
    "category": either(curation.CHAT_CATEGORY, NULL),
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
    "tainted": _SAID["tainted"],
    "version": VERSION,
}
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
    "ChatMemoryHits": hits_of(_ROW),
    "ChatMemories": object_of({"memories": array(schema("ChatMemory"))}),
    "ChatMemoryHistory": schema_of_answer(curation.CHAT_HISTORY),
    "ChatTombstones": schema_of_answer(curation.CHAT_TOMBSTONES),
}


def bodies(settings: Settings) -> dict[str, Json]:
    """Schemas of what is posted."""
    says = "Inferred from the content when absent."
    given = posted_fields("content", settings, curation.CHAT_CATEGORY, says)
    message = {**NO_NUL, "type": "string", "minLength": 1, "maxLength": MAX_MESSAGE_ID}
    return {
        "NewChatMemory": object_of(
            {"messageId": described(message, "Kept as it is; no messages are."), **given},
            ("messageId", "content"),
            description="A memory to be made from a message of the chat.",
            additionalProperties=False,
        ),
        "ChatMemoryEdit": edit_of(given, "content"),
        "MemoryIds": schema_of(curation.MemoryIds),
        "ChatMemoryMerge": curation.merge_schema(curation.ChatMemoryMerge, "content", settings),
        "ChatBulkDeletion": curation.deletion_schema(agents=False),
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
    """Return `components.parameters` of chat memory, by name."""
    given = [
        parameter.path("chatId", "The chat, by an id that its owner chose.", CHAT_ID),
        parameter.path("memoryId", "The memory.", {**CHAT_ID, "examples": ["mem_0b1c2d3e"]}),
        parameter.query("category", "Memories of this category alone.", curation.CHAT_CATEGORY),
        parameter.query(
            "source_type",
            "Memories that came this way alone.",
            {"type": "string", "enum": list(SOURCE_TYPES)},
        ),
        parameter.query("tainted", "Memories that are tainted, or that are not.", BOOLEAN),
        parameter.query("standing", "Memories that stand in every prompt, or do not.", BOOLEAN),
        parameter.query("conflicts", "Memories that may replace another one, or may not.", BOOLEAN),
    ]
    return {entry["name"]: entry for entry in given}
