"""Conflicts, twins and standing memories over HTTP, of a user and of a chat."""

from __future__ import annotations

from typing import Any

import pytest

from memtree.memories.draft import DedupPolicy, MemoryDraft
from memtree.memories.scope import Scope
from tests.fakes import HashingEmbedder
from tests.http.owned.user_memories import KEY, Users, users

ROOTS = {"user": "/v1/memories", "chat": "/chat/api/c1/memories"}
TEXTS = {"user": "text", "chat": "content"}


class Asking:
    def __init__(self, of: Users, kind: str) -> None:
        self.of, self.kind = of, kind

    async def ask(self, method: str, path: str = "", **more: Any) -> Any:
        at = ROOTS[self.kind] + path
        return await self.of.client.request(method, at, headers=KEY, **more)

    async def got(self, method: str, path: str = "", **more: Any) -> Any:
        answer = await self.ask(method, path, **more)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def save(self, text: str, **more: Any) -> dict[str, Any]:
        body = {TEXTS[self.kind]: text, **more}
        if self.kind == "user":
            answer = await self.ask("POST", json=body)
        else:
            body["messageId"] = "m"
            url = "/chat/api/c1/memory"
            answer = await self.of.client.post(url, headers=KEY, json=body)
        assert answer.status_code == 201, answer.text
        return answer.json()


@pytest.fixture(params=ROOTS)
async def asking(request: pytest.FixtureRequest):
    async with users(HashingEmbedder()) as of:
        yield Asking(of, request.param)


async def conflict(asking: Asking) -> tuple[str, str]:
    older = await asking.save("The staging port is 8090.")
    newer = await asking.save("The staging port is 8091.")
    return older["id"], newer["id"]


async def test_a_conflict_is_told_until_it_is_settled(asking: Asking):
    older, newer = await conflict(asking)
    told = [
        {
            "id": older,
            TEXTS[asking.kind]: "The staging port is 8090.",
            "differs": ["8090 -> 8091"],
        }
    ]
    rows = (await asking.got("GET", params={"conflicts": "true"}))["memories"]
    assert [(row["id"], row["possible_update_of"]) for row in rows] == [(newer, told)]
    assert (await asking.got("GET", f"/{newer}"))["possible_update_of"] == told
    found = (await asking.got("GET", "/search", params={"query": "staging port 8091"}))["memories"]
    assert told in [row["possible_update_of"] for row in found]
    asked = {"with": older, "action": "keep_both"}
    kept = await asking.got("POST", f"/{newer}/settle", json=asked)
    assert kept["possible_update_of"] == []
    assert (await asking.got("GET", params={"conflicts": "true"}))["memories"] == []
    assert len((await asking.got("GET"))["memories"]) == 2
    again = await asking.ask("POST", f"/{newer}/settle", json=asked)
    assert (again.status_code, again.json()["error"]["param"]) == (404, "with")


async def test_one_replaces_the_other(asking: Asking):
    older, newer = await conflict(asking)
    await asking.got("POST", f"/{newer}/settle", json={"with": older, "action": "replace"})
    assert [row["id"] for row in (await asking.got("GET"))["memories"]] == [newer]
    assert (await asking.got("GET", f"/{older}"))["state"] == "superseded"


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"action": "replace"}, "with"),
        ({"with": "mem_a"}, "action"),
        ({"with": "mem_a", "action": "forget"}, "action"),
        ({"with": "mem_a", "action": "replace", "wiht": 1}, "wiht"),
    ],
)
async def test_what_is_no_settlement_is_named(asking: Asking, body: dict[str, Any], param: str):
    _, newer = await conflict(asking)
    answer = await asking.ask("POST", f"/{newer}/settle", json=body)
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, param)


async def test_what_is_unknown_is_not_ignored(asking: Asking):
    row = await asking.save("The port is 8090.")
    text = TEXTS[asking.kind]
    for method, path, more in (
        ("GET", "", {"params": {"conflict": "true"}}),
        ("GET", "/search", {"params": {"query": "port", "standin": "true"}}),
        ("PATCH", f"/{row['id']}", {"json": {text: "The port is 8091.", "standin": True}}),
    ):
        answer = await asking.ask(method, path, **more)
        named = answer.json()["error"]["param"]
        assert (answer.status_code, named) == (400, "conflict" if not path else "standin")
    assert (await asking.got("GET", f"/{row['id']}"))[text] == "The port is 8090."


async def test_a_wish_stands_and_is_unpinned(asking: Asking):
    wish = await asking.save("Always answer in British English.")
    plain = await asking.save("The port is 8090.", standing=True)
    assert (wish["standing"], plain["standing"]) == (True, True)
    changed = await asking.got("PATCH", f"/{wish['id']}", json={"standing": False})
    assert changed["standing"] is False
    rows = (await asking.got("GET", params={"standing": "true"}))["memories"]
    assert [row["id"] for row in rows] == [plain["id"]]


async def test_twins_are_one_row(asking: Asking):
    of = asking.of
    scope = of.scope() if asking.kind == "user" else Scope.of_chat(of.tenant, "c1")
    for _ in range(3):
        saved = await of.book.save(scope, MemoryDraft("The port is 8090."), DedupPolicy.ASK)
    (row,) = (await asking.got("GET"))["memories"]
    assert (row["id"], len(row["twins"])) == (saved.memory.id, 2)
    (hit,) = (await asking.got("GET", "/search", params={"query": "port"}))["memories"]
    assert hit["twins"] == row["twins"]
    assert (await asking.got("GET", f"/{row['twins'][0]}"))["id"] == row["id"]
