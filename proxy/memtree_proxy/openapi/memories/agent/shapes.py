"""What is posted to agents' memories and what they answer."""

from __future__ import annotations

from memtree.config import Settings
from memtree.memories.agents.agent_book import MOST_TOGETHER
from memtree.memories.agents.agent_memory import ALL
from memtree.memories.agents.lifetime import LEAST_MS, MOST_MS
from memtree.memories.agents.structured_memory import DIRECT, MAX_DATA_BYTES, MAX_DEPTH
from memtree.memories.memory import MAX_TAGS
from memtree.memories.rules.tags import MAX_GIVEN
from memtree.memories.schemas.memory_schema import KIND_PATTERN
from memtree_proxy.memories.agent.fields import MAX_MESSAGE_ID, ROLES
from memtree_proxy.openapi import headers
from memtree_proxy.openapi.memories.curation_shapes import SWITCHES
from memtree_proxy.openapi.memories.parts import MEMORY_ID, STATE, TIME, VERSION
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

# An agent or a subject where many may be meant.
MANY: Json = {"type": "string", "pattern": r"^([A-Za-z0-9._~:@\-]{1,200}|\*)$"}
KIND: Json = {"type": "string", "pattern": f"^{KIND_PATTERN}$", "examples": ["UserProfile"]}
GIVEN_TAGS = array({"type": "string", "maxLength": MAX_GIVEN}, maxItems=MAX_TAGS)
_MS = described({"type": "integer"}, "Milliseconds since 1970.", examples=[1_924_992_000_000])
_MAYBE_ID = either(STRING, NULL)
_DONE: Json = {"const": True}
_DATA = described({"type": "object"}, "The fields of its kind.")
_METADATA = {
    "agentId": described(_MAYBE_ID, "Null of a user's memory."),
    "subjectId": described(_MAYBE_ID, "Null: of nobody in particular."),
    "threadId": _MAYBE_ID,
    "tags": array(STRING),
    "confidence": described(
        {"type": "number", "minimum": 0, "maximum": 1},
        "1 for what was stored as it is; else how sure its extraction is.",
    ),
    "mentions": described(
        array(object_of({"name": STRING, "type": STRING})),
        "Whom and what it names; in a list, only what its maker said it names.",
    ),
    "when": described(either(TIME, NULL), "When what it tells of happens."),
    "expiresAt": described(either(_MS, NULL), "Null: it is kept for good."),
    "createdAt": _MS,
    "updatedAt": _MS,
    "version": VERSION,
    "source": described(STRING, f"`{DIRECT}`: stored as it is; `extraction`: from a conversation."),
    "state": STATE,
    "tainted": described(
        BOOLEAN, "It came in an import and reads like an instruction: a person has to confirm it."
    ),
    "isLatest": described(BOOLEAN, "False of a memory that another took the place of."),
    "supersedes": either(MEMORY_ID, NULL),
    "supersededBy": either(MEMORY_ID, NULL),
}
_ROW = object_of(
    {
        "id": MEMORY_ID,
        "kind": STRING,
        "metadata": described(
            {"type": "object"}, "The fields of its data, and `expiresAt` where it ends."
        ),
        "supersedes": described(MEMORY_ID, "The memory whose place it took, if any."),
    },
    ("id", "kind", "metadata"),
)
_SKIPPED = object_of({"text": STRING, "reason": STRING})
SCHEMAS: dict[str, Json] = {
    "AgentMemory": object_of(
        {"id": MEMORY_ID, "kind": STRING, "data": _DATA, "metadata": object_of(_METADATA)},
        description="A memory of an agent.",
    ),
    "AgentMemoryAnswer": object_of({"success": _DONE, "memory": schema("AgentMemory")}),
    "AgentMemoryPage": object_of(
        {
            "success": _DONE,
            "memories": array(schema("AgentMemory"), description="The newest first."),
            "groups": array(schema("MemoryGroup"), description="None: groups are of users."),
            "next_cursor": described(_MAYBE_ID, "For the page after this; null on the last."),
            "total": described(COUNT, "All live memories of these scopes, whatever the filter."),
        }
    ),
    "StoredMemories": object_of(
        {
            "success": _DONE,
            "created": array(_ROW),
            "updated": described(
                array(_ROW), "New versions, what took the place of another, and what was there."
            ),
            "skipped": described(array(_SKIPPED), "What a conversation said and was not kept."),
            "messages": described(COUNT, "Messages of the conversation that were read now."),
            "degraded": described(array(STRING), "`embedder`: words alone find it for now."),
        },
        ("success", "created", "updated"),
    ),
    "BatchDeleted": object_of({"success": _DONE, "deleted": COUNT}),
    "BatchUpdated": object_of({"success": _DONE, "updated": COUNT}),
}


def bodies(settings: Settings) -> dict[str, Json]:
    """Schemas of what is posted."""
    edit = object_of(
        {
            "tags": described(either(GIVEN_TAGS, NULL), "All its tags from now on."),
            "expiresAt": described(either(_given_ms(), NULL), "Null: it is kept for good."),
        },
        (),
        anyOf=[_given("tags"), {"required": ["expiresAt"]}],
        description="What is to be changed: at least one field.",
        additionalProperties=False,
    )
    return {
        "NewAgentMemories": {
            **object_of(
                {**_asked(), "memories": either(_memories(), NULL), **_conversation(settings)},
                ("agentId",),
                description="What an agent remembers: memories, or a conversation to read.",
            ),
            "oneOf": [_given("memories"), _given("conversation")],
            **_not_both(),
        },
        "NewAgentMemoryBatch": object_of(
            {**_asked(), "memories": _memories(), "conversation": NULL},
            ("agentId", "memories"),
            **_not_both(),
        ),
        "AgentMemoryEdit": edit,
        "BatchUpdate": object_of({"ids": _ids(), "update": schema("AgentMemoryEdit")}),
        "BatchDeletion": _deletion(),
    }


def _asked() -> dict[str, Json]:
    return {
        "agentId": headers.CHAT_ID,
        "subjectId": described(either(headers.CHAT_ID, NULL), "Whom it is about; none: nobody."),
        "threadId": either(headers.CHAT_ID, NULL),
        **_lifetime("Of memories that say nothing of their own."),
    }


def _lifetime(of: str) -> dict[str, Json]:
    ttl = {"type": "string", "pattern": "^0{0,3}[1-9][0-9]{0,6}[smhdw]$", "examples": ["24h"]}
    return {
        "ttl": described(either(ttl, NULL), f"{of} Not with `expiresAt`."),
        "expiresAt": described(either(_given_ms(), NULL), f"{of} Not with `ttl`."),
    }


def _not_both() -> Json:
    """`ttl` and `expiresAt` at one level exclude each other."""
    return {"not": {"allOf": [_given("ttl"), _given("expiresAt")]}}


def _given_ms() -> Json:
    return described(
        {"type": "number", "minimum": LEAST_MS, "maximum": MOST_MS},
        "Milliseconds since 1970, in the future.",
        examples=[1_924_992_000_000],
    )


def _memories() -> Json:
    one = object_of(
        {
            "kind": described(
                KIND, "The name of a schema; where the tenant has none, any name will do."
            ),
            "data": described(
                {"type": "object"},
                f"What its schema allows; at most {MAX_DATA_BYTES:,} bytes as JSON, and "
                f"{MAX_DEPTH} deep. Secrets are refused.",
            ),
            "id": described(
                either(headers.CHAT_ID, NULL),
                "Of the memory that gets this data; not for kinds with `uniqueOn`.",
            ),
            "tags": either(GIVEN_TAGS, NULL),
            **_lifetime("Before what the request says."),
        },
        ("kind", "data"),
        **_not_both(),
    )
    return array(one, minItems=1, maxItems=MOST_TOGETHER)


def _conversation(settings: Settings) -> dict[str, Json]:
    message = object_of(
        {
            "id": described(
                either({"type": "string", "minLength": 1, "maxLength": MAX_MESSAGE_ID}, NULL),
                "A message is read once: by its id in this thread, else by its text.",
            ),
            "role": {"type": "string", "enum": list(ROLES)},
            "content": STRING,
        },
        ("role", "content"),
    )
    many = array(message, minItems=1, maxItems=settings.max_messages)
    return {
        "conversation": either(many, NULL),
        "schemas": described(
            either(array(KIND, maxItems=MOST_TOGETHER), NULL),
            "Kinds that its memories may have; none: all that there are.",
        ),
        "force": described(either(BOOLEAN, NULL), "Read messages again that were read before."),
    }


def _ids() -> Json:
    return array(STRING, minItems=1, maxItems=MOST_TOGETHER)


def _deletion() -> Json:
    filters = {
        "agentId": described(MANY, "`*`: every agent."),
        "subjectId": described(MANY, "`*`: every subject."),
        "threadId": headers.CHAT_ID,
        "kind": KIND,
        "tags": {**GIVEN_TAGS, "minItems": 1},
    }
    wanted = object_of(
        filters,
        ("agentId",),
        additionalProperties=False,
        anyOf=[
            _one("agentId"),
            _one("subjectId"),
            _given("threadId"),
            _given("kind"),
            _given("tags"),
        ],
        description="All of these must hold; none may be null or empty. `*` alone is a 400.",
    )
    return {
        **object_of(
            {
                "ids": either(_ids(), NULL),
                "filters": either(wanted, NULL),
                **SWITCHES,
            },
            (),
            additionalProperties=False,
        ),
        "oneOf": [_given("ids"), _given("filters")],
    }


def _one(name: str) -> Json:
    """Given, and not as every one."""
    return {"required": [name], "properties": {name: {"not": {"enum": [ALL, None]}}}}


def _given(name: str) -> Json:
    return {"required": [name], "properties": {name: {"not": NULL}}}


_DIRECT = {
    "agentId": "agent-007",
    "subjectId": "alice",
    "ttl": "24h",
    "memories": [
        {"kind": "SessionContext", "data": {"task": "booking"}},
        {"kind": "Reminder", "data": {"text": "Follow up"}, "ttl": "1h"},
    ],
}
_EDIT = {"tags": ["important", "verified"], "expiresAt": None}
_IDS = ["mem_abc123", "mem_def456"]
# The name of a body: what may be posted, and examples.
_POSTED: dict[str, tuple[tuple[str, ...], dict[str, Json]]] = {
    "AnyNewMemory": (
        ("NewMemory", "NewAgentMemories"),
        {
            "user": {"text": "User prefers TypeScript for new projects", "tags": ["languages"]},
            "agent": _DIRECT,
        },
    ),
    "AnyMemoryEdit": (
        ("MemoryEdit", "AgentMemoryEdit"),
        {
            "user": {"text": "User prefers Rust for new projects", "expires_at": None},
            "agent": _EDIT,
        },
    ),
    "NewAgentMemoryBatch": (("NewAgentMemoryBatch",), {"one": _DIRECT}),
    "BatchDeletion": (
        ("BatchDeletion",),
        {"ids": {"ids": _IDS}, "filters": {"filters": {"agentId": "agent-007", "tags": ["old"]}}},
    ),
    "BatchUpdate": (
        ("BatchUpdate",),
        {"one": {"ids": _IDS, "update": {"tags": ["archived"], "expiresAt": 1_924_992_000_000}}},
    ),
}


def request_bodies() -> dict[str, Json]:
    """`components.requestBodies`."""
    return {
        name: {
            "required": True,
            "content": content(
                schema(shapes[0]) if len(shapes) == 1 else either(*map(schema, shapes)),
                examples={
                    of: {"summary": of.capitalize(), "value": value}
                    for of, value in examples.items()
                },
            ),
        }
        for name, (shapes, examples) in _POSTED.items()
    }
