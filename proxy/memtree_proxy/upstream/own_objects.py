"""Remember which tenant created which object at the provider, from the requests of this process.

New objects are known here at once, and written to the store after the request; other processes know
them once they are written, so a look-up of an unknown id is repeated once.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Collection

from memtree.errors import MemTreeError
from memtree.ports.store import ProviderObjects
from memtree.process.bounded import remember
from memtree_proxy.observability import log

logger = logging.getLogger("memtree")

KEPT_SECONDS = 30 * 86_400.0  # as long as OpenAI stores an answer
MOST = 20_000  # known digests, and as many that wait to be written: some 6 MB
LOOK_AGAIN = 0.3  # seconds within which another process has written its new objects
PACE = 5.0  # seconds between two attempts while the store fails
PATIENCE = 5.0  # seconds for the last attempt
_DOMAIN = b"memtree provider object v1\x00"


def digest_of(tenant: str, id_: str) -> bytes:
    """Return the digest of both, which is all that is stored of either."""
    name = tenant.encode()
    return hashlib.sha256(
        _DOMAIN + b"%d:" % len(name) + name + id_.encode("utf-8", "surrogatepass")
    ).digest()


class OwnObjects:
    """Objects of one app; `close` writes the rest."""

    def __init__(
        self,
        store: ProviderObjects,
        now: Callable[[], float] = time.time,
        *,
        look_again: float = LOOK_AGAIN,
        pace: float = PACE,
    ) -> None:
        self._store, self._now = store, now
        self._look_again, self._pace = look_again, pace
        self._known: OrderedDict[bytes, float] = OrderedDict()
        self._waiting: OrderedDict[bytes, float] = OrderedDict()
        self._task: asyncio.Task[None] | None = None

    def made(self, tenant: str, ids: Collection[str]) -> None:
        """Record that a tenant's request has just created these."""
        expires = self._now() + KEPT_SECONDS
        for digest in {digest_of(tenant, id_) for id_ in ids} - self._known.keys():
            remember(self._known, digest, expires, MOST)
            remember(self._waiting, digest, expires, MOST)
        if self._waiting and self._task is None:
            self._task = asyncio.create_task(self._write(), name="own objects")

    async def all_of(self, tenant: str, ids: Collection[str]) -> bool:
        """Return True if the tenant created all of these within the last 30 days. Raises as
        `ProviderObjects` does."""
        missing = await self._missing({digest_of(tenant, id_) for id_ in ids})
        if missing and self._look_again:
            await asyncio.sleep(self._look_again)
            missing = await self._missing(missing)
        return not missing

    async def close(self) -> None:
        """Write the rest, within `PATIENCE`."""
        if (task := self._task) is not None:
            await asyncio.wait((task,), timeout=PATIENCE)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        if self._waiting:
            logger.warning("objects.lost number=%d", len(self._waiting))

    async def _missing(self, digests: set[bytes]) -> set[bytes]:
        now = self._now()
        unknown = {digest for digest in digests if self._known.get(digest, 0.0) <= now}
        return unknown - await self._store.known_objects(unknown) if unknown else unknown

    async def _write(self) -> None:
        failing = False
        while self._waiting:
            rows = dict(self._waiting)
            try:
                # One expiry for all: they were created within seconds.
                await self._store.put_objects(rows, max(rows.values()))
            except MemTreeError as error:
                if not failing:
                    logger.warning("objects.unwritten code=%s", error.code)
                failing = True
                await asyncio.sleep(self._pace)
                continue
            except Exception as error:  # noqa: BLE001  nobody waits for it
                log.failure("objects.failed", error)
                break
            for digest in rows:
                self._waiting.pop(digest, None)
        self._task = None
