"""Operations of user memories: what is remembered of a user, its groups and settings."""

from __future__ import annotations

from memtree.config import Settings
from memtree.memories.grants.grant_json import HEADER
from memtree.memories.memory import MAX_TAGS
from memtree.memories.rules.tags import MAX_GIVEN
from memtree_proxy.http import content_encoding
from memtree_proxy.http.own_headers import USER_HEADER
from memtree_proxy.memories import fields
from memtree_proxy.memories.user.fields import INCLUDED
from memtree_proxy.openapi import failures
from memtree_proxy.openapi.memories.agent import parameters as agent_parameters
from memtree_proxy.openapi.memories.curation_shapes import FILTER_CATEGORY, GIVEN_TIME, SOURCE_TYPE
from memtree_proxy.openapi.memories.parts import answer, delete_operation, memory_operation
from memtree_proxy.request.fields import IDEMPOTENCY_HEADER
from memtree_proxy.wire import parameter
from memtree_proxy.wire.json_schema import Json
from memtree_proxy.wire.operation import KNOWN, READING
from memtree_proxy.wire.parameter import named, query
from memtree_proxy.wire.types import CHAT_ID

TAG = "User memories"

_ROOT = "/memories"
_USER = USER_HEADER
_BODY = (_USER, content_encoding.HEADER)
_ONE = ("UserMemory", "AgentMemoryAnswer")
_TAGS: Json = {
    "type": "array",
    "items": {"type": "string", "maxLength": MAX_GIVEN},
    "maxItems": MAX_TAGS,
}


def parameters() -> dict[str, Json]:
    """`components.parameters`, by name."""
    given = [
        parameter.header(
            USER_HEADER,
            "The user within the tenant; none: the tenant itself. Beside a cookie it is ignored.",
            CHAT_ID,
        ),
        parameter.path("memory_id", "The memory.", {**CHAT_ID, "examples": ["mem_0b1c2d3e"]}),
        parameter.path("group_id", "The group.", {**CHAT_ID, "examples": ["grp_0b1c2d3e"]}),
    ]
    return {one["name"]: one for one in given}


def paths(settings: Settings) -> dict[str, Json]:
    return {
        **_all(settings),
        **_found(settings),
        **_one(settings),
        **_groups(settings),
        **_group(settings),
        **_settings(settings),
    }


def _filters() -> list[Json]:
    shown = {"type": "string", "enum": list(INCLUDED)}
    return [
        query("group_id", "Members of this group alone.", CHAT_ID),
        query("category", "Of this category alone.", FILTER_CATEGORY),
        query("tag", "With this tag; may stand several times.", _TAGS),
        query("source_type", "That came this way alone.", SOURCE_TYPE),
        query("tainted", "That wait for a person's word, or do not.", {"type": "boolean"}),
        query("standing", "That stand in every prompt, or do not.", {"type": "boolean"}),
        query("conflicts", "That may replace another one, or may not.", {"type": "boolean"}),
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
    saved = answer(
        "It was there already, in these or other words.", "SavedMemory", "StoredMemories",
        etag=None,
    )  # fmt: skip
    return {
        _ROOT: {
            "get": memory_operation(
                TAG,
                "listMemories",
                "List memories and groups",
                "The memories that are not deleted, the newest first, and all groups. Without "
                f"`limit` all of them, up to {fields.MAX_ROWS:,}.",
                {
                    "200": answer("A page of them.", "MemoryPage", "AgentMemoryPage"),
                    **failures.of(settings, 404),
                    **known,
                },
                [
                    *named(_USER),
                    *_filters(),
                    *agent_parameters.filters(),
                    parameter.limit(fields.MAX_ROWS, fields.MAX_ROWS),
                    *named("cursor"),
                ],
            ),
            "post": memory_operation(
                TAG,
                "createMemory",
                "Remember something",
                "What says the same as a stored memory is not stored twice: the answer is that "
                "one, with status 200. What may replace one is stored beside it, and the answer "
                "names both. With `agentId`: structured memories of an agent, or a conversation to "
                "find some in.",
                {
                    "201": {**saved, "description": "It is saved."},
                    "200": saved,
                    **failures.of(settings, 404, 409, 422),
                    **reading,
                },
                named(*_BODY, IDEMPOTENCY_HEADER),
                "AnyNewMemory",
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
                "By meaning and by words. With `agentId`, `mode`, `scope` or grants: in the form "
                "of agents' memories, with their filters alone, ten rows by default; without "
                "`agentId` of the user's memories in that form.",
                {
                    "200": answer("The best of them.", "MemoryHits", *agent_parameters.FORMS),
                    **failures.of(settings, 404, 504),
                    **known,
                },
                [
                    *named(_USER, HEADER),
                    parameter.asked(),
                    *_filters(),
                    *agent_parameters.whose(),
                    *agent_parameters.search_filters(),
                    parameter.limit(fields.MAX_HITS, fields.HITS),
                    least,
                ],
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
                {"200": answer("The memory.", *_ONE, etag=True), **unknown, **known},
                [*given, *agent_parameters.whose()],
            ),
            "patch": memory_operation(
                TAG,
                "updateMemory",
                "Change a memory",
                "What it said before stays in its history.",
                {"200": answer("The memory as it is now.", *_ONE, etag=True), **reading},
                [
                    *given,
                    *agent_parameters.whose(),
                    *named(fields.IF_MATCH_HEADER, content_encoding.HEADER),
                ],
                "AnyMemoryEdit",
            ),
            "delete": delete_operation(
                TAG,
                "deleteMemory",
                "Delete a memory",
                "It is in no answer, no search and no group from now on. For "
                f"{settings.deleted_days} days it can be brought back, then it is erased.",
                {"200": answer("It is gone.", "MemoryDeleted"), **unknown, **known},
                [*given, *agent_parameters.whose()],
            ),
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
            "delete": delete_operation(
                TAG, "deleteMemoryGroup", "Delete a group", "Its memories stay.",
                {"200": answer("It is gone.", "Done"), **unknown, **known}, given, purged=False,
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
            "delete": delete_operation(
                TAG, "removeMemoryFromGroup", "Take a memory out of a group", "The memory stays.",
                {"200": answer("It is out of it.", "Done"), **unknown, **known},
                [*given, *named("memory_id")], purged=False,
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
