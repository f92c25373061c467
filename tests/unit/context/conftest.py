"""What is the same for all tests of answers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.made.leaves import leaves_read_once


@pytest.fixture(scope="module", autouse=True)
def _leaves_are_read_once() -> Iterator[None]:
    with leaves_read_once():
        yield
