"""Operations of agents' memories that no user's memories share, and what both share."""

from __future__ import annotations

from memtree.config import Settings
from memtree.memories.agents.agent_book import MOST_TOGETHER
from memtree_proxy.http import content_encoding
from memtree_proxy.http.own_headers import USER_HEADER
from memtree_proxy.openapi import failures, headers
from memtree_proxy.openapi.memories import parts
from memtree_proxy.openapi.memories.agent.shapes import KIND, MANY
from memtree_proxy.openapi.memories.parts import answer, memory_operation, named, query
from memtree_proxy.openapi.operations import READING
from memtree_proxy.openapi.shapes import Json
from memtree_proxy.request.fields import IDEMPOTENCY_HEADER, MAX_KEY_CHARS

TAG = "Agent memories"
_ROOT = "/memories/batch"


def whose() -> list[Json]:
    """Which agent's memories are meant, where no user's are."""
    return [
        query("agentId", "The agent; `*`: every one. None: a user's memories.", MANY),
        query(
            "subjectId",
            "Whom the agent remembers something of; `*`: everybody. None: nobody in particular.",
            MANY,
        ),
    ]


def filters() -> list[Json]:
    return [
        *whose(),
        query("threadId", "An agent's memories of this thread alone.", headers.CHAT_ID),
        query("kind", "An agent's memories of this kind alone.", KIND),
        query(
            "include_superseded",
            "An agent's memories that others took the place of, as well.",
            {"type": "boolean", "default": False},
        ),
    ]


def parameters() -> dict[str, Json]:
    """`components.parameters`, by name."""
    key = parts.header(
        IDEMPOTENCY_HEADER,
        "A request with the key of an earlier one of the last day stores nothing and answers as "
        "that one did; a 409 where that one gave other memories.",
        {"type": "string", "maxLength": MAX_KEY_CHARS},
    )
    return {IDEMPOTENCY_HEADER: key}


def paths(settings: Settings) -> dict[str, Json]:
    reading = failures.of(settings, *READING)
    stored = answer("What was there, or took its place.", "StoredMemories")
    body = named(USER_HEADER, content_encoding.HEADER)
    return {
        f"{_ROOT}/create": {
            "post": memory_operation(
                TAG,
                "createMemoryBatch",
                "Store many memories of an agent",
                f"Up to {MOST_TOGETHER} memories as they are: all or none. `POST /memories` with "
                "`memories` does the same.",
                {
                    "201": {**stored, "description": "They are stored."},
                    "200": stored,
                    **failures.of(settings, 404, 409, 422),
                    **reading,
                },
                named(IDEMPOTENCY_HEADER, content_encoding.HEADER),
                "NewAgentMemoryBatch",
            )
        },
        f"{_ROOT}/delete": {
            "post": memory_operation(
                TAG,
                "deleteMemoryBatch",
                "Delete many memories",
                f"Those with these ids (up to {MOST_TOGETHER}), of the calling user and of all "
                "agents, or what filters mean among agents' memories: all or none. Ids that name "
                "none of them are not counted, repeated ones count once.",
                {"200": answer("How many went, or would go.", "BatchDeleted", "DryRun"), **reading},
                body,
                "BatchDeletion",
            )
        },
        f"{_ROOT}/update": {
            "post": memory_operation(
                TAG,
                "updateMemoryBatch",
                "Change many memories",
                "The same change of all of them, or of none; ids count as in `batch/delete`.",
                {
                    "200": answer("How many were changed.", "BatchUpdated"),
                    **failures.of(settings, 422),
                    **reading,
                },
                body,
                "BatchUpdate",
            )
        },
    }
