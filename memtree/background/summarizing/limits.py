"""Whom no call is made for, and what a tenant's status says: the day's limit, a model that is down,
a model that is of no use.

Values only: what happened comes in, `day` is days since 1970 (UTC).
"""

from __future__ import annotations

from collections import OrderedDict

from memtree.background.summarizing.call import Outcome
from memtree.process.bounded import MAX_TENANTS, remember

# Nodes of a tenant in a row of which no draft was accepted: something is wrong with the model, or
# with the text. Either must not be paid for at full speed, nor hold up other tenants.
USELESS = 8


class DayLimits:
    """Tenants that have reached their limit, with the day on which they did."""

    def __init__(self) -> None:
        self._days: OrderedDict[str, int] = OrderedDict()

    def reached(self, tenant: str, day: int) -> bool:
        """Return True if the tenant has reached its limit on this day."""
        return self._days.get(tenant) == day

    def stop(self, tenant: str, day: int) -> None:
        """Note that the tenant has reached its limit on this day."""
        remember(self._days, tenant, day)


class ModelHealth:
    """Health of the model: whether it answers at all, and whether its drafts are of use to each
    tenant."""

    def __init__(self) -> None:
        self.down = False  # its last call failed
        self._rejected: OrderedDict[str, int] = OrderedDict()  # tenant -> nodes in a row

    def observe(self, tenant: str, outcome: Outcome) -> bool:
        """Count what a call brought; True: nothing but rejected drafts for so long that the
        tenant's next calls have to wait."""
        if outcome.done or outcome.rejected:
            self.down = False  # it answers
        slow_down = False
        if outcome.done - outcome.kept:
            self._rejected.pop(tenant, None)
        elif outcome.kept:
            self._rejected[tenant] = self._rejected.get(tenant, 0) + len(outcome.kept)
            slow_down = self.useless(tenant)
        while len(self._rejected) > MAX_TENANTS:
            self._rejected.popitem(last=False)
        return slow_down

    def useless(self, tenant: str) -> bool:
        """Return True if all drafts of the tenant's last nodes were rejected."""
        return self._rejected.get(tenant, 0) >= USELESS
