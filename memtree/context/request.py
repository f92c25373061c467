"""Request of a caller to context memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memtree.budget.packing import TokenLimits
from memtree.budget.prices import CAUTIOUS, Prices
from memtree.conversation import cache_control
from memtree.conversation.history import History
from memtree.conversation.keep_options import MARKS_ALONE, KeepOptions
from memtree.conversation.message import Message
from memtree.ports.memory_lines import InjectedMemories

UNHURRIED = 3_600.0  # patience where a person watches a progress bar


@dataclass(frozen=True, slots=True)
class CompressRequest:
    """One request. Tokens throughout; `window` is the model's context, `reserve` its output.

    `mode`: `fresh` unfolds for every request anew, `stable` keeps what is sent growing at its end,
    `auto` is stable but sends the history as it is while that costs less.

    `patience`: seconds that may be spent on a tree without which the history does not fit.
    `whole`: a side request, sent as it is where it fits. `alternate`: no user message right behind
    the memory message. `keep_first`: the first message goes whole and first where it is short.
    `client`: the program that asks, in short, "" where that is not known.
    `markers`: cache markers in what is sent beside the messages (tools). `memories`: shown beside
    what is folded; where nothing is, they are the caller's to place. `dialect`: the wire dialect
    that answers are sent in, "" for chats; an epoch never goes on in another one. `keep`: what is
    to stay in each memory message, beside what the user marked.
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
        """Return the request with the prices that its own cache markers ask for; those of chats are
        sent to providers of all kinds, and say nothing of prices."""
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
