"""Where memories of agents must not show: prompts, the remember tool, others' events, logs."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import logging
from typing import Any

import httpx
import pytest

from memtree.memories.draft import DedupPolicy, MemoryDraft
from memtree.memories.scope import Scope
from memtree.memories.user_memories import SettingsChange
from memtree_proxy.http.auth import tenant_id
from memtree_proxy.http.event_streams import EventPace
from memtree_proxy.server.app import create_app
from tests.fakes import HashingEmbedder
from tests.http.owned.injecting import SYSTEM, Notebook, chatting, user
from tests.http.owned.owners import KEY
from tests.http.served.fakes import FakeKeys, FakeMemory, edge, services
from tests.http.served.mcp_client import remembering
from tests.http.served.running import PATIENCE, running
from tests.http.served.upstream import FakeUpstream
from tests.http.user_memories.test_memory_isolation import BY_ID, MANY_IDS, READ, Row
from tests.unit.memories.books import opened

TEA = "The user drinks green tea, no coffee"
QUOKKA = "The quokka drinks green tea, no coffee"
ASKED = "Which tea does the user drink, green or black?"
SECRET = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"


def agents(tenant: str) -> list[Scope]:
    """With the names of everybody else."""
    names = ("a", "c", "u1", "default", tenant)
    return [Scope.of_agent(tenant, name, of) for name in names for of in ("", "c", "u1")]


# -- prompts ---------------------------------------------------------------------------------


async def test_no_prompt_holds_what_an_agent_remembers(base: str, upstream: FakeUpstream):
    notebook = Notebook()
    for scope in agents(notebook.tenant):
        await notebook.save(QUOKKA, "preference", scope=scope)
        await notebook.switch(scope, save=True, history=True)
    users = [notebook.user(), notebook.user("u1")]
    for scope in users:
        await notebook.switch(scope, save=True)
    async with chatting(base, upstream, notebook) as chat:

        async def asked(**headers: str) -> str:
            fields = {"agentId": "a", "subjectId": "u1", "memory_options": {"enabled": True}}
            answer = await chat.post([SYSTEM, user(ASKED)], "c", fields, **headers)
            told = answer.headers.get("x-memtree-memories", "")
            return json.dumps(chat.messages) + told

        for headers in ({}, {"x_user_id": "u1"}, {"x_user_id": "a"}, {"x_chat_memory": "on"}):
            assert "quokka" not in await asked(**headers)
        # The memories of users do stand there.
        for scope, headers in zip(users, ({}, {"x_user_id": "u1"}), strict=True):
            await notebook.save(TEA, "preference", scope=scope)
            sent = await asked(**headers)
            assert TEA in sent
            assert "quokka" not in sent


# -- the remember tool -----------------------------------------------------------------------


async def test_the_remember_tool_knows_nothing_of_agents():
    tenant = tenant_id("key")
    async with remembering() as tools:
        mcp = tools.beside(headers=KEY)
        numbers: list[Any] = []
        for scope in agents(tenant):
            made = await mcp.book.save(scope, MemoryDraft(QUOKKA), DedupPolicy.INSERT)
            draft = MemoryDraft(f"{QUOKKA}, but juice")
            await mcp.book.correct(scope, made.memory.id, draft, "quokka")
            other = await mcp.book.save(scope, MemoryDraft(f"{QUOKKA} 2"), DedupPolicy.INSERT)
            numbers += [made.memory.number, other.memory.number]
        assert await mcp.texts(QUOKKA) == []
        assert await mcp.all() == []
        for text in (QUOKKA, f"{QUOKKA} 2"):
            saved = await mcp.ok("remember", text=text, dedup_policy="ask")
            told = json.dumps({**saved, "memory_id": 0})
            assert saved["memory_id"] not in numbers
            assert not saved.get("previously_corrected")
            near = saved.get("near_duplicates") or []
            assert not {one["memory_id"] for one in near} & set(numbers)
            assert told.count("juice") == 0
        for number in numbers[:4]:
            for tool, given in (("forget", {}), ("confirm", {}), ("correct", {"text": "mine"})):
                content = await mcp.call(tool, id=number, **given)
                assert content["error"] == "NOT_FOUND"
                assert "quokka" not in json.dumps(content).lower()


# -- events ----------------------------------------------------------------------------------


async def test_a_stream_of_events_is_of_one_scope():
    built = dataclasses.replace(services(None), event_pace=EventPace(check=0.1, beat=60.0))
    mine = {"agentId": "a", "subjectId": "s"}
    others: list[dict[str, str]] = [
        {"agentId": "a"}, {"agentId": "s", "subjectId": "a"}, {"agentId": "a", "subjectId": "t"},
    ]  # fmt: skip
    data = {"memories": [{"kind": "Note", "data": {"text": QUOKKA}}]}
    with running(create_app(built)) as address:
        async with (
            httpx.AsyncClient(
                base_url=address, headers=KEY, trust_env=False, timeout=PATIENCE
            ) as client,
            client.stream("GET", "/v1/memories/events", params=mine) as answer,
            asyncio.timeout(PATIENCE),
        ):
            assert answer.status_code == 200
            lines = answer.aiter_lines()
            assert (await anext(lines)).startswith("id: ")

            async def post(path: str, body: dict[str, Any], **headers: str) -> Any:
                made = await client.post(path, json=body, headers=headers)
                assert made.status_code in (200, 201), made.text
                return made.json()

            await post("/v1/memories", {"text": QUOKKA})
            await post("/v1/chat/api/a/memory", {"content": QUOKKA, "messageId": "m1"})
            for other in others:
                await post("/v1/memories", {**other, **data})
            await post("/v1/memories", {**mine, **data}, authorization="Bearer other")
            id_ = (await post("/v1/memories", {**mine, **data}))["created"][0]["id"]
            seen = []
            async for line in lines:
                assert "quokka" not in line
                if line.startswith("data: "):
                    seen.append(json.loads(line.removeprefix("data: ")))
                    break
    assert seen == [{"type": "created", "id": id_, "count": 1, "version": 1}]


# -- logs, metrics, errors -------------------------------------------------------------------

NAMED = {"agentId": "quokka-agent", "subjectId": "anna.quokka@example.org"}
HOSTILE = [
    {"agentId": "quokka agent"}, {"agentId": "quokka\n"}, {"agentId": "<quokka>"},
    {"agentId": "a", "subjectId": "quokka/../x"}, {"agentId": "quokka" * 40},
    {"subjectId": "quokka"},
]  # fmt: skip
POSTED: list[tuple[str, dict[str, Any]]] = [
    ("/memories", {"memories": [{"kind": "Quokka", "data": {"quokka": QUOKKA}}]}),
    ("/memories", {"memories": [{"kind": "Quokka", "data": {"key": SECRET}}]}),
    ("/memories", {"memories": [{"kind": "Quokka", "data": {SECRET: 1}}]}),
    ("/memories", {"memories": [{"kind": "Quokka", "data": {"a": 1}, "tags": ["quokka" * 9]}]}),
    ("/memories", {"memories": [{"kind": "Quokka", "data": {"a": 1}, "ttl": "quokka"}]}),
    ("/memories", {"memories": [{"kind": "Quokka", "data": {"a": 1}, "id": "quokka"}]}),
    ("/memories", {"memories": [{"kind": "quokka quokka", "data": {"a": 1}}]}),
    ("/memories", {"conversation": [{"role": "quokka", "content": QUOKKA}]}),
    ("/memories", {"conversation": [{"role": "user", "content": QUOKKA, "id": "quokka"}]}),
    ("/memories/batch/create", {"memories": [{"kind": "Quokka", "data": {"a": QUOKKA}}]}),
    ("/memories/batch/delete", {"ids": ["quokka"]}),
    ("/memories/batch/update", {"ids": ["quokka"], "update": {"tags": ["quokka" * 9]}}),
    ("/memories/batch/search", {"queries": [{"query": QUOKKA, "filters": {f"a {QUOKKA}": 1}}]}),
    ("/memories/delete", {"filter": {f"a {QUOKKA}": QUOKKA}}),
    ("/memories/undelete", {"ids": ["quokka"]}),
]


@pytest.mark.parametrize("agent", [NAMED, *HOSTILE], ids=repr)
async def test_no_name_no_text_and_no_data_is_logged_counted_or_told_in_errors(
    agent: dict[str, str], caplog: pytest.LogCaptureFixture
):
    with caplog.at_level(logging.DEBUG):
        async with opened(HashingEmbedder()) as of:
            made = edge(None, FakeMemory(), FakeKeys(), book=of.book, memories=of.store)
            async with made as client:
                scope = Scope.of_agent(tenant_id("key"), NAMED["agentId"], NAMED["subjectId"])
                await of.book.save(scope, MemoryDraft(QUOKKA), DedupPolicy.INSERT)
                await of.store.change_settings(scope, SettingsChange(save=True))

                async def ask(method: str, path: str, **more: Any) -> None:
                    answer = await client.request(method, f"/v1{path}", headers=KEY, **more)
                    assert answer.status_code < 500, answer.text
                    if answer.status_code >= 400:
                        assert "quokka" not in answer.text.lower(), (method, path)
                        assert "abcdefghij" not in answer.text

                rows: list[Row] = [*READ, *BY_ID, *MANY_IDS]
                for row in rows:
                    path, _, query = row.path.replace("ID", "mem_quokka").partition("?")
                    pairs = dict(pair.split("=", 1) for pair in query.split("&")) if query else {}
                    await ask(row.method, path, params={**pairs, **agent}, json=row.posted)
                for path, posted in POSTED:
                    await ask("POST", path, json={**posted, **agent})
                    await ask("POST", path, json=posted, params=agent)
                shown = (await client.get("/metrics")).text
    ours = [record for record in caplog.records if not record.name.startswith("http")]
    lines = "\n".join(record.getMessage() for record in ours)
    assert "/memories/{memory_id}/history" in shown
    assert "/memories/batch/" in lines
    for text in (shown, lines):
        assert "quokka" not in text.lower()
        assert "abcdefghij" not in text
