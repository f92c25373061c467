"""When a server for `memtree wrap` counts as unused."""

from __future__ import annotations

import asyncio

from memtree.config import Settings
from memtree_proxy.access.local_user import LocalUser
from memtree_proxy.server.leases import Leases
from tests.http.served.running import PATIENCE


async def test_who_looks_for_the_server_finds_it_there_for_a_while() -> None:
    leases = Leases(Settings(), LocalUser("secret"))
    await asyncio.wait_for(leases.unused(0.01), PATIENCE)
    seen = [leases.in_use]
    leases.touch()
    seen.append(leases.in_use)
    assert seen == [False, True]  # so the server does not end now
    waiting = asyncio.create_task(leases.unused(3600))
    await asyncio.sleep(0)
    leases.touch()
    await asyncio.sleep(0.02)
    assert not waiting.done()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
