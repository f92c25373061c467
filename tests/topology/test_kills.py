"""Parts of the topology are killed at random while conversations run through it.

The seed is printed; MEMTREE_KILLS_SEED runs it again. `make soak` is the long form.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter
from random import Random

import pytest

from tests.topology import judged
from tests.topology.rigs import Rig
from tests.topology.talks import Talk, talking, until

pytestmark = [pytest.mark.slow, pytest.mark.outage, pytest.mark.xdist_group("topology")]

# Servers less often: each of their deaths is a fault of everything else.
PARTS = ("proxy-1", "proxy-2", "worker-1", "worker-2") * 2 + ("redis", "postgres")
LONGEST = 3.0  # seconds that a part stays away


def test_a_few_kills_at_random(rig: Rig) -> None:
    lived_through(rig, kills=15, talks=talks_of("few", 4))


@pytest.mark.soak
def test_fifty_kills_at_random(rig: Rig) -> None:
    lived_through(rig, kills=50, talks=talks_of("many", 8))


def talks_of(name: str, count: int) -> list[Talk]:
    sizes = (3_000, 12_000, 30_000, 60_000)
    return [Talk(name, seed, sizes[seed % len(sizes)]) for seed in range(count)]


def lived_through(rig: Rig, kills: int, talks: list[Talk]) -> None:
    seed = int(os.environ.get("MEMTREE_KILLS_SEED") or time.time())
    print(f"MEMTREE_KILLS_SEED={seed}")
    random, killed = Random(seed), Counter[str]()
    with talking(rig.url, talks) as chatter:
        for _ in range(kills):
            name, turns = random.choice(PARTS), chatter.turns
            rig.killed(name, random.uniform(0, LONGEST))
            killed[name] += 1
            until(lambda turns=turns: chatter.turns > turns or bool(chatter.failed))
    rig.settle(talks)
    told = f"{dict(killed)}, {chatter.turns} turns, {dict(judged.states(talks))}, "
    print(f"{told}longest answer {longest(talks):.1f} s, {rig.models.summaries.calls} calls")
    assert rig.problems(talks) == []
    assert asyncio.run(rig.losses(talks)) == []
    with rig.redis() as client:
        until(lambda: judged.left_in(client) == [])


def longest(talks: list[Talk]) -> float:
    return max(one.seconds for talk in talks for one in talk.attempts)
