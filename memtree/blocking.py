"""The library for programs without an event loop. Connection pools and the embedder are bound to
the loop that opened them, so each open memory has one loop, in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar

from memtree.memory import MemTree, SavedMemories, open_memory
from memtree.tenant_names import LOCAL

P = ParamSpec("P")
T = TypeVar("T")


class LoopThread:
    """A thread that runs an event loop until it is closed."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="memtree", daemon=True)
        self._thread.start()

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of `work`, which runs in the thread. Ctrl-C cancels it."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def blocking(self, method: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            return self.wait(method(*args, **kwargs))

        return call

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()


class SavedMemoriesSync:
    """`SavedMemories` with blocking methods."""

    def __init__(self, memories: SavedMemories, thread: LoopThread) -> None:
        self.save = thread.blocking(memories.save)
        self.search = thread.blocking(memories.search)
        self.list = thread.blocking(memories.list)
        self.delete = thread.blocking(memories.delete)


class MemTreeSync:
    """`MemTree` with blocking methods. Several threads may use it at once."""

    def __init__(self, memory: MemTree, thread: LoopThread) -> None:
        self._memory, self._thread = memory, thread
        self.compress = thread.blocking(memory.compress)
        self.explain = thread.blocking(memory.explain)
        self.search = thread.blocking(memory.search)
        self.delete = thread.blocking(memory.delete)
        self.settle = thread.blocking(memory.settle)

    def of(self, owner: str) -> SavedMemoriesSync:
        return SavedMemoriesSync(self._memory.of(owner), self._thread)


@contextmanager
def open_memory_sync(store: str, *, tenant: str = LOCAL, **settings: Any) -> Iterator[MemTreeSync]:
    """Open a store as `open_memory` does, for code that does not await."""
    thread = LoopThread()
    try:
        opened = open_memory(store, tenant=tenant, **settings)
        memory = thread.wait(opened.__aenter__())
        try:
            yield MemTreeSync(memory, thread)
        finally:
            thread.wait(opened.__aexit__(None, None, None))
    finally:
        thread.close()
