"""Examples of what is posted to agents' memories."""

from __future__ import annotations

from memtree_proxy.wire.json_schema import Json, posted

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
_SEARCH = {
    "queries": [
        {"query": "user preferences", "filters": {"agentId": "assistant"}},
        {"query": "recent tasks", "filters": {"agentId": "assistant", "tags": ["work"]}},
    ]
}
# The name of a body: what may be posted, and examples.
_POSTED: dict[str, tuple[tuple[str, ...], dict[str, Json]]] = {
    "BatchSearch": (("BatchSearch",), {"two": _SEARCH}),
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
    return {name: posted(shapes, examples) for name, (shapes, examples) in _POSTED.items()}
