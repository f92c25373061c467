"""Operations of looking after memories, of users and of agents: changes, the past, deletion."""

from __future__ import annotations

from memtree.config import Settings
from memtree_proxy.access.event_streams import LAST_EVENT_HEADER, MOST_STREAMS
from memtree_proxy.http import content_encoding
from memtree_proxy.http.own_headers import USER_HEADER
from memtree_proxy.memories import fields
from memtree_proxy.memories.curation_routes import MAX_TOMBSTONES
from memtree_proxy.openapi import failures
from memtree_proxy.openapi.memories import parts
from memtree_proxy.openapi.memories.agent import parameters as agent_parameters
from memtree_proxy.openapi.memories.parts import answer, memory_operation
from memtree_proxy.wire import parameter
from memtree_proxy.wire.json_schema import Json
from memtree_proxy.wire.operation import KNOWN, READING
from memtree_proxy.wire.parameter import named, query
from memtree_proxy.wire.types import CHAT_ID

TAG = "Looking after memories"

_ROOT = "/memories"
_USER = USER_HEADER
_BODY = (_USER, content_encoding.HEADER)
_ONE = ("UserMemory", "AgentMemoryAnswer")


def paths(settings: Settings) -> dict[str, Json]:
    return {
        **_watched(settings),
        **_many(settings),
        **_confirmed(settings),
        **_past(settings),
    }


def one_agent() -> list[Json]:
    """Where the memories of one scope alone can be meant."""
    return [
        query("agentId", "The agent. None: a user's memories.", CHAT_ID),
        query(
            "subjectId",
            "Whom the agent remembers something of. None: nobody in particular.",
            CHAT_ID,
        ),
    ]


def _watched(settings: Settings) -> dict[str, Json]:
    known = failures.of(settings, 400, *KNOWN)
    return {
        f"{_ROOT}/events": {
            "get": memory_operation(
                TAG,
                "watchMemories",
                "Watch memories",
                "Server-sent events, one for each change, with no text in it. The stream ends when "
                "the credential is let in no longer. At most "
                f"{MOST_STREAMS} streams of a tenant are open at once.",
                {"200": parts.event_stream("memories of the user or the agent"), **known},
                [*named(_USER, LAST_EVENT_HEADER), *one_agent()],
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
                "are counted. The receipt says that ids and texts were looked for afterwards. Of "
                "agents: an agent's memories, or with `*` those of all agents or all subjects, so "
                "that one subject is forgotten everywhere.",
                {"200": answer("A receipt, or a count.", "BulkReceipt"), **reading},
                [*named(*_BODY), *agent_parameters.whose()],
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
                [*named(*_BODY), *one_agent()],
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
                [*named(_USER), *one_agent(), parameter.limit(MAX_TOMBSTONES, MAX_TOMBSTONES)],
            )
        },
    }


def _confirmed(settings: Settings) -> dict[str, Json]:
    unknown, known = failures.of(settings, 404), failures.of(settings, 400, *KNOWN)
    given = [*named(_USER, "memory_id"), *agent_parameters.whose()]
    return {
        f"{_ROOT}/{{memory_id}}/confirm": {
            "post": memory_operation(
                TAG,
                "confirmMemory",
                "Confirm a memory",
                "A person says that it is right: a tainted memory counts as any other from now on.",
                {
                    "200": answer("The memory as it is now.", *_ONE, etag=True),
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
    given = [*named(_USER, "memory_id"), *agent_parameters.whose()]
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
                "The older one counts no more; what it said stays in the history. Memories of an "
                "agent must be of one kind, and keep the text that their data makes.",
                {"200": answer("The memory that counts.", *_ONE, etag=True), **reading},
                [*given, *named(fields.IF_MATCH_HEADER, content_encoding.HEADER)],
                "MemoryMerge",
            )
        },
        f"{_ROOT}/{{memory_id}}/settle": {
            "post": memory_operation(
                TAG,
                "settleMemories",
                "Settle a conflict",
                "Of two memories of which one may replace the other: it does, or both are kept.",
                {"200": answer("The memory that counts.", *_ONE, etag=True), **reading},
                [*given, *named(content_encoding.HEADER)],
                "MemorySettlement",
            )
        },
    }
