"""One rig and one server for all tests of a process; each test has an API key or a wallet, and so
a tenant, of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.clients.rig import Rig, rigged
from tests.programs.server import Server, running


@pytest.fixture(scope="session")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    # Words alone: vectors have tests of their own, and making them takes what the clients need.
    flags = ("--mode", "stable", "--embedder", "none")
    with rigged(tmp_path_factory.mktemp("rig"), *flags) as made:
        yield made


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server without a model, for tests of memories."""
    store = tmp_path_factory.mktemp("server") / "m.db"
    with running(store, "--upstream", "none", "--embedder", "none") as made:
        yield made
