"""Agents' memories over HTTP: listed, shown, changed and deleted."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from memtree.memories.draft import MemoryDraft
from memtree.memories.scope import Scope
from memtree_proxy.http.request_body import PREFIXES
from tests.http.owned.kinds import AGENT, KEY, LATER, Agents, agents, error, wrong
from tests.http.served.fakes import FakeKeys

NOTE = {"kind": "Note", "data": {"text": "Call"}}


@pytest.fixture
async def of() -> AsyncIterator[Agents]:
    async with agents() as made:
        yield made


# -- listing and showing ---------------------------------------------------------------------


async def test_what_the_data_tells_is_shown_with_one(of: Agents):
    shown = await of.stored(
        {"kind": "Note", "data": {"text": "Call my sister Ada", "due": "2026-03-07"}},
        subjectId="s",
        threadId="t",
    )
    metadata = (await of.one(shown["created"][0]["id"]))["metadata"]
    assert (metadata["subjectId"], metadata["threadId"]) == ("s", "t")
    assert metadata["mentions"] == [{"name": "Ada", "type": "person"}]
    assert metadata["when"] == "2026-03-07T00:00:00.000Z"


async def test_filters_of_the_list(of: Agents):
    await of.stored({"kind": "A", "data": {"n": 1}, "tags": ["x", "y"]}, threadId="t1")
    await of.stored({"kind": "B", "data": {"n": 2}, "tags": ["x"]}, threadId="t2")
    await of.stored({"kind": "A", "data": {"n": 3}}, subjectId="s")
    await of.stored({"kind": "A", "data": {"n": 4}}, agent="other", subjectId="s")

    async def numbers(agent: str = AGENT, **query: Any) -> list[int]:
        return [one["n"] for one in await of.data(agent, **query)]

    assert await numbers() == [2, 1]
    assert await numbers(kind="A") == [1]
    assert await numbers(threadId="t2") == [2]
    assert await numbers(tags="x") == [2, 1]
    assert await numbers(tags="x,y") == [1]
    assert await numbers(tags="X, y ", kind="A", threadId="t1") == [1]
    assert await numbers(subjectId="s") == [3]
    assert await numbers(subjectId="*") == [3, 2, 1]
    assert await numbers("*") == [2, 1]
    assert await numbers("*", subjectId="s") == [4, 3]
    assert await numbers("*", subjectId="*") == [4, 3, 2, 1]
    assert await numbers("nobody") == await numbers(kind="C") == []


async def test_what_is_wrong_with_a_list_is_named(of: Agents):
    for query, param in (
        ({"agentId": "", "subjectId": "s"}, "agentId"), ({"agentId": "a b"}, "agentId"),
        ({"subjectId": ""}, "subjectId"), ({"threadId": "a b"}, "threadId"),
        ({"kind": ""}, "kind"), ({"tags": "a" * 40}, "tags[0]"), ({"limit": "many"}, "limit"),
        ({"cursor": "x"}, "cursor"), ({"group_id": "grp_1"}, "group_id"),
        ({"include": "superseded"}, "include"),
        ({"include_superseded": "perhaps"}, "include_superseded"),
    ):  # fmt: skip
        wrong(await of.ask("GET", params={"agentId": AGENT, **query}), param)
    wrong(await of.ask("GET", params={"subjectId": "s"}), "subjectId")
    for name in (
        "agentId", "subjectId", "threadId", "kind", "limit", "cursor", "include_superseded",
    ):  # fmt: skip
        fields = [("agentId", AGENT), (name, "1"), (name, "2")]
        wrong(await of.ask("GET", params=fields), name)


async def test_the_collection_knows_users_and_agents_apart(of: Agents):
    mine = (await of.got("POST", "", status=201, json={"text": "I like tea"}))["id"]
    theirs = await of.noted()
    assert [row["id"] for row in (await of.got("GET"))["memories"]] == [mine]
    assert [row["id"] for row in await of.rows("*", subjectId="*")] == [theirs]
    assert (await of.got("GET", f"/{mine}"))["text"] == "I like tea"
    assert (await of.one(theirs))["data"] == {"text": "Call"}
    for query in ({"agentId": AGENT}, {"agentId": "*", "subjectId": "*"}):
        answer = await of.ask("GET", f"/{mine}", params=query)
        error(answer, 404, "not_found", "memory_id")
    error(await of.ask("GET", f"/{theirs}", params={"agentId": "other"}), 404, "not_found",
          "memory_id")  # fmt: skip
    assert (await of.one(theirs, agentId=AGENT))["id"] == theirs


async def test_a_user_id_does_not_narrow_agents_and_agents_do_not_widen_users(of: Agents):
    theirs = await of.noted()
    saved = await of.book.save(Scope.of_user(of.tenant, "u1"), MemoryDraft("A text"))
    mine = saved.memory.id
    assert (await of.ask("GET", f"/{theirs}", headers={"x-user-id": "u2"})).status_code == 200
    assert (await of.ask("GET", f"/{mine}", headers={"x-user-id": "u1"})).status_code == 200
    for headers in ({"x-user-id": "u2"}, {}):
        error(await of.ask("GET", f"/{mine}", headers=headers), 404, "not_found", "memory_id")


@pytest.mark.parametrize("prefix", PREFIXES)
async def test_every_route_stands_under_every_prefix(of: Agents, prefix: str):
    posted = {"agentId": AGENT, "memories": [NOTE]}
    for path in ("/memories", "/memories/batch/create"):
        answer = await of.client.post(f"{prefix}{path}", headers=KEY, json=posted)
        assert answer.status_code == 201
    id_ = answer.json()["created"][0]["id"]
    for method, path, body in (
        ("GET", f"/memories?agentId={AGENT}", None),
        ("GET", f"/memories/{id_}", None),
        ("PATCH", f"/memories/{id_}", {"tags": ["a"]}),
        ("POST", "/memories/batch/update", {"ids": [id_], "update": {"tags": []}}),
        ("POST", "/memories/batch/delete", {"ids": ["mem_none"]}),
        ("DELETE", f"/memories/{id_}", None),
    ):
        answer = await of.client.request(method, f"{prefix}{path}", headers=KEY, json=body)
        assert answer.status_code == 200, (method, path)


# -- changing --------------------------------------------------------------------------------


async def test_tags_and_expiry_are_changed(of: Agents):
    id_ = await of.noted()
    answer = await of.ask("PATCH", f"/{id_}", json={"tags": ["Important", "verified"]})
    assert (answer.status_code, answer.headers["etag"]) == (200, '"2"')
    assert answer.json()["success"] is True
    assert answer.json()["memory"]["metadata"]["tags"] == ["important", "verified"]
    shown = await of.got("PATCH", f"/{id_}", json={"expiresAt": LATER})
    assert shown["memory"]["metadata"]["expiresAt"] == LATER
    assert shown["memory"]["metadata"]["tags"] == ["important", "verified"]
    shown = await of.got("PATCH", f"/{id_}", json={"expiresAt": None, "tags": []})
    assert (shown["memory"]["metadata"]["expiresAt"], shown["memory"]["metadata"]["tags"]) == (
        None, [],
    )  # fmt: skip
    assert await of.data() == [{"text": "Call"}]


async def test_whoever_does_not_know_whose_a_memory_is_can_change_it(of: Agents):
    mine = (await of.got("POST", "", status=201, json={"text": "I like tea"}))["id"]
    for id_ in (mine, await of.noted()):
        await of.got("PATCH", f"/{id_}", json={"expiresAt": LATER})
    assert (await of.got("GET", f"/{mine}"))["expires_at"] == "2031-01-01T00:00:00.000Z"
    row = await of.got("PATCH", f"/{mine}", json={"expiresAt": None, "tags": ["a"]})
    assert (row["expires_at"], row["tags"]) == (None, ["a"])


# -- who is let in ---------------------------------------------------------------------------


async def test_with_keys_nobody_else_is_let_in():
    async with agents(keys=FakeKeys(ada=["key"])) as of:
        id_ = await of.noted()
        for method, path, body in (
            ("GET", f"?agentId={AGENT}", None),
            ("GET", f"/{id_}", None),
            ("PATCH", f"/{id_}", {"tags": []}),
            ("DELETE", f"/{id_}", None),
            ("POST", "", {"agentId": AGENT, "memories": [NOTE]}),
            ("POST", "/batch/create", {"agentId": AGENT, "memories": [NOTE]}),
            ("POST", "/batch/update", {"ids": [id_], "update": {"tags": []}}),
            ("POST", "/batch/delete", {"ids": [id_]}),
        ):
            answer = await of.ask(method, path, json=body, headers={"authorization": "Bearer x"})
            assert answer.status_code == 401, (method, path)
        assert len(await of.data()) == 1


@pytest.mark.usefixtures("rates_without_time")
async def test_a_request_counts_once_however_many_handlers_it_passes():
    async with agents(requests_per_minute=6) as of:
        id_ = await of.noted()
        for method, path, body in (
            ("POST", "", {"text": "I like tea"}),
            ("GET", f"?agentId={AGENT}", None),
            ("GET", f"/{id_}", None),
            ("GET", "/mem_none", None),
            ("POST", "/batch/delete", {"ids": [id_]}),
        ):
            answer = await of.ask(method, path, json=body)
            assert answer.status_code != 429, (method, path)
        assert (await of.ask("GET")).status_code == 429
