"""Request to context memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memtree.budget.packing import TokenLimits
from memtree.budget.prices import CAUTIOUS, Prices
from memtree.history import cache_control
from memtree.history.chat_history import History
from memtree.history.keep_options import MARKS_ALONE, KeepOptions
from memtree.history.message import Message
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
