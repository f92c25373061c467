"""How many tokens there are and who gets them. Pure: decides, never waits.

    admit(sizes) -> Pass      the history fits as it is
                  | Refuse    what must be whole does not fit the model; waiting cannot help
                  | None      it has to be packed
    pack(sizes)  -> Packed    memory message + recent rounds, for the present question
    begin(sizes) -> Packed    the same for the first request of an epoch

Shares are those of DESIGN section 8 for an answer unfolded for the present question, found by
simulation and re-measured by `make bench`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from memtree.budget.epoch_budget import epoch_budget, least_memory
from memtree.budget.pinned_rounds import Rounds, pinned_rounds
from memtree.conversation.history import History
from memtree.unfolding.memory_message.memory_text import WRAPPER
from memtree.unfolding.plan import NOTHING_KEPT, KeptSpans, TextSpan

MARGIN = 0.05  # other tokenizers count differently
THRESHOLD = 10_000  # a shorter history passes as it is (the seed's number)
RECENT_SHARE = 0.075
LOOP_SHARE = 0.3  # agent loops keep their last three rounds within this
ASK_SHARE = 0.1  # of the target, for the user message that a cut tool loop works for
DECAY_FLOOR = 64
# Of the target, and tokens: for the log of what was done, within the memory message. More tokens
# for it in tool loops made agents dearer than the costs that are promised.
WORK_SHARE, MAX_WORK = 0.15, 1_500
WORK_FROM, WORK_GROWTH = 2_000, 0.3  # tokens of the target up to which it has none; of what is more

FIRST_SHARE = 0.2  # of the target, for a first message that goes whole
PINNED_SHARE = 0.25  # of the target, for rounds before the cut that load tools
LINE = "Understood."
LINE_TOKENS = 7  # of the message that it makes

# What an epoch starts with (DESIGN section 8), in shares of the target
SMALL_TARGET = 8_000
START, LOOP_START, SMALL_START = 0.3, 0.4, 0.25
LASTING_MEMORY = 0.175
LARGE_GROWTH, LARGE_MEMORY = 0.25, 0.7  # of the target in a request; of the usual memory, at least
HARD_RECENT = (
    0.1  # recent rounds of a chat under a hard target, of which `epoch_budget` has the rest
)
REQUESTS_OF_MEAN = 8


@dataclass(frozen=True, slots=True)
class TokenLimits:
    """Limits that one request sets, in tokens. `target` for everything but system messages; `hard`:
    given in the request itself. `prompt`: what is packed for the model at most, output reserve and
    margin already off. `alternate`: a user message of ours and one of the client have a line of the
    assistant between them. `keep_first`: the first message goes whole and first, where it is the
    user's and short. `largest`: what the model takes; the margin, a guess about its tokenizer,
    refuses nothing. None: as `prompt`."""

    target: int
    hard: bool
    prompt: int
    alternate: bool = False
    keep_first: bool = False
    largest: int | None = None

    @classmethod
    def of(
        cls,
        *,
        target: int,
        hard: bool,
        window: int,
        reserve: int,
        alternate: bool = False,
        keep_first: bool = False,
    ) -> TokenLimits:
        prompt = max(0, int(window * (1 - MARGIN)) - reserve)
        return cls(target, hard, prompt, alternate, keep_first, max(0, window - reserve))


class PassReason(StrEnum):
    """Why a history goes whole before any price is asked."""

    FITS = "fits"  # no larger than the target, or under 10,000 tokens
    ONE_ROUND = "one-round"  # nothing could be left out
    LARGE_ROUND = "large-round"  # without what could be left out it is too large all the same


@dataclass(frozen=True, slots=True)
class Pass:
    """Decision to send the history whole. `folds_at`: tokens of the history from which on it has to
    be folded, where a reason of its own says so; None: as `first_fold` reckons."""

    reason: PassReason = PassReason.FITS
    folds_at: int | None = None


@dataclass(frozen=True, slots=True)
class Packed:
    """Decision to fold the history: where it is cut, and how many tokens each part gets. `cut`:
    first message sent as it is. `recent`: tokens from there on. `memory`: tokens for the memory
    message (0: none). `head`: messages at the beginning that go whole before it, 0 or 1. `beside`:
    tokens of these, of lines of the assistant and of `pinned`: rounds before the cut that go whole
    behind the memory message. `ask`: tokens that are shown of the user message whose tool loop is
    cut. `reserved`: tokens that an epoch under a hard target keeps for the requests that follow.
    `kept`: what stands in the memory message whatever is asked."""

    cut: int
    recent: int
    memory: int
    head: int = 0
    beside: int = 0
    ask: int = 0
    pinned: Rounds = ()
    reserved: int = 0
    kept: KeptSpans = NOTHING_KEPT


@dataclass(frozen=True, slots=True)
class Refuse:
    limit: int
    tokens: int


def admit(history: History, limits: TokenLimits, fixed: int) -> Pass | Refuse | None:
    """Decide what can be decided before there is a tree; None: the history must be packed. `fixed`:
    tokens of system messages and tools."""
    room = limits.prompt - fixed
    total = history.tokens
    if total <= room and (total <= limits.target or total < THRESHOLD):
        return Pass()
    newest = history.size(history.cuts[-1])
    largest = limits.prompt if limits.largest is None else limits.largest
    if fixed + newest > largest:
        return Refuse(largest, fixed + newest)
    if newest == total:
        return Pass(PassReason.ONE_ROUND)  # which is never cut
    # Where the newest round alone is over the margin, leaving out what fits would win nothing.
    if newest > room and fixed + total <= largest:
        return Pass(PassReason.LARGE_ROUND, largest - fixed)
    return None


def work_tokens(target: int) -> int:
    """Tokens of a memory message that the log of what was done may have; none at small targets,
    where it would take the place of the answer."""
    return max(0, min(int(WORK_SHARE * target), int(WORK_GROWTH * (target - WORK_FROM)), MAX_WORK))


def most_sent(history: History, target: int) -> int:
    """Tokens that an answer under a hard target may have: more than the target only where the
    newest round, which is never cut, leaves no room for the least memory."""
    return max(target, history.size(history.cuts[-1]) + least_memory(target))


def pack(history: History, limits: TokenLimits, fixed: int) -> Packed:
    """The cut and the memory of an answer unfolded for the present question alone."""
    room = max(0, limits.prompt - fixed)
    target = min(limits.target, room)
    usual, loop = RECENT_SHARE * target, LOOP_SHARE * target
    cut, recent = _cut(history, target, usual, (loop, loop))
    cut, recent = _spare(history, target, cut, recent, least_memory(target))
    for head, pinned in _whole_before(history, limits, target, cut):
        beside = _beside(history, limits, cut, head, pinned)
        memory = target - recent - beside
        if memory < least_memory(target):
            if head or pinned:  # these go whole only where memory has its room beside them
                continue
            memory = max(memory, _least(history, target, cut, room - recent) - beside)
        if memory >= 2 * WRAPPER and cut:
            return Packed(cut, recent, memory, head, beside, int(ASK_SHARE * target), pinned)
    return Packed(cut, recent, 0)


def begin(history: History, limits: TokenLimits, fixed: int) -> Packed:
    """The cut and the memory that an epoch begins with: less than an answer for one question
    takes, so that there is room to grow."""
    room = max(0, limits.prompt - fixed)
    target = min(limits.target, room)
    most = target if limits.hard else room
    memory, reserved = _lasting_memory(history, target), 0
    aside = max(history.size(0, head) for head in _heads(history, limits, target, len(history)))
    if limits.hard:
        aside += _size(history, pinned_rounds(history, len(history), int(PINNED_SHARE * target)))
    start = LOOP_START if _looping(history) else START
    usual = (SMALL_START if target < SMALL_TARGET else start) * target - memory - aside
    if limits.hard:
        usual = HARD_RECENT * target
    second = (target - 2 * memory if limits.hard else min(target, room - memory)) - aside
    cut, recent = _cut(history, target, usual, (second, LOOP_SHARE * target))
    least = least_memory(target) if limits.hard else memory
    cut, recent = _spare(history, most, cut, recent, least)
    if limits.hard:
        spent = epoch_budget(target, mean_growth(history), recent + aside)
        memory, reserved = spent.memory, spent.reserved
    for head, pinned in _whole_before(history, limits, target, cut):
        beside = _beside(history, limits, cut, head, pinned)
        left = min(memory, most - recent - beside)
        if left < memory:
            if head or pinned:
                continue
            least = _least(history, target, cut, room - recent)
            if limits.hard:
                least = min(least, most_sent(history, target) - recent)
            left = max(left, least - beside)
        if left >= 2 * WRAPPER and cut:
            ask = int(ASK_SHARE * target)
            return Packed(cut, recent, left, head, beside, ask, pinned, reserved)
    return Packed(cut, recent, 0)


def _lasting_memory(history: History, target: int) -> int:
    """Tokens of the memory message of an epoch. The larger the rounds, the sooner the next one
    begins, so it is smaller where a request adds more than a quarter of the target."""
    step = max(1.0, mean_growth(history))
    share = max(LARGE_MEMORY, min(1.0, math.sqrt(LARGE_GROWTH * target / step)))
    # Less than two wrappers would be none, and so no epoch.
    return max(2 * WRAPPER, int(LASTING_MEMORY * target * share))


def mean_growth(history: History) -> float:
    """Tokens that a request adds to the history, on average over the newest ones."""
    requests, first = 0, len(history)
    for first in reversed(history.rounds):
        requests += history.facts[first].role == "assistant"
        if requests == REQUESTS_OF_MEAN:
            break
    return history.size(first) / (requests or len(history.rounds))


def _least(history: History, target: int, cut: int, room: int) -> int:
    """The least memory, but no more than what is left out, or the model's window, takes."""
    return min(least_memory(target), history.size(0, cut) + 2 * WRAPPER, room)


def _spare(history: History, most: int, cut: int, recent: int, memory: int) -> tuple[int, int]:
    """The cut, behind all rounds but the newest where more of them leave no room for memory."""
    newest = history.cuts[-1]
    if cut < newest and recent + memory > most:
        return newest, history.size(newest)
    return cut, recent


def _heads(history: History, limits: TokenLimits, target: int, cut: int) -> tuple[int, ...]:
    """How many messages at the beginning may go whole before the memory message, the best first.
    Where only the first message is cut off, that is what memory is for."""
    first = history.facts[0]
    short = first.role == "user" and first.tokens < FIRST_SHARE * target
    return (1, 0) if limits.keep_first and short and cut > 1 else (0,)


def _whole_before(
    history: History, limits: TokenLimits, target: int, cut: int
) -> Iterator[tuple[int, Rounds]]:
    """Yield what may go whole beside the memory message, head and pinned rounds, the best first."""
    pinned = pinned_rounds(history, cut, int(PINNED_SHARE * target))
    for head in _heads(history, limits, target, cut):
        yield head, pinned
    if pinned:
        yield 0, ()


def _beside(history: History, limits: TokenLimits, cut: int, head: int, pinned: Rounds) -> int:
    lines = sum(lines_at(history, cut, head)) if limits.alternate else 0
    return history.size(0, head) + lines * LINE_TOKENS + _size(history, pinned)


def _size(history: History, rounds: Rounds) -> int:
    return sum(history.size(start, end) for start, end in rounds)


def lines_at(history: History, cut: int, head: int) -> tuple[bool, bool]:
    """Return whether a user message of the client stands right before, and right behind, the memory
    message; strict templates skip system messages or take none there."""
    return head > 0, cut < len(history) and history.facts[cut].role == "user"


def _cut(history: History, target: int, usual: float, loop: tuple[float, float]) -> tuple[int, int]:
    """The cut and the size of what follows: whole rounds, the newest always, more while they
    have at most `usual` tokens. Where tools are at work the second and third go up to `loop`."""
    starts = history.cuts
    looping = _looping(history)

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


def _looping(history: History) -> bool:
    """Return True if tools are at work."""
    first = history.cuts[-3:][0]
    return any(fact.answers is not None for fact in history.facts[first:])


def _open_with_assistant(
    history: History, size: Callable[[int], int], kept: int, total: int, target: int, widest: float
) -> tuple[int, int]:
    """Strict templates reject user after user: let an assistant round follow the memory message.
    Up to `widest` by one round more, else by one less."""
    starts = history.cuts
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


def decay(history: History, first: int, cut: int, budget: int) -> tuple[TextSpan, ...]:
    """Spans that stand for messages [first, cut) when there is no tree over them.

    The newest round gets half of the budget, each older one half of what the next one had; a
    round over its share is cut in the middle, and below 64 tokens it is dropped.
    """
    spans: list[TextSpan] = []
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


def _ends(message: int, length: int, keep: float) -> list[TextSpan]:
    """Head and tail of a text of `length` characters, `keep` of it in all."""
    if keep >= 1:
        return [TextSpan(message, 0, length)] if length else []
    half = int(length * keep / 2)
    return [TextSpan(message, 0, half), TextSpan(message, length - half, length)] if half else []
