"""How long a request may wait for its tree."""

from __future__ import annotations

import pytest

from memtree.config import Settings
from memtree.wire.json_body import split
from memtree_proxy.request import fields
from memtree_proxy.request.fields import patience

TIMES = [
    (None, 300, 280),
    ("600", 300, 280),
    ("60.0", 300, 55),
    ("3", 300, 280),  # less than the margin: no use to hurry
    ("nan", 300, 280),
    ("inf", 300, 280),
    ("NOT_GIVEN", 300, 280),
    ("600", 10, 10),
    (None, 10, 10),
]


@pytest.mark.parametrize(("timeout", "setting", "wanted"), TIMES)
def test_patience_in_silence(timeout: str | None, setting: int, wanted: float):
    headers = {} if timeout is None else {"x-stainless-read-timeout": timeout}
    assert patience(headers, Settings(wait_seconds=setting), silent=True) == wanted


@pytest.mark.parametrize("timeout", [None, "30"])
def test_with_signs_of_life_the_setting_alone_counts(timeout: str | None):
    headers = {} if timeout is None else {"x-stainless-read-timeout": timeout}
    for seconds in (60, 300):
        assert patience(headers, Settings(wait_seconds=seconds), silent=False) == seconds


@pytest.mark.parametrize(("timeout", "setting", "wanted"), TIMES)
def test_context_memory_waits_as_long(timeout: str | None, setting: int, wanted: float):
    headers = {} if timeout is None else {"x-stainless-read-timeout": timeout}
    body = split(b'{"messages": [{"role": "user", "content": "hi"}]}')
    ask = fields.context_ask("t", body, headers, Settings(wait_seconds=setting))
    assert ask.patience == wanted
