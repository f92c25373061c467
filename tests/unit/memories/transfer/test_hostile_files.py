"""Whatever a file holds, what is stored stays as it is, and the report adds up."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtree.errors import BadRequest, Conflict
from memtree.memories.transfer.file_items import AUTO, FORMATS, ImportReport, LineStatus
from tests.unit.memories.transfer.transfers import ADA, Transfer, transferring

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
