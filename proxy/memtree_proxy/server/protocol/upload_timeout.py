"""Time limits for a client's upload: for pauses, and for very slow transfer.

Only time in which the server waits for the client counts. A body that is relayed to a slow upstream
is read slowly, and that is not the client's fault.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from starlette.types import Message, Receive

from memtree.errors import RequestTimeout

MIN_BYTES_PER_SECOND = 1_000
CRAWL = 4  # factor for the longest pause: how long a body may arrive more slowly than that


class Upload:
    """The body of one request while it is received. `seconds`: the longest pause."""

    def __init__(self, seconds: float, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._monotonic = monotonic
        self._waited = 0.0
        self._size = 0

    async def next(self, receive: Receive) -> Message:
        """Receive the next message. Raises `RequestTimeout`."""
        started = self._monotonic()
        try:
            async with asyncio.timeout(self._seconds):
                message = await receive()
        except TimeoutError as error:
            raise RequestTimeout(
                f"No more of the request body arrived in {self._seconds:.0f} s."
            ) from error
        self._waited += self._monotonic() - started
        self._size += len(message.get("body", b""))
        if self._crawls and message.get("more_body"):
            raise RequestTimeout(
                f"The request body arrived at less than {MIN_BYTES_PER_SECOND} bytes a second."
            )
        return message

    @property
    def _crawls(self) -> bool:
        slow = self._size < self._waited * MIN_BYTES_PER_SECOND
        return slow and self._waited > CRAWL * self._seconds
