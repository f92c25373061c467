"""Tenants for which no call is made, and why: the day's limit, a model that is down, or one whose
drafts are all rejected.

Values only: events are passed in, `day` is days since 1970 (UTC).
"""

from __future__ import annotations

from collections import OrderedDict

from memtree.background.summarizing.call import CallOutcome
from memtree.process.bounded import MAX_TENANTS, remember

# So many nodes of a tenant in a row without an accepted draft mean that something is wrong with the
# model, or with the text. Such calls must neither be paid for at full speed nor delay other
# tenants.
USELESS = 8


class DayLimits:
    """Tenants that have reached their limit, with the day of it."""

    def __init__(self) -> None:
        self._days: OrderedDict[str, int] = OrderedDict()

    def reached(self, tenant: str, day: int) -> bool:
        """Return True if the tenant has reached its limit on this day."""
        return self._days.get(tenant) == day

    def stop(self, tenant: str, day: int) -> None:
        """Note that the tenant has reached its limit on this day."""
        remember(self._days, tenant, day)


class ModelHealth:
    """Health of the model: whether it answers at all, and for each tenant whether its drafts are
    accepted."""

    def __init__(self) -> None:
        self.down = False  # the last call failed
        self._rejected: OrderedDict[str, int] = OrderedDict()  # tenant -> rejected nodes in a row

    def observe(self, tenant: str, outcome: CallOutcome) -> bool:
        """Count the result of a call. Returns True if so many drafts in a row were rejected that
        the tenant's next calls must wait."""
        if outcome.done or outcome.rejected:
            self.down = False  # the model answers
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
