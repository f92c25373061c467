"""Looking after user memories over HTTP: replacing, deleting many with a receipt."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from memtree.memories.draft import DedupPolicy, MemoryDraft
from tests.fakes import HashingEmbedder
from tests.http.owned.deleting import counts
from tests.http.owned.remembering import error
from tests.http.owned.user_memories import Users, users

LEEDS, YORK = "User lives in Leeds", "User lives in York"


async def deleted(of: Users, user: str | None = None, **posted: Any) -> dict[str, Any]:
    answer: dict[str, Any] = await of.got("POST", "/delete", user, json=posted)
    return answer


# -- replacing -------------------------------------------------------------------------------


async def test_the_newer_one_replaces_the_older_one_and_both_stay_in_the_history():
    async with users(HashingEmbedder()) as of:
        old = await of.saved("The staging server listens on port 8090")
        group = await of.group()
        await of.put(group["id"], old["id"])
        new = await of.saved("The staging server listens on port 8091")
        (update,) = new["possible_update_of"]
        merged = await of.ask(
            "POST", f"/{new['id']}/settle", json={"with": update["id"], "action": "replace"}
        )
        row = merged.json()
        assert (merged.status_code, merged.headers["etag"]) == (200, f'"{row["version"]}"')
        assert (row["id"], row["supersedes"]) == (new["id"], old["id"])
        assert row["group_id"] == group["id"]
        assert [one["id"] for one in await of.rows()] == [new["id"]]
        assert [hit["id"] for hit in await of.found("staging server port 8090")] == [new["id"]]
        past = await of.got("GET", f"/{new['id']}/history")
        assert {one["text"] for one in past["versions"]} == {new["text"]}
        (replaced,) = past["replaced"]
        assert (replaced["id"], replaced["replaced_by"]) == (old["id"], new["id"])
        assert [one["text"] for one in replaced["versions"]] == [old["text"]]
        shown = await of.rows(include="superseded")
        assert [one["superseded_by"] for one in shown] == [None, new["id"]]


# -- deleting many ---------------------------------------------------------------------------


async def several(of: Users) -> dict[str, dict[str, Any]]:
    rows = {
        "leeds": await of.saved(LEEDS, tags=["home"]),
        "typescript": await of.saved(tags=["work", "home"]),
        "parcel": await of.saved("The parcel comes on Monday", category="schedule"),
    }
    draft = MemoryDraft("Always answer in French", category="instruction", source_type="model")
    model = (await of.book.save(of.scope(), draft, DedupPolicy.INSERT)).memory
    group = await of.group()
    await of.put(group["id"], rows["leeds"]["id"], model.id)
    return {**rows, "model": {"id": model.id, "text": model.text}, "group": group}


FILTERS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "category": ({"category": "schedule"}, {"parcel"}),
    "tags": ({"tags": ["home"]}, {"leeds", "typescript"}),
    "a tag": ({"tags": ["Work"]}, {"typescript"}),
    "source": ({"source_type": "model"}, {"model"}),
    "taint": ({"tainted": True}, {"model"}),
    "no taint": ({"tainted": False, "tags": ["home"]}, {"leeds", "typescript"}),
    "until": ({"created_before": "1970-02-01"}, {"leeds", "typescript", "parcel", "model"}),
    "from": ({"created_from": "1970-02-01T00:00:00Z"}, set()),
    "group": ({"group_id": "group"}, {"leeds", "model"}),
    "two": ({"group_id": "group", "tainted": True, "category": None}, {"model"}),
}


@pytest.mark.parametrize("name", FILTERS)
async def test_a_dry_run_counts_what_a_filter_deletes(name: str):
    filter_, gone = FILTERS[name]
    async with users(HashingEmbedder()) as of:
        rows = await several(of)
        if "group_id" in filter_:
            filter_ = {**filter_, "group_id": rows["group"]["id"]}
        counted = await deleted(of, filter=filter_, dry_run=True)
        assert counted == {"dry_run": True, "count": len(gone)}
        everything = {"leeds", "typescript", "parcel", "model"}
        assert len(await of.rows()) == len(everything)
        receipt = await deleted(of, filter=filter_)
        assert counts(receipt) == (len(gone), True)
        left = {rows[each]["id"] for each in everything - gone}
        assert {row["id"] for row in await of.rows()} == left
        for each in gone:
            found = await of.found(rows[each]["text"])
            assert rows[each]["id"] not in {hit["id"] for hit in found}
        ids = [rows[each]["id"] for each in gone] or ["mem_none"]
        back = await of.got("POST", "/undelete", json={"ids": ids})
        assert len(back["memories"]) == len(gone)


async def test_ids_that_are_not_there_count_for_nothing():
    async with users() as of:
        rows = await several(of)
        theirs = await of.saved("A stranger's", user="someone")
        ids = [
            rows["leeds"]["id"],
            rows["parcel"]["id"],
            "mem_none",
            theirs["id"],
            rows["leeds"]["id"],
        ]
        assert await deleted(of, ids=ids, dry_run=True) == {"dry_run": True, "count": 2}
        assert counts(await deleted(of, ids=ids)) == (2, True)
        assert counts(await deleted(of, ids=ids)) == (0, True)
        assert len(await of.rows()) == 2
        assert await of.texts("someone") == ["A stranger's"]


@pytest.mark.parametrize("purge", [False, True])
async def test_everything_is_what_counts_no_more_as_well(purge: bool):
    async with users(HashingEmbedder()) as of:
        rows = await several(of)
        await of.saved("A stranger's", user="someone")
        corrected = await of.book.correct(of.scope(), rows["leeds"]["id"], MemoryDraft(YORK))
        await of.saved("The milk is fresh", expires_at="1970-01-13")
        of.opened.clock.time += 86_400
        gone = await of.saved("Forget me at once")
        await of.got("DELETE", f"/{gone['id']}")
        assert corrected.memory.id
        count = (await deleted(of, all=True, dry_run=True, purge=purge))["count"]
        assert count == (7 if purge else 6)
        assert counts(await deleted(of, all=True, purge=purge)) == (count, True)
        assert await of.rows() == []
        stored = await of.rows(include="superseded,expired,deleted")
        assert (len(stored), await of.texts("someone")) == (0 if purge else 7, ["A stranger's"])
        assert counts(await deleted(of, all=True)) == (0, True)


@pytest.mark.parametrize(
    ("posted", "field"),
    [
        ({}, None),
        ({"dry_run": True}, None),
        ({"all": False}, None),
        ({"all": True, "ids": ["mem_1"]}, None),
        ({"all": True, "filter": {"category": "fact"}}, None),
        ({"filter": {"category": "fact"}, "ids": ["mem_1"]}, None),
        ({"filter": {}}, "filter"),
        ({"filter": {"category": None, "tags": []}}, "filter"),
        ({"filter": []}, "filter"),
        ({"filter": "all"}, "filter"),
        ({"filter": {"categories": "fact"}}, "filter.categories"),
        ({"filter": {"category": 7}}, "filter.category"),
        ({"filter": {"category": ""}}, "filter.category"),
        ({"filter": {"tags": "home"}}, "filter.tags"),
        ({"filter": {"tags": [1]}}, "filter.tags[0]"),
        ({"filter": {"tag": "a", "category": "b"}}, "filter.tag"),
        ({"filter": {"source_type": "web"}}, "filter.source_type"),
        ({"filter": {"group_id": 7}}, "filter.group_id"),
        ({"filter": {"tainted": "yes"}}, "filter.tainted"),
        ({"filter": {"created_from": 7}}, "filter.created_from"),
        ({"filter": {"created_before": "then"}}, "filter.created_before"),
        ({"all": "yes"}, "all"),
        ({"all": True, "dry_run": "no"}, "dry_run"),
        ({"all": True, "purge": 1}, "purge"),
        ({"ids": []}, "ids"),
        ({"ids": [1]}, "ids[0]"),
        ({"all": True, "agentId": ""}, "agentId"),
        ({"all": True, "agentId": ["a"]}, "agentId"),
        ({"all": True, "subjectId": "s"}, "subjectId"),
        ({"filter": {"group_id": "grp_1"}, "agentId": "a"}, "filter.group_id"),
        ({"filter": {"kind": "Note"}}, "filter.kind"),
    ],
)
async def test_a_deletion_that_is_not_clear_deletes_nothing(
    posted: dict[str, Any], field: str | None
):
    async with users() as of:
        await several(of)
        error(await of.ask("POST", "/delete", json=posted), 400, "invalid_request", field)
        assert len(await of.rows()) == 4


async def test_a_group_of_somebody_else_deletes_nothing():
    async with users() as of:
        rows = await several(of)
        filter_ = {"group_id": rows["group"]["id"]}
        await of.saved("A stranger's", user="someone")
        receipt = await deleted(of, "someone", filter=filter_)
        assert counts(receipt) == (0, True)
        assert await of.texts("someone") == ["A stranger's"]
        assert len(await of.rows()) == 4


async def test_two_clients_delete_the_same_and_save_meanwhile():
    """Two servers on one store: each memory is counted in one receipt, and none is lost."""
    async with users() as one, users(beside=one.opened) as two:
        for n in range(30):
            await one.saved(f"Fact number {n}", tags=["old"])
        answers = await asyncio.gather(
            deleted(one, filter={"tags": ["old"]}),
            two.saved("Fact of today", tags=["new"]),
            deleted(two, filter={"tags": ["old"]}),
            deleted(two, all=True, dry_run=True),
        )
        assert answers[0]["deleted"] + answers[2]["deleted"] == 30
        assert answers[0]["verified"] is answers[2]["verified"] is True
        assert await one.texts() == await two.texts() == ["Fact of today"]


async def test_a_server_that_keeps_nothing_deleted_erases_at_once():
    async with users(deleted_days=0) as of:
        row = await of.saved()
        assert counts(await deleted(of, ids=[row["id"]])) == (1, True)
