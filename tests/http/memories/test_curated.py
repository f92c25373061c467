"""Looking after memories of each kind: one replaces another, many are deleted with a receipt."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from memtree.memories.draft import DedupPolicy, MemoryDraft
from tests.fakes import HashingEmbedder
from tests.http.owned.kinds import Agents, Asking, Chats, Users, counts, each, serving, users, wrong

STORED, PEOPLE = each(Users, Chats, Agents), each(Users, Chats)
LEEDS, YORK, FRENCH = "User lives in Leeds", "User lives in York", "Always answer in French"
PARCEL, THEIRS = "The parcel comes on Monday", "A stranger's"
OLD, NEW = (f"The staging server listens on port {port}" for port in (8090, 8091))


async def deleted(of: Asking, whom: str = "", **posted: Any) -> Any:
    return await of.many("delete", whom, **posted)


# -- replacing -------------------------------------------------------------------------------


@PEOPLE
async def test_the_newer_one_replaces_the_older_one_and_both_stay_in_the_history(
    kind: type[Asking],
):
    async with serving(kind, HashingEmbedder()) as of:
        old = await of.id_of(OLD)
        if isinstance(of, Users):
            group = (await of.group())["id"]
            await of.put(group, old)
        new = await of.id_of(NEW)
        at = f"{of.LIST}/{new}"
        settled = {"with": old, "action": "replace"}
        answer = await of.ask("POST", f"{at}/settle", json=settled)
        row = answer.json()
        assert (answer.status_code, answer.headers["etag"]) == (200, f'"{row["version"]}"')
        assert (row["id"], of.text(row)) == (new, NEW)
        assert await of.ids() == [new]
        assert [hit["id"] for hit in await of.found("staging server port 8090")] == [new]
        past = await of.got("GET", f"{at}/history")
        assert {of.text(one) for one in past["versions"]} == {NEW}
        (replaced,) = past["replaced"]
        assert (replaced["id"], replaced["replaced_by"]) == (old, new)
        assert [of.text(one) for one in replaced["versions"]] == [OLD]
        (stone,) = (await of.got("GET", f"{of.LIST}/tombstones"))["tombstones"]
        assert (stone["id"], of.text(stone), stone["replaced_by"]) == (old, OLD, new)
        if isinstance(of, Users):
            assert (row["supersedes"], row["group_id"]) == (old, group)
            shown = await of.rows(include="superseded")
            assert [one["superseded_by"] for one in shown] == [None, new]


# -- deleting many ---------------------------------------------------------------------------


async def several(of: Asking) -> dict[str, str]:
    """Ids of memories of several kinds, one of a stranger's beside them."""
    ids = {
        "leeds": await of.id_of(LEEDS, tags=["home"]),
        "typescript": await of.id_of(tags=["work", "home"]),
        "parcel": await of.id_of(
            PARCEL, **({"category": "schedule"} if isinstance(of, Users) else {})
        ),
    }
    draft = MemoryDraft(FRENCH, category="instruction", source_type="model", kind="Note")
    ids["model"] = (await of.book.save(of.scope(), draft, DedupPolicy.INSERT)).memory.id
    await of.saved(THEIRS, "c2")
    if isinstance(of, Users):
        ids["group"] = (await of.group())["id"]
        await of.put(ids["group"], ids["leeds"], ids["model"])
    return ids


ALL = {"leeds", "typescript", "parcel", "model"}
FILTERS: list[tuple[dict[str, Any], set[str]]] = [
    ({"tags": ["home"]}, {"leeds", "typescript"}),
    ({"tags": ["Work"]}, {"typescript"}),
    ({"source_type": "model"}, {"model"}),
    ({"tainted": True}, {"model"}),
    ({"tainted": False, "tags": ["home"]}, {"leeds", "typescript"}),
    ({"created_before": "1970-02-01"}, ALL),
    ({"created_from": "1970-02-01T00:00:00Z"}, set()),
]
OF_KIND: dict[type[Asking], list[tuple[dict[str, Any], set[str]]]] = {
    Users: [
        ({"category": "schedule"}, {"parcel"}),
        ({"group_id": "group"}, {"leeds", "model"}),
        ({"group_id": "group", "tainted": True, "category": None}, {"model"}),
    ],
    Chats: [({"category": "instruction"}, {"model"})],
    Agents: [({"kind": "Note"}, ALL), ({"kind": "Other"}, set()), ({"threadId": "t"}, set())],
}


@STORED
async def test_a_dry_run_counts_what_a_filter_deletes(kind: type[Asking]):
    async with serving(kind, HashingEmbedder()) as of:
        ids = await several(of)
        rows = {row["id"]: of.text(row) for row in await of.rows()}
        for given, gone in (*FILTERS, *OF_KIND[kind]):
            filter_ = given | ({"group_id": ids["group"]} if "group_id" in given else {})
            counted = await deleted(of, filter=filter_, dry_run=True)
            assert counted == {"dry_run": True, "count": len(gone)}, given
            assert len(await of.rows()) == 4
            assert counts(await deleted(of, filter=filter_)) == (len(gone), True)
            assert set(await of.ids()) == {ids[name] for name in ALL - gone}
            for name in gone:
                hits = await of.found(rows[ids[name]])
                assert ids[name] not in {hit["id"] for hit in hits}
            back = await of.many("undelete", ids=[ids[name] for name in gone] or ["mem_none"])
            assert len(back["memories"]) == len(gone)
        assert await of.texts("c2") == [THEIRS]


@STORED
async def test_ids_that_are_not_there_count_for_nothing(kind: type[Asking]):
    async with serving(kind) as of:
        ids = await several(of)
        (theirs,) = await of.ids("c2")
        asked = [ids["leeds"], ids["parcel"], "mem_none", theirs, ids["leeds"]]
        assert await deleted(of, ids=asked, dry_run=True) == {"dry_run": True, "count": 2}
        assert counts(await deleted(of, ids=asked)) == (2, True)
        assert counts(await deleted(of, ids=asked)) == (0, True)
        assert (len(await of.rows()), await of.texts("c2")) == (2, [THEIRS])


@STORED
@pytest.mark.parametrize("purge", [False, True])
async def test_everything_is_what_counts_no_more_as_well(kind: type[Asking], purge: bool):
    async with serving(kind, HashingEmbedder()) as of:
        ids = await several(of)
        await of.book.correct(of.scope(), ids["leeds"], MemoryDraft(YORK))
        await of.book.save(of.scope(), MemoryDraft("The milk is fresh", expires=1_036_800.0))
        of.opened.clock.time += 86_400
        gone = await of.id_of("Forget me at once")
        await of.ask("DELETE", f"{of.LIST}/{gone}")
        count = (await deleted(of, all=True, dry_run=True, purge=purge))["count"]
        assert count == (7 if purge else 6)
        receipt = await deleted(of, all=True, purge=purge)
        assert counts(receipt) == (count, True)
        assert await of.rows() == []
        if kind is Users:
            stored = await of.rows(include="superseded,expired,deleted")
            assert len(stored) == (0 if purge else 7)
        assert await of.texts("c2") == [THEIRS]
        assert counts(await deleted(of, all=True)) == (0, True)


SLIPS: list[tuple[dict[str, Any], str | None]] = [
    ({}, None), ({"dry_run": True}, None), ({"all": False}, None),
    ({"all": True, "ids": ["mem_1"]}, None),
    ({"all": True, "filter": {"category": "fact"}}, None),
    ({"filter": {"category": "fact"}, "ids": ["mem_1"]}, None), ({"filter": {}}, "filter"),
    ({"filter": {"category": None, "tags": []}}, "filter"), ({"filter": []}, "filter"),
    ({"filter": "all"}, "filter"), ({"filter": {"categories": "fact"}}, "filter.categories"),
    ({"filter": {"category": 7}}, "filter.category"),
    ({"filter": {"category": ""}}, "filter.category"), ({"filter": {"tags": "h"}}, "filter.tags"),
    ({"filter": {"tags": [1]}}, "filter.tags[0]"),
    ({"filter": {"tag": "a", "category": "b"}}, "filter.tag"),
    ({"filter": {"source_type": "web"}}, "filter.source_type"),
    ({"filter": {"tainted": "yes"}}, "filter.tainted"),
    ({"filter": {"created_from": 7}}, "filter.created_from"),
    ({"filter": {"created_before": "then"}}, "filter.created_before"), ({"all": "yes"}, "all"),
    ({"all": True, "dry_run": "no"}, "dry_run"), ({"all": True, "purge": 1}, "purge"),
    ({"ids": []}, "ids"), ({"ids": [1]}, "ids[0]"),
]  # fmt: skip
OF_ONE: dict[type[Asking], list[tuple[dict[str, Any], str | None]]] = {
    Users: [
        ({"filter": {"group_id": 7}}, "filter.group_id"), ({"filter": {"kind": ""}}, "filter.kind"),
        ({"all": True, "agentId": ""}, "agentId"), ({"all": True, "agentId": ["a"]}, "agentId"),
        ({"all": True, "subjectId": "s"}, "subjectId"),
    ],
    Chats: [  # they have neither groups nor kinds
        ({"filter": {"group_id": ""}}, "filter.group_id"),
        ({"filter": {"kind": "k"}}, "filter.kind"),
    ],
    Agents: [({"filter": {"group_id": "grp_1"}}, "filter.group_id")],
}  # fmt: skip


@STORED
async def test_a_deletion_that_is_not_clear_deletes_nothing(kind: type[Asking]):
    async with serving(kind) as of:
        await several(of)
        for posted, param in (*SLIPS, *OF_ONE[kind]):
            given = {**of.named(""), **posted}
            wrong(await of.ask("POST", f"{of.LIST}/delete", json=given), param)
        assert len(await of.rows()) == 4


async def test_a_group_of_somebody_else_deletes_nothing():
    async with users() as of:
        group = (await several(of))["group"]
        assert counts(await deleted(of, "c2", filter={"group_id": group})) == (0, True)
        assert (await of.texts("c2"), len(await of.rows())) == ([THEIRS], 4)


async def test_two_clients_delete_the_same_and_save_meanwhile():
    """Two servers on one store: each memory is counted in one receipt, and none is lost."""
    async with users() as one, users(beside=one.opened) as two:
        for n in range(12):
            await one.saved(f"Fact number {n}", tags=["old"])
        answers = await asyncio.gather(
            deleted(one, filter={"tags": ["old"]}),
            two.saved("Fact of today", tags=["new"]),
            deleted(two, filter={"tags": ["old"]}),
            deleted(two, all=True, dry_run=True),
        )
        assert answers[0]["deleted"] + answers[2]["deleted"] == 12
        assert answers[0]["verified"] is answers[2]["verified"] is True
        assert await one.texts() == await two.texts() == ["Fact of today"]
