"""Exports that come back, and hostile files that change nothing."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtree.errors import BadRequest, Conflict, MemoryLimit
from memtree.memories.draft import Edit, MemoryDraft
from memtree.memories.memory import MemorySource
from memtree.memories.user_memories import MemoryGroup, SettingsChange
from memtree.transfer import memory_transfer
from memtree.transfer.file_items import AUTO, FORMATS, ImportReport, LineStatus
from tests.unit.transfer.transfers import ADA, BEN, Transfer, transferring

# ------------------------------------------------------------------------------------------------
# An export comes back as it was: `keep_ids`.


SECRET = "my key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"


def told(raw: bytes) -> list[dict[str, Any]]:
    """The lines of an export, but for what may differ: when it was made, and numbers."""
    lines = [msgspec.json.decode(line) for line in raw.splitlines()]
    for line in lines:
        line.pop("exported_at", None)
        line.pop("memory_id", None)
    return lines


def reasons(report: ImportReport) -> list[tuple[int, str, str]]:
    return [(result.line, result.status.value, result.reason) for result in report.lines]


async def lived(t: Transfer) -> None:
    """A scope in which everything has happened once."""
    tea = await t.saved("Likes tea", tags=("drinks",), session_id="s")
    t.clock.time += 10.25
    await t.book.edit(ADA, tea.id, Edit("Likes green tea"))
    t.clock.time += 10
    await t.book.edit(ADA, tea.id, Edit(category="preference"))
    port = await t.saved("The port is 8090", source_type="model", tainted=True)
    await t.book.correct(ADA, port.id, MemoryDraft("The port is 8091"), "it moved")
    town = await t.saved("Lives in Linz", expires=t.clock.time + 5)
    gone = await t.saved("Has a cat")
    await t.book.forget(ADA, gone.id, "she died")
    await t.book.delete(ADA, [(await t.saved("Has a secret")).id])
    told_by = MemorySource("m", 3, 9, "ab" * 16, "cd" * 32, "ef" * 32, 5.5)
    dog = await t.saved("Has a beagle", source=told_by, data={"a": [1, {"b": None}]})
    twin = await t.saved("Has a beagle.")
    await t.store.mark_duplicate(ADA, twin.id, dog.id)
    older = await t.saved("Works at Harbour Lab")
    newer = await t.saved("Works at River Lab")
    await t.store.merge(ADA, newer.id, older.id, "changed")
    for at, title in enumerate(("Home", "Work")):
        group = MemoryGroup(f"grp_{at}", title, t.clock.time, t.clock.time, "d", "fact")
        await t.store.add_group(ADA, group, 10)
    await t.store.add_members(ADA, "grp_0", [tea.id, dog.id])
    await t.store.add_members(ADA, "grp_1", [tea.id])
    await t.store.change_settings(ADA, SettingsChange(save=True, top_k=7))
    assert town.expires
    t.clock.time += 100


async def test_an_export_comes_back_as_it_was():
    async with transferring() as t:
        await lived(t)
        raw = await t.exported()
        report = await t.imported(raw, BEN, keep_ids=True)
        assert told(await t.exported(BEN)) == told(raw)
        assert (report.imported, report.failed, report.skipped) == (8, 0, 0)
        assert (report.groups, report.tombstones, report.complete) == (2, 1, True)
        assert (await t.store.settings(BEN)).top_k == 7
        texts = [memory.text for memory in await t.store.history(BEN, "mem_" + f"{1:024x}")]
        assert texts == ["Likes green tea", "Likes green tea", "Likes tea"]
        assert await t.texts(BEN) == await t.texts(ADA)


async def test_nothing_of_what_was_deleted_is_in_an_export():
    async with transferring() as t:
        await lived(t)
        raw = await t.exported()
    assert b"secret" not in raw
    assert b"Has a cat" not in raw
    assert b"she died" in raw  # the tombstone, which has no text


async def test_it_is_found_by_search_again():
    async with transferring() as t:
        await lived(t)
        await t.imported(await t.exported(), BEN, keep_ids=True)
        hits = (await t.book.search(BEN, "port")).hits
    assert [hit.memory.text for hit in hits] == ["The port is 8091"]


async def test_a_dry_run_says_the_same_and_stores_nothing():
    async with transferring() as t:
        await lived(t)
        raw = await t.exported()
        rehearsal = await t.imported(raw, BEN, keep_ids=True, dry_run=True)
        assert (await t.store.state(BEN)).changed == 0
        assert await t.store.groups(BEN) == []
        report = await t.imported(raw, BEN, keep_ids=True)
    assert replace(rehearsal, dry_run=False) == report


async def test_a_scope_with_other_memories_is_left_alone():
    async with transferring() as t:
        await lived(t)
        raw = await t.exported()
        await t.saved("Likes coffee", BEN)
        before = await t.exported(BEN)
        for dry_run in (True, False):
            with pytest.raises(Conflict) as caught:
                await t.imported(raw, BEN, keep_ids=True, dry_run=dry_run)
            assert caught.value.param == "keep_ids"
        assert told(await t.exported(BEN)) == told(before)


@pytest.mark.slow
async def test_a_part_of_it_is_completed_and_nothing_is_overwritten(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(memory_transfer, "TOGETHER", 1)
    async with transferring() as t:
        lines = [{"type": "export", "format": "memtree-memories", "version": 1}]
        lines += [
            {"type": "memory", "id": f"mem_{at}", "text": f"Number {at}", "groups": ["grp_1"]}
            for at in range(1_000)
        ]
        lines += [{"type": "group", "id": "grp_1", "title": "Work"}, {"type": "end"}]
        task = asyncio.create_task(t.imported(lines, keep_ids=True))
        for _ in range(10_000):
            if await t.memories():
                break
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert 0 < len(await t.memories()) < 1_000
        await t.book.edit(ADA, "mem_0", Edit("Number zero"))
        report = await t.imported(lines, keep_ids=True)
        texts = await t.texts()
        (group,) = await t.store.groups(ADA)
    assert report.imported + report.skipped == len(texts) == 1_000
    assert texts[0] == "Number zero"
    assert group.members == 1_000


async def test_the_whole_again_changes_nothing():
    async with transferring() as t:
        await lived(t)
        raw = await t.exported()
        report = await t.imported(raw, keep_ids=True)
        assert told(await t.exported()) == told(raw)
    assert (report.imported, report.skipped, report.groups, report.tombstones) == (0, 8, 0, 0)


async def test_a_deleted_memory_keeps_its_id_until_it_is_erased():
    async with transferring() as t:
        await t.saved("Likes tea")
        await t.saved("Has a beagle")
        raw = await t.exported()
        (tea, _) = await t.memories()
        await t.book.delete(ADA, [tea.id])
        report = await t.imported(raw, keep_ids=True)
        assert await t.texts() == ["Has a beagle"]
        assert reasons(report) == [(3, "refused", "id_taken"), (4, "duplicate", "")]
        await t.book.delete(ADA, [tea.id], purge=True)
        assert (await t.imported(raw, keep_ids=True)).imported == 1


async def test_settings_that_somebody_made_stay():
    async with transferring() as t:
        await lived(t)
        await t.store.change_settings(BEN, SettingsChange(top_k=5))
        await t.imported(await t.exported(), BEN, keep_ids=True)
        assert (await t.store.settings(BEN)).top_k == 5
        assert not (await t.store.settings(BEN)).save


async def test_more_than_the_tenant_may_have_is_refused_whole():
    async with transferring() as t:
        for at in range(5):
            await t.saved(f"Number {at}")
        raw = await t.exported()
        async with transferring(beside=t, most=9) as other:
            with pytest.raises(MemoryLimit):
                await other.imported(raw, BEN, keep_ids=True)
            assert await t.texts(BEN) == []
        async with transferring(beside=t, most=10) as other:
            assert (await other.imported(raw, BEN, keep_ids=True)).imported == 5


async def test_only_our_own_exports_come_back():
    async with transferring() as t:
        for raw in (b"Likes tea", b'{"results": [{"memory": "Likes tea"}]}'):
            with pytest.raises(BadRequest) as caught:
                await t.imported(raw, keep_ids=True)
            assert caught.value.param == "keep_ids"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ({"text": "Likes tea"}, "no_id"),
        ({"id": "mem_1", "text": SECRET}, "secret"),
        ({"id": "mem_0", "text": "Likes tea"}, "repeated_id"),
        ({"id": "mem_1", "text": ""}, "empty"),
        ({"id": "mem_1", "text": "Likes tea", "version": 2}, "field"),
        ({"type": "group", "id": "grp_1", "title": SECRET}, "secret"),
        ({"type": "tombstone", "id": "mem_1", "text": SECRET}, "secret"),
        ({"type": "tombstone", "id": "mem_1", "reason": "a\0"}, "field"),
    ],
)
async def test_a_line_that_may_not_be_stored_costs_itself(line: dict[str, Any], reason: str):
    first = {"id": "mem_0", "text": "Has a beagle"}
    async with transferring() as t:
        report = await t.imported([first, line, {"type": "end"}], keep_ids=True)
        assert await t.texts() == ["Has a beagle"]
        assert await t.store.groups(ADA) == []
        assert await t.store.tombstones(ADA) == []
    assert reasons(report)[1][2] == reason
    assert report.imported == 1


async def test_a_cut_file_is_not_complete():
    async with transferring() as t:
        await lived(t)
        raw = await t.exported()
        report = await t.imported(raw[: raw.rindex(b'{"type":"end"')], BEN, keep_ids=True)
        assert not report.complete
        assert report.imported == 8


ACTS = st.lists(
    st.tuples(
        st.sampled_from(["save", "edit", "correct", "forget", "delete", "group", "merge"]),
        st.integers(0, 5),
    ),
    max_size=25,
)


async def act(t: Transfer, acts: list[tuple[str, int]]) -> None:
    for at, (what, which) in enumerate(acts):
        t.clock.time += 1.5
        there = await t.memories()
        memory = there[which % len(there)] if there else None
        if what == "save" or memory is None:
            await t.saved(f"Number {at} is {which}", tags=(f"t{which}",), importance=which / 8)
        elif what == "edit":
            await t.book.edit(ADA, memory.id, Edit(f"Number {at} was {which}"))
        elif what == "correct":
            await t.book.correct(ADA, memory.id, MemoryDraft(f"Not {which} but {at}"), "wrong")
        elif what == "forget":
            await t.book.forget(ADA, memory.id, "private")
        elif what == "delete":
            await t.book.delete(ADA, [memory.id])
        elif what == "merge" and len(there) > 1:
            await t.store.merge(ADA, memory.id, there[(which + 1) % len(there)].id, "same")
        else:
            groups = await t.store.groups(ADA)
            if len(groups) <= which:
                group = MemoryGroup(f"grp_{at}", f"Group {at}", t.clock.time, t.clock.time)
                groups.append(await t.store.add_group(ADA, group, 10))
            await t.store.add_members(ADA, groups[which % len(groups)].id, [memory.id])


@pytest.mark.slow
@settings(deadline=None)
@given(ACTS)
def test_whatever_happened_comes_back(acts: list[tuple[str, int]]):
    async def run() -> None:
        async with transferring() as t:
            await act(t, acts)
            raw = await t.exported()
            report = await t.imported(raw, BEN, keep_ids=True)
            assert told(await t.exported(BEN)) == told(raw)
            assert (report.failed, report.skipped) == (0, 0)

    asyncio.run(run())


# ------------------------------------------------------------------------------------------------
# Whatever a file holds, what is stored stays as it is, and the report adds up.


VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
NAMES = st.sampled_from(
    [
        "type", "id", "text", "memory", "content", "name", "observations", "entityType", "from",
        "to", "relationType", "state", "category", "tags", "groups", "versions", "version", "data",
        "created_at", "expires_at", "source", "tombstone", "tainted", "importance", "mapping",
        "metadata", "categories", "title", "superseded_by", "duplicate_of", "format",
    ]
)  # fmt: skip
KINDS = st.sampled_from(["memory", "group", "settings", "tombstone", "end", "export", "entity"])
LINES = st.dictionaries(NAMES, VALUES | KINDS, max_size=6) | st.builds(
    lambda kind, more: {"id": "mem_1", "text": "Has a beagle", **more, "type": kind},
    KINDS,
    st.dictionaries(NAMES, VALUES, max_size=3),
)
FILES = st.one_of(
    st.binary(max_size=60),
    st.text(max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.lists(LINES | VALUES, max_size=5).map(
        lambda lines: "\n".join(map(json.dumps, lines)).encode()
    ),
    st.lists(LINES, max_size=5).map(lambda lines: json.dumps(lines).encode()),
    st.tuples(NAMES, st.lists(LINES, max_size=4)).map(
        lambda found: json.dumps({found[0]: found[1], "results": found[1]}).encode()
    ),
)
CUT = st.floats(0, 1)
LOOKS = 2 * settings().max_examples  # of the profile that was chosen


async def run(t: Transfer, raw: bytes, **options: Any) -> ImportReport | None:
    try:
        return await t.imported(raw, **options)
    except (BadRequest, Conflict):
        return None


@pytest.mark.slow
@settings(max_examples=LOOKS)
@given(FILES, CUT, st.sampled_from([AUTO, *FORMATS]), st.booleans(), st.booleans())
def test_nothing_that_is_stored_changes(
    file: bytes, cut: float, format_: str, keep_ids: bool, dry_run: bool
):
    raw = file[: round(len(file) * cut)] if cut > 0.5 else file

    async def look() -> None:
        async with transferring() as t:
            mine = await t.saved("Likes tea", tags=("mine",))
            report = await run(t, raw, format=format_, keep_ids=keep_ids, dry_run=dry_run)
            memories = await t.memories()
            assert memories[0] == mine
            if report is None or dry_run:
                assert memories == [mine]
            if report is None:
                return
            assert report.imported + report.skipped + report.failed == report.read
            assert sum(report.reasons.values()) == report.read - report.imported
            if not dry_run:
                assert len({memory.id for memory in memories}) == len(memories)
                assert len(memories) - 1 == report.counts.get(LineStatus.IMPORTED, 0)
            lines = (await t.exported()).splitlines()
            assert json.loads(lines[-1])["memories"] == len(memories)

    asyncio.run(look())


@pytest.mark.slow
@settings(max_examples=LOOKS)
@given(st.lists(LINES, max_size=6))
def test_a_restore_of_anything_is_an_export_again(lines: list[Any]):
    """A restored file can be exported and come back."""

    async def look() -> None:
        async with transferring() as t:
            raw = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
            await run(t, raw, format="memtree", keep_ids=True)
            whole = await t.exported()
            report = await run(t, whole, keep_ids=True)
            assert report is not None
            assert report.failed == 0
            assert (await t.exported()).splitlines()[1:] == whole.splitlines()[1:]
            assert (await t.store.state(ADA)).total == len(await t.memories())

    asyncio.run(look())


@pytest.mark.parametrize("size", [50_000_000])
@pytest.mark.slow
async def test_a_line_of_many_megabytes_is_refused_alone(size: int):
    huge = b'{"text": "' + b"x" * size + b'"}\n'
    async with transferring() as t:
        report = await t.imported(b'{"text": "Likes tea"}\n' + huge + b'{"text": "Has a dog"}\n')
        assert await t.texts() == ["Likes tea", "Has a dog"]
    assert [result.reason for result in report.lines] == ["", "too_long", ""]
