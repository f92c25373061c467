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

    def watch(self, told: Callable[[], None]) -> None:
        """Call `told` when the client has gone, which may have been before its request began."""
        self._told = told
        if self._gone:
            self.tell()

    def unwatch(self, told: Callable[[], None]) -> None:
        """`told` has no need to know any more. The next request of the connection may watch
        already: a handler may still have work once its answer is out."""
        if self._told == told:
            self._told = None

    def tell(self) -> None:
        self._gone = True
        told, self._told = self._told, None
        if told is not None:
            told()
