"""What is the same for all tests of answers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext

import pytest

from tests.made.leaves import leaves_read_once


@pytest.fixture(scope="module", autouse=True)
def _leaves_are_read_once(request: pytest.FixtureRequest) -> Iterator[None]:
    """Tests of caches have only those of the product."""
    with nullcontext() if "caches" in str(request.path) else leaves_read_once():
        yield
