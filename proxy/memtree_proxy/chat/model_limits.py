"""Remember what refusals of upstreams have shown about a model: its window, or that it supports no
tools.

Kept by tenant: one tenant's key may reach other models than another's, and no tenant may change
what the server assumes for others. Kept for an hour: after that there may be another model behind
the name, and a refusal may have had another reason. A window is learned from a shorter prompt that
the model accepted, or from the error that names it: then it is untested until the next prompt is
accepted, and no further error makes it smaller before.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from memtree.process.bounded import remember
from memtree_proxy.chat.thinking_marks import ThinkingMarks

MAX_KEPT = 4_096
LIFETIME = 3_600.0  # seconds
_LONGEST_NAME = 200  # characters of a model's name that are kept


class _LearnedLimit(NamedTuple):
    number: int
    at: float
    tested: bool = True


_Rows = OrderedDict[tuple[str, str], _LearnedLimit]


class ModelLimits:
    """The limits that one process has learned; windows in our tokens. Oldest first out."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._windows: _Rows = OrderedDict()
        self._toolless: _Rows = OrderedDict()

    def window(self, tenant: str, model: str) -> int | None:
        return self._known(self._windows, tenant, model)

    def learn(self, tenant: str, model: str, window: int) -> None:
        """Record a window for which a prompt was made smaller and accepted."""
        self._learn(self._windows, tenant, model, window)

    def learn_named(self, tenant: str, model: str, window: int) -> None:
        """Record a window that an error names, unless the one before is smaller and untested."""
        known = self.window(tenant, model) if self.is_untested(tenant, model) else None
        if known is None or window > known:
            self._learn(self._windows, tenant, model, window, tested=False)

    def is_untested(self, tenant: str, model: str) -> bool:
        """Return True if no prompt was accepted since an error named the window."""
        row = self._windows.get(_key(tenant, model))
        return row is not None and not row.tested

    def confirm(self, tenant: str, model: str) -> None:
        """Record that the model has accepted a prompt that was made for its window."""
        if self.is_untested(tenant, model):
            key = _key(tenant, model)
            self._windows[key] = self._windows[key]._replace(tested=True)

    def forget_window(self, tenant: str, model: str) -> None:
        self._windows.pop(_key(tenant, model), None)

    def takes_tools(self, tenant: str, model: str) -> bool:
        """Return False if the model has refused tools."""
        return self._known(self._toolless, tenant, model) is None

    def learn_toolless(self, tenant: str, model: str) -> None:
        self._learn(self._toolless, tenant, model, 0)

    def _learn(
        self, rows: _Rows, tenant: str, model: str, number: int, *, tested: bool = True
    ) -> None:
        row = _LearnedLimit(number, self._clock(), tested)
        remember(rows, _key(tenant, model), row, MAX_KEPT)

    def _known(self, rows: _Rows, tenant: str, model: str) -> int | None:
        row = rows.get(_key(tenant, model))
        return None if row is None or self._clock() - row.at >= LIFETIME else row.number


@dataclass(frozen=True, slots=True)
class LearnedRefusals:
    """Refusals of one dialect's upstreams that affect later requests of this process."""

    limits: ModelLimits = field(default_factory=ModelLimits)
    thinking: ThinkingMarks = field(default_factory=ThinkingMarks)


def _key(tenant: str, model: str) -> tuple[str, str]:
    return tenant, model[:_LONGEST_NAME]
