"""Recognise refusals of thinking, and remember what refusals show about models and histories.

Some models sign their thinking together with the whole prompt before it. Thinking produced after a
fold is refused if the same history is sent unfolded, and the other way round.

    >>> is_about_thinking(400, b'{"error": {"message": "Invalid signature in thinking block. The '
    ...     b'block is bound to a different conversation."}}')
    True

Histories whose thinking an upstream no longer accepts are remembered by address. Once thinking was
removed from a prompt it must stay removed: newer thinking is bound to the prompt without it. So
each later request that continues such a history leaves it out again.

Of a model is remembered its window, or that it supports no tools. This is kept by tenant: one
tenant's key may reach other models than another's, and no tenant may change what the server assumes
for others. It is kept for an hour: after that there may be another model behind the name, and a
refusal may have had another reason. A window is learned from a shorter prompt that the model
accepted, or from the error that names it: then it is untested until the next prompt is accepted,
and no further error makes it smaller before.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from memtree.context.answer import begun_at
from memtree.context.context_memory import ContextMemory
from memtree.context.turn_request import CompressRequest
from memtree.history.json_body import Body
from memtree.process.bounded import remember

STATUS = 400
LONGEST = 16 * 1024  # bytes of an error that are searched
_SUBJECT = "thinking"
_REASONS = ("bound to a different conversation", "cannot be modified")
# Fields in which a client asks to drop or keep such blocks
_FIELD, _FIELDS = b"block_binding", ("thinking", "context_management")
_BETAS, _BETA = "anthropic-beta", "binding"


def is_about_thinking(status: int, body: bytes) -> bool:
    """Return True if an upstream refused a request because of its thinking. `body`: decoded; its
    beginning is enough."""
    if status != STATUS:
        return False
    text = body[:LONGEST].decode("utf-8", "replace").lower()
    return _SUBJECT in text and any(reason in text for reason in _REASONS)


def is_the_client_s(body: Body, headers: Mapping[str, str]) -> bool:
    """Return True if the client itself has specified how to handle such thinking."""
    if _BETA in headers.get(_BETAS, ""):
        return True
    named = _FIELD.decode() in body.spans
    return named or any(_FIELD in (body.fragment(name) or b"") for name in _FIELDS)


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
