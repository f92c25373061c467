"""`POST /v1/memories/extract`: what was stored, what was not and why."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from memtree.history import chat_history
from memtree.history.message import Message, Volatile
from memtree.memories.user_memories import SettingsChange
from tests.fakes import HashingEmbedder
from tests.http.owned.kinds import Users, users

KEY = "sk-proj-" + "aB3dE5gH7jK9" * 4


def talk(*texts: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [{"role": "system", "content": "I live in Paris."}]
    for text in texts:
        rows.append({"role": "user", "content": text})
        rows.append({"role": "assistant", "content": f"I live in Madrid. You said {len(text)}."})
    return rows


NUTS = "I'm allergic to nuts. What can I bake?"


@pytest.fixture
async def me() -> AsyncIterator[Users]:
    async with users(HashingEmbedder()) as made:
        yield made


async def test_a_dry_run_then_the_run_then_nothing_new(me: Users) -> None:
    posted = {"messages": talk(NUTS)}
    dry = await me.got("POST", "/extract", json={**posted, "dry_run": True})
    [planned] = dry["stored"]
    assert (planned["id"], planned["text"]) == (None, "User is allergic to nuts")
    assert await me.texts() == []

    report = await me.got("POST", "/extract", json=posted)
    assert (report["dry_run"], report["messages"], report["snapshots"]) == (False, 1, [])
    [row] = report["stored"]
    assert row == (await me.rows())[0]
    assert set(planned) == set(row)
    assert row["source_type"] == "extraction"
    assert {"text": "What can I bake?", "reason": "question"} in report["skipped"]
    read = chat_history.read(me.tenant, [Message.of(one) for one in posted["messages"]], Volatile())
    assert row["conversation_id"] == read.addresses[1].hex()
    source = row["source"]
    assert "allergic to nuts" in NUTS[source["start"] : source["end"]]

    again = await me.got("POST", "/extract", json=posted)
    assert (again["stored"], again["skipped"], again["messages"]) == ([], [], 0)


async def test_what_was_deleted_does_not_come_back(me: Users) -> None:
    posted = {"messages": talk(NUTS)}
    [row] = (await me.got("POST", "/extract", json=posted))["stored"]
    await me.got("DELETE", f"/{row['id']}")
    assert (await me.got("POST", "/extract", json=posted))["stored"] == []
    assert await me.texts() == []


async def test_a_user_reads_for_itself_alone_and_needs_no_switch(me: Users) -> None:
    settings = await me.opened.store.settings(me.scope("ana"))
    assert not settings.save
    await me.got("POST", "/extract", "ana", json={"messages": talk(NUTS)})
    assert await me.texts("ana") == ["User is allergic to nuts"]
    assert await me.texts("bob") == []
    assert await me.texts() == []
    report = await me.got("POST", "/extract", "bob", json={"messages": talk(NUTS)})
    assert len(report["stored"]) == 1


async def test_the_free_plan_may_ask_for_it_too(me: Users) -> None:
    await me.opened.store.set_plan(me.tenant, "free")
    report = await me.got("POST", "/extract", json={"messages": talk(NUTS)})
    assert len(report["stored"]) == 1


async def test_a_secret_is_told_as_such_and_is_stored_nowhere(me: Users) -> None:
    said = f"I live in Rome. My key is {KEY} and I use it daily."
    report = await me.got("POST", "/extract", json={"messages": talk(said)})
    assert "secret" in {skip["reason"] for skip in report["skipped"]}
    assert KEY not in str(await me.rows())


async def test_five_messages_of_the_user_give_a_snapshot(me: Users) -> None:
    towns = [f"Tell me about the town number {number} in the Alps." for number in range(5)]
    report = await me.got("POST", "/extract", json={"messages": talk(*towns)})
    [snapshot] = report["snapshots"]
    assert (snapshot["category"], len(snapshot["conversation_id"])) == ("snapshot", 64)
    dry = await me.got("POST", "/extract", json={"messages": talk(*towns), "dry_run": True})
    assert dry["snapshots"] == []


async def test_what_cannot_be_read_is_refused_and_nothing_is_stored(me: Users) -> None:
    for body, param in (
        ({}, "messages"),
        ({"messages": []}, "messages"),
        ({"messages": talk(NUTS), "dry_run": "yes"}, "dry_run"),
        ({"messages": talk(NUTS), "agentId": "a"}, "agentId"),
    ):
        answer = await me.got("POST", "/extract", status=400, json=body)
        assert str(answer["error"]["param"]).startswith(param), answer
    assert (await me.ask("GET", "/extract")).status_code == 405
    assert await me.texts() == []


async def test_it_can_be_asked_for_where_nothing_is_read_in_the_background() -> None:
    async with users(HashingEmbedder(), memories_extraction="off") as me:
        await me.opened.store.change_settings(me.scope(), SettingsChange(save=True))
        report = await me.got("POST", "/extract", json={"messages": talk(NUTS)})
        assert len(report["stored"]) == 1
