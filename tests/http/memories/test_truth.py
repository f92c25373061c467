"""Conflicts, twins and standing memories over HTTP, of a user and of a chat."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from memtree.memories.draft import DedupPolicy, MemoryDraft
from tests.fakes import HashingEmbedder
from tests.http.owned.kinds import Asking, Chats, Users, error, serving, wrong


@pytest.fixture(params=[Users, Chats])
async def of(request: pytest.FixtureRequest) -> AsyncIterator[Asking]:
    async with serving(request.param, HashingEmbedder()) as made:
        yield made


async def conflict(of: Asking) -> tuple[str, str]:
    older = await of.saved("The staging port is 8090.")
    newer = await of.saved("The staging port is 8091.")
    return older["id"], newer["id"]


async def test_a_conflict_is_told_until_it_is_settled(of: Asking):
    older, newer = await conflict(of)
    told = [
        {
            "id": older,
            of.TEXT: "The staging port is 8090.",
            "differs": ["8090 -> 8091"],
        }
    ]
    rows = (await of.got("GET", of.LIST, params={"conflicts": "true"}))["memories"]
    assert [(row["id"], row["possible_update_of"]) for row in rows] == [(newer, told)]
    assert (await of.got("GET", f"{of.LIST}/{newer}"))["possible_update_of"] == told
    found = (await of.got("GET", of.SEARCH, params={"query": "staging port 8091"}))["memories"]
    assert told in [row["possible_update_of"] for row in found]
    asked = {"with": older, "action": "keep_both"}
    kept = await of.got("POST", f"{of.LIST}/{newer}/settle", json=asked)
    assert kept["possible_update_of"] == []
    assert (await of.got("GET", of.LIST, params={"conflicts": "true"}))["memories"] == []
    assert len((await of.got("GET", of.LIST))["memories"]) == 2
    again = await of.ask("POST", f"{of.LIST}/{newer}/settle", json=asked)
    error(again, 404, "not_found", "with")


async def test_one_replaces_the_other(of: Asking):
    older, newer = await conflict(of)
    await of.got("POST", f"{of.LIST}/{newer}/settle", json={"with": older, "action": "replace"})
    assert [row["id"] for row in (await of.got("GET", of.LIST))["memories"]] == [newer]
    assert (await of.got("GET", f"{of.LIST}/{older}"))["state"] == "superseded"


async def test_what_is_no_settlement_is_named(of: Asking):
    _, newer = await conflict(of)
    for body, param in (
        ({"action": "replace"}, "with"),
        ({"with": "mem_a"}, "action"),
        ({"with": "mem_a", "action": "forget"}, "action"),
        ({"with": "mem_a", "action": "replace", "wiht": 1}, "wiht"),
    ):
        wrong(await of.ask("POST", f"{of.LIST}/{newer}/settle", json=body), param)


async def test_what_is_unknown_is_not_ignored(of: Asking):
    row = await of.saved("The port is 8090.")
    text = of.TEXT
    change = {text: "The port is 8091.", "standin": True}
    query = {"query": "port", "standin": "true"}
    wrong(await of.ask("GET", of.LIST, params={"conflict": "true"}), "conflict")
    wrong(await of.ask("GET", of.SEARCH, params=query), "standin")
    wrong(await of.ask("PATCH", f"{of.LIST}/{row['id']}", json=change), "standin")
    assert (await of.got("GET", f"{of.LIST}/{row['id']}"))[text] == "The port is 8090."


async def test_a_wish_stands_and_is_unpinned(of: Asking):
    wish = await of.saved("Always answer in British English.")
    plain = await of.saved("The port is 8090.", standing=True)
    assert (wish["standing"], plain["standing"]) == (True, True)
    changed = await of.got("PATCH", f"{of.LIST}/{wish['id']}", json={"standing": False})
    assert changed["standing"] is False
    rows = (await of.got("GET", of.LIST, params={"standing": "true"}))["memories"]
    assert [row["id"] for row in rows] == [plain["id"]]


async def test_twins_are_one_row(of: Asking):
    for _ in range(3):
        saved = await of.book.save(of.scope(), MemoryDraft("The port is 8090."), DedupPolicy.ASK)
    (row,) = (await of.got("GET", of.LIST))["memories"]
    assert (row["id"], len(row["twins"])) == (saved.memory.id, 2)
    (hit,) = (await of.got("GET", of.SEARCH, params={"query": "port"}))["memories"]
    assert hit["twins"] == row["twins"]
    assert (await of.got("GET", f"{of.LIST}/{row['twins'][0]}"))["id"] == row["id"]
