"""A history with a message that only some servers accept is folded, quoted, and sent as it came."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.http.served.fakes import edge, real_memory
from tests.http.served.upstream import FakeUpstream
from tests.wire.conversations import as_chat, as_messages, as_responses, conversation

FACT = "The zebra code is 7741."
HALF = "cut \ud99c"
TALK = conversation(7, turns=14, size=900)
BASE: dict[str, dict[str, Any]] = {
    "chat": {"model": "m", "messages": as_chat(TALK)},
    "messages": {"model": "m", "max_tokens": 100, **as_messages(TALK)},
    "responses": {"model": "m", **as_responses(TALK)},
}
PATHS = {"chat": "/chat/completions", "messages": "/messages", "responses": "/responses"}
OK = {"role": "assistant", "content": "ok"}
WAIT = {"role": "user", "content": "wait"}
CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "x1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
}
USE = {"role": "assistant", "content": [{"type": "tool_use", "id": "x1", "name": "f", "input": {}}]}
FUNCTION_CALL = {"type": "function_call", "call_id": "x1", "name": "f", "arguments": "{}"}


def tool(content: Any = FACT, id_: Any = "x1") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id_, "content": content}


def results(content: Any = FACT, id_: Any = "x1") -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": id_, "content": content}
    return {"role": "user", "content": [block]}


def output(given: Any = FACT, id_: Any = "x1") -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": id_, "output": given}


def attached(**fields: Any) -> dict[str, Any]:
    return {"role": "user", "content": [fields, {"type": "text", "text": "Read."}]}


DOCUMENT = attached(type="document", title="Zoo", source={"type": "text", "data": FACT})
FILE = attached(type="input_file", filename="zoo.txt", text=FACT)
ODD: list[tuple[str, str, list[Any]]] = [
    ("chat", "half a character", [CALL, tool(f"{FACT} {HALF}"), OK]),
    ("chat", "late", [CALL, WAIT, tool(), OK]),
    ("chat", "orphan", [WAIT, tool(id_="x9"), OK]),
    ("chat", "object", [CALL, tool({"said": FACT}), OK]),
    ("chat", "strings", [{"role": "user", "content": ["a", FACT, 5]}, OK]),
    ("chat", "role", [{"role": "observation", "content": FACT}, OK]),
    ("chat", "string", [FACT, OK]),
    ("chat", "refusal", [WAIT, {**OK, "content": [{"type": "refusal", "refusal": FACT}]}]),
    ("messages", "half a character", [USE, results(f"{FACT} {HALF}"), OK]),
    ("messages", "late", [USE, WAIT, results(), OK]),
    ("messages", "orphan", [results(id_="x9"), OK]),
    ("messages", "object", [USE, results({"said": FACT}), OK]),
    ("messages", "role", [{"role": "human", "content": FACT}, OK]),
    ("messages", "document", [DOCUMENT, OK]),
    ("responses", "half a character", [FUNCTION_CALL, output(f"{FACT} {HALF}"), OK]),
    ("responses", "orphan", [output(id_="x9"), OK]),
    ("responses", "object", [FUNCTION_CALL, output({"said": FACT}), OK]),
    ("responses", "role", [{"role": "observation", "content": FACT}, OK]),
    ("responses", "file", [FILE, OK]),
]
FIRST = ("half a character", "object", "document")
ON = {"x-polychat-memory": "on"}
QUESTION = {"role": "user", "content": "What is the zebra code?"}


def posted(dialect: str, items: list[Any], at: int) -> tuple[bytes, list[bytes]]:
    """Return a body with odd items at a place of its history, and its items as they stand there."""
    field = "input" if dialect == "responses" else "messages"
    talk = BASE[dialect][field]
    given = [*talk[:at], *items, *talk[at:], QUESTION]
    written = [json.dumps(each, separators=(",", ": ")).encode() for each in given]
    whole = {**BASE[dialect], field: [], "target_tokens": 4_000}
    body = json.dumps(whole).encode().replace(b'"%b": []' % field.encode(), b"%b")
    return body % (b'"%b":[%b]' % (field.encode(), b",".join(written))), written


async def sent(
    dialect: str, body: bytes, client: httpx.AsyncClient, upstream: FakeUpstream
) -> bytes:
    answer = await client.post(PATHS[dialect], content=body, headers=ON)
    assert answer.headers["x-memtree-state"] == "packed"
    return upstream.last.body


@pytest.mark.parametrize("dialect", BASE)
async def test_all_that_is_kept_is_sent_as_it_came(dialect: str, base: str, upstream: FakeUpstream):
    cases = [items for of, _, items in ODD if of == dialect]
    items = [item for items in cases for item in items if item not in (DOCUMENT, FILE)]
    body, written = posted(dialect, items, 10_000)
    async with edge(base, real_memory(), anthropic_upstream=base) as client:
        whole = await sent(dialect, body, client, upstream)
    assert b",".join(written[-len(items) - 1 : -1]) in whole


@pytest.mark.parametrize(
    ("dialect", "items"),
    [
        pytest.param(of, items, id=f"{of}, {name}", marks=() if name in FIRST else pytest.mark.long)
        for of, name, items in ODD
    ],
)
async def test_what_is_folded_is_quoted(
    dialect: str, items: list[Any], base: str, upstream: FakeUpstream
):
    body, _ = posted(dialect, items, 4)
    async with edge(base, real_memory(), anthropic_upstream=base) as client:
        assert FACT.encode() in await sent(dialect, body, client, upstream)
