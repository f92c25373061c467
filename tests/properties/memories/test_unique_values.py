"""Whatever becomes of memories in whatever order: of those with the same unique values one is live,
and what a plain model says is live is what the store gives back."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from memtree.agents.agent_memory import AgentScopes, StructuredWrite
from memtree.agents.memory_schema import MemorySchema, unique_key
from memtree.errors import BadRequest, NotFound
from memtree.memories.memory import MemoryChange
from memtree.memories.memory_store import MemoryFilter
from memtree.memories.scope import Scope
from memtree.stores import RamStore
from tests.contracts.memory_backends import Clock, new

SCOPES = (Scope.of_agent("t", "a"), Scope.of_agent("t", "a", "s"))
EVERY = AgentScopes("t", None, None)
SCHEMA = MemorySchema("Person", "{}", ("name",))
NAMES = st.sampled_from(("ann", "bob", None))
SCOPE = st.sampled_from(SCOPES)
PLACE = st.integers(0, 30)  # of a memory among those that were ever stored in the scope


class UniqueValues(RuleBasedStateMachine):
    @initialize()
    def begin(self) -> None:
        self.loop = asyncio.Runner()
        self.clock = Clock()
        self.store = RamStore(now=self.clock)
        self.memories = self.store.memories()
        self.ids: dict[Scope, list[str]] = {scope: [] for scope in SCOPES}
        self.run(self.memories.put_schema("t", SCHEMA, partial(unique_key, SCHEMA), most=5))

    def teardown(self) -> None:
        if hasattr(self, "loop"):
            self.loop.run(self.store.close())
            self.loop.close()

    def run(self, call: Any) -> Any:
        try:
            return self.loop.run(call)
        except NotFound:
            return None

    def data(self, name: str | None) -> dict[str, Any]:
        return {"name": name} if name else {}

    def made(self, scope: Scope, name: str | None, seconds: int | None) -> Any:
        id_ = f"mem_{scope.subject}{len(self.ids[scope])}"
        self.ids[scope].append(id_)
        expires = None if seconds is None else self.clock() + seconds
        fields = {"kind": "Person", "data": self.data(name), "created": self.clock()}
        return new(f"text {id_}", id=id_, expires=expires, **fields)

    def one(self, scope: Scope, place: int) -> str:
        ids = self.ids[scope]
        return ids[place % len(ids)] if ids else "mem_nobody"

    @rule(scope=SCOPE, names=st.lists(NAMES, max_size=4), seconds=st.none() | st.integers(1, 9))
    def write(self, scope: Scope, names: list[str | None], seconds: int | None) -> None:
        writes = [StructuredWrite(self.made(scope, name, seconds)) for name in names]
        results = self.run(self.memories.write(scope, writes))
        live = self.live(scope)
        last = {name: result for name, result in zip(names, results, strict=True) if name}
        for result in last.values():
            assert result.memory.id in live

    @rule(scope=SCOPE, place=PLACE, name=NAMES)
    def replace(self, scope: Scope, place: int, name: str | None) -> None:
        target, before = self.one(scope, place), self.live(scope)
        write = StructuredWrite(self.made(scope, name, None), replaces=target)
        for result in self.run(self.memories.write(scope, [write])) or ():
            # The id of a duplicate stands for the memory that counts.
            assert result.memory.id in self.live(scope)
            assert target == result.memory.id or target not in before

    @rule(scope=SCOPE, places=st.lists(PLACE, min_size=1, max_size=3), name=NAMES)
    def change(self, scope: Scope, places: list[int], name: str | None) -> None:
        rows = [(scope, self.one(scope, place)) for place in places]
        change = MemoryChange(self.clock(), data=self.data(name))
        self.run(self.memories.change_all(rows, change))

    @rule(scope=SCOPE, place=PLACE, name=NAMES)
    def supersede(self, scope: Scope, place: int, name: str | None) -> None:
        by = self.made(scope, name, None)
        if self.run(self.memories.supersede(scope, self.one(scope, place), by, "")):
            assert by.id in self.live(scope)

    @rule(scope=SCOPE, place=PLACE, other=PLACE, marks=st.booleans())
    def join(self, scope: Scope, place: int, other: int, marks: bool) -> None:
        first, second = self.one(scope, place), self.one(scope, other)
        if first == second:
            return
        if marks:
            self.run(self.memories.mark_duplicate(scope, first, second))
            return
        before = self.live(scope)
        try:
            self.run(self.memories.merge(scope, first, second, ""))
        except BadRequest:  # one of them is a duplicate, and the other what it stands for
            assert not {first, second} <= before

    @rule(rows=st.lists(st.tuples(SCOPE, PLACE), max_size=4), purge=st.booleans())
    def delete(self, rows: list[tuple[Scope, int]], purge: bool) -> None:
        named = [(scope, self.one(scope, place)) for scope, place in rows]
        self.run(self.memories.delete_all(named, purge=purge))
        for scope, id_ in named:
            assert id_ not in self.live(scope)

    @rule(scope=SCOPE, places=st.lists(PLACE, max_size=4))
    def undelete(self, scope: Scope, places: list[int]) -> None:
        before = self.live(scope)
        back = self.run(self.memories.undelete(scope, [self.one(scope, at) for at in places]))
        live = self.live(scope)
        assert before <= live  # who is live gives way to nobody who comes back
        assert live - before <= {each.id for each in back}

    @rule()
    def carry_over(self) -> None:
        """All of one scope into the other, under other ids: what is live there stays so."""
        records = self.loop.run(self.memories.records(SCOPES[0]))
        before, moved = self.live(SCOPES[1]), []
        for record in records:
            id_ = f"mem_moved{len(self.ids[SCOPES[1]])}"
            self.ids[SCOPES[1]].append(id_)
            memory = replace(record.memory, id=id_)
            moved.append(record._replace(memory=memory, text_hash=b"H" * 16))
        self.loop.run(self.memories.restore(SCOPES[1], moved))
        assert before <= self.live(SCOPES[1])

    @rule(seconds=st.integers(1, 9))
    def wait(self, seconds: int) -> None:
        self.clock.time += seconds

    @rule()
    def sweep(self) -> None:
        self.loop.run(self.memories.sweep_memories(self.clock(), 0))

    def live(self, scope: Scope) -> set[str]:
        page = self.loop.run(self.memories.page(scope, limit=1_000))
        return {each.id for each in page.memories}

    @invariant()
    def one_memory_has_them(self) -> None:
        if not hasattr(self, "memories"):
            return
        total = 0
        for scope in SCOPES:
            page = self.loop.run(self.memories.page(scope, limit=1_000))
            names = [each.data["name"] for each in page.memories if each.data]
            assert len(names) == len(set(names))
            total += page.total
        every = self.loop.run(self.memories.agent_page(EVERY, MemoryFilter(), limit=1_000))
        assert every.total == total == len(every.memories)
        assert self.loop.run(self.store.check()) == []


TestUniqueValues = UniqueValues.TestCase
