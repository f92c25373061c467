"""`memory_options`, read strictly."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from memtree.errors import BadRequest
from memtree.wire import json_body
from memtree_proxy.request import memory_options
from memtree_proxy.request.memory_options import DEFAULTS, MemoryOptions


def read(value: Any) -> MemoryOptions:
    return memory_options.of(json_body.split(msgspec.json.encode({"memory_options": value})))


@pytest.mark.parametrize(
    ("value", "options"),
    [
        (None, DEFAULTS),
        ({}, DEFAULTS),
        ({"enabled": None, "top_k": None, "score_threshold": None, "else": []}, DEFAULTS),
        ({"enabled": True, "top_k": 2, "score_threshold": 0.7}, MemoryOptions(True, 2, 0.7)),
        ({"enabled": False}, MemoryOptions(False)),
        ({"top_k": 0}, MemoryOptions(top_k=1)),
        ({"top_k": "4"}, MemoryOptions(top_k=4)),
        ({"top_k": 10**30}, MemoryOptions(top_k=20)),
        ({"score_threshold": "0.7"}, MemoryOptions(threshold=0.7)),
        ({"score_threshold": 1}, MemoryOptions(threshold=1.0)),
        ({"score_threshold": -3}, MemoryOptions(threshold=0.0)),
        ({"score_threshold": 10**400}, MemoryOptions(threshold=1.0)),
    ],
)
def test_what_is_read(value, options):
    assert read(value) == options


def test_absent_is_as_the_settings_say():
    assert memory_options.of(json_body.split(b'{"model": "m"}')) == DEFAULTS


@pytest.mark.parametrize(
    ("value", "field"),
    [
        (True, "memory_options"),
        ([], "memory_options"),
        ("on", "memory_options"),
        ({"enabled": 1}, "memory_options.enabled"),
        ({"enabled": "true"}, "memory_options.enabled"),
        ({"top_k": 2.5}, "memory_options.top_k"),
        ({"top_k": True}, "memory_options.top_k"),
        ({"top_k": [3]}, "memory_options.top_k"),
        ({"score_threshold": "high"}, "memory_options.score_threshold"),
        ({"score_threshold": True}, "memory_options.score_threshold"),
        ({"score_threshold": {}}, "memory_options.score_threshold"),
    ],
)
def test_a_wrong_type_names_the_field(value, field):
    with pytest.raises(BadRequest) as refused:
        read(value)
    assert refused.value.param == field
