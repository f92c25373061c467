"""Every delete route: `dry_run` deletes nothing and says how much would go, and what the route does
not know is refused before anything is deleted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import httpx
import pytest

from tests.http.owned.granting import Granting, granting
from tests.http.served.fakes import FakeKeys, turn
from tests.http.wire.documented import operations
from tests.made.wallets import Wallet

KEY = {"authorization": "Bearer K"}
FACT = "The workshop in Ghent begins on a Tuesday"
ONE_MEMORY = "/memories/{memory_id}"


class Deletion(NamedTuple):
    """A request that deletes `gone`. `there`: answered with 200 while it is not deleted, or with
    something in the list under this name."""

    method: str
    path: str
    body: dict[str, Any] | None
    gone: int
    there: str
    listed: str = ""


Prepare = Callable[[Granting], Awaitable[Deletion]]


async def ask(server: Granting, method: str, path: str, body: Any = None, **query: Any) -> Any:
    answer = await server.client.request(
        method, path, json=body, params=query, headers=KEY
    ) if body is not None else await server.client.request(
        method, path, params=query, headers=KEY
    )  # fmt: skip
    assert answer.status_code in (200, 201, 204), answer.text
    return answer.json() if answer.content else None


async def _history(server: Granting) -> Deletion:
    await ask(server, "POST", "/context_memory", turn(9))
    return Deletion("POST", "/context_memory/delete", turn(9, temperature=0.5), 1, "", "context")


async def _everything(server: Granting) -> Deletion:
    await _history(server)
    return Deletion("DELETE", "/context_memory/delete", {"all": True}, 1, "", "context")


async def _chat_memory(server: Granting) -> Deletion:
    row = await ask(server, "POST", "/chat/api/c/memory", {"messageId": "m", "content": FACT})
    path = f"/chat/api/c/memories/{row['id']}"
    return Deletion("DELETE", path, None, 1, path)


async def _chat_memories(server: Granting) -> Deletion:
    row = await _chat_memory(server)
    id_ = row.path.rsplit("/", 1)[1]
    return Deletion("POST", "/chat/api/c/memories/delete", {"ids": [id_, "none"]}, 1, row.path)


async def _memory(server: Granting) -> Deletion:
    row = await ask(server, "POST", "/memories", {"text": FACT})
    path = f"/memories/{row['id']}"
    return Deletion("DELETE", path, None, 1, path)


async def _user(server: Granting) -> Deletion:
    row = await _memory(server)
    return Deletion("DELETE", "/memories/user", None, 1, row.path)


async def _agents_memory(server: Granting) -> Deletion:
    memory = {"kind": "note", "data": {"text": FACT}}
    stored = await ask(server, "POST", "/memories", {"agentId": "a", "memories": [memory]})
    path = f"/memories/{stored['created'][0]['id']}"
    return Deletion("DELETE", f"{path}?agentId=a", None, 1, path)


async def _memories(server: Granting) -> Deletion:
    row = await _memory(server)
    return Deletion("POST", "/memories/delete", {"all": True}, 1, row.path)


async def _agents_memories(server: Granting) -> Deletion:
    row = await _agents_memory(server)
    body = {"filter": {"kind": "note"}, "agentId": "*"}
    return Deletion("POST", "/memories/delete", body, 1, row.there)


async def _batch(server: Granting) -> Deletion:
    row = await _memory(server)
    id_ = row.path.rsplit("/", 1)[1]
    return Deletion("POST", "/memories/batch/delete", {"ids": [id_, id_]}, 1, row.path)


async def _filtered_batch(server: Granting) -> Deletion:
    row = await _agents_memory(server)
    body = {"filters": {"agentId": "a", "kind": "note"}}
    return Deletion("POST", "/memories/batch/delete", body, 1, row.there)


async def _group(server: Granting) -> Deletion:
    group = await ask(server, "POST", "/memories/groups", {"title": "Trips"})
    path = f"/memories/groups/{group['id']}"
    return Deletion("DELETE", path, None, 1, path)


async def _member(server: Granting) -> Deletion:
    group, row = await _group(server), await _memory(server)
    id_ = row.path.rsplit("/", 1)[1]
    await ask(server, "POST", f"{group.path}/memories", {"memory_ids": [id_]})
    path = f"{group.path}/memories/{id_}"
    group_id = group.path.rsplit("/", 1)[1]
    return Deletion("DELETE", path, None, 1, f"/memories?group_id={group_id}", "memories")


async def _document(server: Granting) -> Deletion:
    await ask(server, "POST", "/rag/ns/documents", {"id": "d", "text": FACT})
    return Deletion("DELETE", "/rag/ns/documents/d", None, 1, "/rag/ns/documents/d")


async def _documents(server: Granting) -> Deletion:
    await _document(server)
    return Deletion("DELETE", "/rag/ns/documents", None, 1, "/rag/ns/documents/d")


async def _namespace(server: Granting) -> Deletion:
    await _document(server)
    return Deletion("DELETE", "/rag/ns", None, 1, "/rag/ns/documents/d")


async def _schema(server: Granting) -> Deletion:
    await ask(server, "PUT", "/schemas/note", {"json_schema": {"type": "object"}})
    return Deletion("DELETE", "/schemas/note", None, 1, "/schemas/note")


async def _wallet(server: Granting) -> Deletion:
    wallet = Wallet("Ada")
    assert (await server.bind(wallet, "K")).status_code == 200
    return Deletion("DELETE", f"/wallets/{wallet.address}", None, 1, "/wallets", "wallets")


# By the operation of the OpenAPI document that each is.
ROUTES: list[tuple[str, str, Prepare]] = [
    ("post", "/context_memory/delete", _history),
    ("delete", "/context_memory/delete", _everything),
    ("delete", "/chat/api/{chatId}/memories/{memoryId}", _chat_memory),
    ("post", "/chat/api/{chatId}/memories/delete", _chat_memories),
    ("delete", ONE_MEMORY, _memory),
    ("delete", "/memories/user", _user),
    ("delete", ONE_MEMORY, _agents_memory),
    ("post", "/memories/delete", _memories),
    ("post", "/memories/delete", _agents_memories),
    ("post", "/memories/batch/delete", _batch),
    ("post", "/memories/batch/delete", _filtered_batch),
    ("delete", "/memories/groups/{group_id}", _group),
    ("delete", "/memories/groups/{group_id}/memories/{memory_id}", _member),
    ("delete", "/rag/{namespace}/documents/{documentId}", _document),
    ("delete", "/rag/{namespace}/documents", _documents),
    ("delete", "/rag/{namespace}", _namespace),
    ("delete", "/schemas/{kind}", _schema),
    ("delete", "/wallets/{address}", _wallet),
]
EACH = pytest.mark.parametrize("prepare", [row[2] for row in ROUTES])


async def is_there(server: Granting, asked: Deletion) -> bool:
    if asked.listed == "context":
        shown = await ask(server, "POST", asked.path, {"all": True, "dry_run": True})
        return bool(shown["addresses"])
    answer = await server.client.get(asked.there, headers=KEY)
    if asked.listed:
        return bool(answer.json()[asked.listed])
    return answer.status_code == 200


async def send(server: Granting, asked: Deletion, query: str, **fields: Any) -> httpx.Response:
    """The deletion with more in its query or body."""
    path = asked.path + (("&" if "?" in asked.path else "?") + query if query else "")
    if asked.body is None and not fields:
        return await server.client.request(asked.method, path, headers=KEY)
    body = {**(asked.body or {}), **fields}
    return await server.client.request(asked.method, path, json=body, headers=KEY)


def test_every_delete_route_is_here():
    documented = {
        (method, path.removeprefix("/v1"))
        for path, method, _ in operations()
        if method == "delete" or path.endswith("/delete")
    }
    assert documented == {(method, path) for method, path, _ in ROUTES}


@EACH
@pytest.mark.parametrize(("query", "fields"), [("dry_run=true", {}), ("", {"dry_run": True})])
async def test_a_dry_run_deletes_nothing(prepare: Prepare, query: str, fields: dict[str, Any]):
    async with granting(FakeKeys(acme=["K"])) as server:
        asked = await prepare(server)
        answer = await send(server, asked, query, **fields)
        shown = answer.json()
        assert (answer.status_code, shown["dry_run"]) == (200, True), answer.text
        assert shown.get("count", shown.get("addresses")) == asked.gone
        assert await is_there(server, asked)
        done = await send(server, asked, "dry_run=0")
        assert done.status_code in (200, 204), done.text
        assert not await is_there(server, asked)


UNKNOWN: list[tuple[str, dict[str, Any], str | None]] = [
    ("dryrun=true", {}, "dryrun"),
    ("", {"dryRun": True}, "dryRun"),
    ("", {"dry_run": "yes"}, "dry_run"),
    ("dry_run=maybe", {}, "dry_run"),
    ("dry_run=true", {"dry_run": False}, "dry_run"),
    ("dry_run=true&dry_run=false", {}, "dry_run"),
    ("", {"k" * 100_000: 1}, None),
]


@EACH
async def test_what_is_unknown_is_refused(prepare: Prepare):
    async with granting(FakeKeys(acme=["K"])) as server:
        asked = await prepare(server)
        for query, fields, param in UNKNOWN:
            answer = await send(server, asked, query, **fields)
            error = answer.json()["error"]
            assert (answer.status_code, error["param"]) == (400, param), answer.text
            assert (param or "the request has an unknown field") in error["message"]
            assert len(error["message"]) < 5_000
            assert await is_there(server, asked)


@pytest.mark.parametrize("prepare", [_chat_memory, _memory])
async def test_a_dry_run_of_what_is_not_there_is_a_404(prepare: Prepare):
    async with granting(FakeKeys(acme=["K"])) as server:
        asked = await prepare(server)
        await send(server, asked, "")
        assert (await send(server, asked, "dry_run=true")).status_code == 404
        # What was deleted can still be erased for good, so it is counted.
        assert (await send(server, asked, "dry_run=true&purge=true")).json()["count"] == 1


@pytest.mark.parametrize("body", [{"all": True}, {"address": "ab" * 32}])
async def test_fields_of_a_chat_are_known_only_beside_its_history(body: dict[str, Any]):
    async with granting(FakeKeys(acme=["K"])) as server:
        asked = await _everything(server)
        answer = await send(server, asked._replace(body={**body, "temperature": 1}), "")
        assert (answer.status_code, answer.json()["error"]["param"]) == (400, "temperature")
        assert await is_there(server, asked)
