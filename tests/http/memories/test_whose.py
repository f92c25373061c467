"""Whose memories and documents: no route tells another scope of them. Of agents:
test_memory_isolation.py."""

from __future__ import annotations

from typing import Any

import pytest

from memtree.memories.draft import MemoryDraft
from memtree.memories.scope import Scope
from tests.fakes import HashingEmbedder
from tests.http.owned.kinds import (
    KEY,
    PORTS,
    Asking,
    Chats,
    Filing,
    Users,
    agents,
    chats,
    error,
    filing,
    serving,
    users,
    wrong,
)
from tests.http.owned.routes import (
    CANARY,
    CHANGED,
    ELSEWHERE,
    KINDS,
    MINE,
    OTHERS,
    OWNERS,
    PEOPLE,
    PLACES,
    ROUTES,
    Owned,
    written,
)
from tests.http.wire.documented import DOCUMENT, METHODS


@KINDS
def test_no_route_is_forgotten(kind: type[Asking]):
    documented = {
        f"{method.upper()} {path.removeprefix(PLACES[kind])}"
        for path, item in DOCUMENT["paths"].items()
        if path.startswith(PLACES[kind])
        for method in METHODS
        if method in item
    }
    elsewhere = {written(route, kind) for route in ELSEWHERE}
    tables = {
        f"{method} {written(path, kind).partition('?')[0]}".replace(
            "/groups/GROUP", "/groups/{group_id}"
        ).replace("ID", f"{{{kind.ID}}}")
        for method, path, _, _ in ROUTES[kind]
    }
    assert tables == documented - elsewhere


@pytest.mark.parametrize(("kind", "whom"), OWNERS)
async def test_no_route_tells_another_scope_of_a_memory_or_changes_it(
    kind: type[Asking], whom: str
):
    async with serving(kind, HashingEmbedder()) as of:
        owned = await Owned(of, whom).made()
        before = await owned.everything()
        for key, other in OTHERS[kind]:
            headers = {"authorization": f"Bearer {key}" if key else ""}
            for route in ROUTES[kind]:
                method, path, posted, status = route
                answer = await owned.ask(route, other, headers=headers)
                assert answer.status_code == status, (route, answer.text)
                assert "canar" not in answer.text.lower(), route
                if status == 404:
                    error(answer, 404, "not_found", "group_id" if "GROUP" in path else of.ID)
                if "ID" not in path + str(posted):
                    assert not [id_ for id_ in owned.ids.values() if id_ in answer.text]
                shown = {} if path == "/export" or not answer.content else answer.json()
                passages = shown.get("deleted_passages") or shown.get("passages")
                assert not passages or method == "POST", route
                if "ids" in str(posted):
                    assert not any(shown.get(name) for name in ("deleted", "count", "memories"))
        assert await owned.everything() == before


@PEOPLE
async def test_no_duplicate_check_tells_another_scope_of_a_memory(kind: type[Asking]):
    """Not by the existing memory, nor by what may be replaced, nor by the status."""
    async with serving(kind, HashingEmbedder()) as of:
        owned = await Owned(of, "u1" if kind is Users else "c1").made()
        for key, other in OTHERS[kind]:
            headers = {"authorization": f"Bearer {key}" if key else ""}
            for text, updates in ((CANARY, 0), (CHANGED, 1)):
                answer = await of.post(text, other, headers=headers)
                assert answer.status_code == 201
                assert len(answer.json()["possible_update_of"]) == updates  # of its own
                assert owned.ids["ID"] not in answer.text


async def test_a_user_a_chat_and_an_agent_of_the_same_name_are_other_scopes():
    async with users() as of:
        chat = Chats(of.client, of.opened)
        await of.saved(CANARY, "u1")
        headers = {"x-user-id": "u1"}
        made = await chat.post(MINE, "u1", headers=headers)
        rows = await chat.got("GET", "/memories", "u1", headers=headers)
        assert [row["content"] for row in rows["memories"]] == [MINE]
        assert await of.texts("u1") == [CANARY]
        error(await of.ask("GET", f"/{made.json()['id']}", "u1"), 404, "not_found", "memory_id")
        for name in ("u1", ""):  # nor does the name of a user widen a chat
            answer = await chat.got("GET", "/memories", "c2", headers={"x-user-id": name})
            assert answer["memories"] == []


async def test_the_remember_tool_and_these_routes_share_the_scope():
    async with users() as of:
        await of.book.save(of.scope("u1"), MemoryDraft(CANARY, source_type="model"))
        assert await of.texts("u1") == [CANARY]


async def test_users_of_a_tenant_share_its_namespaces_and_tenants_do_not():
    async with filing() as of:
        await of.put(text=CANARY)
        await of.book.save(Scope.of_chat(of.tenant, "c"), MemoryDraft(MINE))
        for name in ("ada", "grace"):
            answer = await of.got("GET", "/documents", headers={"x-user-id": name})
            assert [row["id"] for row in answer["documents"]] == ["ports.md"]
        for key, spaces in (("key", [{"namespace": "handbook", "passages": 1}]), ("other", [])):
            headers = {"authorization": f"Bearer {key}"}
            answer = await of.client.get("/v1/rag", headers=headers)
            assert answer.json() == {"namespaces": spaces}


async def test_memories_and_passages_do_not_meet():
    sparrow = "The sparrow of the user sings at 8090 Linden Street"
    async with filing(HashingEmbedder()) as of:
        scopes = [
            Scope.of_user(of.tenant), Scope.of_user(of.tenant, "handbook"),
            Scope.of_chat(of.tenant, "handbook"), Scope.of_agent(of.tenant, "handbook"),
        ]  # fmt: skip
        for scope in scopes:
            await of.book.save(scope, MemoryDraft(sparrow))
        await of.put(text=CANARY)
        await of.book.join()
        for path in ("/documents", "/search?query=sparrow+of+the+user"):
            assert "sparrow" not in str(await of.got("GET", path))
        for scope in scopes:
            page = await of.book.page(scope)
            assert [memory.text for memory in page.memories] == [sparrow]
            hits = (await of.book.search(scope, CANARY)).hits
            assert [hit.memory.text for hit in hits] == [sparrow]
        for path in (
            "/v1/memories", "/v1/memories/search?query=canary", "/v1/memories/export",
            "/chat/api/handbook/memories", "/chat/api/handbook/memories/search?query=canary",
        ):  # fmt: skip
            answer = await of.client.get(path, headers=KEY)
            assert "canary" not in answer.text.lower(), path


IDS: dict[type[Asking], tuple[str, list[str]]] = {
    Users: ("x-user-id", [" ", "a b", "../u1", "x" * 201, "u1,u2", "*"]),
    Chats: ("chatId", ["a b", "a%00", "%C3%A9", "x" * 201, "{chat}", "a%22"]),
    Filing: ("namespace", ["a%20b", "a" * 201, "%C3%A9"]),
}


@KINDS
async def test_an_id_that_cannot_be_one(kind: type[Asking]):
    param, ids = IDS[kind]
    async with serving(kind) as of:
        for id_ in ids:
            for method, path, posted, _ in ROUTES[kind]:
                answer = await of.ask(method, written(path, kind), id_, json=posted)
                wrong(answer, param)
        if kind is Users:
            wrong(await of.ask("GET", headers={"x-user-id": ""}), param)


# -- where they stand ------------------------------------------------------------------------


@KINDS
@pytest.mark.parametrize("prefix", ["", "/v1", "/api", "/api/v1"])
async def test_every_route_stands_under_every_prefix(prefix: str, kind: type[Asking]):
    async with serving(kind) as of:
        owned = await Owned(of, "").made()
        place = of.at("", "")[0].removeprefix("/v1")
        of.at = lambda path, whom: (f"{prefix}{place}{path}", {})  # type: ignore[method-assign]
        for route in ROUTES[kind]:
            answer = await owned.ask(route, "")
            assert answer.status_code in (200, 201, 204, 400, 404), (route, answer.text)
            assert answer.status_code < 300 or answer.json()["error"]["param"], route
        for path in ("/a/b/c", f"{of.LIST}/mem_1/nothing"):
            answer = await of.ask("GET", path)
            assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")
        allowed = {Users: "GET, POST", Chats: "GET", Filing: "GET, POST, DELETE"}[kind]
        answer = await of.ask("PUT", of.LIST)
        assert (answer.status_code, answer.headers["allow"]) == (405, allowed)


async def test_paths_below_that_are_none_do_not_reach_the_upstream(base: str, upstream: Any):
    async with chats(base=base) as of:
        for path in ("/nothing", "/memory/x", "/memories/a/b", "/memories/a/b/c", ""):
            assert (await of.ask("GET", path)).status_code == 404
    async with filing(base=base) as rag:
        await rag.put(text=PORTS)
        for path in ("/other", "/documents/a/b"):
            assert (await rag.ask("GET", path)).status_code == 404
    async with agents(base=base) as helper:
        assert (await helper.ask("GET", "/mem_1/nothing")).status_code == 404
    assert not upstream.seen
