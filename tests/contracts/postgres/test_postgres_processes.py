"""Check what several processes do to one database at once, from the first moment: it is empty."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contracts.backends import A, address
from tests.contracts.many import IDS, KEY, LOOK, sound
from tests.programs.postgres import erase_schema, store_url

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[3]
# All wait for a word, so that they begin together. What they print is what they were told.
CHILD = """
import asyncio, sys
sys.path.insert(0, sys.argv[1])
from memtree.errors import NodesGone
from memtree.unfolding.memory_plan import TextSpan
from tests.contracts.many import *

async def main(url, number):
    store = PostgresStore(url)
    print("ready", flush=True)
    sys.stdin.readline()
    await work(store, number)
    await store.close()
"""
RUN = "asyncio.run(main(sys.argv[2], int(sys.argv[3])))"
MIXED = """
async def work(store, number):
    for n in range(12):
        nodes = (*LEAVES, *LOW, TOP)[:: 1 if (number + n) % 2 else -1]
        at = {address(number * 100 + n): frontier([TOP], 48)}
        await store.commit(A, IndexBatch(nodes, at, 50.0))
        try:
            shown = epoch(number * 100 + n, LOW[n].id)
            await store.put_turn(A, KEY, address(n), turn(shown), epoch=shown, expires=50.0)
            await store.put_summaries(A, {LOW[n].id: version(1)})
        except NodesGone:
            print("gone", flush=True)
        await store.put_vectors(A, RECIPE, {node.id: b"1234" for node in LEAVES})
        await store.claim(A, IDS, str(number), 10.0, 20.0)
        await store.keep_recipe(RECIPE, 86_400.0 * n)
        if number == 0:
            await store.sweep(60.0 if n % 4 == 3 else 1.0)
        if number == 1:
            await store.forget(A, [address(m * 100 + n) for m in range(3)])
"""
WINNERS = """
async def work(store, number):
    await store.commit(A, IndexBatch((*LEAVES, *LOW, TOP), {address(0): frontier([TOP], 48)}, 50.0))
    for n in range(12):
        wanted = [IDS[(5 * n + k + 7 * number) % len(IDS)] for k in range(9)]
        for won in await store.claim(A, wanted, str(number), 10.0, 20.0):
            print("claimed", won.hex(), number, flush=True)
        own = epoch(number * 100 + n)
        stands = await store.put_turn(
            A, KEY, address(n), turn(own, TextSpan(1, 2, 3)), epoch=own, expires=50.0
        )
        print("turn", n, stands.epoch.hex(), flush=True)
        if await store.add(A, 1, {"n": 7, "m": 1}, {"n": 100}):
            print("added", flush=True)
"""


def _child(work: str, url: str, number: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", CHILD + work + RUN, str(ROOT), url, str(number)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


async def told(work: str, folder: Path, count: int) -> list[list[str]]:
    """The lines of so many processes, in words."""
    erase_schema(folder)
    url = store_url(folder)
    running = [_child(work, url, number) for number in range(count)]
    for child in running:
        assert child.stdout is not None
        assert await asyncio.to_thread(child.stdout.readline) == "ready\n"
    said = await asyncio.gather(
        *(asyncio.to_thread(child.communicate, "go\n", 600) for child in running)
    )
    assert [child.returncode for child in running] == [0] * count
    return [line.split() for out, _ in said for line in out.splitlines()]


async def test_overlapping_trees_beside_deletions(stores, tmp_path):
    await told(MIXED, tmp_path, 3)
    await sound(stores[0])
    await stores[0].sweep(1e9)
    assert not any(LOOK.rows(stores[0], A).values())
    await sound(stores[0])


async def test_claims_turns_and_limits_have_one_winner(stores, tmp_path):
    lines = await told(WINNERS, tmp_path, 4)
    owners = {(line[1], line[2]) for line in lines if line[0] == "claimed"}
    assert sorted(node for node, _ in owners) == sorted(node.hex() for node in IDS)
    turns = {(line[1], line[2]) for line in lines if line[0] == "turn"}
    assert len(turns) == 12
    for number, winner in turns:
        found = await stores[0].latest(A, KEY, [address(int(number))])
        assert found is not None
        assert found.turn.epoch.hex() == winner
    assert lines.count(["added"]) == 14
    assert await stores[0].tallies(A, 1, 1) == {"n": 98, "m": 14}
    await sound(stores[0])
