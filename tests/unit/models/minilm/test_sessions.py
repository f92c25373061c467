"""Products of integers are exact on every processor."""

from __future__ import annotations

from memtree.models.minilm.sessions import overflows


def test_the_detour_is_exact_wherever_the_direct_way_is_not():
    assert not overflows(detour=True)
