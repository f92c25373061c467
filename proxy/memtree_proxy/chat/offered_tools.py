"""Which tools of ours the requests of an epoch have, where what a model thinks is bound to them.

The first request of an epoch decides. A later one may have fewer, where the client leaves no place
for ours, but never others: each change would cost what was thought since.
"""

from __future__ import annotations

from collections import OrderedDict

from memtree.bounded import remember
from memtree.dialects.tool_definitions import ToolGroup
from memtree_proxy.chat.tool_session import ToolSession

MAX_KEPT = 4_096


class OfferedTools:
    """Of one process; the epochs that were seen longest ago are forgotten."""

    def __init__(self) -> None:
        self._groups: OrderedDict[tuple[str, str], tuple[ToolGroup, ...]] = OrderedDict()

    def settled(self, tenant: str, epoch: str, session: ToolSession | None) -> ToolSession | None:
        """The session with the tools of its epoch alone; None where it has none of them."""
        key = (tenant, epoch)
        present = session.offer.groups if session else ()
        first = self._groups.get(key, present)
        remember(self._groups, key, first, MAX_KEPT)
        if session is None or present == first:
            return session
        return session.only(first)
