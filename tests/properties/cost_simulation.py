"""Simulate what a session costs, whole and folded, with sizes alone.

The rules are the product's (`first_fold`, `packing`, `epoch`); what is paid is reckoned here: of
each request the provider has cached what began the one before it. Each message of the user gets as
large a recall block as it may have, which is the dearest case.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle

from memtree.budget import epoch, packing
from memtree.budget.epoch import Epoch, EpochTerms, EpochTurn
from memtree.budget.first_fold import FirstFold
from memtree.budget.packing import TokenLimits
from memtree.budget.prices import Prices
from memtree.history.chat_history import History
from memtree.unfolding.memory_plan import Plan
from tests.properties.sizes import growing

Round = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Session:
    """`rounds`: what is said again and again; `fixed`: tokens of system messages and tools."""

    rounds: tuple[Round, ...]
    fixed: int
    target: int
    window: int = 1_000_000

    @property
    def limits(self) -> TokenLimits:
        return TokenLimits.of(target=self.target, hard=False, window=self.window, reserve=4_096)

    def requests(self, largest: float) -> Iterator[History]:
        """The history at each request, until it has `largest` tokens."""
        said = cycle(self.rounds)
        for history in growing(said):
            if history.facts[-1].role == "assistant":  # an answer is no request
                continue
            yield history
            if history.tokens > largest:
                return


@dataclass(frozen=True, slots=True)
class Moment:
    """`tokens` of the history; `ratio` of what was paid so far to what sending everything costs;
    `folded`: what is sent is a memory message and recent rounds."""

    tokens: int
    ratio: float
    folded: bool


def played(
    requests: Sequence[History],
    session: Session,
    prices: Prices,
    mode: str,
    billed: Prices | None = None,
) -> list[Moment]:
    """`prices`: by which is decided; `billed`: what the provider takes, where that differs."""
    limits, fixed, taken = session.limits, session.fixed, billed or prices
    terms = EpochTerms.of(limits, fixed, session.window, prices)
    moments: list[Moment] = []
    direct = paid = 0.0
    whole_before = sent_before = 0
    running: Epoch | None = None
    blocks: dict[int, EpochTurn] = {}
    for history in requests:
        whole = fixed + history.tokens
        direct += taken.cost(whole_before, whole - whole_before)
        goes_on = running is not None and epoch.stays(running, history, terms, _sum(blocks))
        if not goes_on:
            due = running is not None or _is_due(history, session, prices, mode)
            running, blocks = _begun(history, limits, fixed) if due else None, {}
        sent, cached = whole, whole_before
        if running is not None:
            if history.facts[-1].role == "user":
                room = epoch.block_room(running, history, terms, blocks, wants=True)
                blocks[len(history) - 1] = EpochTurn(b"", block_tokens=max(0, room))
            sent = fixed + running.memory + history.size(running.plan.cut) + _sum(blocks)
            cached = sent_before if goes_on else min(fixed, sent_before)
        paid += taken.cost(min(cached, sent), max(0, sent - cached))
        whole_before, sent_before = whole, sent
        moments.append(Moment(history.tokens, paid / direct, running is not None))
    return moments


def _is_due(history: History, session: Session, prices: Prices, mode: str) -> bool:
    if history.tokens <= max(session.target, packing.THRESHOLD):
        return False
    first = FirstFold.of(
        history,
        session.limits,
        fixed=session.fixed,
        carried=0,
        window=session.window,
        prices=prices,
        mode=mode,
    )
    return first.costs_little()


def _begun(history: History, limits: TokenLimits, fixed: int) -> Epoch | None:
    packed = packing.begin(history, limits, fixed)
    if not packed.memory:
        return None
    size = packed.memory + packed.recent
    return Epoch(b"", len(history), size, packed.memory, Plan(packed.cut), 0.0)


def _sum(blocks: dict[int, EpochTurn]) -> int:
    return sum(turn.block_tokens for turn in blocks.values())
