"""What is the same for all tests of answers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext

import pytest

from tests.made.leaves import READ_ANEW, leaves_read_once


@pytest.fixture(scope="module", autouse=True)
def _leaves_are_read_once(request: pytest.FixtureRequest) -> Iterator[None]:
    """Tests of caches, and those that count work, see each leaf read."""
    with nullcontext() if READ_ANEW.search(request.node.nodeid) else leaves_read_once():
        yield
