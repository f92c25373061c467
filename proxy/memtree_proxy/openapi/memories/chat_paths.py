"""Operations of chat memory: what a chat remembers, read and changed by a person or a program."""

from __future__ import annotations

from memtree.config import Settings
from memtree_proxy.access.event_streams import LAST_EVENT_HEADER, MOST_STREAMS
from memtree_proxy.http import content_encoding
from memtree_proxy.memories import fields
from memtree_proxy.memories.chat.fields import INCLUDED, SOURCE_TYPES
from memtree_proxy.memories.curation_routes import MAX_TOMBSTONES
from memtree_proxy.openapi import failures, headers
from memtree_proxy.openapi.memories import parts
from memtree_proxy.openapi.memories.chat_shapes import CATEGORY
from memtree_proxy.openapi.memories.parts import answer, delete_operation, memory_operation
from memtree_proxy.wire import parameter
from memtree_proxy.wire.json_schema import BOOLEAN, Json
from memtree_proxy.wire.operation import KNOWN, READING
from memtree_proxy.wire.parameter import asked, limit, named
from memtree_proxy.wire.types import CHAT_ID

TAG = "Chat memory"


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


_ROOT = "/chat/api/{chatId}"
_MEMORIES = f"{_ROOT}/memories"
_INCLUDED: Json = {"type": "string", "enum": list(INCLUDED)}


def paths(settings: Settings) -> dict[str, Json]:
    return {
        **_all(settings),
        **_watched(settings),
        **_many(settings),
        **_one(settings),
        **_past(settings),
    }


def _all(settings: Settings) -> dict[str, Json]:
    known, reading = failures.of(settings, 400, *KNOWN), failures.of(settings, *READING)
    refused = failures.of(settings, 409, 422)
    saved = answer("It was there already, in these or other words.", "SavedChatMemory", etag=True)
    filters = named("category", "source_type", "tainted", "standing", "conflicts")
    return {
        f"{_ROOT}/memory": {
            "post": memory_operation(
                TAG,
                "createChatMemory",
                "Remember something",
                "Creates a memory from a message of the chat. What says the same as a stored "
                "memory is not stored twice: the answer is that one, with status 200. What may "
                "replace one is stored beside it, and the answer names both.",
                {
                    "201": {**saved, "description": "It is saved."},
                    "200": saved,
                    **refused,
                    **reading,
                },
                named("chatId", content_encoding.HEADER),
                "ChatMemory",
            )
        },
        _MEMORIES: {
            "get": memory_operation(
                TAG,
                "listChatMemories",
                "List memories",
                "The memories of a chat that are not deleted, the newest first. Without `limit` "
                f"all of them, up to {fields.MAX_ROWS:,}.",
                {"200": answer("A page of them.", "ChatMemoryPage"), **known},
                [
                    *named("chatId"),
                    *filters,
                    parameter.query("include", "Those as well.", _INCLUDED),
                    limit(fields.MAX_ROWS, fields.MAX_ROWS),
                    *named("cursor"),
                ],
            )
        },
        f"{_MEMORIES}/search": {
            "get": memory_operation(
                TAG,
                "searchChatMemories",
                "Search memories",
                "By meaning and by words.",
                {"200": answer("The best of them.", "ChatMemoryHits"), **known},
                [*named("chatId"), asked(), *filters, limit(fields.MAX_HITS, fields.HITS)],
            )
        },
    }


def _watched(settings: Settings) -> dict[str, Json]:
    known, reading = failures.of(settings, 400, *KNOWN), failures.of(settings, *READING)
    return {
        f"{_MEMORIES}/events": {
            "get": memory_operation(
                TAG,
                "watchChatMemories",
                "Watch memories",
                "Server-sent events, one for each change, with no text in it. The stream ends when "
                "the credential is let in no longer. At most "
                f"{MOST_STREAMS} streams of a tenant are open at once.",
                {"200": parts.event_stream("memories of the chat"), **known},
                named("chatId", LAST_EVENT_HEADER),
            )
        },
        f"{_MEMORIES}/undelete": {
            "post": memory_operation(
                TAG,
                "undeleteChatMemories",
                "Bring memories back",
                "Deleted memories that are not erased yet. Others are left out of the answer.",
                {"200": answer("Those that are back.", "ChatMemories"), **reading},
                named("chatId", content_encoding.HEADER),
                "MemoryIds",
            )
        },
    }


def _many(settings: Settings) -> dict[str, Json]:
    known, reading = failures.of(settings, 400, *KNOWN), failures.of(settings, *READING)
    return {
        f"{_MEMORIES}/delete": {
            "post": memory_operation(
                TAG,
                "deleteChatMemories",
                "Delete many memories",
                "What a filter or a list of ids means, or all: in one step. With `dry_run` they "
                "are counted. The receipt says that ids and texts were looked for afterwards.",
                {"200": answer("A receipt, or a count.", "BulkReceipt"), **reading},
                named("chatId", content_encoding.HEADER),
                "ChatBulkDeletion",
            )
        },
        f"{_MEMORIES}/tombstones": {
            "get": memory_operation(
                TAG,
                "listChatTombstones",
                "What was forgotten or replaced",
                "The newest first. Of what was forgotten no text is left.",
                {"200": answer("The tombstones.", "ChatTombstones"), **known},
                [*named("chatId"), limit(MAX_TOMBSTONES, MAX_TOMBSTONES)],
            )
        },
    }


def _one(settings: Settings) -> dict[str, Json]:
    unknown, known = failures.of(settings, 404), failures.of(settings, 400, *KNOWN)
    reading = failures.of(settings, 404, 409, 422, *READING)
    changed = answer("The memory as it is now.", "ChatMemory", etag=True)
    gone = {"description": "It is gone.", "headers": headers.of_every()}
    given = named("chatId", "memoryId")
    return {
        f"{_MEMORIES}/{{memoryId}}": {
            "get": memory_operation(
                TAG,
                "showChatMemory",
                "Show a memory",
                "One memory.",
                {"200": answer("The memory.", "ChatMemory", etag=True), **unknown, **known},
                given,
            ),
            "patch": memory_operation(
                TAG,
                "updateChatMemory",
                "Change a memory",
                "Its embedding follows the new content.",
                {"200": changed, **reading},
                [*given, *named(fields.IF_MATCH_HEADER, content_encoding.HEADER)],
                "ChatMemoryEdit",
            ),
            "delete": delete_operation(
                TAG,
                "deleteChatMemory",
                "Delete a memory",
                "It is in no answer and no search from now on. For "
                f"{settings.deleted_days} days it can be brought back, then it is erased.",
                {"204": gone, **unknown, **known},
                given,
            ),
        },
        f"{_MEMORIES}/{{memoryId}}/confirm": {
            "post": memory_operation(
                TAG,
                "confirmChatMemory",
                "Confirm a memory",
                "A person says that a tainted memory is right: it counts as any other from now on.",
                {"200": changed, **unknown, **known, **failures.of(settings, 415)},
                given,
            )
        },
    }


def _past(settings: Settings) -> dict[str, Json]:
    unknown, known = failures.of(settings, 404), failures.of(settings, 400, *KNOWN)
    reading = failures.of(settings, 404, 409, 422, *READING)
    given = named("chatId", "memoryId")
    return {
        f"{_MEMORIES}/{{memoryId}}/history": {
            "get": memory_operation(
                TAG,
                "showChatMemoryHistory",
                "What a memory said before",
                "Its versions, and those of the memories that it took the place of.",
                {"200": answer("The history.", "ChatMemoryHistory"), **unknown, **known},
                given,
            )
        },
        f"{_MEMORIES}/{{memoryId}}/merge": {
            "post": memory_operation(
                TAG,
                "mergeChatMemories",
                "Let a memory replace an older one",
                "The older one counts no more; what it said stays in the history.",
                {"200": answer("The memory that counts.", "ChatMemory", etag=True), **reading},
                [*given, *named(fields.IF_MATCH_HEADER, content_encoding.HEADER)],
                "ChatMemoryMerge",
            )
        },
        f"{_MEMORIES}/{{memoryId}}/settle": {
            "post": memory_operation(
                TAG,
                "settleChatMemories",
                "Settle a conflict",
                "Of two memories of which one may replace the other: it does, or both are kept.",
                {"200": answer("The memory that counts.", "ChatMemory", etag=True), **reading},
                [*given, *named(content_encoding.HEADER)],
                "MemorySettlement",
            )
        },
    }
