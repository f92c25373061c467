"""Whose memories, over all of them at once: users, chats, namespaces, agents, subjects, tenants.

Each owner has memories in every state with a word of its own. Every route of memories is asked by
everybody, and its answer may hold the words of those alone whom it is about. A route that stands in
no table here fails the first test.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import product
from typing import Any, NamedTuple

import httpx
import pytest
from starlette.routing import Route

from memtree_proxy.http.request_body import PREFIXES
from memtree_proxy.server.app import create_app
from tests.fakes import HashingEmbedder
from tests.http.owned.kinds import counts
from tests.http.owned.owners import (
    ASKS,
    KEY,
    OTHER_KEY,
    OWNERS,
    Ask,
    Kept,
    Owner,
    everything,
    filled,
    seen,
)
from tests.http.served.fakes import FakeKeys, FakeMemory, edge, services
from tests.http.served.running import PATIENCE
from tests.http.wire.documented import DOCUMENT, METHODS
from tests.unit.memories.books import Opened, opened

# Without agents' names: whose credential, and which user.
WHOSE = {name: ask for name, ask in ASKS.items() if not ask.agents}
# Those elsewhere ask as those here do, and are left to `make test-all`.
EACH = pytest.mark.parametrize(
    "ask",
    [
        pytest.param(ask, id=name, marks=pytest.mark.long if "elsewhere" in name else ())
        for name, ask in ASKS.items()
    ],
)
QUERY = "Which one sings in Linden Street?"


class Row(NamedTuple):
    """Question to a route. `several`: `*` may stand for agents and subjects. `agents`: they may be
    named at all; `users`: nobody need be. `shows`: every live memory of those whom it is about
    shows in the answer. `place`: where agents are named."""

    method: str
    path: str
    posted: Any = None
    several: bool = False
    agents: bool = True
    users: bool = True
    shows: bool = False
    place: str = "query"


READ = [
    Row("GET", "/memories", several=True, shows=True),
    Row("GET", "/memories?limit=1000&tags=shared", several=True),
    Row("GET", "/memories?include=deleted,superseded,expired", agents=False, shows=True),
    Row("GET", "/memories?include_superseded=true", several=True, users=False, shows=True),
    Row("GET", "/memories?threadId=thread-1&kind=Note", several=True, users=False, shows=True),
    Row("GET", f"/memories/search?limit=100&query={QUERY}", several=True, shows=True),
    Row("GET", f"/memories/search?limit=100&mode=raw&query={QUERY}", several=True, shows=True),
    Row("GET", f"/memories/search?limit=100&scope=own&query={QUERY}", several=True, shows=True),
    Row("GET", f"/memories/search?mode=map&limit=100&query={QUERY}", several=True),
    Row("GET", f"/memories/search?threadId=thread-1&query={QUERY}", several=True, users=False),
    Row("POST", "/memories/batch/search", {"queries": [{"query": QUERY}] * 2}, several=True,
        place="filters"),
    Row("POST", "/memories/batch/delete", {"filters": {"tags": ["none"]}}, several=True,
        users=False, place="filters"),
    Row("GET", "/memories/tombstones", shows=True),
    Row("GET", "/memories/export", shows=True),
    Row("GET", "/memories/settings", agents=False),
    Row("GET", "/memories/user", agents=False),
    Row("DELETE", "/memories/user?dry_run=true", agents=False),
    Row("GET", "/memories/groups", agents=False),
    Row("POST", "/memories/delete", {"all": True, "dry_run": True}, several=True),
    Row("POST", "/memories/delete", {"all": True, "dry_run": True}, several=True, place="body"),
    Row("POST", "/memories/undelete", {"ids": ["mem_none"]}),
]  # fmt: skip
# Asked with the ids of every owner. `ID`: in the path. None: in the body, by `posted`.
BY_ID = [
    Row("GET", "/memories/ID", several=True),
    Row("GET", "/memories/ID/history", several=True),
    Row("POST", "/memories/ID/confirm", several=True),
    Row("POST", "/memories/ID/settle", {"with": "mem_none", "action": "replace"}, several=True),
    Row("PATCH", "/memories/ID", {"tags": ["mine"]}, several=True),
    Row("DELETE", "/memories/ID", several=True),
    Row("DELETE", "/memories/ID?purge=true", several=True),
]
MANY_IDS = [
    Row("POST", "/memories/delete", {"ids": [], "dry_run": True}, several=True),
    Row("POST", "/memories/undelete", {"ids": []}),
    Row("POST", "/memories/delete", {"ids": []}, several=True, place="body"),
    Row("POST", "/memories/delete", {"ids": [], "purge": True}, several=True),
    Row("POST", "/memories/undelete", {"ids": []}, place="body"),
]
# Asked with the ids of every owner, and not narrowed to an agent: as `BY_ID`.
BATCHES = [
    Row("POST", "/memories/batch/update", {"update": {"tags": ["mine"]}}),
    Row("POST", "/memories/batch/delete", {}),
    Row("POST", "/memories/batch/delete", {"purge": True}),
]
# Whose tables are others, and why.
ELSEWHERE = {
    "POST /memories/batch/create": "test_a_word_of_another_scope_is_no_duplicate",
    "POST /memories": "test_a_word_of_another_scope_is_no_duplicate",
    "POST /memories/import": "test_a_dry_run_of_an_import_knows_its_own_scope_alone",
    "GET /memories/events": "test_events_tell_of_their_own_scope_alone",
    "GET /schemas": "test_schemas_are_of_a_tenant",
    "POST /schemas": "test_schemas_are_of_a_tenant",
    "GET /schemas/{kind}": "test_schemas_are_of_a_tenant",
    "PUT /schemas/{kind}": "test_schemas_are_of_a_tenant",
    "PATCH /schemas/{kind}": "test_schemas_are_of_a_tenant",
    "DELETE /schemas/{kind}": "test_schemas_are_of_a_tenant",
    "POST /grants/inspect": "test_grants.py: of what is posted alone",
    "POST /grants/revoke": "test_grants.py",
    "GET /wallets": "test_grants.py",
    "POST /wallets": "test_grants.py",
    "DELETE /wallets/{address}": "test_grants.py",
    "POST /memories/extract": "test_memory_extraction.py: of users alone",
    "PATCH /memories/settings": "memories/test_whose.py: of users alone",
    "POST /memories/groups": "memories/test_whose.py: of users alone",
    "GET /memories/groups/{group_id}": "memories/test_whose.py: of users alone",
    "PATCH /memories/groups/{group_id}": "memories/test_whose.py: of users alone",
    "DELETE /memories/groups/{group_id}": "memories/test_whose.py: of users alone",
    "POST /memories/groups/{group_id}/memories": "memories/test_whose.py: of users alone",
    "DELETE /memories/groups/{group_id}/memories/{memory_id}": "memories/test_whose.py",
}
NAMES = ("/memories", "/schemas", "/grants", "/wallets")


def shape(path: str) -> str:
    return path.partition("?")[0].replace("ID", "{memory_id}")


def test_no_route_is_forgotten():
    documented = {
        f"{method.upper()} {path}"
        for path, item in DOCUMENT["paths"].items()
        if path.startswith(NAMES)
        for method in METHODS
        if method in item
    }
    rows = (*READ, *BY_ID, *MANY_IDS, *BATCHES)
    tables = {f"{row.method} {shape(row.path)}" for row in rows} | set(ELSEWHERE)
    assert documented <= tables
    routed = {
        route.path.removeprefix(prefix)
        for route in create_app(services(None, FakeMemory())).routes
        if isinstance(route, Route)
        for prefix in PREFIXES
        if route.path.startswith(tuple(prefix + name for name in NAMES))
    }
    routed = {path for path in routed if path.startswith(NAMES) and "{rest:" not in path}
    assert {row.partition(" ")[2] for row in tables} == routed


class Everybody:
    def __init__(self, client: httpx.AsyncClient, of: Opened, kept: dict[Owner, Kept]) -> None:
        self.client, self.of, self.kept = client, of, kept

    async def ask(
        self, ask: Ask, row: Row, id_: str = "", ids: list[str] | None = None
    ) -> httpx.Response:
        posted = row.posted
        if ids is not None:
            posted = {**posted, "ids": ids}
        if row.place == "body":
            posted = {**posted, **ask.agents}
        if row.place == "filters" and "queries" in posted:
            posted = {"queries": [{**one, "filters": ask.agents} for one in posted["queries"]]}
        elif row.place == "filters":
            posted = {**posted, "filters": {**posted["filters"], **ask.agents}}
        path, _, query = row.path.replace("ID", id_).partition("?")
        params = dict(pair.split("=", 1) for pair in query.split("&")) if query else {}
        if row.place == "query":
            params |= ask.agents
        return await self.client.request(
            row.method, f"/v1{path}", params=params, json=posted, headers=ask.headers
        )

    async def state(self) -> dict[str, Any]:
        return {owner.name: await everything(self.of.store, owner) for owner in OWNERS}

    @property
    def ids(self) -> list[str]:
        return [id_ for kept in self.kept.values() for id_ in kept.ids]

    def there(self, owner: Owner) -> list[str]:
        """Ids of what an owner has and may delete: all but what is deleted."""
        kept = self.kept[owner]
        return [kept.live, kept.changed, kept.newer, kept.older, kept.twin]


@asynccontextmanager
async def everybody(**settings: Any) -> AsyncIterator[Everybody]:
    async with opened(HashingEmbedder()) as of:
        kept = await filled(of.book)
        made = edge(None, FakeMemory(), FakeKeys(), book=of.book, memories=of.store, **settings)
        async with made as client:
            yield Everybody(client, of, kept)


def refused(ask: Ask, row: Row) -> bool:
    """Return True if the route cannot be about those."""
    if not ask.agents:
        return not row.users
    return not row.agents or (ask.several and not row.several)


REFUSED = ("agentId", "subjectId", "include", "kind", "threadId",
           "include_superseded")  # fmt: skip


def check_refused(answer: httpx.Response) -> None:
    assert answer.status_code == 400, answer.text
    param = answer.json()["error"]["param"].removeprefix("filters.")
    assert param in REFUSED, answer.text
    assert not seen(answer.text)


def test_each_owner_has_a_word_of_its_own():
    words = [owner.word for owner in OWNERS]
    assert not [(a, b) for a in words for b in words if a != b and a in b]
    assert all(seen(f"x {owner.word.upper()} y") == {owner.name} for owner in OWNERS)
    assert {name for ask in ASKS.values() for name in ask.sees} >= {
        owner.name for owner in OWNERS if owner.scope.owner != "u1" and "user" not in owner.name
    } - {"chat a", "namespace a", "the tenant"}


async def test_an_answer_tells_of_nobody_else():
    async with everybody() as each:
        for ask, row in product(ASKS.values(), READ):
            answer = await each.ask(ask, row)
            if refused(ask, row):
                check_refused(answer)
                continue
            assert answer.status_code == 200, (row, answer.text)
            told = seen(answer.text) | seen(str(answer.headers))
            assert told <= ask.sees, (ask, row)
            assert not row.shows or told == ask.sees, (ask, row)
            if row.posted and "all" in row.posted:
                # With what expired or was replaced: all but what is deleted.
                whom = [owner for owner in OWNERS if owner.name in ask.sees]
                assert answer.json()["count"] == 5 * len(whom)


async def test_an_id_opens_no_memory_of_anybody_else():
    async with everybody() as each:
        before = await each.state()
        for at, (ask, (owner, kept)) in enumerate(product(ASKS.values(), each.kept.items())):
            if owner.name in ask.sees_by_id:
                continue
            ids = (kept.live, kept.changed, kept.older, kept.deleted, kept.forgotten)
            for further, row in enumerate(BY_ID):
                # Each route gets each kind of id, but not from each who asks of each owner.
                answer = await each.ask(ask, row, ids[(at + further) % len(ids)])
                assert answer.status_code == 404, (row, owner, answer.text)
                assert answer.json()["error"]["param"] == "memory_id"
                assert not seen(answer.text)
        assert await each.state() == before


@EACH
async def test_an_id_opens_what_it_may(ask: Ask):
    async with everybody() as each:
        before = await each.state()
        for owner in OWNERS:
            if owner.name not in ask.sees_by_id:
                continue
            kept = each.kept[owner]
            for row, id_ in zip(
                BY_ID,
                (
                    kept.live,
                    kept.changed,
                    kept.live,
                    kept.live,
                    kept.live,
                    kept.twin,
                    kept.newer,
                ),
                strict=True,
            ):
                answer = await each.ask(ask, row, id_)
                told = seen(answer.text)
                if row.path.endswith("/settle"):
                    assert answer.json()["error"]["param"] == "with", answer.text
                    continue
                assert answer.status_code == 200, (row, answer.text)
                assert told <= {owner.name}
                assert told or row.method == "DELETE"
        after = await each.state()
        changed = {name for name, state in before.items() if after[name] != state}
        assert changed == ask.sees_by_id


@EACH
async def test_ids_of_everybody_change_nobody_else_s_memories(ask: Ask):
    async with everybody() as each:
        before = await each.state()
        ids = each.ids
        whom = [owner for owner in OWNERS if owner.name in ask.sees]
        for row in MANY_IDS:
            answer = await each.ask(ask, row, ids=ids)
            if refused(ask, row):
                check_refused(answer)
                continue
            assert answer.status_code == 200, (row, answer.text)
            assert seen(answer.text) <= ask.sees
            if (row.posted or {}).get("dry_run"):
                assert answer.json()["count"] == sum(len(each.there(owner)) for owner in whom)
        after = await each.state()
        changed = {name for name, state in before.items() if after[name] != state}
        assert changed == ask.sees


@pytest.mark.parametrize("ask", WHOSE.values(), ids=WHOSE)
async def test_batches_of_everybody_s_ids(ask: Ask):
    """They mean the caller's own and those of all agents of the tenant."""
    async with everybody() as each:
        before = await each.state()
        whom = ask.sees | ask.all_agents
        there = sum(len(each.there(owner)) for owner in OWNERS if owner.name in whom)
        for row, count in zip(BATCHES, (there, there, 0), strict=True):
            asked = [2 * each.ids[at : at + 50] for at in range(0, len(each.ids), 50)]
            answers = [await each.ask(ask, row, ids=ids) for ids in asked]
            assert {answer.status_code for answer in answers} == {200}
            told = [answer.json() for answer in answers]
            assert sum(one.get("updated", 0) + one.get("deleted", 0) for one in told) == count
            assert not [one for one in answers if seen(one.text)]
        after = await each.state()
        changed = {name for name, state in before.items() if after[name] != state}
        assert changed == whom


@EACH
async def test_all_of_a_scope_goes_and_nothing_else(ask: Ask):
    """A subject that wants to be forgotten by every agent, an agent that is retired."""
    async with everybody() as each:
        before = await each.state()
        row = Row("POST", "/memories/delete", {"all": True, "purge": True}, several=True)
        answer = await each.ask(ask, row)
        whom = [owner for owner in OWNERS if owner.name in ask.sees]
        shown = answer.json()
        assert counts(shown) == (shown["deleted"], True)
        assert shown["deleted"] >= 5 * len(whom)
        after = await each.state()
        for owner in OWNERS:
            if owner in whom:
                assert after[owner.name][0].memories == ()
                assert after[owner.name][1] == []
            else:
                assert after[owner.name] == before[owner.name]


@EACH
async def test_a_dry_run_of_an_import_knows_its_own_scope_alone(ask: Ask):
    async with everybody() as each:
        file = "\n".join(
            json.dumps({"text": f"{owner.word} live sings in Linden Street"}) for owner in OWNERS
        )
        for name in ("dry_run", "keep_ids"):
            answer = await each.client.post(
                "/memories/import", params={name: "true", **ask.agents}, content=file,
                headers={**ask.headers, "content-type": "application/octet-stream"},
            )  # fmt: skip
            if ask.several:
                check_refused(answer)
                continue
            assert not seen(answer.text)
            assert not [id_ for id_ in each.ids if id_ in answer.text
                        and id_ not in _ids_of(each, ask)]  # fmt: skip


def _ids_of(each: Everybody, ask: Ask) -> list[str]:
    return [id_ for owner, kept in each.kept.items() if owner.name in ask.sees for id_ in kept.ids]


async def test_a_word_of_another_scope_is_no_duplicate():
    """Not by the existing memory, nor by what may be replaced, nor by the status."""
    async with everybody() as each:
        for owner in OWNERS:
            text = f"{owner.word} live sings in Linden Street"
            answer = await each.client.post(
                "/memories", json={"text": text}, headers={**KEY, "x-user-id": "u9"}
            )
            assert answer.status_code == 201, answer.text
            assert not [id_ for id_ in each.ids if id_ in answer.text]
            assert seen(answer.text) <= {owner.name} | {
                one.name for one in OWNERS[: OWNERS.index(owner)]
            }


async def test_events_tell_of_their_own_scope_alone():
    async with everybody() as each:
        for ask in ASKS.values():
            async with asyncio.timeout(PATIENCE):
                answer = await each.client.head(
                    "/memories/events", params=ask.agents, headers=ask.headers
                )
            assert answer.status_code == (400 if ask.several else 200)


async def test_schemas_are_of_a_tenant():
    shape = {"type": "object", "properties": {"quokka": {"type": "string"}}}
    other = {"type": "object", "properties": {"size": {"type": "integer"}}}
    async with everybody() as each:

        async def ask(method: str, path: str, headers: dict[str, str], body: Any = None) -> Any:
            return await each.client.request(method, f"/v1{path}", headers=headers, json=body)

        put = await ask("PUT", "/schemas/Quokka", KEY, {"json_schema": shape, "uniqueOn": []})
        assert put.status_code in (200, 201), put.text
        before = (await ask("GET", "/schemas", KEY)).json()
        for method, body in (("GET", None), ("PATCH", {"description": "mine"}), ("DELETE", None)):
            answer = await ask(method, "/schemas/Quokka", OTHER_KEY, body)
            assert answer.status_code == 404
            assert "quokka" not in answer.json()["error"]["message"].lower()
        assert (await ask("GET", "/schemas", OTHER_KEY)).json()["schemas"] == []
        # Nor by the nearest name, nor by what the data must be.
        memories = [{"kind": "Quokkas", "data": {"quokka": 1}}]
        posted = {"agentId": "a", "memories": memories}
        assert (await ask("POST", "/memories", OTHER_KEY, posted)).status_code == 201
        await ask("PUT", "/schemas/Numbat", OTHER_KEY, {"json_schema": other})
        refused = await ask("POST", "/memories", OTHER_KEY, posted)
        assert refused.status_code == 422
        assert "Quokka." not in refused.text
        refused = await ask("POST", "/memories", KEY, posted)
        assert "Quokka." in refused.text
        # The same name elsewhere is another schema.
        posted = {"name": "Quokka", "description": "mine", "schema": json.dumps(other)}
        assert (await ask("POST", "/schemas", OTHER_KEY, posted)).status_code in (200, 201)
        assert (await ask("DELETE", "/schemas/Quokka", OTHER_KEY)).status_code == 200
        assert (await ask("GET", "/schemas", KEY)).json() == before
