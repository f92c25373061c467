"""Transactions of memories: searches and pages run several statements on one state, and a saved
memory survives a crash.

A method is bound to its port and to the coroutine over `Sql` that implements it:

    add = writing(MemoryStore.add, saving.add)

The port defines the signature, the defaults and the docstring. The coroutine gets every parameter
by name, and the time of the store's clock if it has a parameter `now`.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from inspect import signature
from typing import Any, Concatenate, ParamSpec, TypeVar

from memtree.stores.parts import SqlPart
from memtree.stores.sql import Sql, Work

T = TypeVar("T")
P = ParamSpec("P")
Port = Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]
Method = Callable[Concatenate["MemoryTransactions", P], Coroutine[Any, Any, T]]


class MemoryTransactions(SqlPart):
    async def read_memories(self, work: Work[T]) -> T:
        return await self.database.read_state(work)

    async def write_memories(self, work: Work[T]) -> T:
        return await self.database.write(work, durable=True)


def reading(port: Port[P, T], work: Callable[..., Coroutine[Any, Any, T]]) -> Method[P, T]:
    """Bind a method that reads one state of the store."""
    call = _call(port, work)

    @wraps(port)
    async def method(self: MemoryTransactions, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.read_memories(call(self, args, kwargs))

    return method


def writing(port: Port[P, T], work: Callable[..., Coroutine[Any, Any, T]]) -> Method[P, T]:
    """Bind a method that writes. An erasure (`purge`) is followed by clearing the files."""
    call = _call(port, work)

    @wraps(port)
    async def method(self: MemoryTransactions, /, *args: P.args, **kwargs: P.kwargs) -> T:
        done = await self.write_memories(call(self, args, kwargs))
        if kwargs.get("purge"):
            await self.database.scrub(at_once=True)
        return done

    return method


def _call(
    port: Callable[..., Any], work: Callable[..., Coroutine[Any, Any, T]]
) -> Callable[[MemoryTransactions, tuple[Any, ...], dict[str, Any]], Work[T]]:
    """Return a function that binds the arguments of a call, without `self`, to the coroutine."""
    parameters = list(signature(port).parameters.values())[1:]
    names = [each.name for each in parameters]
    defaults = {each.name: each.default for each in parameters if each.default is not each.empty}
    timed = "now" in signature(work).parameters

    def call(part: MemoryTransactions, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Work[T]:
        given = {**defaults, **dict(zip(names, args, strict=False)), **kwargs}
        if timed:
            given["now"] = part.now()

        def run(sql: Sql) -> Coroutine[Any, Any, T]:
            return work(sql, **given)

        return run

    return call
