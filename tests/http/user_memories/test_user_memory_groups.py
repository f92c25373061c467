"""Groups of user memories, and the settings of a user, over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from memtree.memories.user_memories import MOST_TOP_K
from tests.fakes import HashingEmbedder
from tests.http.owned.kinds import TYPESCRIPT, Users, error, users, wrong

PLAIN = {
    "memories_save_enabled": False, "memories_chat_history_enabled": False, "top_k": 3,
    "score_threshold": 0.5, "plan": "pro",
}  # fmt: skip


async def members(of: Users, group: str, user: str = "") -> int:
    shown: int = (await of.got("GET", f"/groups/{group}", user))["member_count"]
    return shown


@pytest.fixture
async def of() -> AsyncIterator[Users]:
    async with users() as made:
        yield made


# -- groups ----------------------------------------------------------------------------------


async def test_a_group_as_the_description_shows_it(of: Users):
    posted = {
        "title": "Project Context", "category": "fact",
        "description": "Information about my current project",
    }  # fmt: skip
    group = await of.got("POST", "/groups", status=201, json=posted)
    assert group == {
        **posted, "id": group["id"], "member_count": 0,
        "created_at": "1970-01-12T13:46:40.000Z", "updated_at": "1970-01-12T13:46:40.000Z",
    }  # fmt: skip
    assert group["id"].startswith("grp_")
    assert await of.got("GET", f"/groups/{group['id']}") == group
    assert await of.got("GET", "/groups") == {"groups": [group]}
    assert (await of.got("GET"))["groups"] == [group]


async def test_a_group_needs_a_title_alone(of: Users):
    group = await of.group(" Mine ", description=None, category=None)
    assert (group["title"], group["description"], group["category"]) == ("Mine", "", None)


async def test_existing_memories_are_added_and_others_are_named(of: Users):
    first, second = await of.saved(), await of.saved("User lives in Leeds")
    gone = await of.saved("The parcel comes on Monday")
    await of.got("DELETE", f"/{gone['id']}")
    stranger = await of.saved("A stranger's", whom="someone")
    group = await of.group()
    assert await of.put(group["id"], first["id"], second["id"]) == {
        "success": True, "added_count": 2, "unknown": [],
    }  # fmt: skip
    again = await of.put(
        group["id"], first["id"], "mem_none", gone["id"], stranger["id"], "mem_none"
    )
    unknown = ["mem_none", gone["id"], stranger["id"]]
    assert again == {"success": True, "added_count": 0, "unknown": unknown}
    assert await members(of, group["id"]) == 2


async def test_a_deleted_group_leaves_its_memories(of: Users):
    row = await of.saved()
    group = await of.group()
    await of.put(group["id"], row["id"])
    at = f"/groups/{group['id']}"
    assert await of.got("DELETE", at) == {"success": True}
    assert (await of.rows())[0]["group_id"] is None
    for method, path, posted in (
        ("DELETE", at, None), ("GET", at, None), ("PATCH", at, {"title": "a"}),
        ("POST", f"{at}/memories", {"memory_ids": [row["id"]]}),
        ("DELETE", f"{at}/memories/{row['id']}", None),
    ):  # fmt: skip
        error(await of.ask(method, path, json=posted), 404, "not_found", "group_id")


async def test_a_memory_is_taken_out_of_a_group(of: Users):
    row = await of.saved()
    group = await of.group()
    await of.put(group["id"], row["id"])
    at = f"/groups/{group['id']}/memories/{row['id']}"
    assert await of.got("DELETE", at) == {"success": True}
    error(await of.ask("DELETE", at), 404, "not_found", "memory_id")
    assert (await of.texts(), await members(of, group["id"])) == ([TYPESCRIPT], 0)


async def test_a_group_is_changed_field_by_field(of: Users):
    group = await of.group("A", description="B", category="C")
    at = f"/groups/{group['id']}"
    of.opened.clock.time += 60
    renamed = await of.got("PATCH", at, json={"title": "D"})
    told = {"title": "D", "updated_at": "1970-01-12T13:47:40.000Z"}
    assert renamed == {**group, **told}
    bare = await of.got("PATCH", at, json={"description": None, "category": None})
    assert bare == {**group, **told, "description": "", "category": None}
    assert await of.got("PATCH", at, json={"description": "E"}) == {**bare, "description": "E"}


@pytest.mark.parametrize(
    ("posted", "field"),
    [
        ({}, "title"),
        ({"title": None}, "title"),
        ({"title": ""}, "title"),
        ({"title": 7}, "title"),
        ({"title": "x" * 201}, "title"),
        ({"title": "a\0"}, "title"),
        ({"title": "a", "description": 7}, "description"),
        ({"title": "a", "description": "x" * 2_001}, "description"),
        ({"title": "a", "category": 7}, "category"),
        ({"title": "a", "category": "<b>"}, "category"),
        ({"title": "a", "agentId": "b"}, "agentId"),
    ],
)
async def test_what_is_wrong_with_a_group_is_named(of: Users, posted: dict[str, Any], field: str):
    wrong(await of.ask("POST", "/groups", json=posted), field)
    group = await of.group()
    answer = await of.ask("PATCH", f"/groups/{group['id']}", json=posted)
    wrong(answer, field)
    assert await of.got("GET", "/groups") == {"groups": [group]}


async def test_groups_are_the_users_own(of: Users):
    row, group = await of.saved(), await of.group()
    await of.put(group["id"], row["id"])
    at = f"/groups/{group['id']}"
    for other in ({"x-user-id": "someone"}, {"authorization": "Bearer other"}):
        for method, path, posted in (
            ("GET", at, None), ("PATCH", at, {"title": "mine"}), ("DELETE", at, None),
            ("POST", f"{at}/memories", {"memory_ids": [row["id"]]}),
            ("DELETE", f"{at}/memories/{row['id']}", None),
        ):  # fmt: skip
            answer = await of.ask(method, path, json=posted, headers=other)
            error(answer, 404, "not_found", "group_id")
            assert group["id"] not in answer.text
        empty = await of.ask("GET", "/groups", headers=other)
        assert empty.json() == {"groups": []}
        filtered = await of.ask("GET", params={"group_id": group["id"]}, headers=other)
        error(filtered, 404, "not_found", "group_id")
        found = await of.ask(
            "GET", "/search", params={"query": TYPESCRIPT, "group_id": group["id"]},
            headers=other,
        )  # fmt: skip
        error(found, 404, "not_found", "group_id")
    assert await of.got("GET", at) == {**group, "member_count": 1}


async def test_no_group_takes_in_a_strangers_memory(of: Users):
    row = await of.saved()
    mine = await of.group(whom="someone")
    added = await of.put(mine["id"], row["id"], whom="someone")
    assert added == {"success": True, "added_count": 0, "unknown": [row["id"]]}
    assert (await of.rows())[0]["group_ids"] == []


async def test_two_clients_change_one_group():
    """Two servers on one store: no member is lost or counted twice."""
    async with users() as one, users(beside=one.opened) as two:
        ids = [(await one.saved(f"Fact number {n}"))["id"] for n in range(20)]
        group = await one.group()
        puts = [
            of.put(group["id"], *ids[at : at + 8]) for at in range(0, 16, 4) for of in (one, two)
        ]
        added = await asyncio.gather(*puts)
        assert sum(answer["added_count"] for answer in added) == 20
        assert await members(two, group["id"]) == 20
        at = f"/groups/{group['id']}/memories"
        taken = await asyncio.gather(
            *(of.ask("DELETE", f"{at}/{id_}") for id_ in ids[:10] for of in (one, two))
        )
        assert sorted(answer.status_code for answer in taken) == [200] * 10 + [404] * 10
        assert await members(one, group["id"]) == 10
        gone = await asyncio.gather(
            one.ask("DELETE", f"/groups/{group['id']}"),
            two.ask("DELETE", f"/groups/{group['id']}"),
            two.ask("POST", at, json={"memory_ids": ids}),
        )  # fmt: skip
        assert sorted(answer.status_code for answer in gone[:2]) == [200, 404]
        assert gone[2].status_code in (200, 404)
        rows = await one.rows()
        assert [row["group_ids"] for row in rows] == [[]] * 20


async def test_the_list_holds_memories_and_groups(of: Users):
    assert await of.got("GET") == {
        "memories": [], "groups": [], "next_cursor": None, "total": 0,
    }  # fmt: skip
    first, second = await of.saved("User lives in Leeds"), await of.saved()
    group = await of.group("Programming Preferences", category="preference")
    await of.put(group["id"], second["id"])
    shown = await of.got("GET")
    assert [row["id"] for row in shown["memories"]] == [second["id"], first["id"]]
    assert (shown["total"], shown["next_cursor"]) == (2, None)
    member, other = shown["memories"]
    assert (member["group_id"], member["group_title"]) == (
        group["id"], "Programming Preferences",
    )  # fmt: skip
    assert (other["group_id"], other["group_title"], other["group_ids"]) == (None, None, [])
    assert shown["groups"] == [{**group, "member_count": 1}]


async def test_a_row_shows_the_group_that_was_asked_for(of: Users):
    row = await of.saved()
    await of.saved("User lives in Leeds")
    groups = []
    for title in ("One", "Two", "Three"):
        of.opened.clock.time += 1
        groups.append(await of.group(title))
    for group in groups[1::-1]:
        await of.put(group["id"], row["id"])
    both = [groups[0]["id"], groups[1]["id"]]
    for group in groups[:2]:
        shown = await of.got("GET", params={"group_id": group["id"]})
        (one,) = shown["memories"]
        assert (one["group_id"], one["group_title"]) == (group["id"], group["title"])
        assert one["group_ids"] == both
        assert len(shown["groups"]) == 3
    assert await of.texts(group_id=groups[2]["id"]) == []
    assert [one["group_id"] for one in await of.rows()] == [None, groups[0]["id"]]
    unknown = await of.ask("GET", params={"group_id": "grp_none"})
    error(unknown, 404, "not_found", "group_id")


async def test_agents_have_no_groups_and_no_settings(of: Users):
    await of.saved()
    for name in ("agentId", "subjectId"):
        for method, path, posted in (
            ("GET", "/groups", None), ("POST", "/groups", {"title": "Work"}),
            ("GET", "/settings", None), ("PATCH", "/settings", {"top_k": 3}),
            ("POST", "/extract", {"messages": [{"role": "user", "content": "I like tea"}]}),
        ):  # fmt: skip
            answer = await of.ask(method, path, params={name: "a"}, json=posted)
            message = wrong(answer, name)
            assert message.startswith(f"{name} is not a known query parameter")
            if posted:
                answer = await of.ask(method, path, json={**posted, name: "a"})
                wrong(answer, name)
    assert await of.texts() == [TYPESCRIPT]


async def test_a_deleted_memory_is_in_no_answer_and_tells_its_groups():
    async with users(HashingEmbedder()) as of:
        row = await of.saved()
        for title in ("One", "Two"):
            of.opened.clock.time += 1
            group = await of.group(title)
            await of.put(group["id"], row["id"])
        at = f"/{row['id']}"
        assert await of.got("DELETE", at) == {
            "success": True,
            "deleted_from_groups": 2,
            "deleted": 1,
        }
        assert (await of.rows(), await of.found(TYPESCRIPT)) == ([], [])
        shown = await of.got("GET")
        assert [group["member_count"] for group in shown["groups"]] == [0, 0]
        for method in ("GET", "DELETE"):
            error(await of.ask(method, at), 404, "not_found", "memory_id")
        error(await of.ask("GET", f"{at}/history"), 404, "not_found", "memory_id")
        back = await of.got("POST", "/undelete", json={"ids": [row["id"], "mem_none"]})
        assert [one["id"] for one in back["memories"]] == [row["id"]]
        assert (await of.rows())[0]["group_title"] == "One"


# -- settings --------------------------------------------------------------------------------


async def test_both_switches_are_off_until_they_are_switched_on(of: Users):
    assert await of.got("GET", "/settings") == PLAIN
    on = await of.got("PATCH", "/settings", json={"memories_save_enabled": True})
    assert on == {**PLAIN, "memories_save_enabled": True}
    both = await of.got("PATCH", "/settings", json={"memories_chat_history_enabled": True})
    assert both == {**on, "memories_chat_history_enabled": True}
    off = await of.got("PATCH", "/settings", json={"memories_save_enabled": False})
    assert off == {**both, "memories_save_enabled": False}
    assert await of.got("GET", "/settings") == off
    assert await of.got("GET", "/settings", "someone") == PLAIN


@pytest.mark.parametrize(
    ("posted", "shown"),
    [
        ({"top_k": 7}, {"top_k": 7}),
        ({"top_k": MOST_TOP_K}, {"top_k": MOST_TOP_K}),
        ({"score_threshold": 0.25}, {"score_threshold": 0.25}),
        ({"score_threshold": 1}, {"score_threshold": 1.0}),
        ({"score_threshold": 0.7, "top_k": None}, {"score_threshold": 0.7}),
    ],
)
async def test_numbers_are_kept(of: Users, posted: dict[str, Any], shown: dict[str, Any]):
    assert await of.got("PATCH", "/settings", json=posted) == {**PLAIN, **shown}


@pytest.mark.parametrize(
    ("posted", "field"),
    [
        ({}, "memories_save_enabled"),
        ({"top_k": None}, "memories_save_enabled"),
        ({"memories_save": True}, "memories_save"),
        ({"memories_save_enabled": 1}, "memories_save_enabled"),
        ({"memories_save_enabled": "true"}, "memories_save_enabled"),
        ({"memories_chat_history_enabled": []}, "memories_chat_history_enabled"),
        *(({"top_k": value}, "top_k") for value in ("7", 0, -(10**30), MOST_TOP_K + 1, 1.5)),
        *(({"score_threshold": value}, "score_threshold") for value in (-1, 1e300)),
        ({"top_k": True}, "top_k"),
        ({"top_k": "many"}, "top_k"),
        ({"score_threshold": "high"}, "score_threshold"),
        ({"score_threshold": False}, "score_threshold"),
        ({"score_threshold": {}}, "score_threshold"),
        ({"score_threshold": "0.7"}, "score_threshold"),
        ({"top_k": 3, "agentId": "a"}, "agentId"),
    ],
)
async def test_wrong_settings_are_named(of: Users, posted: dict[str, Any], field: str):
    wrong(await of.ask("PATCH", "/settings", json=posted), field)
    assert await of.got("GET", "/settings") == PLAIN


@pytest.mark.parametrize("plan", ["pro", "free", "gold", 7])
async def test_nobody_gives_himself_a_plan(of: Users, plan: Any):
    answer = await of.ask("PATCH", "/settings", json={"plan": plan, "top_k": 9})
    error(answer, 403, "forbidden", "plan")
    assert await of.got("GET", "/settings") == PLAIN


async def test_under_the_free_plan_nothing_is_switched_on(of: Users):
    await of.got("PATCH", "/settings", json={"memories_save_enabled": True})
    await of.opened.store.set_plan(of.tenant, "free")
    assert await of.got("GET", "/settings") == {**PLAIN, "plan": "free"}
    for name in ("memories_save_enabled", "memories_chat_history_enabled"):
        answer = await of.ask("PATCH", "/settings", json={name: True, "top_k": 9})
        error(answer, 403, "forbidden", name)
    off = {"memories_save_enabled": False, "top_k": 4}
    assert await of.got("PATCH", "/settings", json=off) == {**PLAIN, "plan": "free", "top_k": 4}
    await of.saved()  # by hand it goes on
    assert [hit["text"] for hit in await of.found("TypeScript")] == [TYPESCRIPT]
    await of.opened.store.set_plan(of.tenant, "pro")
    assert await of.got("GET", "/settings") == {**PLAIN, "top_k": 4}
