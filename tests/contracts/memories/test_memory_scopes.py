"""No answer of `MemoryStore` holds anything of another scope, and no write reaches into one."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable
from itertools import combinations

import pytest

from memtree.agents.agent_memory import AgentMemories, AgentScopes, AgentSearchStore
from memtree.agents.grant import WalletStore
from memtree.agents.memory_schema import SchemaStore
from memtree.errors import NotFound
from memtree.memories.memory import Memory, MemoryChange
from memtree.memories.memory_store import (
    ANY,
    MemoryFilter,
    MemoryMaintenance,
    MemoryRecord,
    MemoryStore,
    ShownMemory,
    StoredSegment,
)
from memtree.memories.scope import Scope
from memtree.memories.user_memories import (
    ExtractedMessages,
    ForgetOrder,
    GroupChange,
    MemoryGroup,
    MemoryGroups,
    Plans,
    SettingsChange,
    UserSettingsStore,
)
from memtree.ports.context_store import ProviderObjects
from memtree.stores.memories import (
    conversation_marks,
    memory_reading,
    records,
    scopes,
    search_data,
    tenant_rows,
)
from memtree.stores.memories.sql_memories import SqlMemories
from memtree.stores.memories.table_rows import scope_values
from tests.contracts.memory_backends import RECIPE, START, InEveryStore, new

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
    Scope.of_namespace("tenant", "one"),
    Scope.of_namespace("another", "one"),
)
EVERY = MemoryFilter(superseded=True, expired=True, deleted=True)


def methods(port: type) -> dict[str, inspect.Signature]:
    found = inspect.getmembers(port, inspect.isfunction)
    return {name: inspect.signature(of) for name, of in found if not name.startswith("_")}


SCOPED = (MemoryStore, MemoryGroups, UserSettingsStore, ExtractedMessages)
OF_TENANTS = (AgentMemories, AgentSearchStore, SchemaStore, WalletStore, ProviderObjects)


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
        *("any_memories", "scopes_without_vectors", "sweep_memories"),
        *("memory_scopes", "erase_memories"),
    }
    assert not any("Memory" in str(signature.return_annotation) for signature in own.values())
    assert set(methods(Plans)) == {"plan", "set_plan"}
    extra = methods(SqlMemories).keys() - own.keys() - methods(Plans).keys()
    for port in (*SCOPED, *OF_TENANTS):
        extra -= methods(port).keys()
    assert not extra


def test_what_is_of_several_scopes_names_them():
    """A tenant's, at the least: an `AgentScopes` has one, and so has each scope of a row."""
    first = {name: [*at.parameters.values()][1] for name, at in methods(AgentMemories).items()}
    kinds = {"Scope", "AgentScopes", "Sequence[tuple[Scope, str]]"}
    assert {each.annotation for each in first.values()} == kinds
    of_one = sorted(name for name, each in first.items() if each.annotation == "Scope")
    assert of_one == ["unique_holders", "write"]
    for name, of in methods(AgentSearchStore).items():
        assert [*of.parameters.values()][1].annotation == "AgentScopes", name
    for name, of in methods(SchemaStore).items():
        assert [*of.parameters][1] == "tenant", name
    for port in (SchemaStore, WalletStore):
        assert not any(
            each in str(of.return_annotation)
            for of in methods(port).values()
            for each in ("Memory]", "LocatedMemory", "AgentPage", "StructuredResult")
        )
    assert all(
        each.default is inspect.Parameter.empty
        for each in [*first.values(), inspect.signature(AgentScopes).parameters["tenant"]]
    )


def mark(scope: Scope) -> str:
    return f"canary{SCOPES.index(scope):02}"


DIGEST = b"digest"  # of a message that everybody posts
GROUP = "grp_of_each"


async def fill(memories, scope: Scope) -> None:
    """Five memories in every state, all with one text hash, session, thread and tags."""
    name = mark(scope)
    shared = {"tags": ("t",), "session_id": "s", "category": "fact", "thread_id": "thread"}
    for n in range(4):
        memory = new(f"{name} {n}", id=f"mem_{name}_{n}", data={"canary": name}, **shared)
        await memories.add(scope, memory)
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
    for group in (GROUP, f"grp_{name}"):
        await memories.add_group(scope, MemoryGroup(group, name, START, START, name), 9)
        await memories.add_members(scope, group, [f"mem_{name}_0"])
    await memories.change_settings(scope, SettingsChange(top_k=SCOPES.index(scope)))
    await memories.add_extracted(scope, name.encode(), [], most=0)


def rewritten(text: str) -> MemoryChange:
    return MemoryChange(START + 1, text, b"H" * 16, text.encode())


async def answers(memories, scope: Scope, refs: list[str | int]) -> dict[str, object]:
    """Return what every method that reads answers when it is asked for these."""
    ids = [ref for ref in refs if isinstance(ref, str)]
    return {
        "get": [await memories.get(scope, refs, deleted=d) for d in (False, True)],
        "page": [await memories.page(scope, wanted) for wanted in (ANY, EVERY)],
        "deletable": await memories.deletable(scope, refs),
        "twins": await memories.twins(scope, ids),
        "versions": await memories.versions(scope, [(id_, v) for id_ in ids for v in (1, 2)]),
        "history": [await memories.history(scope, ref) for ref in refs],
        "tombstones": await memories.tombstones(scope),
        "state": await memories.state(scope),
        "changes": await memories.changes(scope, 0),
        "search_rows": await memories.search_rows(scope, RECIPE, 0),
        "matching": [await memories.matching(scope, wanted) for wanted in (ANY, EVERY)],
        "without_vectors": await memories.without_vectors(scope, "another", 99),
        "count_without_vectors": await memories.count_without_vectors(scope, "another"),
        "segment": await memories.segment(scope, RECIPE),
        "shown": await memories.shown(scope, "talk"),
        "records": await memories.records(scope),
        "groups": await memories.groups(scope),
        "group": [await asked(memories.group(scope, f"grp_{mark(each)}")) for each in SCOPES]
        + [await asked(memories.group(scope, GROUP))],
        "groups_of": await memories.groups_of(scope, ids),
        "settings": await memories.settings(scope),
        "extracted": await memories.extracted(scope, [mark(each).encode() for each in SCOPES]),
    }


async def asked(answer: Awaitable[object]) -> object:
    try:
        return await answer
    except NotFound:
        return None


WRITES = {
    "add",
    "change",
    "supersede",
    "mark_duplicate",
    "delete",
    "forget_once",
    "undelete",
    "put_vectors",
    "put_segment",
    "put_shown",
    "add_many",
    "merge",
    "delete_matching",
    "replace_thread",
    "restore",
    "add_group",
    "change_group",
    "delete_group",
    "add_members",
    "remove_members",
    "change_settings",
    "add_extracted",
    "put_snapshot",
    "put_updates",
    "keep_both",
}
NUMBERS_ONLY = {"state", "matching", "settings", "twins", "count_without_vectors"}  # no twins here


class TestMemoryScopes(InEveryStore):
    LONG_IN_POSTGRES = (
        "test_a_text_of_another_scope_is_no_duplicate",
        "test_the_canaries_would_be_seen",
        "test_no_answer_holds_anything_of_another_scope",
        "test_no_write_reaches_into_another_scope",
        "test_own_writes_touch_nothing_with_the_same_number",
    )

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
            assert every.keys() | WRITES == {name for port in SCOPED for name in methods(port)}
            for name, answer in every.items():
                others = [mark(each) for each in SCOPES if mark(each) in repr(answer)]
                assert set(others) <= {mark(scope)}, name
                seen |= {name} if others else set()
            numbers = {m.number for m in every["page"][1].memories}
            assert set(every["matching"][1]) == numbers
            assert {row.number for row in every["search_rows"].rows} == numbers
            assert every["state"].total == 3
            assert every["count_without_vectors"] == len(every["without_vectors"])
            assert every["settings"].top_k == SCOPES.index(scope)
            assert [group.members for group in every["groups"]] == [1, 1]
            of_group = MemoryFilter(group=GROUP)
            members = await memories.page(scope, of_group)
            assert [m.id for m in members.memories] == [f"mem_{mark(scope)}_0"]
            assert await memories.matching(scope, of_group) == [members.memories[0].number]
        # The canaries can be seen at all, but where an answer holds numbers only.
        assert seen == every.keys() - NUMBERS_ONLY

    async def test_the_canaries_would_be_seen(self, memories, filled, monkeypatch):
        for module in (
            scopes,
            memory_reading,
            search_data,
            conversation_marks,
            records,
            tenant_rows,
        ):
            monkeypatch.setattr(module, "scope_values", lambda scope: scope_values(SCOPES[1]))
        every = await answers(memories, SCOPES[0], filled)
        seen = {name for name, answer in every.items() if mark(SCOPES[1]) in repr(answer)}
        assert seen == every.keys() - NUMBERS_ONLY

    async def test_a_text_of_another_scope_is_no_duplicate(self, memories, filled):
        for number, (scope, other) in enumerate(combinations(SCOPES, 2)):
            text = f"{mark(other)} 3"
            memory = new(text, id=f"mem_own_{number}")
            assert not (await memories.add(scope, memory, once=True)).existing

    async def test_no_write_reaches_into_another_scope(self, memories, filled):
        before = [await answers(memories, scope, filled) for scope in SCOPES[1:]]
        scope = SCOPES[0]
        own = {m.number for m in (await memories.page(scope, EVERY)).memories}
        foreign = [ref for ref in filled if ref not in own and mark(scope) not in str(ref)]
        for ref in foreign:
            with pytest.raises(NotFound):
                await memories.change(scope, ref, rewritten("stolen"))
            assert await memories.forget_once(scope, ForgetOrder(b"order", ref)) == []
            with pytest.raises(NotFound):
                await memories.supersede(scope, ref, new("stolen"), "stolen")
            for one, other in ((ref, f"mem_{mark(scope)}_0"), (f"mem_{mark(scope)}_0", ref)):
                with pytest.raises(NotFound):
                    await memories.merge(scope, one, other, "stolen")
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
        await self.curate(memories, scope, foreign)
        # All of one scope goes.
        await memories.delete(scope, [*own], purge=True)
        assert (await memories.page(scope, EVERY)).memories == ()
        assert [await answers(memories, each, filled) for each in SCOPES[1:]] == before

    async def curate(self, memories, scope: Scope, foreign: list[str | int]) -> None:
        """With everybody's ids, group names, threads, digests and keys."""
        assert await memories.add_members(scope, GROUP, foreign) == 0
        assert await memories.remove_members(scope, GROUP, foreign) == 0
        for each in SCOPES[1:]:
            theirs = f"grp_{mark(each)}"
            assert not await memories.delete_group(scope, theirs)
            with pytest.raises(NotFound):
                await memories.change_group(scope, theirs, GroupChange("stolen"), START)
            with pytest.raises(NotFound):
                await memories.add_members(scope, theirs, [f"mem_{mark(scope)}_0"])
        await memories.change_group(scope, GROUP, GroupChange("mine"), START)
        await memories.remove_members(scope, GROUP, [f"mem_{mark(scope)}_0"])
        assert await memories.delete_group(scope, GROUP)
        await memories.change_settings(scope, SettingsChange(save=True, history=True))
        for at, each in enumerate(SCOPES):
            taken = [new("stolen", id=f"mem_new_{at}")]
            done = await memories.add_extracted(scope, mark(each).encode(), taken, most=0)
            assert (done is None) == (each == scope)
        ids = [ref for ref in foreign if isinstance(ref, str)]
        links = [
            Memory(f"mem_link_{at}", 1, "mine", START, START, supersedes=id_, duplicate_of=id_)
            for at, id_ in enumerate(ids)
        ]
        kept = await memories.restore(scope, [MemoryRecord(each) for each in links])
        assert not any(each.supersedes or each.duplicate_of for each in kept)
        assert await memories.replace_thread(scope, "thread", []) == 2
        for purge in (False, True):
            gone = await memories.delete_matching(scope, EVERY, purge=purge)
            assert gone
            assert not [id_ for id_ in gone for each in SCOPES[1:] if mark(each) in id_]

    async def test_own_writes_touch_nothing_with_the_same_number(self, memories, filled, store):
        """Numbers are a tenant's: another one has the same ones, in the same state."""
        before = [await answers(memories, scope, filled) for scope in SCOPES[1:]]
        scope, name = SCOPES[0], mark(SCOPES[0])
        numbers = {m.number for m in (await memories.page(scope, EVERY)).memories}
        theirs = (await memories.page(SCOPES[2], EVERY)).memories
        assert numbers == {memory.number for memory in theirs} == {1, 2, 3, 4, 5}
        await memories.change(scope, 1, rewritten(f"{name} once more"))
        await memories.undelete(scope, [3])
        await memories.mark_duplicate(scope, f"mem_{name}_2", f"mem_{name}_3")
        await memories.merge(scope, 4, 1, "merged")
        await memories.put_vectors(scope, RECIPE, {4: (2, b"mine")})
        await memories.add_members(scope, GROUP, [5])
        await memories.remove_members(scope, GROUP, [4])
        await memories.supersede(scope, 5, new("newest"), "")
        await memories.delete(scope, [4], reason="gone")
        await memories.undelete(scope, [4])
        thread = [new(f"{name} 3", id="mem_thread", thread_id="thread")]
        await memories.replace_thread(scope, "thread", thread)
        await memories.sweep_memories(START + 50, 30)
        assert [await answers(memories, each, filled) for each in SCOPES[1:]] == before
        assert await store.check() == []
        await memories.delete(scope, [*range(1, 9), "mem_newest", "mem_thread"], purge=True)
        assert (await memories.page(scope, EVERY)).memories == ()
        assert [await answers(memories, each, filled) for each in SCOPES[1:]] == before

    async def test_the_same_ids_digests_keys_and_groups_are_each_scope_s_own(self, memories):
        for scope in SCOPES:
            (added,) = await memories.add_many(scope, [new("same", id="mem_same")], once=True)
            assert not added.existing
            (added,) = await memories.add_extracted(scope, DIGEST, [new("more")], most=0)
            assert not added.existing
            assert await memories.put_snapshot(scope, DIGEST, new("snapshot"))
            await memories.add_group(scope, MemoryGroup(GROUP, "t", START, START), 1)
            assert await memories.add_members(scope, GROUP, ["mem_same"]) == 1
            thread = [new("passage", thread_id="t")]
            assert await memories.replace_thread(scope, "t", thread) == 0
            record = MemoryRecord(Memory("mem_back", 1, "back", START, START))
            assert len(await memories.restore(scope, [record])) == 1
            assert (await memories.state(scope)).total == 5
            assert len(await memories.delete_matching(scope, MemoryFilter(group=GROUP))) == 1
        for scope in SCOPES:
            assert (await memories.state(scope)).total == 4

    async def test_lines_of_the_same_ids_are_each_scope_s_own(self, memories):
        """Ids tell what took whose place, and what counts for whom. Two tenants have the same ids,
        and each number is that of another memory."""
        ids = ["old", "twin", "main", "new", "more"]
        own, other = SCOPES[0], SCOPES[2]
        await memories.add_many(other, [new("1"), new("2")])
        for scope in (own, other):
            await memories.add_many(scope, [new(id_, id=id_) for id_ in ids[:3]])
            await memories.supersede(scope, "old", new("new", id="new"), "")
            await memories.mark_duplicate(scope, "twin", "main")
            await memories.add_many(scope, [new("more", id="more")])
            await memories.add_group(scope, MemoryGroup(GROUP, "t", START, START), 9)
        await memories.add_members(own, GROUP, ["new"])
        await memories.add_group(own, MemoryGroup("grp_more", "t", START, START), 9)
        await memories.add_members(own, "grp_more", ["more"])
        await memories.add_members(other, GROUP, ["main"])
        numbers = [[m.number for m in await memories.get(s, ids)] for s in (own, other)]
        assert numbers == [[3, 4, 5], [5, 6, 7]]
        before = await answers(memories, other, [*ids])

        async def live() -> list[str]:
            return [memory.id for memory in (await memories.page(own)).memories]

        async def members() -> list[str]:
            page = await memories.page(own, MemoryFilter(group=GROUP))
            assert (await memories.group(own, GROUP)).members == len(page.memories)
            return [memory.id for memory in page.memories]

        assert await members() == ["new"]
        await memories.delete(own, ["more"])
        assert (await memories.group(own, "grp_more")).members == 0
        await memories.delete(own, ["new"])
        assert (await live(), await members()) == (["main"], [])
        (main,) = await memories.get(own, ["main"], deleted=True)
        assert main.deleted is None
        await memories.undelete(own, ["new", "more"])
        await memories.delete(own, ["main"])
        assert (await live(), await members()) == (["more", "new"], ["new"])
        await memories.undelete(own, ["main"])
        assert await answers(memories, other, [*ids]) == before
        await memories.delete(own, ["main"], purge=True)
        assert await live() == ["more", "new"]
        await memories.delete(own, ["new"], purge=True)
        assert await live() == ["more"]
        assert await memories.get(own, ids[:4], deleted=True) == []
        assert await answers(memories, other, [*ids]) == before
