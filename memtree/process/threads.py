"""Run work in a thread that no cancelled caller leaves behind.

`asyncio.to_thread` returns as soon as its caller is cancelled, while the thread goes on. If the
caller then releases a lock, the next holder of it and the thread change the same object at once. So
whatever reads or changes an object that requests share is run by `in_thread`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import copy_context
from typing import ParamSpec, TypeVar

Args = ParamSpec("Args")
Result = TypeVar("Result")


async def in_thread(
    work: Callable[Args, Result], *args: Args.args, **kwargs: Args.kwargs
) -> Result:
    """Return the result of `work`, run in a thread. A caller that is cancelled meanwhile gets its
    `CancelledError` once the thread has ended, so that a lock which it holds is held until then;
    work that no thread has begun by then is left out."""
    context, cancelled = copy_context(), None

    def run() -> Result:
        if cancelled is not None:
            raise cancelled
        return context.run(work, *args, **kwargs)

    thread = asyncio.get_running_loop().run_in_executor(None, run)
    while not thread.done():
        try:
            await asyncio.wait((thread,))
        except asyncio.CancelledError as error:
            cancelled = cancelled or error
    if cancelled is not None:
        thread.exception()  # retrieves the error, which nobody awaits
        raise cancelled
    return thread.result()
