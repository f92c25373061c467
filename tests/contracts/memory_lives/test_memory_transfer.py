"""Imports by processes that are killed, or that write at once, and exports of what they left: over
every store that outlives a process."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from memtree.config import Settings
from memtree.jobs.memory_services import MemoryServices
from memtree.jobs.runtime import open_runtime
from memtree.memories.memory import Memory
from memtree.memories.scope import Scope
from memtree.stores import open_store
from memtree.transfer.file_import import ImportOptions
from tests.programs.postgres import victim_url, wait_for_victims

ROOT = Path(__file__).parents[3]
ANYBODY = Scope.of_user("local")
LINES = 1_300  # several batches, and more than a report names
DEADLINE = 600.0

pytestmark = [pytest.mark.slow]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """An export of LINES memories, each in a group and with an earlier version."""
    day = {"created_at": "2026-03-07T10:30:00.000Z", "updated_at": "2026-03-07T10:30:00.000Z"}
    lines: list[dict[str, Any]] = [
        {"type": "export", "format": "memtree-memories", "version": 1},
        {"type": "group", "id": "grp_1", "title": "Towns", **day},
    ]
    lines += [
        {"type": "memory", "id": f"mem_{at}", "text": f"Has been to town {at}", "version": 2,
         "groups": ["grp_1"], "versions": [{"text": f"Goes to town {at}", "version": 1, **day}],
         **day}
        for at in range(LINES)
    ]  # fmt: skip
    path = tmp_path / "memories.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in [*lines, {"type": "end"}]))
    return path


def importing(url: str, file: Path, *flags: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "memtree_proxy.cli", "memories", "import", str(file), "--json"]
    return subprocess.Popen(
        [*command, "--store", url, "--embedder", "none", *flags],
        stdout=subprocess.PIPE, text=True, cwd=ROOT, env=os.environ,
    )  # fmt: skip


def report(process: subprocess.Popen[str]) -> dict[str, Any]:
    out, _ = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0, out
    told: dict[str, Any] = json.loads(out)
    return told


@asynccontextmanager
async def services(url: str) -> AsyncIterator[MemoryServices]:
    settings = Settings(store=url, embedder="none", upstream=None)
    async with open_runtime(settings, drain=0.0) as runtime:
        yield runtime.memory_services


async def stored(url: str) -> list[Memory]:
    store = open_store(url)
    try:
        memories, after = [], 0
        while records := await store.memories().records(ANYBODY, after, 1_000):
            memories += [record.memory for record in records]
            after = records[-1].memory.number
        return memories
    finally:
        await store.close()


async def killed(url: str, file: Path, *flags: str) -> int:
    """Memories that a process had stored when it was killed in the middle."""
    process = importing(victim_url(url), file, *flags)
    ends = time.monotonic() + DEADLINE
    store = open_store(url)
    memories = store.memories()
    while not await memories.records(ANYBODY, 0, 1) and process.poll() is None:
        assert time.monotonic() < ends
        await asyncio.sleep(0.02)
    await store.close()
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=DEADLINE)
    wait_for_victims(url)
    return len(await stored(url))


@pytest.mark.parametrize("flags", [(), pytest.param(("--keep-ids",), marks=pytest.mark.long)])
async def test_a_killed_import_is_completed_by_the_same_again(
    url: str, file: Path, flags: tuple[str, ...]
):
    before = await killed(url, file, *flags)
    assert before > 0
    told = report(importing(url, file, *flags))
    memories = await stored(url)
    assert [memory.text for memory in memories] == [f"Has been to town {at}" for at in range(LINES)]
    assert (told["skipped"], told["imported"]) == (before, LINES - before)
    async with services(url) as opened:
        (group,) = await opened.users.groups(ANYBODY)
        assert group.members == LINES
        lines = b"".join([piece async for piece in opened.transfer.export(ANYBODY)]).splitlines()
    assert lines.count(b"") == 0
    assert json.loads(lines[-1])["memories"] == LINES
    if flags:
        last = json.loads(lines[-2])
        assert (last["id"], last["version"]) == (f"mem_{LINES - 1}", 2)
        assert [version["text"] for version in last["versions"]] == [f"Goes to town {LINES - 1}"]


@pytest.mark.long
async def test_two_imports_at_once_add_each_memory_once(url: str, file: Path):
    async with services(url):
        pass  # both find the schema there
    told = [report(process) for process in [importing(url, file), importing(url, file)]]
    memories = await stored(url)
    assert len({memory.text for memory in memories}) == len(memories) == LINES
    assert sum(each["imported"] for each in told) == LINES
    async with services(url) as opened:
        groups = await opened.users.groups(ANYBODY)
    assert sum(group.members for group in groups) >= LINES


@pytest.mark.long
async def test_an_export_while_others_write_is_whole(url: str, file: Path):
    async with services(url) as opened:
        some = b"Has been to town 0\nHas been to town 1\n"
        await opened.transfer.import_file(ANYBODY, some, ImportOptions())
        there = len(await stored(url))
        writing = asyncio.create_task(asyncio.to_thread(report, importing(url, file)))
        found: list[dict[str, Any]] = []
        while not writing.done():
            pieces = [piece async for piece in opened.transfer.export(ANYBODY)]
            found = [json.loads(line) for line in b"".join(pieces).splitlines()]
            texts = [line["text"] for line in found if line["type"] == "memory"]
            assert len(set(texts)) == len(texts) >= there
            assert found[-1]["memories"] == len(texts)
            there = len(texts)
        await writing
    assert found
