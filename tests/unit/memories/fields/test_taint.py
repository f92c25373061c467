"""Check which memories wait for a person."""

from __future__ import annotations

import pytest

from memtree.memories.fields.standing import tainted


@pytest.mark.parametrize(
    ("source_type", "category", "after_tool", "expected"),
    [
        ("model", "fact", False, False),
        ("model", None, False, False),
        ("model", "preference", False, False),
        ("model", "instruction", False, True),
        ("model", "fact", True, True),
        ("model", None, True, True),
        ("user", "instruction", False, False),
        ("user", "instruction", True, False),
        ("user", "fact", True, False),
        ("import", "instruction", False, True),
        ("import", "fact", False, False),
    ],
)
def test_a_model_after_a_tool_and_orders_that_no_person_gave(
    source_type, category, after_tool, expected
):
    found = tainted(source_type=source_type, category=category, after_tool=after_tool)
    assert found is expected
