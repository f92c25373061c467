"""One fake upstream on a real socket for all tests of this folder, fresh for each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from functools import cache, partial

import httpx
import pytest

from memtree.context import context_memory, indexing
from memtree_proxy.http.rate_limits import RequestRates
from memtree_proxy.server import app
from tests.http.served.running import PATIENCE, running
from tests.http.served.upstream import FakeUpstream
from tests.made.leaves import READ_ANEW, leaves_read_once

_ssl_context = cache(httpx.create_ssl_context)


@pytest.fixture(scope="module", autouse=True)
def _certificates_are_read_once() -> Iterator[None]:
    """Let every client that a test opens share the TLS settings. `httpx.post` makes a client each
    time, and to read the authorities it trusts takes that 30 ms, though no test speaks TLS."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("httpx._transports.default.create_ssl_context", _ssl_context)
        yield


@pytest.fixture(scope="module", autouse=True)
def _leaves_are_read_once(request: pytest.FixtureRequest) -> Iterator[None]:
    """Tests of caches, and those that count work, see each leaf read."""
    with nullcontext() if READ_ANEW.search(request.node.nodeid) else leaves_read_once():
        yield


@pytest.fixture(scope="session")
def _upstream() -> Iterator[tuple[FakeUpstream, str]]:
    fake = FakeUpstream()
    with running(fake) as address:
        yield fake, address


@pytest.fixture
def upstream(_upstream: tuple[FakeUpstream, str]) -> FakeUpstream:
    _upstream[0].reset()
    return _upstream[0]


@pytest.fixture
def base(_upstream: tuple[FakeUpstream, str], upstream: FakeUpstream) -> str:
    """The upstream's base URL, with a path of its own as real ones have. It depends on `upstream`,
    so that whoever takes the address alone gets no upstream that hangs for the test before."""
    return _upstream[1] + "/up/v1"


@pytest.fixture(autouse=True)
def _trees_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever needs a tree waits for it: on a busy machine its twenty seconds may be too short."""
    for module in (context_memory, indexing):
        monkeypatch.setattr(module, "BUILD_PATIENCE", PATIENCE)


@pytest.fixture
def rates_without_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Apps count the requests of a tenant as if no time passed between them, or a slow test would
    be given some of its requests back."""
    monkeypatch.setattr(app, "RequestRates", partial(RequestRates, monotonic=lambda: 1_000.0))
