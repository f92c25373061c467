"""Agents' memories over HTTP: made as they are."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from memtree.memories.book import MemoryRules
from tests.fakes import HashingEmbedder
from tests.http.owned.kinds import AGENT, INTERACTION, LATER, PROFILE, Agents, agents, error, wrong
from tests.unit.memories.books import MoodyEmbedder

TOKEN = "ghp_" + 2 * "Zq8vLk2Rm9TxB4wYcN7d"
NOTE = {"kind": "Note", "data": {"text": "Call"}}


@pytest.fixture
async def of() -> AsyncIterator[Agents]:
    async with agents() as made:
        yield made


# -- making ----------------------------------------------------------------------------------


async def test_memories_are_stored_as_they_are(of: Agents):
    answer = await of.store(
        {"kind": "UserProfile", "data": {"favoriteColor": "blue"}},
        {"kind": "Note", "data": {"text": "Call", "tries": [1, 2.5, None, True]}},
    )
    assert answer.status_code == 201
    shown = answer.json()
    assert list(shown) == ["success", "created", "updated"]
    assert (shown["success"], shown["updated"]) == (True, [])
    one, other = shown["created"]
    assert (one["kind"], one["metadata"]) == ("UserProfile", {"favoriteColor": "blue"})
    assert other["metadata"] == {"text": "Call", "tries": [1, 2.5, None, True]}
    assert one["id"].startswith("mem_")
    assert await of.data() == [other["metadata"], one["metadata"]]


async def test_without_unique_fields_two_equal_memories_are_two(of: Agents):
    shown = await of.stored(NOTE, NOTE)
    assert len(shown["created"]) == 2
    await of.stored(NOTE)
    assert await of.data() == [NOTE["data"]] * 3


async def test_a_memory_of_a_kind_with_unique_fields_takes_the_place_of_the_one_before(of: Agents):
    await of.schemas(PROFILE)
    ada = {"kind": "UserProfile", "data": {"name": "Ada", "age": 30}}
    (first,) = (await of.stored(ada))["created"]
    answer = await of.store({"kind": "UserProfile", "data": {"name": "Ada", "age": 31}})
    assert answer.status_code == 200
    (second,) = answer.json()["updated"]
    assert answer.json()["created"] == []
    assert second["supersedes"] == first["id"] != second["id"]
    assert await of.data() == [{"name": "Ada", "age": 31}]
    replaced = (await of.one(first["id"]))["metadata"]
    assert (replaced["isLatest"], replaced["supersededBy"]) == (False, second["id"])
    # Another value, another subject and another agent have memories of their own.
    await of.stored({"kind": "UserProfile", "data": {"name": "Bob"}})
    await of.stored(ada, subjectId="s")
    await of.stored(ada, agent="other")
    assert len(await of.data()) == 2
    assert await of.data(subjectId="s") == await of.data("other") == [ada["data"]]


async def test_what_was_superseded_is_listed_where_it_is_asked_for(of: Agents):
    await of.schemas(PROFILE)
    for age in (30, 31):
        await of.stored({"kind": "UserProfile", "data": {"name": "Ada", "age": age}})
    new, old = await of.rows(include_superseded="true")
    assert (new["metadata"]["isLatest"], old["metadata"]["isLatest"]) == (True, False)
    assert old["metadata"]["supersededBy"] == new["id"]
    assert new["metadata"]["supersedes"] == old["id"]


async def test_the_same_again_changes_nothing(of: Agents):
    await of.schemas(PROFILE)
    ada = {"kind": "UserProfile", "data": {"name": "Ada", "age": 30}}
    (first,) = (await of.stored(ada))["created"]
    shown = await of.stored(ada)
    assert (shown["created"], shown["updated"]) == ([], [first])
    assert (await of.one(first["id"]))["metadata"]["version"] == 1


async def test_two_with_the_same_unique_fields_in_one_request(of: Agents):
    await of.schemas(PROFILE)
    shown = await of.stored(
        *({"kind": "UserProfile", "data": {"name": "Ada", "age": age}} for age in (30, 31))
    )
    (first,), (second,) = shown["created"], shown["updated"]
    assert second["supersedes"] == first["id"]
    assert await of.data() == [{"name": "Ada", "age": 31}]


async def test_an_id_names_the_memory_that_gets_new_data(of: Agents):
    await of.schemas(INTERACTION)
    (first,) = (await of.stored({"kind": "Interaction", "data": {"topic": "tea"}}))["created"]
    shown = await of.stored(
        {"kind": "Interaction", "data": {"topic": "tea and cake"}, "id": first["id"]}
    )
    (changed,) = shown["updated"]
    assert (shown["created"], changed["id"]) == ([], first["id"])
    assert await of.data() == [{"topic": "tea and cake"}]
    assert (await of.one(first["id"]))["metadata"]["version"] == 2


async def test_ids_that_cannot_be_meant_store_nothing(of: Agents):
    await of.schemas(INTERACTION, PROFILE)
    talk = {"kind": "Interaction", "data": {"topic": "tea"}}
    (here,) = (await of.stored(talk))["created"]
    (there,) = (await of.stored(talk, agent="other"))["created"]
    profile = {"kind": "UserProfile", "data": {"name": "Ada"}}
    for slip, status, code in (
        ({**talk, "id": "mem_none"}, 404, "not_found"),
        ({**talk, "id": there["id"]}, 404, "not_found"),
        ({**talk, "id": "no id"}, 400, "invalid_request"),
        ({**talk, "id": 5}, 400, "invalid_request"),
        ({**profile, "id": here["id"]}, 400, "invalid_request"),
    ):
        answer = await of.store(talk, slip)
        error(answer, status, code, "memories[1].id")
        assert answer.json()["error"]["message"].startswith("memories[1].id")
    await of.ask("DELETE", f"/{here['id']}")
    error(await of.store({**talk, "id": here["id"]}), 404, "not_found", "memories[0].id")
    assert await of.data() == []


async def test_data_keeps_to_the_schema_of_its_kind(of: Agents):
    await of.schemas(PROFILE, INTERACTION)
    sound = {"kind": "Interaction", "data": {"topic": "tea"}}
    for data in ({"age": 3}, {"name": 5}, {"name": "Ada", "mood": "fine"}):
        answer = await of.store(sound, sound, {"kind": "UserProfile", "data": data})
        assert answer.status_code == 422
        assert answer.json()["error"]["code"] == "schema_violation"
        assert answer.json()["error"]["param"].startswith("memories[2].data")
    answer = await of.store(sound, {"kind": "Userprofil", "data": {}})
    assert answer.status_code == 422
    assert "UserProfile" in answer.json()["error"]["message"]
    assert answer.json()["error"]["param"].startswith("memories[1]")
    assert await of.data() == []


async def test_any_kind_will_do_while_the_tenant_has_no_schema(of: Agents):
    await of.stored({"kind": "Whatever", "data": {"a": {"b": [1]}}})
    assert await of.data() == [{"a": {"b": [1]}}]


async def test_a_request_is_stored_whole_or_not_at_all():
    async with agents(rules=MemoryRules(most=2)) as of:
        error(await of.store(NOTE, NOTE, {"kind": "Note"}), 400, "invalid_request",
              "memories[2].data")  # fmt: skip
        assert (await of.store(NOTE, NOTE, NOTE)).status_code == 409
        assert await of.data() == []
        await of.stored(NOTE, NOTE)
        answer = await of.store(NOTE)
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "memory_limit")


# What is wrong with a request, with one of its memories, and with a message of its conversation.
SAID = [{"role": "user", "content": "a"}]
WRONG: list[tuple[dict[str, Any], str]] = [
    ({}, "memories"), ({"memories": []}, "memories"), ({"memories": {}}, "memories"),
    ({"memories": None, "conversation": None}, "memories"),
    ({"memories": [NOTE], "conversation": SAID}, "memories"),
    ({"conversation": []}, "conversation"),
    ({"memories": [NOTE] * 101}, "memories"), ({"memories": [NOTE], "ttl": 5}, "ttl"),
    ({"memories": [NOTE], "ttl": "1h", "expiresAt": LATER}, "ttl"),
    ({"memories": [NOTE], "expiresAt": True}, "expiresAt"),
    ({"memories": [NOTE], "threadId": "a b"}, "threadId"),
    ({"memories": [NOTE], "threadId": 5}, "threadId"),
    ({"memories": [NOTE], "subjectId": ""}, "subjectId"),
    ({"memories": [NOTE], "subjectId": "*"}, "subjectId"),
    ({"memories": [NOTE], "agentId": "*"}, "agentId"),
    ({"memories": [NOTE], "agentId": "a" * 201}, "agentId"),
    ({"memories": [NOTE], "agentId": 7}, "agentId"),
    ({"memories": [NOTE], "agentId": None, "subjectId": "s"}, "agentId"),
    ({"memories": [NOTE], "schemas": "a"}, "schemas"),
    ({"memories": [NOTE], "schemas": [5]}, "schemas[0]"),
    ({"memories": [NOTE], "force": "yes"}, "force"), ({"conversation": "hello"}, "conversation"),
]  # fmt: skip
MEMORIES: list[tuple[Any, str]] = [
    (5, ""), ([], ""), ({"data": {}}, ".kind"), ({"kind": "", "data": {}}, ".kind"),
    ({"kind": 5, "data": {}}, ".kind"), ({"kind": "a\n", "data": {}}, ".kind"),
    ({"kind": "a"}, ".data"), ({"kind": "a", "data": "text"}, ".data"),
    ({"kind": "a", "data": []}, ".data"), ({"kind": "a", "data": {"a": "b" * 16_400}}, ".data"),
    ({"kind": "a", "data": {"a": "\0"}}, ".data"), ({"kind": "a", "data": {"a": 2**64}}, ".data"),
    ({"kind": "a", "data": {}, "x": "y" * 140_000}, ".x"), ({**NOTE, "tags": "a"}, ".tags"),
    ({**NOTE, "tags": ["a" * 33]}, ".tags[0]"), ({**NOTE, "ttl": "soon"}, ".ttl"),
    ({**NOTE, "ttl": "1h", "expiresAt": LATER}, ".ttl"),
    ({**NOTE, "expiresAt": 1_924_992_000}, ".expiresAt"),
    ({**NOTE, "expiresAt": "2031-01-01"}, ".expiresAt"),
]  # fmt: skip
MESSAGES: list[tuple[Any, str]] = [
    ("hello", ""), ({"content": "a"}, ".role"), ({"role": "tool", "content": "a"}, ".role"),
    ({"role": "user"}, ".content"), ({"role": "user", "content": ["a"]}, ".content"),
    ({"role": "user", "content": "a", "id": 5}, ".id"),
    ({"role": "user", "content": "a", "id": "i" * 201}, ".id"),
]  # fmt: skip


async def test_what_is_wrong_is_named_and_nothing_is_stored():
    wrongs = [
        *WRONG,
        *(({"memories": [NOTE, row]}, f"memories[1]{below}") for row, below in MEMORIES),
        *(({"conversation": [said]}, f"conversation[0]{below}") for said, below in MESSAGES),
    ]
    async with agents() as of:
        for posted, param in wrongs:
            wrong(await of.ask("POST", json={"agentId": AGENT, **posted}), param)
        assert await of.data("*", subjectId="*") == []


async def test_the_largest_request_is_taken(of: Agents):
    shown = await of.stored(*({"kind": "K", "data": {"n": at}} for at in range(100)))
    assert [row["metadata"]["n"] for row in shown["created"]] == list(range(100))
    await of.stored({"kind": "K", "data": {"a": "ü" * 8_000}})
    odd = json.dumps({"agentId": AGENT, "memories": [{"kind": "K", "data": {"a": "ü" * 8_000}}]})
    answer = await of.ask("POST", content=odd, headers={"content-type": "application/json"})
    assert answer.status_code == 201  # six characters for each, as it is posted


async def test_a_body_over_the_limit_is_too_large():
    async with agents(max_body_bytes=2_000) as of:
        answer = await of.store({"kind": "K", "data": {"a": "b" * 3_000}})
        error(answer, 413, "request_too_large", None)


async def test_a_secret_is_refused_and_not_repeated(of: Agents):
    for memory, param in (
        ({"kind": "K", "data": {"note": f"The key is {TOKEN}"}}, "memories[1].data"),
        ({"kind": "K", "data": {TOKEN: 1}}, "memories[1].data"),
        ({"kind": "K", "data": {"a": [{"dbPassword": TOKEN[5:25]}]}}, "memories[1].data"),
        ({"kind": TOKEN, "data": {}}, "memories[1].kind"),
        ({"kind": "K", "data": {}, "tags": [TOKEN[:30]]}, "memories[1].tags"),
    ):
        answer = await of.store(NOTE, memory)
        assert TOKEN[:24] not in answer.text
        if param.endswith("tags"):  # too long for a tag to be one of this vendor
            continue
        error(answer, 422, "secret_rejected", param)
    assert not [row for row in await of.rows() if TOKEN in str(row)]


async def test_a_setting_allows_secrets():
    async with agents(agent_secrets="allow") as of:
        await of.stored({"kind": "K", "data": {"note": TOKEN}})
        assert await of.data() == [{"note": TOKEN}]


async def test_an_idempotency_key_is_ignored(of: Agents):
    key = {"idempotency-key": "k" * 256}
    other = {**NOTE, "data": {"text": "another"}}
    await of.stored(NOTE, headers=key)
    await of.stored(other, headers=key)
    assert await of.data() == [other["data"], NOTE["data"]]


# -- how long --------------------------------------------------------------------------------


async def test_how_long_memories_are_kept(of: Agents):
    shown = await of.stored(
        {"kind": "SessionContext", "data": {"task": "booking"}},
        {"kind": "Reminder", "data": {"text": "Follow up"}, "ttl": "1h"},
        {"kind": "Reminder", "data": {"text": "Move"}, "expiresAt": LATER},
        ttl="24h",
    )
    now = of.opened.clock.time * 1_000
    ends = [row["metadata"]["expiresAt"] for row in shown["created"]]
    assert ends == [now + 86_400_000, now + 3_600_000, LATER]
    of.opened.clock.time += 3_601
    assert [row["kind"] for row in await of.rows()] == ["Reminder", "SessionContext"]
    of.opened.clock.time += 86_400
    (row,) = await of.rows()
    assert row["metadata"]["expiresAt"] == LATER
    assert "expiresAt" not in (await of.stored(NOTE))["created"][0]["metadata"]


# -- vectors and who is let in ---------------------------------------------------------------


async def test_what_was_just_stored_is_found():
    async with agents(HashingEmbedder()) as of:
        await of.stored(*({"kind": "K", "data": {"n": f"word{at}"}} for at in range(10)))
        found = await of.book.search(of.scope(), "k word7")
        assert "word7" in found.hits[0].memory.text
        assert found.degraded == ()


async def test_an_embedder_that_is_down_holds_nothing_up():
    embedder = MoodyEmbedder()
    async with agents(embedder) as of:
        embedder.down = True
        assert (await of.stored(NOTE, NOTE))["degraded"] == ["embedder"]
        assert len(await of.data()) == 2
        embedder.down = False
        await of.book.join()
        assert not await of.book.saving.waits(of.scope())
