"""The texts of the benchmark of secrets: all that hold one are found, none of the others."""

from __future__ import annotations

import pytest

from benchmarks.memories.secrets import texts
from memtree.text import secrets

WITH, WITHOUT = texts()


@pytest.mark.parametrize("text", WITH, ids=lambda text: text[:30])
def test_a_secret_is_found(text):
    assert secrets.find(text)


@pytest.mark.parametrize("text", WITHOUT, ids=lambda text: text[:30])
def test_what_is_none_is_left_alone(text):
    assert not secrets.find(text)
