"""No answer of `MemoryStore` holds anything of another scope, and no write reaches into one."""

from __future__ import annotations

import inspect
from itertools import combinations

import pytest

from memtree.errors import NotFound
from memtree.memories.memory import MemoryChange
from memtree.memories.ports import (
    ANY,
    MemoryFilter,
    MemoryMaintenance,
    MemoryStore,
    ShownMemory,
    StoredSegment,
)
from memtree.memories.scope import Scope
from memtree.memories.user_ports import ExtractedMessages, MemoryGroups, Plans, UserSettingsStore
from memtree.stores.memories import counters, reading, search, shown
from memtree.stores.memories.rows import scope_values
from memtree.stores.memories.store import SqlMemories
from tests.contracts.memory_backends import (
    RECIPE,
    START,
    InPostgres,
    InRam,
    InSqlite,
    new,
)

SCOPES = (
    Scope.of_chat("tenant", "one"),
    Scope.of_chat("tenant", "two"),
    Scope.of_chat("another", "one"),
    Scope.of_user("tenant"),
    Scope.of_user("tenant", "one"),
    Scope.of_user("another"),
    Scope.of_agent("tenant", "one"),
    Scope.of_agent("tenant", "one", "subject"),
    Scope.of_agent("tenant", "one", "one"),
    Scope.of_agent("tenant", "two", "subject"),
    Scope.of_agent("another", "one", "subject"),
)
EVERY = MemoryFilter(superseded=True, expired=True, deleted=True)


def methods(port: type) -> dict[str, inspect.Signature]:
    found = inspect.getmembers(port, inspect.isfunction)
    return {name: inspect.signature(of) for name, of in found if not name.startswith("_")}


SCOPED = (MemoryStore, MemoryGroups, UserSettingsStore, ExtractedMessages)


@pytest.mark.parametrize("kind", [*SCOPED, SqlMemories])
def test_every_method_requires_a_scope(kind):
    every = {name for port in SCOPED for name in methods(port)}
    own = every if kind is SqlMemories else methods(kind)
    assert len(every) >= 35
    for name in own:
        _, first, *_ = methods(kind)[name].parameters.values()
        assert (first.name, first.annotation) == ("scope", "Scope"), name
        assert first.default is inspect.Parameter.empty, name


def test_what_needs_no_scope_gives_no_memory():
    """Only the process's own upkeep."""
    own = methods(MemoryMaintenance)
    assert set(own) == {
        *("scopes_without_vectors", "sweep_memories"),
        *("memory_scopes", "erase_memories"),
    }
    assert not any("Memory" in str(signature.return_annotation) for signature in own.values())
    assert set(methods(Plans)) == {"plan", "set_plan"}
    extra = methods(SqlMemories).keys() - own.keys() - methods(Plans).keys()
    for port in SCOPED:
        extra -= methods(port).keys()
    assert extra == {"read_memories", "write_memories", "scrub_memories"}


def mark(scope: Scope) -> str:
    return f"canary{SCOPES.index(scope):02}"


async def fill(memories, scope: Scope) -> None:
    """Five memories in every state, all with one text hash, session and tags."""
    name = mark(scope)
    shared = {"tags": ("t",), "session_id": "s", "category": "fact"}
    for n in range(4):
        memory = new(f"{name} {n}", id=f"mem_{name}_{n}", data={"canary": name}, **shared)
        await memories.add(scope, memory, idempotency_key=f"key {n}")
    await memories.change(scope, f"mem_{name}_0", rewritten(f"{name} 0 changed"))
    await memories.supersede(scope, f"mem_{name}_1", new(f"{name} 4", id=f"mem_{name}_4"), name)
    await memories.delete(scope, [f"mem_{name}_2"], reason=name)
    numbers = [m.number for m in (await memories.page(scope)).memories]
    stored = await memories.get(scope, numbers)
    vectors = {m.number: (m.version, f"{name} vector".encode()) for m in stored}
    await memories.put_vectors(scope, RECIPE, vectors)
    state = await memories.state(scope)
    segment = StoredSegment(state.changed, 0, f"{name} segment".encode())
    await memories.put_segment(scope, RECIPE, segment)
    both = [ShownMemory(f"mem_{name}_{n}", 1, START) for n in (0, 3)]
    await memories.put_shown(scope, "talk", both, START + 99)


def rewritten(text: str) -> MemoryChange:
    return MemoryChange(START + 1, text, b"H" * 16, text.encode())


async def answers(memories, scope: Scope, refs: list[str | int]) -> dict[str, object]:
    """What every method that reads answers when it is asked for these."""
    ids = [ref for ref in refs if isinstance(ref, str)]
    return {
        "get": [await memories.get(scope, refs, deleted=d) for d in (False, True)],
        "page": [await memories.page(scope, wanted) for wanted in (ANY, EVERY)],
        "versions": await memories.versions(scope, [(id_, v) for id_ in ids for v in (1, 2)]),
        "history": [await memories.history(scope, ref) for ref in refs],
        "tombstones": await memories.tombstones(scope),
        "state": await memories.state(scope),
        "changes": await memories.changes(scope, 0),
        "search_rows": await memories.search_rows(scope, RECIPE, 0),
        "matching": [await memories.matching(scope, wanted) for wanted in (ANY, EVERY)],
        "without_vectors": await memories.without_vectors(scope, "another", 99),
        "segment": await memories.segment(scope, RECIPE),
        "shown": await memories.shown(scope, "talk"),
    }


WRITES = {
    "add",
    "change",
    "supersede",
    "mark_duplicate",
    "delete",
    "undelete",
    "put_vectors",
    "put_segment",
    "put_shown",
}


class MemoryScopesContract:
    @pytest.fixture
    async def filled(self, memories):
        for scope in SCOPES:
            await fill(memories, scope)
        refs: list[str | int] = [f"mem_{mark(scope)}_{n}" for scope in SCOPES for n in range(5)]
        return [*refs, *range(1, 5 * len(SCOPES) + 1)]

    async def test_no_answer_holds_anything_of_another_scope(self, memories, filled):
        seen = set()
        for scope in SCOPES:
            every = await answers(memories, scope, filled)
            assert every.keys() | WRITES == methods(MemoryStore).keys()
            for name, answer in every.items():
                others = [mark(each) for each in SCOPES if mark(each) in repr(answer)]
                assert set(others) <= {mark(scope)}, name
                seen |= {name} if others else set()
            numbers = {m.number for m in every["page"][1].memories}
            assert set(every["matching"][1]) == numbers
            assert {row.number for row in every["search_rows"].rows} == numbers
            assert every["state"].total == 3
        # The canaries can be seen at all, but where an answer holds numbers only.
        assert seen == every.keys() - {"state", "matching"}

    async def test_the_canaries_would_be_seen(self, memories, filled, monkeypatch):
        for module in (counters, reading, search, shown):
            monkeypatch.setattr(module, "scope_values", lambda scope: scope_values(SCOPES[1]))
        every = await answers(memories, SCOPES[0], filled)
        seen = {name for name, answer in every.items() if mark(SCOPES[1]) in repr(answer)}
        assert seen == every.keys() - {"state", "matching"}

    async def test_a_text_or_key_of_another_scope_is_no_duplicate(self, memories, filled):
        for number, (scope, other) in enumerate(combinations(SCOPES, 2)):
            text = f"{mark(other)} 3"
            memory = new(text, id=f"mem_own_{number}")
            added = await memories.add(scope, memory, once=True, idempotency_key=f"k{number}")
            assert not added.existing
            again = new(text, id=f"mem_more_{number}")
            other_key = await memories.add(other, again, idempotency_key=f"k{number}")
            assert not other_key.existing

    async def test_no_write_reaches_into_another_scope(self, memories, filled):
        before = [await answers(memories, scope, filled) for scope in SCOPES[1:]]
        scope = SCOPES[0]
        own = {m.number for m in (await memories.page(scope, EVERY)).memories}
        foreign = [ref for ref in filled if ref not in own and mark(scope) not in str(ref)]
        for ref in foreign:
            with pytest.raises(NotFound):
                await memories.change(scope, ref, rewritten("stolen"))
            with pytest.raises(NotFound):
                await memories.supersede(scope, ref, new("stolen"), "stolen")
        ids = [ref for ref in foreign if isinstance(ref, str)]
        for id_ in ids:
            assert not await memories.mark_duplicate(scope, id_, f"mem_{mark(scope)}_0")
            assert not await memories.mark_duplicate(scope, f"mem_{mark(scope)}_0", id_)
        assert await memories.delete(scope, foreign, reason="stolen") == []
        assert await memories.undelete(scope, foreign) == []
        assert await memories.delete(scope, foreign, purge=True) == []
        numbers = [ref for ref in foreign if isinstance(ref, int)]
        await memories.put_vectors(scope, RECIPE, dict.fromkeys(numbers, (1, b"stolen")))
        theirs = [ShownMemory(id_, 1, START) for id_ in ids]
        await memories.put_shown(scope, "talk", theirs, START + 99)
        assert await memories.shown(scope, "talk") == []
        # All of one scope goes.
        await memories.delete(scope, [*own], purge=True)
        assert (await memories.page(scope, EVERY)).memories == ()
        assert [await answers(memories, each, filled) for each in SCOPES[1:]] == before


class TestInRam(InRam, MemoryScopesContract):
    pass


class TestInSqlite(InSqlite, MemoryScopesContract):
    pass


class TestInPostgres(InPostgres, MemoryScopesContract):
    pass
