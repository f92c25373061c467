"""Write records of ended requests in batches, to a store that may fail."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from contextlib import suppress

from memtree.errors import MemTreeError
from memtree_proxy.http import log

logger = logging.getLogger("memtree")

PATIENCE = 5.0  # seconds for the last write


class BackgroundWriter:
    """Writes every `pace` seconds while something waits; `close` writes the rest. `name`: prefix of
    its log events; `unit`: what it counts there."""

    def __init__(self, name: str, unit: str, pace: float) -> None:
        self._name, self._unit, self._pace = name, unit, pace
        self._failing = False
        self._stop = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def left(self) -> int:
        """Return the number of waiting records."""
        raise NotImplementedError

    async def _write(self) -> None:
        """Write waiting records, or as many as the store accepts."""
        raise NotImplementedError

    def _begin(self) -> None:
        """Start the writer's task, because a record waits."""
        if self._task is None and not self._stop.is_set():
            self._task = asyncio.create_task(self._run(), name=self._name)

    async def close(self) -> None:
        """Write the rest, within `PATIENCE`; later records are not written."""
        self._stop.set()
        if self._task is None:
            return
        await asyncio.wait((self._task,), timeout=PATIENCE)
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        if self.left:
            logger.warning("%s.lost %s=%d", self._name, self._unit, self.left)

    async def _run(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._pace):
                    await self._stop.wait()
            # read before the write, so that records added during it are written, too
            last = self._stop.is_set()
            try:
                await self._write()
            except Exception as error:  # noqa: BLE001  a loop of the process: the next write goes on
                log.failure(f"{self._name}.failed", error)
            if last:
                return
            if not self._stop.is_set() and not self.left:
                self._task = None  # no task runs while no records come
                return

    async def _stored(self, write: Awaitable[object]) -> bool:
        """Return False if the store fails, or reports a failure itself. The first failure is
        logged."""
        try:
            return await write is not False
        except MemTreeError as error:
            if not self._failing:
                logger.warning("%s.unwritten code=%s", self._name, error.code)
        except Exception as error:  # noqa: BLE001  a loop of the process: the next write goes on
            log.failure(f"{self._name}.failed", error)
        self._failing = True
        return False
