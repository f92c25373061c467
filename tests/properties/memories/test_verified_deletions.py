"""After a verified deletion no route answers the memory, or a twin of it in its scope, whatever
state each was in; other scopes keep what they have."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
from hypothesis import event, given, settings
from hypothesis import strategies as st

from memtree.errors import MemTreeError
from memtree.memories.draft import DedupPolicy, MemoryDraft
from memtree.memories.scope import Scope
from memtree.text.normal_form import canonical
from tests.fakes import HashingEmbedder
from tests.http.owned.kinds import KEY, Users, users

TEXTS = ("The port is 8090.", "the port is  8090", "The port is 8091.", "My cat is called Otto.")
KINDS = ("user", "chat", "agent")
WHERE, TEXT, PLACE = st.sampled_from(KINDS), st.sampled_from(TEXTS), st.integers(0, 9)
SAVE = st.tuples(st.just("save"), WHERE, TEXT, st.booleans())
STEPS = st.lists(
    st.one_of(
        SAVE,
        SAVE,
        st.tuples(st.just("correct"), WHERE, PLACE, TEXT),
        st.tuples(st.just("merge"), WHERE, PLACE, PLACE),
        st.tuples(st.just("wait")),
    ),
    min_size=1,
    max_size=10,
)
HOW = st.sampled_from(["one", "ids", "filter"])
ROOTS = {"user": "/v1/memories", "chat": "/chat/api/c1/memories", "agent": "/v1/memories"}
QUERY = {"user": {}, "chat": {}, "agent": {"agentId": "a"}}
ALL = {"user": "superseded,expired", "chat": "", "agent": ""}


class Scopes:
    """Record of what was saved, by scope, and of what each route says of it."""

    def __init__(self, of: Users) -> None:
        self.of, self.ids = of, {kind: list[str]() for kind in KINDS}
        self.scopes = {
            "user": of.scope(),
            "chat": Scope.of_chat(of.tenant, "c1"),
            "agent": Scope.of_agent(of.tenant, "a"),
        }

    async def step(self, name: str, *given: Any) -> None:
        clock, book = self.of.opened.clock, self.of.book
        clock.time += 1
        if name == "wait":
            clock.time += 100
            return
        kind, *more = given
        scope, known = self.scopes[kind], self.ids[kind]
        if name == "save":
            draft = MemoryDraft(more[0], expires=clock.time + 50 if more[1] else None)
            known.append((await book.save(scope, draft, DedupPolicy.ASK)).memory.id)
        elif known and name == "correct":
            ref = known[more[0] % len(known)]
            known.append((await book.correct(scope, ref, MemoryDraft(more[1]))).memory.id)
        elif known:
            first, second = (known[at % len(known)] for at in more)
            await self.of.opened.store.merge(scope, first, second, "")

    async def ask(self, kind: str, method: str, path: str = "", **more: Any) -> Any:
        params = {**QUERY[kind], **more.pop("params", {})}
        return await self.of.client.request(
            method, f"{ROOTS[kind]}{path}", headers=KEY, params=params, **more
        )

    async def rows(self, kind: str) -> list[tuple[str, str]]:
        """(id, text) of every row that some route answers."""
        asked: list[dict[str, str]] = [{}]
        if kind == "user":
            asked += [{"include": ALL[kind]}]
        if kind == "agent":
            asked += [{"include_superseded": "true"}]
        found: list[dict[str, Any]] = []
        for params in asked:
            found += (await self.ask(kind, "GET", params=params)).json()["memories"]
            if kind != "agent":
                searched = {**params, "query": TEXTS[0], "limit": "100"}
                found += (await self.ask(kind, "GET", "/search", params=searched)).json()[
                    "memories"
                ]
        for id_ in self.ids[kind]:
            answer = await self.ask(kind, "GET", f"/{id_}")
            if answer.status_code == 200:
                row = answer.json()
                found.append(row.get("memory", row))
            past = await self.ask(kind, "GET", f"/{id_}/history")
            if past.status_code == 200:
                shown = past.json()
                for one in (shown, *shown["replaced"]):
                    found += [{**version, "id": one["id"]} for version in one["versions"]]
        stones = (await self.ask(kind, "GET", "/tombstones")).json()["tombstones"]
        found += [stone for stone in stones if stone.get("text") or stone.get("content")]
        if kind == "user":
            lines = (await self.ask(kind, "GET", "/export")).text.splitlines()
            found += [line for line in map(msgspec.json.decode, lines) if "text" in line]
        return [(row["id"], text_of(row)) for row in found]


def text_of(row: dict[str, Any]) -> str:
    return row.get("text") or row.get("content") or (row.get("data") or {}).get("text") or ""


async def run(steps: list[Any], kind: str, place: int, how: str, purge: bool) -> None:
    async with users(HashingEmbedder()) as of:
        scopes = Scopes(of)
        for step in steps:
            try:
                await scopes.step(*step)
            except MemTreeError:
                event("refused step")
        if not scopes.ids[kind]:
            return
        id_ = scopes.ids[kind][place % len(scopes.ids[kind])]
        memory = await of.book.get(scopes.scopes[kind], id_)
        event(f"{memory.state(of.opened.clock.time)} {how}")
        others = {each: await scopes.rows(each) for each in KINDS if each != kind}
        params = {"purge": "true"} if purge else {}
        if how == "one":
            gone = await scopes.ask(kind, "DELETE", f"/{id_}", params=params)
            assert gone.status_code in (200, 204)
        else:
            wanted = {"ids": [id_]} if how == "ids" else {"filter": {"category": memory.category}}
            counted = await scopes.ask(kind, "POST", "/delete", json={**wanted, "dry_run": True})
            gone = await scopes.ask(kind, "POST", "/delete", json=wanted, params=params)
            receipt = gone.json()
            assert receipt["verified"]
            assert receipt["deleted"] == counted.json()["count"] > 0
        form = canonical(memory.text)
        for told, text in await scopes.rows(kind):
            assert told not in (id_, memory.id)
            assert canonical(text) != form
        assert others == {each: await scopes.rows(each) for each in KINDS if each != kind}


@given(STEPS, WHERE, PLACE, HOW, st.booleans())
@settings(deadline=None)
def test_what_a_verified_deletion_names_is_told_nowhere(steps, kind, place, how, purge):
    asyncio.run(run(steps, kind, place, how, purge))
