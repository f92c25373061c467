"""Give examples of requests that work unchanged; a test posts each of them."""

from __future__ import annotations

from memtree_proxy.wire.json_schema import Json, posted

_QUESTION = {"role": "user", "content": "Which port does the staging server listen on?"}
_SHORT = [
    {"role": "user", "content": "The staging server listens on port 8443. Remember that."},
    {"role": "assistant", "content": "Noted: staging listens on port 8443."},
    _QUESTION,
]
_CALLS = [
    {"role": "system", "content": "You are a careful engineer."},
    {"role": "user", "content": "Why does the build fail?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "call_1", "type": "function",
             "function": {"name": "run", "arguments": '{"command": "make"}'}},
            {"id": "call_2", "type": "function",
             "function": {"name": "read_file", "arguments": '{"path": "Makefile"}'}},
        ],
    },
    {"role": "tool", "tool_call_id": "call_1", "content": "make: *** No rule to make target."},
    {"role": "tool", "tool_call_id": "call_2", "content": [{"type": "text", "text": "all: app"}]},
]  # fmt: skip
_PARTS = [
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "What is on this picture?"},
            {"type": "image_url",
             "image_url": {"url": "https://example.org/plan.png", "detail": "low"}},
        ],
    },
]  # fmt: skip
_TOOLS = [
    {"type": "function",
     "function": {"name": "run", "description": "Run a command in a shell.",
                  "parameters": {"type": "object",
                                 "properties": {"command": {"type": "string"}}}}},
]  # fmt: skip
_MODEL = "gpt-4o-mini"

CONTEXT: dict[str, Json] = {
    "history": {"summary": "A history", "value": {"messages": _SHORT}},
    "options": {
        "summary": "With a target, a question and reasons",
        "value": {
            "messages": _SHORT,
            "model": _MODEL,
            "model_context_limit": 128_000,
            "target_tokens": 8_000,
            "mode": "fresh",
            "query": "staging port",
            "expiration_days": 90,
            "explain": True,
        },
    },
    "tools": {
        "summary": "In the middle of a tool loop",
        "value": {"messages": _CALLS, "tools": _TOOLS},
    },
    "parts": {"summary": "Text and an image", "value": {"messages": _PARTS}},
    "index": {
        "summary": "Index now, send later (answers 202)",
        "value": {"messages": _SHORT, "index_only": True},
    },
}
TREE: dict[str, Json] = {"history": CONTEXT["history"]}
CHAT: dict[str, Json] = {
    "memory": {
        "summary": "Memory on by a field",
        "value": {"model": _MODEL, "messages": _SHORT, "memory": True},
    },
    "suffix": {
        "summary": "Memory on by the model's name, kept for 90 days",
        "value": {"model": f"{_MODEL}:memory-90", "messages": _SHORT, "stream": True},
    },
    "tools": {
        "summary": "In the middle of a tool loop",
        "value": {
            "model": _MODEL,
            "messages": _CALLS,
            "tools": _TOOLS,
            "memory": True,
            "target_tokens": 20_000,
            "mode": "auto",
        },
    },
}
DELETION: dict[str, Json] = {
    "history": {"summary": "A history", "value": {"messages": _SHORT}},
    "address": {
        "summary": "What an address names (404 where nothing is known of it)",
        "value": {"address": "5f" * 32},
    },
    "all": {"summary": "Everything of this credential", "value": {"all": True}},
}
MESSAGES: dict[str, Json] = {
    "history": {
        "summary": "A history",
        "value": {"model": "claude-sonnet-5-5", "max_tokens": 64, "system": "Be brief.",
                  "messages": _SHORT, "memory": True},
    },
}  # fmt: skip
RESPONSES: dict[str, Json] = {
    "history": {
        "summary": "A history",
        "value": {"model": "gpt-5.6", "instructions": "Be brief.", "input": _SHORT,
                  "memory": True},
    },
    "text": {"summary": "One text of the user", "value": {"model": "gpt-5.6", "input": "Hello"}},
}  # fmt: skip


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
# Bodies by name: the shapes that may be posted, and examples.
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


def agent_bodies() -> dict[str, Json]:
    """Return the request bodies of agents' memories, for `components.requestBodies`."""
    return {name: posted(shapes, examples) for name, (shapes, examples) in _POSTED.items()}
