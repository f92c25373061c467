"""Operations of user memories: what is remembered of a user, and how it is looked after."""

from __future__ import annotations

from memtree.config import Settings
from memtree.memories.memory import MAX_TAGS
from memtree.memories.rules.tags import MAX_TAG
from proxy.access.user_scope import USER_HEADER
from proxy.http import content_encoding
from proxy.memories import fields
from proxy.memories.events import MOST_STREAMS
from proxy.memories.user.fields import INCLUDED
from proxy.memories.user.routes import MAX_TOMBSTONES
from proxy.openapi import failures, headers
from proxy.openapi.memories import parts
from proxy.openapi.memories.parts import answer, memory_operation, named, query
from proxy.openapi.memories.user_shapes import FILTER_CATEGORY, GIVEN_TIME, SOURCE_TYPE
from proxy.openapi.operations import KNOWN, READING
from proxy.openapi.shapes import Json

TAG = "User memories"

_ROOT = "/memories"
_USER = USER_HEADER
_BODY = (_USER, content_encoding.HEADER)
_TAGS: Json = {
    "type": "array",
    "items": {"type": "string", "maxLength": MAX_TAG},
    "maxItems": MAX_TAGS,
}


def parameters() -> dict[str, Json]:
    """`components.parameters`, by name."""
    given = [
        parts.header(
            USER_HEADER,
            "The user within the tenant; none: the tenant itself. Beside a cookie it is ignored.",
            headers.CHAT_ID,
        ),
        parts.path("memory_id", "The memory.", {**headers.CHAT_ID, "examples": ["mem_0b1c2d3e"]}),
        parts.path("group_id", "The group.", {**headers.CHAT_ID, "examples": ["grp_0b1c2d3e"]}),
    ]
    return {one["name"]: one for one in given}


def paths(settings: Settings) -> dict[str, Json]:
    return {
        **_all(settings),
        **_found(settings),
        **_many(settings),
        **_one(settings),
        **_past(settings),
        **_groups(settings),
        **_group(settings),
        **_settings(settings),
    }


def _filters() -> list[Json]:
    shown = {"type": "string", "enum": list(INCLUDED)}
    return [
        query("group_id", "Members of this group alone.", headers.CHAT_ID),
        query("category", "Of this category alone.", FILTER_CATEGORY),
        query("tag", "With this tag; may stand several times.", _TAGS),
        query("source_type", "That came this way alone.", SOURCE_TYPE),
        query("tainted", "That wait for a person's word, or do not.", {"type": "boolean"}),
        query("created_from", "Made at this time or later.", GIVEN_TIME),
        query("created_before", "Made before this time.", GIVEN_TIME),
        query(
            "include", "Those as well; not with `as_of`.", {"type": "array", "items": shown}
        ),
        query(
            "as_of",
            "What was remembered at this time (a date: at its start, UTC), but for what is "
            "deleted now.",
            GIVEN_TIME,
        ),
    ]  # fmt: skip


def _all(settings: Settings) -> dict[str, Json]:
    known, reading = failures.of(settings, 400, *KNOWN), failures.of(settings, *READING)
    saved = answer("It was there already, in these or other words.", "SavedMemory", etag=True)
    return {
        _ROOT: {
            "get": memory_operation(
                TAG,
                "listMemories",
                "List memories and groups",
                "The memories that are not deleted, the newest first, and all groups. Without "
                f"`limit` all of them, up to {fields.MAX_ROWS:,}.",
                {
                    "200": answer("A page of them.", "MemoryPage"),
                    **failures.of(settings, 404),
                    **known,
                },
                [
                    *named(_USER),
                    *_filters(),
                    parts.limit(fields.MAX_ROWS, fields.MAX_ROWS),
                    *named("cursor"),
                ],
            ),
            "post": memory_operation(
                TAG,
                "createMemory",
                "Remember something",
                "What says the same as a stored memory is not stored twice: the answer is that "
                "one, with status 200. What may replace one is stored beside it, and the answer "
                "names both.",
                {
                    "201": {**saved, "description": "It is saved."},
                    "200": saved,
                    **failures.of(settings, 409, 422),
                    **reading,
                },
                named(*_BODY),
                "NewMemory",
            ),
        }
    }


def _found(settings: Settings) -> dict[str, Json]:
    known = failures.of(settings, 400, *KNOWN)
    least = query(
        "threshold",
        "The relevance that a hit must have; clamped to 0 to 1.",
        {"type": "number", "default": 0},
    )
    return {
        f"{_ROOT}/search": {
            "get": memory_operation(
                TAG,
                "searchMemories",
                "Search memories",
                "By meaning and by words.",
                {
                    "200": answer("The best of them.", "MemoryHits"),
                    **failures.of(settings, 404),
                    **known,
                },
                [
                    *named(_USER),
                    parts.asked(),
                    *_filters(),
                    parts.limit(fields.MAX_HITS, fields.HITS),
                    least,
                ],
            )
        },
        f"{_ROOT}/events": {
            "get": memory_operation(
                TAG,
                "watchMemories",
                "Watch memories",
                "Server-sent events, one for each change, with no text in it. The stream ends when "
                "the credential is let in no longer. At most "
                f"{MOST_STREAMS} streams of a tenant are open at once.",
                {"200": parts.event_stream("memories of the user"), **known},
                named(_USER, fields.LAST_EVENT_HEADER),
            )
        },
    }


def _many(settings: Settings) -> dict[str, Json]:
    reading = failures.of(settings, *READING)
    return {
        f"{_ROOT}/delete": {
            "post": memory_operation(
                TAG,
                "deleteMemories",
                "Delete many memories",
                "What a filter or a list of ids means, or all: in one step. With `dry_run` they "
                "are counted. The receipt says that ids and texts were looked for afterwards.",
                {"200": answer("A receipt, or a count.", "BulkReceipt"), **reading},
                named(*_BODY),
                "BulkDeletion",
            )
        },
        f"{_ROOT}/undelete": {
            "post": memory_operation(
                TAG,
                "undeleteMemories",
                "Bring memories back",
                "Deleted memories that are not erased yet. Others are left out of the answer.",
                {"200": answer("Those that are back.", "Memories"), **reading},
                named(*_BODY),
                "MemoryIds",
            )
        },
        f"{_ROOT}/tombstones": {
            "get": memory_operation(
                TAG,
                "listTombstones",
                "What was forgotten or replaced",
                "The newest first. Of what was forgotten no text is left.",
                {
                    "200": answer("The tombstones.", "Tombstones"),
                    **failures.of(settings, 400, *KNOWN),
                },
                [*named(_USER), parts.limit(MAX_TOMBSTONES, MAX_TOMBSTONES)],
            )
        },
    }


def _one(settings: Settings) -> dict[str, Json]:
    unknown, known = failures.of(settings, 404), failures.of(settings, 400, *KNOWN)
    reading = failures.of(settings, 404, 409, 422, *READING)
    given = named(_USER, "memory_id")
    return {
        f"{_ROOT}/{{memory_id}}": {
            "get": memory_operation(
                TAG,
                "showMemory",
                "Show a memory",
                "One memory.",
                {"200": answer("The memory.", "UserMemory", etag=True), **unknown, **known},
                given,
            ),
            "patch": memory_operation(
                TAG,
                "updateMemory",
                "Change a memory",
                "What it said before stays in its history.",
                {"200": answer("The memory as it is now.", "UserMemory", etag=True), **reading},
                [*given, *named(fields.IF_MATCH_HEADER, content_encoding.HEADER)],
                "MemoryEdit",
            ),
            "delete": memory_operation(
                TAG,
                "deleteMemory",
                "Delete a memory",
                "It is in no answer, no search and no group from now on. For "
                f"{settings.deleted_days} days it can be brought back, then it is erased.",
                {"200": answer("It is gone.", "MemoryDeleted"), **unknown, **known},
                [*given, parts.purge()],
            ),
        },
        f"{_ROOT}/{{memory_id}}/confirm": {
            "post": memory_operation(
                TAG,
                "confirmMemory",
                "Confirm a memory",
                "A person says that it is right: a tainted memory counts as any other from now on.",
                {
                    "200": answer("The memory as it is now.", "UserMemory", etag=True),
                    **unknown,
                    **known,
                    **failures.of(settings, 415),
                },
                given,
            )
        },
    }


def _past(settings: Settings) -> dict[str, Json]:
    unknown, known = failures.of(settings, 404), failures.of(settings, 400, *KNOWN)
    reading = failures.of(settings, 404, 409, 422, *READING)
    given = named(_USER, "memory_id")
    return {
        f"{_ROOT}/{{memory_id}}/history": {
            "get": memory_operation(
                TAG,
                "showMemoryHistory",
                "What a memory said before",
                "Its versions, and those of the memories that it took the place of.",
                {"200": answer("The history.", "MemoryHistory"), **unknown, **known},
                given,
            )
        },
        f"{_ROOT}/{{memory_id}}/merge": {
            "post": memory_operation(
                TAG,
                "mergeMemories",
                "Let a memory replace an older one",
                "The older one counts no more; what it said stays in the history.",
                {"200": answer("The memory that counts.", "UserMemory", etag=True), **reading},
                [*given, *named(fields.IF_MATCH_HEADER, content_encoding.HEADER)],
                "MemoryMerge",
            )
        },
    }


def _groups(settings: Settings) -> dict[str, Json]:
    reading = failures.of(settings, *READING)
    known = failures.of(settings, 400, *KNOWN)
    return {
        f"{_ROOT}/groups": {
            "get": memory_operation(
                TAG,
                "listMemoryGroups",
                "List groups",
                "The oldest first.",
                {"200": answer("The groups.", "MemoryGroups"), **known},
                named(_USER),
            ),
            "post": memory_operation(
                TAG,
                "createMemoryGroup",
                "Create a group",
                "A group to organize memories.",
                {
                    "201": answer("It is made.", "MemoryGroup"),
                    **failures.of(settings, 409, 422),
                    **reading,
                },
                named(*_BODY),
                "NewMemoryGroup",
            ),
        }
    }


def _group(settings: Settings) -> dict[str, Json]:
    unknown, known = failures.of(settings, 404), failures.of(settings, 400, *KNOWN)
    reading = failures.of(settings, 404, *READING)
    given = named(_USER, "group_id")
    posted = [*given, *named(content_encoding.HEADER)]
    root = f"{_ROOT}/groups/{{group_id}}"
    return {
        root: {
            "get": memory_operation(
                TAG, "showMemoryGroup", "Show a group", "One group.",
                {"200": answer("The group.", "MemoryGroup"), **unknown, **known}, given,
            ),
            "patch": memory_operation(
                TAG, "updateMemoryGroup", "Change a group", "Null takes what it is away.",
                {
                    "200": answer("The group as it is now.", "MemoryGroup"),
                    **failures.of(settings, 422), **reading,
                },
                posted, "MemoryGroupEdit",
            ),
            "delete": memory_operation(
                TAG, "deleteMemoryGroup", "Delete a group", "Its memories stay.",
                {"200": answer("It is gone.", "Done"), **unknown, **known}, given,
            ),
        },
        f"{root}/memories": {
            "post": memory_operation(
                TAG, "addMemoriesToGroup", "Add memories to a group",
                "Existing memories; one may be in several groups.",
                {"200": answer("They are in it.", "GroupMembersAdded"), **reading},
                posted, "GroupMembers",
            )
        },
        f"{root}/memories/{{memory_id}}": {
            "delete": memory_operation(
                TAG, "removeMemoryFromGroup", "Take a memory out of a group", "The memory stays.",
                {"200": answer("It is out of it.", "Done"), **unknown, **known},
                [*given, *named("memory_id")],
            )
        },
    }  # fmt: skip


def _settings(settings: Settings) -> dict[str, Json]:
    shown = answer("What holds.", "MemorySettings")
    return {
        f"{_ROOT}/settings": {
            "get": memory_operation(
                TAG,
                "showMemorySettings",
                "Show the settings",
                "Both switches are off until they are switched on.",
                {"200": shown, **failures.of(settings, 400, *KNOWN)},
                named(_USER),
            ),
            "patch": memory_operation(
                TAG,
                "updateMemorySettings",
                "Change the settings",
                "Under the plan `free` the switches cannot be switched on (403).",
                {"200": shown, **failures.of(settings, *READING)},
                named(*_BODY),
                "MemorySettingsEdit",
            ),
        }
    }
