"""One request to context memory while it is handled: a posted history and what is asked of it, with
the turn that it continues. Values, no ports.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from memtree.budget import epoch
from memtree.budget.epoch import EpochTerms, EpochTurn
from memtree.budget.packing import TokenLimits
from memtree.context.request import CompressRequest
from memtree.history.chat_history import History
from memtree.history.preamble import preamble
from memtree.ports.store import ContinuedTurn


@dataclass(frozen=True)  # without slots: what is computed from it is cached
class TurnRequest:
    """`limits`: those of `ask`. `generation`: the tenant's deletion count when the request began.
    `patience`: seconds for stage 1. `backfill`: the history is not in use now, so stages 2 and 3 do
    others first. Known once its turn was looked up: `key` of the epochs that it may continue, `now`
    (unix seconds), `previous`, the newest turn on its chain, at a history of `previous_length`
    messages."""

    posted: History
    ask: CompressRequest
    limits: TokenLimits
    generation: int
    patience: float
    backfill: bool = False
    key: bytes = b""
    now: float = 0.0
    previous: ContinuedTurn | None = None
    previous_length: int = 0

    @property
    def tenant(self) -> str:
        return self.posted.tenant

    @property
    def conversation(self) -> tuple[str, bytes]:
        """Return a key that all requests of the conversation share: the tenant and the address of
        the first message."""
        return self.posted.tenant, self.posted.addresses[1]

    @property
    def fixed(self) -> int:
        """Return the tokens of system messages and tools."""
        return self.posted.system_tokens + self.ask.tools_tokens

    @cached_property
    def carried(self) -> int:
        """Return the tokens of the preamble, which is sent with the memory message."""
        return preamble(self.posted).tokens

    @cached_property
    def terms(self) -> EpochTerms:
        ask = self.ask
        return EpochTerms.of(self.limits, self.fixed + self.carried, ask.window, ask.prices)

    def epoch_key(self, recipe: str) -> bytes:
        """Return the key of the epochs that it may continue. `recipe`: names the ranking of
        passages."""
        ask = self.ask
        scope = ask.memories.scope if ask.memories else ""
        keep = (ask.keep.patterns, ask.keep.tools)
        return epoch.key(
            self.limits, ask.window, ask.prices, recipe, ask.query, scope, ask.dialect, keep
        )

    @property
    def address(self) -> bytes:
        return self.posted.addresses[-1]

    @property
    def stands_here(self) -> bool:
        """Return True if the turn that was found is stored for exactly this history."""
        return self.previous is not None and self.previous_length == len(self.posted)

    @property
    def again(self) -> bool:
        """Return True if this request repeats the previous turn's request exactly."""
        return self.stands_here and not self.partial

    @property
    def goes_behind_cut(self) -> bool:
        """Return True if the newest message is not part of what the epoch has folded, and no late
        result behind its cut answers a call before it."""
        if self.previous is None or (cut := self.previous.epoch.plan.cut) >= len(self.posted):
            return False
        return not any(caller < cut <= result for caller, result in self.posted.late)

    @property
    def partial(self) -> bool:
        return self.previous is not None and self.previous.turn.partial

    def blocks(self) -> dict[int, EpochTurn] | None:
        """Return the recall blocks that the previous turn sent, by message; None if one is lost."""
        if self.previous is None:
            return {}
        stored, addresses = self.previous.blocks, self.posted.addresses
        recalled = self.previous.turn.recalled
        if any(addresses[message + 1] not in stored for message in recalled):
            return None
        return {message: stored[addresses[message + 1]] for message in recalled}
