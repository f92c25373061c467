"""Holds a request to context memory while it is handled, and tells why its history is sent whole.

`TurnRequest` is a posted history and what is asked of it (`CompressRequest`), with the turn that it
continues. A history that was sent whole is told from which size on it will be folded. Values and
pure functions, no ports.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from memtree.budget import epoch, packing
from memtree.budget.epoch import EpochTerms, EpochTurn
from memtree.budget.first_fold import FirstFold
from memtree.budget.packing import TokenLimits
from memtree.budget.prices import CAUTIOUS, Prices
from memtree.context.answer_state import Reason, with_size
from memtree.history import cache_control
from memtree.history.chat_history import History
from memtree.history.conversation_beginning import preamble
from memtree.history.keep_options import MARKS_ALONE, KeepOptions
from memtree.history.message import Message
from memtree.ports.context_store import ContinuedTurn
from memtree.ports.memory_sources import InjectedMemories

UNHURRIED = 3_600.0  # patience, in seconds, if a person watches a progress bar


@dataclass(frozen=True, slots=True)
class CompressRequest:
    """One request. All sizes are in tokens; `window` is the model's context, `reserve` its output.

    `mode`: `fresh` unfolds anew for every request, `stable` only appends to what was sent, `auto`
    is like `stable` but sends the history unchanged while that costs less.

    `patience`: seconds to wait for the tree of a history that does not fit without one. `whole`: a
    side request, sent unchanged if it fits. `alternate`: roles must alternate, so no user message
    may follow the memory message directly. `keep_first`: a short first message is sent whole,
    before the memory message. `client`: short name of the program that sent the request, "" if
    unknown. `markers`: cache markers in what is sent beside the messages (tools). `memories`: added
    to the memory message; if nothing is folded, the caller places them. `dialect`: the wire dialect
    that answers are sent in, "" for chats; an epoch never goes on in another one. `keep`: passages
    that must stay in each memory message, besides those that the user marked.
    """

    tenant: str
    messages: Sequence[Message]
    target: int = 20_000
    hard: bool = False
    window: int = 128_000
    reserve: int = 4_096
    tools_tokens: int = 0
    query: str | None = None
    mode: str = "fresh"
    expiration_days: int = 30
    prices: Prices = CAUTIOUS
    patience: float = 20.0
    whole: bool = False
    alternate: bool = False
    keep_first: bool = False
    markers: int = 0
    memories: InjectedMemories | None = None
    dialect: str = ""
    client: str = ""
    keep: KeepOptions = MARKS_ALONE

    def priced(self, posted: History) -> CompressRequest:
        """Return the request with the prices that its own cache markers imply; chats are sent to
        providers of all kinds, so their markers say nothing of prices."""
        if not self.dialect or not cache_control.lives_an_hour(posted):
            return self
        return replace(self, prices=self.prices.for_an_hour)

    @property
    def limits(self) -> TokenLimits:
        return TokenLimits.of(
            target=self.target,
            hard=self.hard,
            window=self.window,
            reserve=self.reserve,
            alternate=self.alternate,
            keep_first=self.keep_first,
        )


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


def first_fold(request: TurnRequest) -> FirstFold:
    """Return the first fold of a conversation of which nothing is folded yet."""
    ask = request.ask
    return FirstFold.of(
        request.posted,
        request.limits,
        fixed=request.fixed,
        carried=request.carried,
        window=ask.window,
        prices=ask.prices,
        mode=ask.mode,
        dialect=ask.dialect,
    )


def why_whole(admitted: packing.Pass, request: TurnRequest) -> str:
    """Return the reason of a history that is passed before prices are considered."""
    if request.ask.whole:
        return Reason.SIDE_REQUEST
    if admitted.folds_at is not None:
        return with_size(admitted.reason, admitted.folds_at)
    return with_size(admitted.reason, first_fold(request).folds_at())
