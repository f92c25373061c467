"""One rig for all tests of a process; each test has an API key, and so a tenant, of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.clients.dialects.rig import DialectRig, dialect_rig


@pytest.fixture(scope="session")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DialectRig]:
    # Words alone: vectors have tests of their own, and making them takes what the clients need.
    flags = ("--mode", "stable", "--embedder", "none")
    with dialect_rig(tmp_path_factory.mktemp("dialects"), *flags, target=4_000) as made:
        yield made


@pytest.fixture
def key(request: pytest.FixtureRequest) -> str:
    named = f"{request.module.__name__.split('.')[-1]}-{request.node.name}"
    return "".join(c if c.isalnum() else "-" for c in named)
