"""Looking after the memories of a chat over HTTP: the past, replacing, deleting many, filters."""

from __future__ import annotations

from typing import Any

import pytest

from memtree.memories.draft import MemoryDraft
from memtree.memories.scope import Scope
from tests.fakes import HashingEmbedder
from tests.http.owned.deleting import counts
from tests.http.owned.remembering import DEADLINE, Remembering, error, remembering

OLD, NEW = "The staging server listens on port 8090", "The staging server listens on port 8091"


async def got(chat: Remembering, method: str, path: str, **more: Any) -> dict[str, Any]:
    answer = await chat.ask(method, path, **more)
    assert answer.status_code == 200, answer.text
    shown: dict[str, Any] = answer.json()
    return shown


async def tainted(chat: Remembering, text: str) -> str:
    """The id of a memory as a model saves it after a web page spoke."""
    draft = MemoryDraft(text, category="fact", source_type="model", tainted=True)
    return (await chat.book.save(Scope.of_chat(chat.tenant, "c1"), draft)).memory.id


# -- the past --------------------------------------------------------------------------------


async def test_the_history_tells_all_that_a_memory_said():
    async with remembering() as chat:
        row = await chat.saved()
        path = f"/memories/{row['id']}"
        await got(chat, "PATCH", path, json={"content": "It is due in April"})
        past = await got(chat, "GET", f"{path}/history")
    assert past["replaced"] == []
    assert [one["content"] for one in past["versions"]] == ["It is due in April", DEADLINE]
    assert [one["version"] for one in past["versions"]] == [2, 1]
    assert set(past["versions"][0]) == {
        "version", "at", "content", "category", "tags", "expires_at", "tainted",
    }  # fmt: skip


async def test_a_newer_memory_replaces_an_older_one_and_both_stay_in_the_history():
    async with remembering(HashingEmbedder()) as chat:
        old, new = await chat.saved(OLD), await chat.saved(NEW)
        path = f"/memories/{new['id']}"
        merged = await chat.ask(
            "POST", f"{path}/settle", json={"with": old["id"], "action": "replace"}
        )
        assert (merged.status_code, merged.json()["content"]) == (200, NEW)
        assert merged.headers["etag"] == f'"{merged.json()["version"]}"'
        assert await chat.texts() == [NEW]
        past = await got(chat, "GET", f"{path}/history")
        (replaced,) = past["replaced"]
        assert (replaced["id"], replaced["replaced_by"]) == (old["id"], new["id"])
        assert [one["content"] for one in replaced["versions"]] == [OLD]
        (stone,) = (await got(chat, "GET", "/memories/tombstones"))["tombstones"]
    assert (stone["id"], stone["content"], stone["replaced_by"]) == (old["id"], OLD, new["id"])


# -- deleting many ---------------------------------------------------------------------------


async def test_what_a_filter_means_is_counted_and_then_deleted():
    async with remembering() as chat:
        await chat.saved()
        await chat.saved("Always answer in English", category="instruction")
        await tainted(chat, "The office is in Graz")
        await chat.saved("Elsewhere", "c2")
        for wanted, count in (
            ({"category": "fact"}, 2),
            ({"source_type": "model"}, 1),
            ({"tainted": True}, 1),
            ({"category": "preference"}, 0),
        ):
            asked = {"filter": wanted, "dry_run": True}
            counted = await got(chat, "POST", "/memories/delete", json=asked)
            assert counted == {"dry_run": True, "count": count}
        assert len(await chat.texts()) == 3
        receipt = await got(chat, "POST", "/memories/delete", json={"filter": {"tainted": True}})
        assert counts(receipt) == (1, True)
        everything = await got(chat, "POST", "/memories/delete", json={"all": True})
        assert counts(everything) == (2, True)
        assert (await chat.texts(), await chat.texts("c2")) == ([], ["Elsewhere"])


async def test_ids_are_counted_and_then_deleted_and_come_back():
    async with remembering() as chat:
        ids = [(await chat.saved(f"Fact {n}"))["id"] for n in range(3)]
        other = (await chat.saved("Elsewhere", "c2"))["id"]
        asked = {"ids": [*ids[:2], other, "mem_none"]}
        counted = await got(chat, "POST", "/memories/delete", json={**asked, "dry_run": True})
        assert counted["count"] == 2
        receipt = await got(chat, "POST", "/memories/delete", json=asked)
        assert counts(receipt) == (2, True)
        assert await chat.texts() == ["Fact 2"]
        back = await got(chat, "POST", "/memories/undelete", json={"ids": ids[:2]})
        assert {row["id"] for row in back["memories"]} == set(ids[:2])
        assert await chat.texts("c2") == ["Elsewhere"]


@pytest.mark.parametrize(
    ("posted", "param"),
    [
        ({}, None),
        ({"filter": {}}, "filter"),
        ({"filter": {"group_id": "g"}}, "filter.group_id"),  # chats have no groups
        ({"filter": {"kind": "k"}}, "filter.kind"),
        ({"filter": {"category": 1}}, "filter.category"),
        ({"filter": {"tainted": "yes"}}, "filter.tainted"),
        ({"ids": []}, "ids"),
        ({"all": True, "ids": ["a"]}, None),
    ],
)
async def test_a_slip_deletes_nothing(posted: dict[str, Any], param: str | None):
    async with remembering() as chat:
        await chat.saved()
        answer = await chat.ask("POST", "/memories/delete", json=posted)
        error(answer, 400, "invalid_request", param)
        assert await chat.texts() == [DEADLINE]


# -- filters of the list ---------------------------------------------------------------------


async def test_tainted_memories_alone_and_the_others_alone():
    async with remembering(HashingEmbedder()) as chat:
        await chat.saved()
        id_ = await tainted(chat, "The office is in Graz")
        assert [row["id"] for row in await chat.rows(tainted="true")] == [id_]
        assert await chat.texts(tainted="false") == [DEADLINE]
        asked = {"query": "office Graz", "tainted": "false"}
        found = (await got(chat, "GET", "/memories/search", params=asked))["memories"]
        assert id_ not in {hit["id"] for hit in found}
        row = await got(chat, "POST", f"/memories/{id_}/confirm")
        assert row["last_confirmed_at"] is not None
        assert await chat.rows(tainted="true") == []


async def test_deleted_memories_are_listed_where_they_are_asked_for():
    async with remembering() as chat:
        row = await chat.saved()
        await chat.saved("Here to stay")
        await chat.ask("DELETE", f"/memories/{row['id']}")
        assert await chat.texts() == ["Here to stay"]
        rows = {one["content"]: one["deleted_at"] for one in await chat.rows(include="deleted")}
        assert rows == {"Here to stay": None, DEADLINE: "1970-01-12T13:46:40.000Z"}
        answer = await chat.ask("GET", "/memories", params={"include": "everything"})
        error(answer, 400, "invalid_request", "include")
        await chat.ask("DELETE", f"/memories/{row['id']}", params={"purge": "true"})
        assert await chat.texts(include="deleted") == ["Here to stay"]
