"""Tell a request that its client has disconnected, without a task that waits for it."""

from __future__ import annotations

from collections.abc import Callable


class HangUp:
    """Watches one connection for a disconnect; the connection has one active request at a time."""

    KEY = "memtree.hang_up"  # key in the scope of a request
    __slots__ = ("_gone", "_told")

    def __init__(self) -> None:
        self._gone = False
        self._told: Callable[[], None] | None = None

    def watch(self, callback: Callable[[], None]) -> None:
        """Call `callback` when the client disconnects, also if it did so before its request
        began."""
        self._told = callback
        if self._gone:
            self.tell()

    def unwatch(self, callback: Callable[[], None]) -> None:
        """Stop watching for `callback`. The next request of the connection may watch already: a
        handler may still have work after its answer is sent."""
        if self._told == callback:
            self._told = None

    def tell(self) -> None:
        self._gone = True
        callback, self._told = self._told, None
        if callback is not None:
            callback()
