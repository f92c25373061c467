"""Define parameters of agents' memories, and those shared with users' memories."""

from __future__ import annotations

from memtree.memories.grants.grant_json import HEADER
from memtree_proxy.wire import parameter
from memtree_proxy.wire.agent_search import MAX_MAPPED, MODES, RAW, SCOPE, SEARCHED_KIND, WHOSE
from memtree_proxy.wire.json_schema import STRING, Json
from memtree_proxy.wire.parameter import query
from memtree_proxy.wire.types import CHAT_ID, KIND, MANY

EITHER = ("UserMemory", "AgentMemoryAnswer")  # shapes of one memory: a user's, or an agent's
FORMS = ("AgentMemoryHits", "MemoryAnswer", "MemoryMap")  # of a search, one for each mode


def whose() -> list[Json]:
    """Return the parameters that name an agent; without them a request means the user."""
    return [
        query("agentId", "The agent; `*`: every one. None: a user's memories.", MANY),
        query(
            "subjectId",
            "Whom the agent remembers something of; `*`: everybody. None: nobody in particular.",
            MANY,
        ),
    ]


def one_agent() -> list[Json]:
    """Return parameters that name one agent and one subject, for routes on a single scope."""
    return [
        query("agentId", "The agent. None: a user's memories.", CHAT_ID),
        query(
            "subjectId",
            "Whom the agent remembers something of. None: nobody in particular.",
            CHAT_ID,
        ),
    ]


def filters() -> list[Json]:
    return [
        *whose(),
        query("threadId", "An agent's memories of this thread alone.", CHAT_ID),
        query("kind", "An agent's memories of this kind alone.", KIND),
        query(
            "include_superseded",
            "An agent's memories that others took the place of, as well.",
            {"type": "boolean", "default": False},
        ),
    ]


def search_filters() -> list[Json]:
    """List the parameters of `GET /memories/search` other than `agentId` and `subjectId`."""
    return [
        query("threadId", "Of this thread alone.", CHAT_ID),
        query(
            "kind", "Of this kind alone; of a user's memories: the category.", SEARCHED_KIND.schema
        ),
        query("tags", "With all these tags, with commas between them.", STRING),
        query(
            "mode",
            "The form of the answer: rows (`raw` is an older name), a short answer by the "
            "configured model (503 without one), or topical clusters of up to "
            f"{MAX_MAPPED} memories.",
            {"type": "string", "enum": list(MODES), "default": RAW},
        ),
        query("scope", WHOSE, SCOPE.schema),
        query(
            "include_superseded",
            "One's own memories that others took the place of, as well.",
            {"type": "boolean", "default": False},
        ),
    ]


def parameters() -> dict[str, Json]:
    """Return `components.parameters` of agents' memories, by name."""
    grants = parameter.header(
        HEADER,
        "A JSON array of signed grants in base64. With `scope=shared` one that is not sound is a "
        "403; else it opens nothing, and `warnings` says why.",
        STRING,
    )
    return {HEADER: grants}
