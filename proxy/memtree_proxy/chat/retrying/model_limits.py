"""What refusals of upstreams have shown about a model: its window, or that it takes no tools.

Kept by tenant: one tenant's key may reach other models than another's, and no tenant may change
what the server assumes for others."""

from __future__ import annotations

from collections import OrderedDict

from memtree.bounded import remember

MAX_KEPT = 4_096


class ModelLimits:
    """Of one process; windows in our tokens. The least recently used are forgotten."""

    def __init__(self) -> None:
        self._windows: OrderedDict[tuple[str, str], int] = OrderedDict()
        self._toolless: OrderedDict[tuple[str, str], None] = OrderedDict()

    def window(self, tenant: str, model: str) -> int | None:
        key = (tenant, model)
        if key in self._windows:
            self._windows.move_to_end(key)
        return self._windows.get(key)

    def learn(self, tenant: str, model: str, window: int) -> None:
        remember(self._windows, (tenant, model[:200]), window, MAX_KEPT)

    def takes_tools(self, tenant: str, model: str) -> bool:
        """True unless it has refused them."""
        return (tenant, model[:200]) not in self._toolless

    def learn_toolless(self, tenant: str, model: str) -> None:
        self._toolless[tenant, model[:200]] = None
        while len(self._toolless) > MAX_KEPT:
            self._toolless.popitem(last=False)
