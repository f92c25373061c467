"""`/context_memory` in all three dialects: what is posted in one is answered in it, and what one
route knows of a conversation, all know."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from tests.http.served.fakes import edge, real_memory
from tests.wire.conversations import as_chat, as_messages, as_responses, conversation, needs
from tests.wire.messages import messages_changes
from tests.wire.responses import responses_changes

PATH = "/v1/context_memory"
TALK = conversation(7, turns=12, size=900)
SMALL = {"target_tokens": 4_000, "mode": "fresh", "model_context_limit": 200_000}
BODIES: dict[str, dict[str, Any]] = {
    "chat": {"messages": as_chat(TALK)},
    "messages": as_messages(TALK),
    "responses": as_responses(TALK),
}
# Who stored and who deletes, each once; the other pairs are left to `make test-all`.
FIRST = {("chat", "messages"), ("messages", "responses"), ("responses", "chat")}
FIELDS = {"chat": "messages", "messages": "messages", "responses": "input"}


@pytest.mark.parametrize(
    ("dialect", "named"),
    [
        *((dialect, False) for dialect in BODIES),
        ("messages", True),
        *(pytest.param(dialect, True, marks=pytest.mark.long) for dialect in ("chat", "responses")),
    ],
)
async def test_what_is_posted_in_a_dialect_is_answered_in_it(dialect: str, named: bool):
    body = BODIES[dialect] | ({"dialect": dialect} if named else {})
    async with edge(None, real_memory()) as client:
        answer = await client.post(PATH, json=body | SMALL)
    shown = answer.json()
    assert answer.status_code == 200, shown
    assert list(shown) == [FIELDS[dialect], "usage", "memory"]
    assert shown["memory"]["state"] in ("packed", "provisional")
    assert shown["usage"]["completion_tokens"] < shown["usage"]["prompt_tokens"] / 2
    sent = BODIES[dialect] | {FIELDS[dialect]: shown[FIELDS[dialect]]}
    if dialect == "messages":
        assert messages_changes.changed(BODIES[dialect], sent) == []
    if dialect == "responses":
        assert responses_changes.changed(BODIES[dialect], sent, needs(sent)) == []


@pytest.mark.parametrize("dialect", BODIES)
async def test_what_fits_comes_back_as_it_is(dialect: str):
    body = BODIES[dialect] | {"dialect": dialect, "model_context_limit": 1_000_000}
    async with edge(None, real_memory()) as client:
        answer = await client.post(PATH, json=body | {"target_tokens": 900_000})
    assert answer.json()[FIELDS[dialect]] == BODIES[dialect][FIELDS[dialect]]


async def test_one_conversation_has_one_address_and_is_indexed_once():
    async with edge(None, real_memory()) as client:
        shown = [
            (await client.post(PATH, json=body | {"index_only": True})).json()
            for body in BODIES.values()
        ]
        trees = [
            (await client.post(f"{PATH}/tree", json=body | SMALL)).json()
            for body in BODIES.values()
        ]
    assert len({one["memory"]["address"] for one in shown}) == 1
    assert [one["memory"]["indexed_tokens"] > 0 for one in shown] == [True] * 3
    assert all("messages" not in one and "input" not in one for one in shown)
    assert trees[0] == trees[1] == trees[2]


@pytest.mark.parametrize("dialect", BODIES)
async def test_it_is_explained(dialect: str):
    body = BODIES[dialect] | SMALL | {"explain": True, "query": "What was decided?"}
    async with edge(None, real_memory()) as client:
        explain = (await client.post(PATH, json=body)).json()["explain"]
    assert explain["nodes"]
    assert explain["excerpts"]


@pytest.mark.parametrize(
    ("known", "deleted"),
    [
        pytest.param(known, deleted, marks=() if (known, deleted) in FIRST else pytest.mark.long)
        for known, deleted in product(BODIES, BODIES)
    ],
)
async def test_what_one_dialect_stored_another_deletes(known: str, deleted: str):
    async with edge(None, real_memory()) as client:
        await client.post(PATH, json=BODIES[known] | SMALL | {"index_only": True})
        field = FIELDS[deleted]
        asked = {field: BODIES[deleted][field]}
        if deleted == "messages":
            asked["dialect"] = deleted
        first = (await client.post(f"{PATH}/delete", json=asked)).json()
        again = (await client.post(f"{PATH}/delete", json=asked)).json()
    assert first["scope"] == "history"
    assert first["nodes"] > 0
    assert again["nodes"] == 0


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"messages": [{"role": "user", "content": "x"}], "dialect": "gemini"}, "dialect"),
        ({"messages": [{"role": "user", "content": "x"}], "dialect": 1}, "dialect"),
        ({"messages": [{"role": "user", "content": "x"}], "input": "x"}, "input"),
        ({"input": []}, "input"),
        ({"input": 7}, "input"),
        ({"dialect": "responses"}, "input"),
        ({"dialect": "messages"}, "messages"),
        ({"input": "x", "previous_response_id": "resp_1"}, "input"),
        ({"input": [{"type": "item_reference", "id": "msg_1"}]}, "input"),
        ({"messages": [{"role": "user", "content": "x"}], "system": "s",
          "thread": {"type": "create"}}, "thread"),
    ],
)  # fmt: skip
async def test_what_cannot_be_read_names_its_place(body: dict[str, Any], param: str):
    async with edge(None, real_memory()) as client:
        answer = await client.post(PATH, json=body)
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["param"] == param


@pytest.mark.parametrize(
    ("messages", "field"),
    [
        # What looks like a block is a text of a chat, and a chat may have parts of any type.
        ([{"role": "user", "content": 'What is "tool_use"?'}], "messages"),
        ([{"role": "user", "content": [{"type": "tool_use", "id": "1"}]},
          {"role": "assistant", "content": "x"}], "messages"),
    ],
)  # fmt: skip
async def test_a_doubtful_history_is_never_an_error_of_ours(messages: Any, field: str):
    async with edge(None, real_memory()) as client:
        answer = await client.post(PATH, json={"messages": messages})
    assert answer.status_code == 200
    assert answer.json()[field] == messages
