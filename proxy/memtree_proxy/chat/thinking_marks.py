"""Histories whose thinking an upstream no longer accepts, by address.

Once thinking was removed from a prompt it must stay removed: newer thinking is bound to the prompt
without it. So each later request that continues such a history leaves it out again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from memtree.context.answer import begun_at
from memtree.context.context_memory import ContextMemory
from memtree.context.request import CompressRequest

MAX_TENANTS = 1_024
MAX_MARKS = 64  # of one tenant


class ThinkingMarks:
    """Marks of one process; only addresses are stored; least recently used first out."""

    def __init__(self) -> None:
        self._marks: OrderedDict[str, OrderedDict[bytes, None]] = OrderedDict()

    def fold(self, tenant: str) -> None:
        """Record that something of this tenant was folded: thinking from after the fold may come
        back later."""
        self._marks.setdefault(tenant, OrderedDict())
        self._marks.move_to_end(tenant)
        while len(self._marks) > MAX_TENANTS:
            self._marks.popitem(last=False)

    def has_folded(self, tenant: str) -> bool:
        return tenant in self._marks

    def mark(self, tenant: str, address: bytes) -> None:
        """Record that no thinking before the end of this history is accepted."""
        self.fold(tenant)
        marks = self._marks[tenant]
        marks[address] = None
        marks.move_to_end(address)
        while len(marks) > MAX_MARKS:
            marks.popitem(last=False)

    def any(self, tenant: str) -> bool:
        return bool(self._marks.get(tenant))

    def length(self, tenant: str, addresses: Sequence[bytes]) -> int:
        """Return how many messages of a history precede its newest mark. `addresses`: of each of
        its prefixes, by their length; the longest last."""
        marks = self._marks.get(tenant, OrderedDict())
        for length in range(len(addresses) - 1, 0, -1):
            if addresses[length] in marks:
                return length
        return 0

    def forget(self, tenant: str | None) -> None:
        """Forget the marks of a tenant, or of all tenants (None)."""
        if tenant is None:
            self._marks.clear()
        else:
            self._marks.pop(tenant, None)


async def thinks_from(memory: ContextMemory, marks: ThinkingMarks, ask: CompressRequest) -> int:
    """Return the message (index in the request's messages) before which no thinking may be sent."""
    if not marks.any(ask.tenant):
        return 0
    posted = await memory.read(ask)
    length = marks.length(ask.tenant, posted.addresses)
    return begun_at(posted, ask, length) if length else 0
