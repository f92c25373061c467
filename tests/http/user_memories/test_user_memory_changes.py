"""User memories over HTTP: one of them, changed, deleted, brought back, confirmed, and its past."""

from __future__ import annotations

from typing import Any

import pytest

from memtree.memories.draft import MemoryDraft
from memtree_proxy.wire.curation import MAX_IDS
from tests.fakes import HashingEmbedder
from tests.http.owned.remembering import error
from tests.http.owned.user_memories import FIELDS, TYPESCRIPT, users


async def test_a_memory_is_changed_field_by_field():
    async with users(HashingEmbedder()) as of:
        row = await of.saved(expires_at="2030-01-01")
        at = f"/{row['id']}"
        for posted in (
            {"text": "User prefers Rust for new projects"}, {"category": "My tools"},
            {"tags": ["Languages"]}, {"expires_at": "2031-01-01T12:00:00+02:00"},
        ):  # fmt: skip
            answer = await of.ask("PATCH", at, json=posted)
            assert answer.status_code == 200, answer.text
        now = await of.got("GET", at)
        assert now == answer.json()
        assert answer.headers["etag"] == '"5"'
        changed = {
            "text": "User prefers Rust for new projects", "category": "My tools", "version": 5,
            "tags": ["languages"], "expires_at": "2031-01-01T10:00:00.000Z",
        }  # fmt: skip
        assert now == {**{name: row[name] for name in FIELDS}, **changed}
        assert [hit["id"] for hit in await of.found("Rust")] == [row["id"]]
        assert (await of.got("PATCH", at, json={"expires_at": None}))["expires_at"] is None
        assert (await of.got("PATCH", at, json={"tags": []}))["tags"] == []


@pytest.mark.parametrize(
    ("posted", "field"),
    [
        ({}, "text"),
        ({"text": None, "category": None}, "text"),
        ({"text": ""}, "text"),
        ({"text": 1}, "text"),
        ({"category": []}, "category"),
        ({"category": "a;b"}, "category"),
        ({"tags": {}}, "tags"),
        ({"expires_at": 4e9}, "expires_at"),
        ({"expires_at": "1970-01-01"}, "expires_at"),
        ({"text": "a", "agentId": "b"}, "agentId"),
    ],
)
async def test_what_is_wrong_with_a_change_is_named(posted: dict[str, Any], field: str):
    async with users() as of:
        row = await of.saved()
        error(await of.ask("PATCH", f"/{row['id']}", json=posted), 400, "invalid_request", field)
        assert (await of.rows())[0]["version"] == 1


async def test_if_match():
    async with users() as of:
        row = await of.saved()
        at = f"/{row['id']}"
        for version, status in (('"1"', 200), ('"1"', 409), ("2", 200), ("*", 200), ("x", 400)):
            answer = await of.ask(
                "PATCH", at, json={"category": f"c{version[-2:-1]}x"}, headers={"if-match": version}
            )
            assert answer.status_code == status, version


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


async def test_what_was_purged_is_gone_for_good():
    async with users() as of:
        first, second = await of.saved(), await of.saved("User lives in Leeds")
        await of.got("DELETE", f"/{first['id']}", params={"purge": "true"})
        await of.got("DELETE", f"/{second['id']}")
        await of.got("DELETE", f"/{second['id']}", params={"purge": "1"})
        ids = [first["id"], second["id"]]
        assert await of.got("POST", "/undelete", json={"ids": ids}) == {"memories": []}
        assert await of.rows(include="deleted") == []
        error(
            await of.ask("DELETE", f"/{first['id']}", params={"purge": "y"}),
            400, "invalid_request", "purge",
        )  # fmt: skip


@pytest.mark.parametrize("ids", [None, [], "mem_1", ["a"] * (MAX_IDS + 1), {}])
async def test_wrong_ids_are_named(ids: Any):
    async with users() as of:
        group = await of.group()
        for path, name in (
            ("/undelete", "ids"), (f"/groups/{group['id']}/memories", "memory_ids"),
        ):  # fmt: skip
            error(await of.ask("POST", path, json={name: ids}), 400, "invalid_request", name)


@pytest.mark.parametrize("id_", ["mem_none", "a b", "%00", "x" * 201, "..%2f", "ä"])
async def test_an_unknown_memory_is_a_404(id_: str):
    async with users() as of:
        for method, path, posted in (
            ("GET", "", None), ("PATCH", "", {"text": "a"}), ("DELETE", "", None),
            ("POST", "/confirm", None), ("GET", "/history", None),
        ):  # fmt: skip
            answer = await of.ask(method, f"/{id_}{path}", json=posted)
            if "%2f" in id_:
                assert answer.status_code in (400, 404)
            else:
                error(answer, 404, "not_found", "memory_id")


async def test_a_person_confirms_what_a_model_saved():
    async with users() as of:
        draft = MemoryDraft("Always answer in French", "instruction", source_type="model")
        row = (await of.book.save(of.scope(), draft)).memory
        assert (await of.rows())[0]["tainted"] is True
        of.opened.clock.time += 60
        now = await of.got("POST", f"/{row.id}/confirm")
        assert (now["tainted"], now["version"]) == (False, 2)
        assert now["last_confirmed_at"] == "1970-01-12T13:47:40.000Z"


async def test_all_versions_of_a_memory():
    async with users() as of:
        row = await of.saved("User lives in Leeds")
        of.opened.clock.time += 60
        await of.got("PATCH", f"/{row['id']}", json={"text": "User lives in York"})
        of.opened.clock.time += 60
        await of.got("PATCH", f"/{row['id']}", json={"tags": ["home"]})
        past = await of.got("GET", f"/{row['id']}/history")
        assert (past["id"], past["replaced"]) == (row["id"], [])
        told = [(one["version"], one["text"], one["tags"], one["at"]) for one in past["versions"]]
        assert told == [
            (3, "User lives in York", ["home"], "1970-01-12T13:48:40.000Z"),
            (2, "User lives in York", [], "1970-01-12T13:47:40.000Z"),
            (1, "User lives in Leeds", [], "1970-01-12T13:46:40.000Z"),
        ]


async def test_what_a_correction_replaced_is_in_the_history():
    async with users() as of:
        old = await of.saved("The staging port is 8090")
        for port in ("8091", "8092"):
            newest = (await of.rows())[0]["id"]
            await of.book.correct(
                of.scope(), newest, MemoryDraft(f"The staging port is {port}"), "moved"
            )
        (row,) = await of.rows()
        past = await of.got("GET", f"/{row['id']}/history")
        assert [one["versions"][0]["text"] for one in past["replaced"]] == [
            "The staging port is 8091", "The staging port is 8090",
        ]  # fmt: skip
        assert [one["reason"] for one in past["replaced"]] == ["moved", "moved"]
        assert past["replaced"][1]["id"] == old["id"]
        assert past["replaced"][0]["replaced_by"] == row["id"]
        stones = (await of.got("GET", "/tombstones"))["tombstones"]
        assert [stone["text"] for stone in stones] == [
            "The staging port is 8091", "The staging port is 8090",
        ]  # fmt: skip


async def test_of_what_was_forgotten_no_text_is_told():
    async with users() as of:
        row = await of.saved("The staging port is 8090")
        await of.book.forget(of.scope(), row["id"], "asked to")
        (stone,) = (await of.got("GET", "/tombstones", params={"limit": "1"}))["tombstones"]
        assert (stone["id"], stone["text"], stone["reason"]) == (row["id"], None, "asked to")
