"""Bodies that every JSON route of ours accepts, between them with each field that it reads.

`wire_table.py` puts one fault after another into them. Chat completions, `/messages` and
`/responses` are relayed, and are left out.
"""

from __future__ import annotations

from typing import Any, NamedTuple

Json = dict[str, Any]

LATER_MS = 4_102_444_800_000  # the year 2100
LATER = "2100-01-01"
MEMORY, CHAT_MEMORY, OTHER, GROUP = "{memory}", "{chat_memory}", "{other}", "{group}"
AGENT_MEMORY, ADDRESS = "{agent_memory}", "{conversation}"


class Posting(NamedTuple):
    """`bodies`: each is accepted as it is. Names in braces stand for ids that exist."""

    method: str
    path: str
    bodies: tuple[Json, ...]


_MESSAGES = [{"role": "user", "content": "My name is Ada. The head office is in Graz."}]
_LIFETIMES: tuple[Json, ...] = ({"ttl": "24h"}, {"expiresAt": LATER_MS})
_NEW_AGENT_MEMORIES = tuple(
    {
        "agentId": "a",
        "subjectId": "s",
        "threadId": "t",
        **ends,
        "memories": [{"kind": "Note", "data": {"text": "Call"}, "tags": ["work"], **ends}],
    }
    for ends in _LIFETIMES
)
_WITH_ID = {
    "agentId": "a",
    "memories": [{"id": AGENT_MEMORY, "kind": "Note", "data": {"text": "Call again"}}],
}
_CONVERSATION = {
    "agentId": "a",
    "conversation": [{"id": "m1", "role": "user", "content": "My name is Ada."}],
    "schemas": ["Note"],
    "model": "gpt-5-nano",
    "force": True,
}
_DOCUMENT = {"type": "object", "properties": {"name": {"type": "string"}}}
_SCHEMAS: tuple[Json, ...] = (
    {"json_schema": _DOCUMENT, "uniqueOn": ["name"], "description": "Names"},
    {"schema": '{"type":"object"}', "unique_on": ["kind"], "description": "Names"},
)
_FILTER = {
    "category": "fact",
    "tags": ["work"],
    "source_type": "user",
    "tainted": False,
    "standing": False,
    "conflicts": False,
    "created_from": "2020-01-01",
    "created_before": LATER,
}
_CONTEXT = {
    "messages": _MESSAGES,
    "model": "gpt-4o",
    "tools": [],
    "functions": [],
    "response_format": {"type": "text"},
    "cache_control": None,
    "max_tokens": 100,
    "max_completion_tokens": 100,
    "model_context_limit": 50_000,
    "target_tokens": 8_000,
    "expiration_days": 3,
    "mode": "stable",
    "query": "office",
    "index_only": False,
    "explain": False,
    "dialect": "chat",
}

POSTINGS: tuple[Posting, ...] = (
    Posting("POST", "/memories/batch/create", _NEW_AGENT_MEMORIES),
    Posting(
        "POST",
        "/memories/batch/delete",
        (
            {"ids": [AGENT_MEMORY], "dry_run": True, "purge": False},
            {
                "filters": {
                    "agentId": "a", "subjectId": "s", "threadId": "t", "kind": "Note",
                    "tags": ["work"],
                },
                "dry_run": True,
            },
        ),
    ),
    Posting(
        "POST",
        "/memories/batch/update",
        ({"ids": [AGENT_MEMORY], "update": {"tags": ["done"], "expiresAt": LATER_MS}},),
    ),
    Posting(
        "POST",
        "/memories/batch/search",
        (
            {
                "queries": [
                    {
                        "query": "office",
                        "filters": {
                            "agentId": "a", "subjectId": "s", "threadId": "t", "kind": "Note",
                            "tags": ["work"], "include_superseded": True,
                        },
                        "limit": 3,
                    }
                ],
                "scope": "all",
            },
        ),
    ),
    Posting("POST", "/schemas", tuple({"name": "Named", **one} for one in _SCHEMAS)),
    Posting("PUT", "/schemas/Posted", _SCHEMAS),
    Posting("PATCH", "/schemas/Kept", _SCHEMAS),
    Posting("POST", "/memories", (*_NEW_AGENT_MEMORIES, _WITH_ID, _CONVERSATION)),
    Posting("PATCH", f"/memories/{AGENT_MEMORY}", ({"tags": ["done"], "expiresAt": LATER_MS},)),
    Posting(
        "POST",
        "/grants/inspect",
        (
            {
                "grant": {
                    "p": {
                        "f": "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
                        "g": "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
                        "e": 4_102_444_800,
                        "a": "a",
                        "u": "s",
                    },
                    "s": "0x" + "1" * 130,
                    "c": "evm",
                }
            },
            {"shareCode": "xyz"},
        ),
    ),
    Posting("POST", "/grants/revoke", ({"grant": {}}, {"shareCode": "xyz"})),
    Posting("POST", "/context_memory", (_CONTEXT,)),
    Posting("POST", "/context_memory/tree", ({"messages": _MESSAGES},)),
    Posting(
        "POST",
        "/context_memory/delete",
        (
            {"address": "00" * 32, "dry_run": True},
            {"all": True, "dry_run": True},
            {"messages": _MESSAGES, "dry_run": True, "tenant": None},
            {"input": "hi", "dry_run": True},
        ),
    ),
    Posting("PATCH", f"/context_memory/conversations/{ADDRESS}", ({"title": "Tea"},)),
    Posting(
        "POST",
        "/rag/n/documents",
        (
            {"id": "d", "text": "The office opens.", "type": "m", "metadata": {"year": 2024}},
            {"documents": [{"id": "d", "text": "It opens.", "type": "m", "metadata": {"a": 1}}]},
        ),
    ),
    Posting("POST", "/memories/extract", ({"messages": _MESSAGES, "dry_run": True},)),
    Posting(
        "POST",
        "/memories",
        (
            {
                "text": "The head office is in Graz.", "category": "fact", "tags": ["work"],
                "expires_at": LATER, "standing": False,
            },
        ),
    ),
    Posting(
        "PATCH",
        f"/memories/{MEMORY}",
        (
            {
                "text": "The head office is in Linz.", "category": "fact", "tags": ["work"],
                "expires_at": LATER, "standing": False,
            },
            {"expiresAt": LATER_MS},
        ),
    ),
    Posting(
        "POST",
        "/memories/delete",
        (
            {"filter": {**_FILTER, "group_id": "g"}, "dry_run": True, "purge": False},
            {"ids": [MEMORY], "dry_run": True},
            {"all": True, "dry_run": True},
            {"agentId": "a", "subjectId": "s", "filter": {"kind": "Note", "threadId": "t"},
             "dry_run": True},
        ),
    ),
    Posting("POST", "/memories/undelete", ({"ids": [MEMORY]},)),
    Posting("POST", f"/memories/{MEMORY}/settle", ({"with": OTHER, "action": "keep_both"},)),
    Posting(
        "POST",
        "/memories/groups",
        ({"title": "Offices", "description": "All of them", "category": "fact"},),
    ),
    Posting(
        "PATCH",
        f"/memories/groups/{GROUP}",
        ({"title": "Offices", "description": "All of them", "category": "fact"},),
    ),
    Posting("POST", f"/memories/groups/{GROUP}/memories", ({"memory_ids": [MEMORY]},)),
    Posting(
        "PATCH",
        "/memories/settings",
        (
            {
                "memories_save_enabled": True, "memories_chat_history_enabled": True, "top_k": 5,
                "score_threshold": 0.5, "plan": None,
            },
        ),
    ),
    Posting(
        "POST",
        "/chat/api/c/memory",
        (
            {
                "messageId": "m", "content": "The head office is in Graz.", "category": "fact",
                "tags": ["work"], "standing": False,
            },
        ),
    ),
    Posting(
        "PATCH",
        f"/chat/api/c/memories/{CHAT_MEMORY}",
        (
            {
                "content": "The head office is in Linz.", "category": "fact", "tags": ["work"],
                "standing": False,
            },
        ),
    ),
    Posting(
        "POST",
        "/chat/api/c/memories/delete",
        (
            {"filter": _FILTER, "dry_run": True, "purge": False},
            {"ids": [CHAT_MEMORY], "dry_run": True},
            {"all": True, "dry_run": True},
        ),
    ),
    Posting("POST", "/chat/api/c/memories/undelete", ({"ids": [CHAT_MEMORY]},)),
    Posting(
        "POST",
        f"/chat/api/c/memories/{CHAT_MEMORY}/settle",
        ({"with": "{chat_other}", "action": "keep_both"},),
    ),
)  # fmt: skip

# What the tools are called with. `id` of `settle` and its like: a memory that exists.
CALLS: dict[str, Json] = {
    "remember": {
        "text": "The head office is in Graz.", "tags": ["work"], "source_provider": "m",
        "importance": 0.5, "capture_mode": "explicit", "session_id": "s", "dedup_policy": "ask",
        "expires_at": LATER, "standing": False, "last_confirmed_at": "2024-01-01",
    },
    "recall": {"query": "office", "tags": ["work"], "limit": 3, "session_id": "s"},
    "forget": {"id": MEMORY, "reason": "gone", "dry_run": True},
    "correct": {"id": MEMORY, "text": "The head office is in Linz.", "reason": "moved"},
    "confirm": {"id": MEMORY},
    "list_memories": {"limit": 3, "tags": ["work"], "standing": False, "conflicts": False},
    "settle": {"id": MEMORY, "with": OTHER, "action": "keep_both"},
}  # fmt: skip

# Routes that are asked by their query, and values that each of its parameters is given.
QUERIES = (
    ("GET", "/memories?agentId=a"),
    ("GET", "/memories"),
    ("GET", "/memories/search?query=office"),
    ("GET", "/memories/search?query=office&agentId=a&mode=llm&scope=all"),
    ("GET", f"/memories/{MEMORY}"),
    ("DELETE", f"/memories/{MEMORY}?dry_run=true"),
    ("DELETE", f"/memories/{AGENT_MEMORY}?dry_run=true"),
    ("GET", "/memories/tombstones"),
    ("GET", "/memories/export"),
    ("GET", f"/memories/{MEMORY}/history"),
    ("GET", "/memories/groups"),
    ("DELETE", f"/memories/groups/{GROUP}?dry_run=true"),
    ("DELETE", f"/memories/groups/{GROUP}/memories/{MEMORY}?dry_run=true"),
    ("GET", "/schemas"),
    ("DELETE", "/schemas/Kept?dry_run=true"),
    ("GET", "/wallets"),
    ("GET", "/context_memory/conversations"),
    ("GET", "/rag/n/documents"),
    ("GET", "/rag/n/search?query=office"),
    ("DELETE", "/rag/n/documents/d?dry_run=true"),
    ("GET", "/chat/api/c/memories"),
    ("GET", "/chat/api/c/memories/search?query=office"),
    ("GET", "/chat/api/c/memories/tombstones"),
    ("DELETE", f"/chat/api/c/memories/{CHAT_MEMORY}?dry_run=true"),
    ("GET", "/usage"),
)  # fmt: skip
