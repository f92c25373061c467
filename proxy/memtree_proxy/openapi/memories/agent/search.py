"""Searches over agents' memories: what they are asked and what they answer."""

from __future__ import annotations

from memtree.config import Settings
from memtree.memories.agents.search.answers import NOTHING
from memtree.memories.grants.grant_json import HEADER
from memtree_proxy.http import content_encoding
from memtree_proxy.http.own_headers import USER_HEADER
from memtree_proxy.memories.agent.search_fields import (
    ALL,
    MAX_MAPPED,
    MAX_QUERIES,
    MAX_ROWS,
    MODES,
    RAW,
    ROWS,
    SCOPES,
)
from memtree_proxy.openapi import failures, headers
from memtree_proxy.openapi.memories import parts
from memtree_proxy.openapi.memories.agent.shapes import GIVEN_TAGS, MANY
from memtree_proxy.openapi.memories.parts import (
    MEMORY_ID,
    RELEVANCE,
    SEARCHED,
    TIME,
    answer,
    memory_operation,
    named,
    query,
)
from memtree_proxy.openapi.operations import READING
from memtree_proxy.openapi.shapes import (
    BOOLEAN,
    COUNT,
    NULL,
    STRING,
    Json,
    array,
    content,
    described,
    either,
    object_of,
    schema,
)

_TAG = "Agent memories"
_SCOPE = {"type": "string", "enum": list(SCOPES), "default": ALL}
_KIND = {"type": "string", "minLength": 1, "maxLength": 200}
_WHOSE = (
    "`own`: the caller's memories, grants are not looked at; `shared`: what grants open, alone; "
    "`all`: both."
)
FORMS = ("AgentMemoryHits", "MemoryAnswer", "MemoryMap")  # what a search may answer

_HIT = object_of(
    {
        "id": MEMORY_ID,
        "kind": described(STRING, "The name of its schema; of a user's memory its category."),
        "quality": object_of(
            {
                "relevance": RELEVANCE,
                "confidence": described(
                    {"type": "number", "minimum": 0, "maximum": 1},
                    "1 for what was stored as it is; else how sure its extraction is.",
                ),
            }
        ),
        "data": described({"type": "object"}, "Its fields; a text that has none is `text`."),
        "context": object_of(
            {
                "when": described(TIME, "When what it tells of happens, where that is known."),
                "mentions": described(
                    array(object_of({"name": STRING, "type": STRING})),
                    "Whom and what it names: by rule, unless whoever extracted it said so.",
                ),
                "tags": array(STRING),
                "isLatest": described(BOOLEAN, "False of one that another took the place of."),
                "tainted": described(
                    {**BOOLEAN, "const": True},
                    "Only where it is so: it waits for a person's word.",
                ),
            },
            ("mentions", "tags", "isLatest"),
        ),
        "source": described(STRING, "`own`, or `shared:` and the agent whose memory it is."),
        "agentId": described(STRING, "Absent from a user's memories."),
        "subjectId": described(either(STRING, NULL), "Null: of nobody in particular."),
    },
    ("id", "kind", "quality", "data", "context", "source"),
)
_REMARKS = {
    "searchedAt": TIME,
    "degraded": described(
        array(STRING), "There only where words alone ranked, or some memories lack a vector."
    ),
    "warnings": described(array(STRING), "There only where a grant opens nothing: which, and why."),
}
_DONE: Json = {"const": True}


def _found(properties: dict[str, Json], description: str) -> Json:
    required = ("success", *properties, "searchedAt")
    every = {"success": _DONE, **properties, **_REMARKS}
    return object_of(every, required, description=description)


SCHEMAS: dict[str, Json] = {
    "AgentMemoryHit": _HIT,
    "AgentMemoryHits": _found(
        {"memories": array(schema("AgentMemoryHit"), description="The best first.")},
        "Mode `llm`.",
    ),
    "MemoryAnswer": _found(
        {
            "answer": described(STRING, f"Without sources it is `{NOTHING}`"),
            "sources": array(MEMORY_ID, description="The memories that it rests on."),
        },
        "Mode `answer`.",
    ),
    "MemoryMap": _found(
        {
            "clusters": array(
                object_of(
                    {
                        "label": described(STRING, "The word that is most typical of it."),
                        "memories": array(MEMORY_ID),
                        "size": COUNT,
                    }
                ),
                description="The largest first; each memory stands in one.",
            )
        },
        "Mode `map`.",
    ),
    "BatchSearchResults": _found(
        {
            "results": array(
                object_of({"memories": array(schema("AgentMemoryHit"))}),
                description="One a query, in their order.",
            )
        },
        "What each of the searches found.",
    ),
}


def filters() -> list[Json]:
    """Of `GET /memories/search`, beside `agentId` and `subjectId`."""
    return [
        query("threadId", "Of this thread alone.", headers.CHAT_ID),
        query("kind", "Of this kind alone; of a user's memories: the category.", _KIND),
        query("tags", "With all these tags, with commas between them.", STRING),
        query(
            "mode",
            "The form of the answer: rows (`raw` is an older name), a short answer by the "
            "configured model (503 without one), or topical clusters of up to "
            f"{MAX_MAPPED} memories.",
            {"type": "string", "enum": list(MODES), "default": RAW},
        ),
        query("scope", _WHOSE, _SCOPE),
        query(
            "include_superseded",
            "One's own memories that others took the place of, as well.",
            {"type": "boolean", "default": False},
        ),
    ]


def parameters() -> dict[str, Json]:
    """`components.parameters`, by name."""
    grants = parts.header(
        HEADER,
        "A JSON array of signed grants in base64. With `scope=shared` one that is not sound is a "
        "403; else it opens nothing, and `warnings` says why.",
        STRING,
    )
    return {HEADER: grants}


def paths(settings: Settings) -> dict[str, Json]:
    return {
        "/memories/batch/search": {
            "post": memory_operation(
                _TAG,
                "searchMemoryBatch",
                "Search several times at once",
                f"Up to {MAX_QUERIES} searches, each as it would be alone: all or none. They are "
                "embedded together, and what several of them read is read once.",
                {
                    "200": answer("What they found.", "BatchSearchResults"),
                    **failures.of(settings, *READING),
                },
                named(USER_HEADER, HEADER, content_encoding.HEADER),
                "BatchSearch",
            )
        }
    }


def bodies() -> dict[str, Json]:
    """Schemas of what is posted."""
    wanted = object_of(
        {
            "agentId": described(either(MANY, NULL), "`*`: every agent; none: the user's own."),
            "subjectId": described(either(MANY, NULL), "`*`: every subject."),
            "threadId": either(headers.CHAT_ID, NULL),
            "kind": either(_KIND, NULL),
            "tags": described(either(GIVEN_TAGS, NULL), "All of them."),
            "include_superseded": either(BOOLEAN, NULL),
        },
        (),
        additionalProperties=False,
        dependentRequired={"subjectId": ["agentId"]},
    )
    one = object_of(
        {
            "query": SEARCHED,
            "filters": either(wanted, NULL),
            "limit": described(
                either({"type": "integer"}, NULL), f"{ROWS}, clamped to 1 to {MAX_ROWS}."
            ),
        },
        ("query",),
    )
    return {
        "BatchSearch": object_of(
            {
                "queries": array(one, minItems=1, maxItems=MAX_QUERIES),
                "scope": described(either(_SCOPE, NULL), _WHOSE),
            },
            ("queries",),
        )
    }


_EXAMPLE = {
    "queries": [
        {"query": "user preferences", "filters": {"agentId": "assistant"}},
        {"query": "recent tasks", "filters": {"agentId": "assistant", "tags": ["work"]}},
    ]
}


def request_bodies() -> dict[str, Json]:
    """`components.requestBodies`."""
    examples = {"two": {"summary": "Two", "value": _EXAMPLE}}
    return {
        "BatchSearch": {
            "required": True,
            "content": content(schema("BatchSearch"), examples=examples),
        }
    }
