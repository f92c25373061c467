"""A request that is cancelled at one of its awaits, whichever task of its waits there."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextvars import ContextVar
from typing import Any

_counted: ContextVar[Awaits | None] = ContextVar("counted", default=None)


class Awaits:
    """Counts the awaits of a request and of its tasks; the request is cancelled `delay` seconds
    after number `at` of them has begun."""

    def __init__(self, at: int, delay: float) -> None:
        self.at, self.delay, self.count = at, delay, 0
        self.request: asyncio.Task[Any] | None = None

    def passed(self) -> None:
        self.count += 1
        if self.count != self.at or self.request is None:
            return
        if self.delay:
            asyncio.get_running_loop().call_later(self.delay, self.request.cancel)
        else:
            self.request.cancel()


class _Counting(Coroutine[Any, Any, Any]):
    def __init__(self, inner: Coroutine[Any, Any, Any], awaits: Awaits) -> None:
        self._inner, self._awaits = inner, awaits

    def send(self, value: Any) -> Any:
        waited_for = self._inner.send(value)
        self._awaits.passed()
        return waited_for

    def throw(self, *error: Any) -> Any:
        waited_for = self._inner.throw(*error)
        self._awaits.passed()
        return waited_for

    def close(self) -> None:
        self._inner.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        raise NotImplementedError


def _task(loop: asyncio.AbstractEventLoop, work: Any, **named: Any) -> asyncio.Task[Any]:
    awaits = (named.get("context") or {}).get(_counted) or _counted.get()
    if awaits is not None:
        work = _Counting(work, awaits)
    return asyncio.Task(work, loop=loop, **named)


async def cancelled_at(at: int, request: Callable[[], Awaitable[object]], delay: float = 0) -> bool:
    """Make a request and cancel it at its await number `at`, or `delay` seconds later, when a
    thread that it waits for is at work; return False if it has fewer."""
    loop = asyncio.get_running_loop()
    before = loop.get_task_factory()
    loop.set_task_factory(_task)
    awaits = Awaits(at, delay)
    token = _counted.set(awaits)

    async def whole() -> None:
        await request()

    try:
        awaits.request = asyncio.create_task(whole())
    finally:
        _counted.reset(token)
    try:
        await asyncio.wait((awaits.request,))
    finally:
        loop.set_task_factory(before)
    return awaits.count >= at
