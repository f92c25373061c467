"""How a request learns that its client has gone, without a task that waits for it."""

from __future__ import annotations

from collections.abc import Callable


class HangUp:
    """Watch for the hang-up of one connection, which has one request under way at a time."""

    KEY = "memtree.hang_up"  # in the scope of a request
    __slots__ = ("_gone", "_told")

    def __init__(self) -> None:
        self._gone = False
        self._told: Callable[[], None] | None = None

    def watch(self, callback: Callable[[], None]) -> None:
        """Call `callback` when the client has gone, even if it went before its request began."""
        self._told = callback
        if self._gone:
            self.tell()

    def unwatch(self, callback: Callable[[], None]) -> None:
        """`callback` has no need to know any more. The next request of the connection may watch
        already: a handler may still have work once its answer is out."""
        if self._told == callback:
            self._told = None

    def tell(self) -> None:
        self._gone = True
        callback, self._told = self._told, None
        if callback is not None:
            callback()
