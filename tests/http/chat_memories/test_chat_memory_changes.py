"""One memory of a chat: shown, changed, deleted, brought back, confirmed."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from memtree.memories.draft import MemoryDraft
from memtree_proxy.wire.curation import MAX_IDS
from tests.fakes import HashingEmbedder
from tests.http.owned.remembering import DEADLINE, FIELDS, error, remembering

# -- GET, PATCH, DELETE /chat/api/{chatId}/memories/{memoryId} -------------------------------


async def test_one_memory_with_its_version():
    async with remembering() as chat:
        row = await chat.saved()
        answer = await chat.ask("GET", f"/memories/{row['id']}")
        assert answer.json() == {name: row[name] for name in FIELDS}
        assert answer.headers["etag"] == '"1"'


async def test_a_change_of_content_is_found_from_then_on():
    async with remembering(HashingEmbedder()) as chat:
        row = await chat.saved()
        chat.opened.clock.time += 60
        posted = {"content": "Lunch is at noon on Tuesdays"}
        answer = await chat.ask("PATCH", f"/memories/{row['id']}", json=posted)
        shown = answer.json()
        assert (answer.status_code, answer.headers["etag"]) == (200, '"2"')
        assert shown == {name: row[name] for name in FIELDS} | {
            "content": posted["content"],
            "updated_at": "1970-01-12T13:47:40.000Z",
            "last_confirmed_at": "1970-01-12T13:47:40.000Z",
            "version": 2,
        }
        (found,) = await chat.found("when is lunch on tuesdays")
        assert found["relevance"] > 0.5
        assert await chat.found("project deadline in march") == []


async def test_category_and_tags_can_be_changed_alone():
    async with remembering() as chat:
        row = await chat.saved()
        path = f"/memories/{row['id']}"
        changed = await chat.ask("PATCH", path, json={"category": "instruction"})
        assert changed.json()["category"] == "instruction"
        changed = await chat.ask("PATCH", path, json={"tags": ["Due Date"], "content": None})
        assert changed.json()["tags"] == ["due-date"]
        assert changed.json()["content"] == DEADLINE
        assert changed.json()["version"] == 3


@pytest.mark.parametrize(
    ("posted", "param"),
    [
        ({}, "content"), ({"content": None}, "content"), ({"other": 1}, "other"),
        ({"content": ""}, "content"), ({"content": 1}, "content"), ({"content": " "}, "content"),
        ({"content": "x" * 16_001}, "content"), ({"category": "x"}, "category"),
        ({"content": "a", "category": 3}, "category"), ({"tags": "x"}, "tags"),
    ],
)  # fmt: skip
async def test_what_is_wrong_with_a_change_is_named(posted: dict[str, Any], param: str):
    async with remembering() as chat:
        row = await chat.saved()
        answer = await chat.ask("PATCH", f"/memories/{row['id']}", json=posted)
        error(answer, 400, "invalid_request", param)
        assert (await chat.rows())[0]["version"] == 1


@pytest.mark.parametrize(
    ("match", "status"),
    [('"1"', 200), ("1", 200), ('W/"1"', 200), ("*", 200), ('"2"', 409), ("0", 409),
     ('"x"', 400), ('"1", "2"', 400), ("", 400)],
)  # fmt: skip
async def test_if_match(match: str, status: int):
    async with remembering() as chat:
        row = await chat.saved()
        answer = await chat.ask(
            "PATCH", f"/memories/{row['id']}", json={"content": "b"}, headers={"if-match": match}
        )
        if status == 409:
            error(answer, 409, "version_conflict", None)
        elif status == 400:
            error(answer, 400, "invalid_request", "if-match")
        assert answer.status_code == status
        assert await chat.texts() == (["b"] if status == 200 else [DEADLINE])


async def test_two_tabs_do_not_overwrite_each_other():
    async with remembering() as chat:
        row = await chat.saved()
        tabs = [
            chat.ask("PATCH", f"/memories/{row['id']}", json={"content": f"tab {number}"},
                     headers={"if-match": '"1"'})
            for number in range(5)
        ]  # fmt: skip
        answers = await asyncio.gather(*tabs)
        assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409, 409]
        (won,) = [answer for answer in answers if answer.status_code == 200]
        assert await chat.texts() == [won.json()["content"]]


async def test_a_deleted_memory_is_in_no_answer():
    async with remembering(HashingEmbedder()) as chat:
        row, other = await chat.saved(), await chat.saved("The office is in Graz")
        path = f"/memories/{row['id']}"
        answer = await chat.ask("DELETE", path)
        assert (answer.status_code, answer.content) == (204, b"")
        assert await chat.texts() == [other["content"]]
        found = await chat.found("project deadline, and the office")
        assert [hit["id"] for hit in found] == [other["id"]]
        for method, more in (("GET", {}), ("PATCH", {"json": {"content": "b"}}), ("DELETE", {})):
            again = await chat.ask(method, path, **more)
            error(again, 404, "not_found", "memoryId")
        assert (await chat.post()).status_code == 201  # nor is it a duplicate's existing one


async def test_what_was_deleted_can_be_brought_back():
    async with remembering() as chat:
        rows = [await chat.saved(f"Fact number {number}") for number in range(3)]
        ids = [row["id"] for row in rows]
        for id_ in ids[:2]:
            await chat.ask("DELETE", f"/memories/{id_}")
        answer = await chat.ask(
            "POST", "/memories/undelete", json={"ids": [ids[0], "mem_unknown", ids[2]]}
        )
        assert answer.status_code == 200
        assert [row["id"] for row in answer.json()["memories"]] == [ids[0]]
        assert set(answer.json()["memories"][0]) == FIELDS
        assert await chat.texts() == ["Fact number 2", "Fact number 0"]


@pytest.mark.parametrize("deleted_before", [False, True])
async def test_what_was_purged_is_gone_for_good(deleted_before: bool):
    async with remembering() as chat:
        path = f"/memories/{(await chat.saved())['id']}"
        if deleted_before:
            await chat.ask("DELETE", path)
        answer = await chat.ask("DELETE", path, params={"purge": "true"})
        assert answer.status_code == 204
        ids = {"ids": [path.rpartition("/")[2]]}
        back = await chat.ask("POST", "/memories/undelete", json=ids)
        assert back.json() == {"memories": []}
        error(await chat.ask("DELETE", path, params={"purge": "1"}), 404, "not_found", "memoryId")


@pytest.mark.parametrize("purge", ["perhaps", "", "2"])
async def test_a_purge_is_meant(purge: str):
    async with remembering() as chat:
        path = f"/memories/{(await chat.saved())['id']}"
        answer = await chat.ask("DELETE", path, params={"purge": purge})
        error(answer, 400, "invalid_request", "purge")
        assert await chat.texts() == [DEADLINE]


@pytest.mark.parametrize("ids", [None, [], "mem_1", ["x"] * (MAX_IDS + 1), {}])
async def test_wrong_ids_are_named(ids: Any):
    async with remembering() as chat:
        answer = await chat.ask("POST", "/memories/undelete", json={"ids": ids})
        error(answer, 400, "invalid_request", "ids")


@pytest.mark.parametrize("id_", ["mem_unknown", "1", "%20", "a%22b", "x" * 201, "%F0%9F%98%80"])
async def test_an_unknown_memory(id_: str):
    async with remembering() as chat:
        await chat.saved()
        for method in ("GET", "DELETE"):
            error(await chat.ask(method, f"/memories/{id_}"), 404, "not_found", "memoryId")
        patched = await chat.ask("PATCH", f"/memories/{id_}", json={"content": "b"})
        error(patched, 404, "not_found", "memoryId")
        confirmed = await chat.ask("POST", f"/memories/{id_}/confirm")
        error(confirmed, 404, "not_found", "memoryId")


async def test_a_person_confirms_what_a_model_saved():
    async with remembering() as chat:
        draft = MemoryDraft("Always run the linter", category="instruction", source_type="model")
        saved = await chat.book.save(chat.scope(), draft)
        assert [row["tainted"] for row in await chat.rows()] == [True]
        answer = await chat.ask("POST", f"/memories/{saved.memory.id}/confirm")
        assert (answer.status_code, answer.json()["tainted"]) == (200, False)
        assert [row["tainted"] for row in await chat.rows()] == [False]
