"""Report the steps of a request to its tracer; without one nothing is measured.

The use case names its steps, and knows no clock: the tracer has one, and turns the steps into
times, spans and names in log lines (`memtree_proxy/http`). It is kept in a context variable, so
that threads and tasks of a request find it, and functions do not have to pass it on.

    with tracing.step("look_up"):
        covered = await covering(store, posted)
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import wraps
from typing import ParamSpec, Protocol, TypeVar

Args = ParamSpec("Args")
Result = TypeVar("Result")


class Tracer(Protocol):
    """Traces one request, or one piece of background work."""

    @property
    def request(self) -> str:
        """Return the id of the request that this belongs to."""
        ...

    def step(self, name: str) -> AbstractContextManager[None]:
        """Trace a part of the work. Steps may be nested or concurrent; an error inside one is
        passed on."""
        ...

    def behind(self, name: str) -> AbstractContextManager[Tracer]:
        """Trace work that continues after the request; it has a tracer of its own."""
        ...


# Steps of a request, in order. Metrics have a label for each: keep the list short.
STEPS = ("parse", "memories", "read", "look_up", "grow", "write", "vectors", "debts", "embed",
         "rank", "pack", "wait", "upsert_memory", "search_memory", "update_memory",
         "delete_memory")  # fmt: skip

_NOTHING = nullcontext()
_watch: ContextVar[Tracer | None] = ContextVar("memtree_watch", default=None)


def current() -> Tracer | None:
    """Return the tracer of the running task."""
    return _watch.get()


def step(name: str) -> AbstractContextManager[None]:
    """Trace one of `STEPS` with the tracer of the running task."""
    watch = _watch.get()
    return _NOTHING if watch is None else watch.step(name)


def stepped(
    name: str,
) -> Callable[[Callable[Args, Awaitable[Result]]], Callable[Args, Awaitable[Result]]]:
    """Make each call of an asynchronous function one of `STEPS`."""

    def decorated(function: Callable[Args, Awaitable[Result]]) -> Callable[Args, Awaitable[Result]]:
        @wraps(function)
        async def timed(*args: Args.args, **kwargs: Args.kwargs) -> Result:
            with step(name):
                return await function(*args, **kwargs)

        return timed

    return decorated


@contextmanager
def watched(watch: Tracer | None) -> Iterator[None]:
    """Give this tracer to the code that runs in the block, and to the tasks that it starts."""
    before = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(before)


@contextmanager
def behind(name: str, watch: Tracer | None) -> Iterator[None]:
    """Trace a block of background work started by a traced request; `watch`: the request's
    tracer."""
    if watch is None:
        with watched(None):
            yield
        return
    with watch.behind(name) as own, watched(own):
        yield
