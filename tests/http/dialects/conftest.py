"""A fake server of each API and our server before it, once for all tests; fresh for each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.http.dialects.vendors import VENDORS, Side, Vendor, behind
from tests.http.served.running import running


@pytest.fixture(scope="session", params=VENDORS, ids=lambda vendor: str(vendor.name))
def _side(request: pytest.FixtureRequest) -> Iterator[Side]:
    """By a name, too."""
    named = {vendor.name: vendor for vendor in VENDORS}
    vendor: Vendor = named[str(request.param)]
    server = vendor.server()
    with running(server) as upstream, behind(upstream) as address:
        yield Side(vendor, server, upstream, address)


@pytest.fixture
def side(_side: Side) -> Side:
    """Each test runs for both APIs."""
    _side.server.reset()
    return _side
