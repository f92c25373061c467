"""Write what requests leave behind them, some at a time, to a store that may fail."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from contextlib import suppress

from memtree.errors import MemTreeError
from memtree_proxy.observability import log

logger = logging.getLogger("memtree")

PATIENCE = 5.0  # seconds for the last write


class BackgroundWriter:
    """Writes every `pace` seconds while something waits; `close` writes what is left. `name`: of
    its log events; `unit`: what it counts there."""

    def __init__(self, name: str, unit: str, pace: float) -> None:
        self._name, self._unit, self._pace = name, unit, pace
        self._failing = False
        self._stop = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def left(self) -> int:
        """How much waits."""
        raise NotImplementedError

    async def _write(self) -> None:
        """Write what waits, or as much as the store takes."""
        raise NotImplementedError

    def _begin(self) -> None:
        """Something waits."""
        if self._task is None and not self._stop.is_set():
            self._task = asyncio.create_task(self._run(), name=self._name)

    async def close(self) -> None:
        """Write what is left, within `PATIENCE`; what comes later is not written."""
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
            last = self._stop.is_set()  # before the write: what comes during it is written, too
            try:
                await self._write()
            except Exception as error:  # noqa: BLE001  a loop of the process: the next write goes on
                log.failure(f"{self._name}.failed", error)
            if last:
                return
            if not self._stop.is_set() and not self.left:
                self._task = None  # nothing runs while nothing comes
                return

    async def _stored(self, write: Awaitable[object]) -> bool:
        """Return False if the store fails, or says so itself. The first failure is logged."""
        try:
            return await write is not False
        except MemTreeError as error:
            if not self._failing:
                logger.warning("%s.unwritten code=%s", self._name, error.code)
        except Exception as error:  # noqa: BLE001  a loop of the process: the next write goes on
            log.failure(f"{self._name}.failed", error)
        self._failing = True
        return False
