"""When a memory may be shown."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memtree.memories.memory import Memory

MEMORY = Memory("mem_1", 1, "The port is 8090.", 100.0, 100.0)


def test_a_memory_is_live_until_it_expires():
    expiring = replace(MEMORY, expires=200.0)
    assert MEMORY.live(1e12)
    assert expiring.live(199.9)
    assert not expiring.live(200.0)


@pytest.mark.parametrize(
    "ended", [{"deleted": 150.0}, {"superseded_by": "mem_2"}, {"duplicate_of": "mem_2"}]
)
def test_what_was_deleted_or_replaced_is_not_live(ended):
    assert not replace(MEMORY, **ended).live(100.0)
