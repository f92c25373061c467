"""How many tokens there are and who gets them. Pure: decides, never waits.

    decide(sizes) -> Pass      the history fits as it is
                   | Packed    memory message + recent rounds: a cut and a budget
                   | Wait      stage 1 of this history runs elsewhere, and is needed
                   | Refuse    what must be whole does not fit the model; waiting cannot help

Shares are those of DESIGN section 8 for an answer unfolded for the present question, found by
simulation and re-measured by `make bench`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from memtree.history import History
from memtree.plan import Span

MARGIN = 0.05  # other tokenizers count differently
THRESHOLD = 10_000  # a shorter history passes as it is (the seed's number)
WRAPPER = 60
RECENT_SHARE = 0.075
LOOP_SHARE = 0.3  # agent loops keep their last three rounds within this
SOFT_MEMORY_SHARE = 0.25  # memory beside a newest round that fills a soft target alone
DECAY_FLOOR = 64

# What an epoch starts with (DESIGN section 8), in shares of the target
SMALL_TARGET = 8_000
START, SMALL_START = 0.4, 0.25
LASTING_MEMORY = 0.175


@dataclass(frozen=True, slots=True)
class Limits:
    """`target` for everything but system messages; `hard`: given in the request itself.
    `prompt`: what the model takes, output reserve and margin already off."""

    target: int
    hard: bool
    prompt: int

    @classmethod
    def of(cls, *, target: int, hard: bool, window: int, reserve: int) -> Limits:
        return cls(target, hard, max(0, int(window * (1 - MARGIN)) - reserve))


@dataclass(frozen=True, slots=True)
class Pass:
    pass


@dataclass(frozen=True, slots=True)
class Packed:
    """`cut`: first message sent as it is. `recent`: tokens from there on. `memory`: tokens for
    the memory message (0: none)."""

    cut: int
    recent: int
    memory: int


@dataclass(frozen=True, slots=True)
class Wait:
    pass


@dataclass(frozen=True, slots=True)
class Refuse:
    limit: int
    tokens: int


Decision = Pass | Packed | Wait | Refuse


def decide(
    history: History, limits: Limits, fixed: int, *, tree: bool, busy: bool = False
) -> Decision:
    """`fixed`: tokens of system messages and tools. `tree`: stage 1 is at hand for the whole
    history. `busy`: it is being built elsewhere."""
    room = limits.prompt - fixed
    total = history.tokens
    target = min(limits.target, room)
    if total <= room and (total <= target or total < THRESHOLD):
        return Pass()
    newest = history.size(history.rounds[-1])
    if newest > room:
        return Refuse(limits.prompt, fixed + newest)
    if busy and not tree:
        return Wait()
    usual, loop = RECENT_SHARE * target, LOOP_SHARE * target
    cut, recent = _cut(history, target, usual, (loop, loop))
    memory = target - recent
    if memory < 2 * WRAPPER and not limits.hard:
        memory = min(int(SOFT_MEMORY_SHARE * target), room - recent)
    return Packed(cut, recent, memory if memory >= 2 * WRAPPER and cut else 0)


def begin(history: History, limits: Limits, fixed: int) -> Packed:
    """The cut and the memory that an epoch begins with: less than an answer for one question
    takes, so that there is room to grow, and more of it recent rounds."""
    room = limits.prompt - fixed
    target = min(limits.target, room)
    most = target if limits.hard else room
    memory = int(LASTING_MEMORY * target)
    usual = (SMALL_START if target < SMALL_TARGET else START) * target - memory
    second = target - 2 * memory if limits.hard else min(target, room - memory)
    cut, recent = _cut(history, target, usual, (second, LOOP_SHARE * target))
    memory = min(memory, most - recent)
    return Packed(cut, recent, memory if memory >= 2 * WRAPPER and cut else 0)


def _cut(history: History, target: int, usual: float, loop: tuple[float, float]) -> tuple[int, int]:
    """The cut and the size of what follows: whole rounds, the newest always, more while they
    have at most `usual` tokens. Where tools are at work the second and third go up to `loop`."""
    starts = history.rounds
    looping = any(fact.answers is not None for fact in history.facts[starts[-3:][0] :])

    def size(back: int) -> int:
        """Tokens of the round that is `back`-th from the end, 1 the newest."""
        return history.size(starts[-back], starts[-back + 1] if back > 1 else None)

    kept, total = 1, size(1)
    while kept < len(starts):
        limit = max(usual, loop[kept - 1]) if looping and kept <= len(loop) else usual
        wider = total + size(kept + 1)
        if wider > limit:
            break
        kept, total = kept + 1, wider
    widest = max(usual, *loop) if looping and kept <= len(loop) + 1 else 0.0
    kept, total = _open_with_assistant(history, size, kept, total, target, widest)
    return starts[-kept], total


def _open_with_assistant(
    history: History, size: Callable[[int], int], kept: int, total: int, target: int, widest: float
) -> tuple[int, int]:
    """Strict templates reject user after user: let an assistant round follow the memory message.
    Up to `widest` by one round more, else by one less."""
    starts = history.rounds
    if history.facts[starts[-kept]].role != "user":
        return kept, total
    if kept < len(starts) and history.facts[starts[-kept - 1]].role == "assistant":
        wider = total + size(kept + 1)
        if wider <= widest:
            return kept + 1, wider
    if kept > 1:
        return kept - 1, total - size(kept)
    if len(starts) > 1 and history.facts[starts[-2]].role == "assistant":
        wider = total + size(2)
        if wider <= 2 * RECENT_SHARE * target + total and wider <= target - 2 * WRAPPER:
            return 2, wider
    return kept, total


def decay(history: History, first: int, cut: int, budget: int) -> tuple[Span, ...]:
    """Spans that stand for messages [first, cut) when there is no tree over them.

    The newest round gets half of the budget, each older one half of what the next one had; a
    round over its share is cut in the middle, and below 64 tokens it is dropped.
    """
    spans: list[Span] = []
    share = budget / 2
    for start, end in reversed([r for r in history.round_ends() if first <= r[0] < cut]):
        if share < DECAY_FLOOR:
            break
        total = max(1, history.size(start, end))
        keep = min(1.0, share / total)
        for message in range(start, end):
            spans.extend(_ends(message, len(history.view(message).text), keep))
        share = share / 2 if keep < 1 else (share - total) / 2 + share / 2
    return tuple(sorted(spans))


def _ends(message: int, length: int, keep: float) -> list[Span]:
    """Head and tail of a text of `length` characters, `keep` of it in all."""
    if keep >= 1:
        return [Span(message, 0, length)] if length else []
    half = int(length * keep / 2)
    return [Span(message, 0, half), Span(message, length - half, length)] if half else []
