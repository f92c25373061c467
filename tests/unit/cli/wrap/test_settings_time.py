"""Settings of agents are read in time in proportion to their length, whatever they look like."""

from __future__ import annotations

import pytest

from memtree.errors import BadRequest
from memtree_proxy.cli.wrap.plan import filled, parse_json
from tests.hostile_texts.linear_time import Subject, slow

SHAPES = {
    "comments that do not end": "/*",
    "escaped quotes": '\\"',
    "quotes": '"',
    "commas": ", ",
    "spaces": " ",
    "stars": "*",
    "slashes": "//",
    "variables that do not end": "{env:a",
}


def parsed(text: str) -> None:
    with pytest.raises(BadRequest):
        parse_json(text, "settings")


@pytest.mark.slow
@pytest.mark.parametrize("start", ["", '"', ",", "/*"])
def test_no_shape_of_settings_takes_more_than_its_share_of_time(start: str) -> None:
    found = slow(Subject(parsed, lambda text: f"{{{start}{text}"), SHAPES, 1 << 17)
    assert list(found) == []
    assert list(slow(Subject(lambda text: filled(text, {}), str), SHAPES, 1 << 17)) == []
