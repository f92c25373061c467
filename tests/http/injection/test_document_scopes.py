"""Whose documents: tenants and namespaces do not see each other's, users of a tenant share them,
and no memory shows among them nor they among memories."""

from __future__ import annotations

import logging
from typing import Any

import httpx
import pytest

from memtree.memories.draft import MemoryDraft
from memtree.memories.scope import Scope
from memtree_proxy.access.auth import tenant_id
from tests.fakes import HashingEmbedder
from tests.http.owned.filing import KEY, PORTS, Filing, filing

CANARY = "The canary of the handbook sings at 8090 Linden Street"
MEMORY = "The sparrow of the user sings at 8090 Linden Street"
OTHERS = [("other", "handbook"), ("key", "other"), ("key", "Handbook"), (None, "handbook")]


@pytest.fixture(params=OTHERS, ids=lambda other: f"{other[0]} {other[1]}")
def other(request: pytest.FixtureRequest) -> tuple[dict[str, str], str]:
    key, namespace = request.param
    return {"authorization": f"Bearer {key}" if key else ""}, namespace


async def asked(
    rag: Filing, other: tuple[dict[str, str], str], method: str, path: str, **more: Any
) -> httpx.Response:
    headers, namespace = other
    return await rag.ask(method, path, namespace, headers=headers, **more)


async def test_no_answer_tells_another_scope_of_a_document(other: tuple[dict[str, str], str]):
    async with filing(HashingEmbedder()) as rag:
        await rag.put("canary.md", CANARY, type="canary", metadata={"canary": 1})
        await rag.on.book.join()
        answers = [
            await asked(rag, other, "GET", "/documents"),
            await asked(rag, other, "GET", "/documents", params={"type": "canary"}),
            await asked(rag, other, "GET", "/search", params={"query": CANARY}),
            await asked(rag, other, "GET", ""),
            await asked(rag, other, "GET", "/documents/canary.md"),
            await asked(rag, other, "DELETE", "/documents/canary.md"),
            await asked(rag, other, "DELETE", "/documents/canary.md", params={"purge": "true"}),
            await asked(rag, other, "DELETE", ""),
        ]
        assert [answer.status_code for answer in answers] == [200] * 4 + [404, 404, 404, 200]
        for answer in answers:
            assert "canary" not in answer.text.lower()
        assert answers[3].json()["passages"] == 0
        assert answers[7].json() == {"deleted_passages": 0}
        put = await asked(rag, other, "POST", "/documents", json={"id": "canary.md", "text": "x"})
        assert put.json()["status"] == "created"
        shown = await rag.ask("GET", "/documents/canary.md")
        assert shown.json()["text"] == CANARY


async def test_a_cursor_of_one_namespace_opens_no_other():
    async with filing() as rag:
        for n in range(3):
            await rag.put(f"d{n}", CANARY)
        await rag.put("mine", PORTS, "other")
        cursor = (await rag.ask("GET", "/documents", params={"limit": 1})).json()["next_cursor"]
        assert await rag.ids("other", cursor=str(int(cursor) + 9)) == ["mine"]


async def test_users_of_a_tenant_share_its_namespaces():
    async with filing() as rag:
        await rag.put(text=CANARY)
        for user in ("ada", "grace"):
            answer = await rag.ask("GET", "/documents", headers={"x-user-id": user})
            assert [row["id"] for row in answer.json()["documents"]] == ["ports.md"]


async def test_the_list_of_namespaces_is_the_tenants_own():
    async with filing() as rag:
        await rag.put()
        await rag.on.book.save(Scope.of_chat(tenant_id("key"), "c"), MemoryDraft(MEMORY))
        own = await rag.client.get("/v1/rag", headers=KEY)
        assert own.json() == {"namespaces": [{"namespace": "handbook", "passages": 1}]}
        theirs = await rag.client.get("/v1/rag", headers={"authorization": "Bearer other"})
        assert theirs.json() == {"namespaces": []}


async def test_memories_and_passages_do_not_meet():
    async with filing(HashingEmbedder()) as rag:
        tenant = tenant_id("key")
        scopes = [
            Scope.of_user(tenant), Scope.of_user(tenant, "handbook"),
            Scope.of_chat(tenant, "handbook"), Scope.of_agent(tenant, "handbook"),
        ]  # fmt: skip
        for scope in scopes:
            await rag.on.book.save(scope, MemoryDraft(MEMORY))
        await rag.put(text=CANARY)
        await rag.on.book.join()
        for path, query in (("/documents", {}), ("/search", {"query": MEMORY})):
            assert "sparrow" not in (await rag.ask("GET", path, params=query)).text
        for scope in scopes:
            page = await rag.on.book.page(scope)
            assert [memory.text for memory in page.memories] == [MEMORY]
            found = await rag.on.book.search(scope, CANARY)
            assert [hit.memory.text for hit in found.hits] == [MEMORY]
        for path in (
            "/v1/memories", "/v1/memories/search?query=canary", "/v1/memories/export",
            "/chat/api/handbook/memories", "/chat/api/handbook/memories/search?query=canary",
        ):  # fmt: skip
            answer = await rag.client.get(path, headers=KEY)
            assert "canary" not in answer.text.lower(), path


async def test_no_log_line_and_no_metric_names_a_document(caplog: pytest.LogCaptureFixture):
    space = "anna.canary@example.org"
    with caplog.at_level(logging.DEBUG):
        async with filing(HashingEmbedder()) as rag:
            await rag.put("canary.md", CANARY, space, metadata={"a": "canary"}, type="canary")
            await rag.ask("GET", "/documents/canary.md", space)
            await rag.ask("GET", "/search", space, params={"query": CANARY, "type": "canary"})
            await rag.ask("GET", "/search", space, params={"query": CANARY, "limit": CANARY})
            await rag.post("canary.md", CANARY, space, metadata={"canary": 1 << 80})
            await rag.ask("DELETE", "/documents/missing-canary", space)
            shown = (await rag.client.get("/metrics")).text
    ours = [record for record in caplog.records if not record.name.startswith("http")]
    lines = "\n".join(record.getMessage() for record in ours)  # the client has a log, too
    for text in (shown, lines):
        assert "/rag/{namespace}/documents" in text
        assert "canary" not in text.lower()
