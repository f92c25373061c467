"""Answers: each field is said once, and shown and described from that."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from memtree_proxy.wire.answer import (
    LEFT_OUT,
    SUCCESS,
    WHERE_EMPTY,
    Answer,
    Shown,
    schema_of_answer,
    shown,
    shown_each,
)
from memtree_proxy.wire.json_schema import COUNT, STRING


class Leaf(NamedTuple):
    kind: str


class Tea(NamedTuple):
    name: str
    leaf: Leaf
    cups: int = 0


TEA: Answer[Tea] = {
    "name": Shown(STRING),
    "kind": Shown(STRING, "leaf.kind", "Of its leaf."),
    "cups": Shown(COUNT, optional=WHERE_EMPTY),
    "loud": Shown(STRING, lambda tea: tea.name.upper() if tea.cups else LEFT_OUT, optional=True),
}


@pytest.mark.parametrize(
    ("cups", "more"), [(0, {}), (2, {"cups": 2, "loud": "DARJEELING"})], ids=["none", "two"]
)
def test_a_value_is_an_attribute_a_path_or_made(cups: int, more: dict[str, object]):
    tea = Tea("Darjeeling", Leaf("black"), cups)
    assert shown(TEA, tea) == {"name": "Darjeeling", "kind": "black", **more}


def test_rows_are_shown_in_their_order():
    rows = [Tea("a", Leaf("b")), Tea("c", Leaf("d"))]
    assert [row["name"] for row in shown_each(TEA, rows)] == ["a", "c"]


def test_the_schema_requires_what_is_never_left_out():
    made = schema_of_answer({**SUCCESS, **TEA}, description="A tea.")
    assert made["required"] == ["success", "name", "kind"]
    assert made["properties"]["kind"] == {**STRING, "description": "Of its leaf."}
    assert made["description"] == "A tea."
