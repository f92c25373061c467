"""Tell whoever watches what a request is doing; without a watch nothing is measured.

The use case names its steps, and knows no clock: the watch has one, and makes of them times,
spans and names in log lines (`proxy.trace`). It stands in a context variable, so that threads and
tasks of a request find it, and functions between do not have to hand it on.

    with steps.step("look_up"):
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
    """Watches one request, or one piece of work in the background."""

    @property
    def request(self) -> str:
        """The id of the request that this belongs to."""
        ...

    def step(self, name: str) -> AbstractContextManager[None]:
        """A part of the work. Steps may lie in each other and beside each other, and may be left
        by an error, which goes on."""
        ...

    def behind(self, name: str) -> AbstractContextManager[Tracer]:
        """Work that goes on when the request is over; it has a watch of its own."""
        ...


# What there is to do, in the order of a request. Metrics have a label for each: keep it short.
STEPS = ("parse", "memories", "read", "look_up", "grow", "write", "vectors", "debts", "embed",
         "rank", "pack", "wait", "upsert_memory", "search_memory", "update_memory",
         "delete_memory")  # fmt: skip

_NOTHING = nullcontext()
_watch: ContextVar[Tracer | None] = ContextVar("memtree_watch", default=None)


def current() -> Tracer | None:
    """The watch of what runs here."""
    return _watch.get()


def step(name: str) -> AbstractContextManager[None]:
    """One of `STEPS`, for the watch of what runs here."""
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
    """Give this watch to the code that runs in the block, and to the tasks that it starts."""
    before = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(before)


@contextmanager
def behind(name: str, watch: Tracer | None) -> Iterator[None]:
    """A block of background work that a watched request has begun; `watch`: the request's."""
    if watch is None:
        with watched(None):
            yield
        return
    with watch.behind(name) as own, watched(own):
        yield
