"""A fixture that modules of these tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.made.leaves import leaves_read_once


@pytest.fixture(scope="module")
def leaves_once() -> Iterator[None]:
    """For modules whose subject is what happens after a tree has grown."""
    with leaves_read_once():
        yield
