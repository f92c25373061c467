"""Outcome of context memory for one ended request: the event that metrics and tallies count.

It contains no text, no credential and no model's name.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from memtree.context.state import State
from memtree_proxy.observability.request_trace import Trace


class MemoryOutcome(NamedTuple):
    """Outcome of memory for one request, in numbers and words of fixed lists. Tokens are None if
    memory did not count, or sent nothing. `recall_tokens`: of those sent, in recall blocks.
    `saved`: compared with sending everything, in uncached input tokens; a loss is negative.
    `epoch`: `begun`, `continued`, or "" if nothing was folded; `stays`: see `Answer`. `memory_ms`:
    time that memory added. `input_price`: of a million uncached input tokens, in money.
    `explained`: the request only shows what a model would see. `wrap_run`: of `memtree wrap`.
    `came`: unix seconds, which decide the day of the request; None: now."""

    tenant: str
    state: State
    mode: str = ""
    reason: str = ""
    raw_tokens: int | None = None
    sent_tokens: int | None = None
    recall_tokens: int = 0
    saved: int = 0
    epoch: str = ""
    stays: int = 0
    memory_ms: float | None = None
    input_price: float | None = None
    explained: bool = False
    wrap_run: str = ""
    came: float | None = None


class OutcomeSink(Protocol):
    """Counts outcomes. Never raises and never waits."""

    def count(self, outcome: MemoryOutcome) -> None: ...


def memory_outcome(seen: Trace) -> MemoryOutcome | None:
    """Return the outcome of a request. None for requests of other routes, requests that only index,
    and requests that were cancelled before memory decided."""
    if not seen.memory.state or seen.entry.index_only:
        return None
    return MemoryOutcome(
        seen.tenant or "",
        seen.memory.state,
        seen.memory.mode or "",
        seen.memory.reason.partition(";")[0],
        seen.memory.raw_tokens,
        seen.memory.sent_tokens,
        seen.memory.recall_tokens or 0,
        seen.entry.saving.saved if seen.entry.saving else 0,
        "" if seen.memory.epoch is None else "continued" if seen.memory.continued else "begun",
        seen.memory.stays,
        seen.memory.ms,
        seen.memory.input_price,
        seen.entry.explained,
        seen.entry.wrap_run,
        seen.entry.came,
    )
