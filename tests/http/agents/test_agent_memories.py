"""Agents' memories over HTTP: listed, shown, changed and deleted."""

from __future__ import annotations

from typing import Any

import pytest

from memtree.memories.draft import MemoryDraft
from memtree.memories.scope import Scope
from memtree_proxy.http.request_body import PREFIXES
from tests.http.owned.agents import AGENT, KEY, agents
from tests.http.owned.remembering import error
from tests.http.served.fakes import FakeKeys

LATER = 1_924_992_000_000  # milliseconds: in 2031
NOTE = {"kind": "Note", "data": {"text": "Call"}}
METADATA = {
    "agentId", "subjectId", "threadId", "tags", "confidence", "mentions", "when", "expiresAt",
    "createdAt", "updatedAt", "version", "source", "tainted", "state",
    "isLatest", "supersedes", "supersededBy",
}  # fmt: skip


# -- listing and showing ---------------------------------------------------------------------


async def test_a_memory_is_shown_with_all_that_is_known_of_it():
    async with agents() as of:
        shown = await of.stored(
            {"kind": "Note", "data": {"text": "Call my sister Ada", "due": "2026-03-07"},
             "tags": ["To Do"]},
            subjectId="s", threadId="t",
        )  # fmt: skip
        answer = await of.ask("GET", f"/{shown['created'][0]['id']}")
        assert answer.headers["etag"] == '"1"'
        assert answer.headers["cache-control"] == "no-store"
        assert answer.json()["success"] is True
        memory = answer.json()["memory"]
        assert list(memory) == ["id", "kind", "data", "metadata"]
        assert memory["kind"] == "Note"
        assert memory["data"] == {"text": "Call my sister Ada", "due": "2026-03-07"}
        metadata = memory["metadata"]
        assert set(metadata) == METADATA
        assert (metadata["agentId"], metadata["subjectId"], metadata["threadId"]) == (
            AGENT,
            "s",
            "t",
        )
        assert (metadata["tags"], metadata["confidence"], metadata["version"]) == (
            ["to-do"],
            1.0,
            1,
        )
        assert (metadata["source"], metadata["expiresAt"]) == ("agent", None)
        assert metadata["mentions"] == [{"name": "Ada", "type": "person"}]
        assert metadata["when"] == "2026-03-07T00:00:00.000Z"
        assert metadata["createdAt"] == metadata["updatedAt"] == 1_000_000_000


async def test_filters_of_the_list():
    async with agents() as of:
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


async def test_pages_of_a_list():
    async with agents() as of:
        await of.stored(*({"kind": "K", "data": {"n": at}} for at in range(7)))
        seen: list[int] = []
        query: dict[str, Any] = {"agentId": AGENT, "limit": 3}
        while True:
            page = await of.got("GET", params=query)
            assert (page["success"], page["total"], page["groups"]) == (True, 7, [])
            seen += [row["data"]["n"] for row in page["memories"]]
            if page["next_cursor"] is None:
                break
            query["cursor"] = page["next_cursor"]
        assert seen == [6, 5, 4, 3, 2, 1, 0]


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ({"subjectId": "s"}, "subjectId"),
        ({"agentId": ""}, "agentId"),
        ({"agentId": "a b"}, "agentId"),
        ({"agentId": AGENT, "subjectId": ""}, "subjectId"),
        ({"agentId": AGENT, "threadId": "a b"}, "threadId"),
        ({"agentId": AGENT, "kind": ""}, "kind"),
        ({"agentId": AGENT, "tags": "a" * 40}, "tags[0]"),
        ({"agentId": AGENT, "limit": "many"}, "limit"),
        ({"agentId": AGENT, "cursor": "x"}, "cursor"),
        ({"agentId": AGENT, "group_id": "grp_1"}, "group_id"),
        ({"agentId": AGENT, "include": "superseded"}, "include"),
        ({"agentId": AGENT, "include_superseded": "perhaps"}, "include_superseded"),
    ],
)
async def test_what_is_wrong_with_a_list_is_named(query: dict[str, str], param: str):
    async with agents() as of:
        error(await of.ask("GET", params=query), 400, "invalid_request", param)


@pytest.mark.parametrize(
    "name", ["agentId", "subjectId", "threadId", "kind", "limit", "cursor", "include_superseded"]
)
async def test_a_field_that_stands_twice_is_refused(name: str):
    async with agents() as of:
        fields = [("agentId", AGENT), (name, "1"), (name, "2")]
        error(await of.ask("GET", params=fields), 400, "invalid_request", name)


async def test_the_collection_knows_users_and_agents_apart():
    async with agents() as of:
        mine = (await of.got("POST", "", 201, json={"text": "I like tea"}))["id"]
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


async def test_a_user_id_does_not_narrow_agents_and_agents_do_not_widen_users():
    async with agents() as of:
        theirs = await of.noted()
        saved = await of.book.save(Scope.of_user(of.tenant, "u1"), MemoryDraft("A text"))
        mine = saved.memory.id
        assert (await of.ask("GET", f"/{theirs}", headers={"x-user-id": "u2"})).status_code == 200
        assert (await of.ask("GET", f"/{mine}", headers={"x-user-id": "u1"})).status_code == 200
        for headers in ({"x-user-id": "u2"}, {}):
            error(await of.ask("GET", f"/{mine}", headers=headers), 404, "not_found", "memory_id")


@pytest.mark.parametrize("prefix", PREFIXES)
async def test_every_route_stands_under_every_prefix(prefix: str):
    async with agents() as of:
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


async def test_tags_and_expiry_are_changed():
    async with agents() as of:
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


@pytest.mark.parametrize(
    ("change", "param"),
    [
        ({}, "tags"),
        ({"tags": None}, "tags"),
        ({"tags": "a"}, "tags"),
        ({"tags": ["a" * 33]}, "tags[0]"),
        ({"tags": [5]}, "tags[0]"),
        ({"expiresAt": "never"}, "expiresAt"),
        ({"expiresAt": 1_924_992_000}, "expiresAt"),
        ({"expiresAt": 100_000_000_001 - 2}, "expiresAt"),
        ({"tags": ["a"], "data": {"text": "b"}}, "data"),
        ({"tags": ["a"], "kind": "b"}, "kind"),
        ({"ttl": "1h"}, "ttl"),
        ({"text": "b"}, "text"),
    ],
)
async def test_what_is_wrong_with_a_change_is_named(change: dict[str, Any], param: str):
    async with agents() as of:
        of.opened.clock.time = 1_800_000_000.0
        id_ = await of.noted()
        error(await of.ask("PATCH", f"/{id_}", json=change), 400, "invalid_request", param)
        past = {"expiresAt": 1_700_000_000_000}
        error(await of.ask("PATCH", f"/{id_}", json=past), 400, "invalid_request", "expiresAt")
        assert (await of.one(id_))["metadata"]["version"] == 1


async def test_whoever_does_not_know_whose_a_memory_is_can_change_it():
    async with agents() as of:
        mine = (await of.got("POST", "", 201, json={"text": "I like tea"}))["id"]
        for id_ in (mine, await of.noted()):
            await of.got("PATCH", f"/{id_}", json={"expiresAt": LATER})
        assert (await of.got("GET", f"/{mine}"))["expires_at"] == "2031-01-01T00:00:00.000Z"
        row = await of.got("PATCH", f"/{mine}", json={"expiresAt": None, "tags": ["a"]})
        assert (row["expires_at"], row["tags"]) == (None, ["a"])
        for change in ({"expiresAt": 5}, {"expiresAt": LATER, "expires_at": "2031-01-01"}):
            answer = await of.ask("PATCH", f"/{mine}", json=change)
            error(answer, 400, "invalid_request", "expiresAt")


async def test_if_match():
    async with agents() as of:
        id_ = await of.noted()
        change = {"tags": ["a"]}
        for tag, status in (('"2"', 409), ('"1"', 200), ('"1"', 409), ("*", 200), ("x", 400)):
            answer = await of.ask("PATCH", f"/{id_}", json=change, headers={"if-match": tag})
            assert answer.status_code == status, tag
        assert (await of.one(id_))["metadata"]["version"] == 3


async def test_a_deleted_memory_is_in_no_answer():
    async with agents() as of:
        id_ = await of.noted()
        assert await of.got("DELETE", f"/{id_}") == {
            "success": True,
            "deleted_from_groups": 0,
            "deleted": 1,
        }
        assert await of.data() == []
        for method in ("GET", "DELETE"):
            error(await of.ask(method, f"/{id_}"), 404, "not_found", "memory_id")
        answer = await of.ask("PATCH", f"/{id_}", json={"tags": ["a"]})
        error(answer, 404, "not_found", "memory_id")
        (back,) = await of.book.undelete(of.scope(), [id_])
        assert back.id == id_


async def test_what_was_purged_is_gone_for_good():
    async with agents() as of:
        id_ = await of.noted()
        error(await of.ask("DELETE", f"/{id_}?purge=now"), 400, "invalid_request", "purge")
        await of.got("DELETE", f"/{id_}", params={"purge": "true"})
        assert await of.book.undelete(of.scope(), [id_]) == []


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
