"""Divides the tokens of an answer between its parts, and chooses where the history is cut.

    admit(sizes) -> Pass      the history is sent whole
                  | Refuse    the part that must stay whole does not fit the model
                  | None      the history has to be packed
    pack(sizes)  -> Packed    memory message + recent rounds, for the present question
    begin(sizes) -> Packed    the same for the first request of an epoch

Pure: decides, never waits. Shares are those of DESIGN section 8 for an answer unfolded for the
present question, found by simulation and re-measured by `make bench`.

Within an epoch a hard target is divided by one continuous rule for every target (`epoch_budget`;
soft targets are handled by `begin` and in `epoch`):

    |-- recent rounds --|-- memory message --|-- spare --|-------- reserved --------| target

`reserved` is the expected size of the next requests at their present mean: their growth of the
history and, under a large target, their recall blocks. The memory message, which is unfolded for
the question that begins the epoch, takes the rest, except a spare part for varying sizes and for
blocks. It never shrinks when the target grows (docs/decisions/0018).

Some rounds before the cut stay whole, because a model may use a tool only while they are sent. A
client that defers its tools loads them from inside the history: a result names the tools that it
loads (`Message.loads`). If that round were folded, the tool would be unavailable, while the client
assumes it is loaded. So the latest such round of each tool stays, after the memory message.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

from memtree.digests.prose_calls import calls_in_text
from memtree.history.chat_history import History
from memtree.unfolding.memory_plan import NOTHING_KEPT, KeptSpans, TextSpan
from memtree.unfolding.memory_text import WRAPPER

# requests that an epoch reserves room for: with targets up to `SMALL` tokens, and from `LARGE` on
FEW, MANY = 3, 8
SMALL, LARGE = 8_000, 20_000
BLOCK = 0.05  # tokens of a planned recall block for each token of the target over `SMALL`
MOST_RESERVED, MOST_OF_LEFT = 0.42, 0.55  # of the target; of the part that recent rounds leave
SPARE, MOST_SPARE = 0.25, 0.08  # of the free tokens; of the target
ALIKE = 0.6  # of the maximal reserve: from there on, later questions count in full
WANTED = 0.6  # of a new epoch's memory message: a question that would get less begins a new epoch


@dataclass(frozen=True, slots=True)
class EpochBudget:
    """Division of a hard target between the present answer and later requests of its epoch.
    `memory`: tokens of the memory message. `reserved`: for the next `requests`. `alike`: weight of
    their questions relative to the present one, from 0 (rounds are short: another epoch costs
    little more than its memory message) to 1 (equal)."""

    memory: int
    reserved: int
    requests: float
    alike: float

    @property
    def wanted(self) -> float:
        """Return the tokens that must be left for a later question; with fewer, the question begins
        a new epoch."""
        return WANTED * self.memory * (1 - self.alike)


def epoch_budget(target: int, growth: float, recent: int) -> EpochBudget:
    """Divide a hard target. `growth`: tokens that a request adds to the history, on average;
    `recent`: tokens of the rounds that are sent whole.

    >>> [epoch_budget(target, 1_200, 1_200).memory for target in (4_000, 8_000, 12_000, 20_000)]
    [944, 2800, 4800, 8800]
    >>> [epoch_budget(target, 1_200, 1_200).reserved for target in (4_000, 8_000, 12_000, 20_000)]
    [1540, 3360, 5040, 8400]
    """
    long = min(1.0, max(0.0, (target - SMALL) / (LARGE - SMALL)))
    cost = growth + BLOCK * max(0, target - SMALL)
    demand = cost * (FEW + (MANY - FEW) * long)
    left = max(0, target - recent)
    most = min(MOST_RESERVED * target, MOST_OF_LEFT * left)
    # A request that does not fit into `most` ends the epoch, so little is reserved for it.
    reserved = max(0.0, min(demand, most, (3 * most - growth) / 2))
    free = left - reserved
    memory = max(free - min(SPARE * free, MOST_SPARE * target), least_memory(min(target, recent)))
    reserved = min(reserved, max(0.0, left - memory))
    alike = min(1.0, (demand / (ALIKE * most)) ** 4) if most else 1.0
    return EpochBudget(int(memory), int(reserved), reserved / cost if cost else 0.0, alike)


def least_memory(target: int) -> int:
    """Return the least tokens of a memory message if anything is left out, however large the newest
    round is."""
    return max(target // 4, min(1_000, target // 2))


Rounds = tuple[tuple[int, int], ...]  # (first message, end) of each, in order


def pinned_rounds(history: History, cut: int, most: int) -> Rounds:
    """Return, for each tool name, the latest round before `cut` that loads it, with the messages
    joined to it. At most `most` tokens in all, newest first: if a tool's round is too large, a
    smaller older one may stay, else none does, and the model has to load the tool again. The first
    message is never pinned; content that a client repeats there is carried as a preamble."""
    pinned: list[tuple[int, int]] = []
    names: set[str] = set()
    for start, end in _loading_rounds(history, cut):
        at = slice(bisect_left(history.loading, start), bisect_left(history.loading, end))
        loads = {name for at in history.loading[at] for name in history.messages[at].loads}
        size = history.size(start, end)
        if start and size <= most and not names.issuperset(loads):
            pinned.append((start, end))
            names |= loads
            most -= size
    return tuple(reversed(pinned))


def _loading_rounds(history: History, cut: int) -> Rounds:
    """Return the loading rounds before the cut, newest first."""
    cuts, before = history.cuts, bisect_left(history.loading, cut)
    places = sorted({bisect_right(cuts, at) - 1 for at in history.loading[:before]}, reverse=True)
    last = len(cuts) - 1
    return tuple((cuts[at], cuts[at + 1] if at < last else len(history)) for at in places)


MARGIN = 0.05  # other tokenizers give other counts
THRESHOLD = 10_000  # a shorter history is sent unchanged (the number is part of the specification)
RECENT_SHARE = 0.075
LOOP_SHARE = 0.3  # while tools are in use: the newest text says most of what the next step needs
ASK_SHARE = 0.1  # of the target, for the user message behind a cut tool loop
DECAY_FLOOR = 64
# Of the target, and tokens: for the work log, within the memory message. A larger log made agents
# more expensive than the costs that are promised.
WORK_SHARE, MAX_WORK = 0.15, 1_500
# tokens of the target up to which there is no log; its share of further tokens
WORK_FROM, WORK_GROWTH = 2_000, 0.3

FIRST_SHARE = 0.2  # of the target, for a first message that is sent whole
PINNED_SHARE = 0.25  # of the target, for rounds before the cut that load tools
LINE = "Understood."
LINE_TOKENS = 7  # added to the tokens of the message it makes

# Initial sizes of an epoch (DESIGN section 8), in shares of the target
SMALL_TARGET = 8_000
START, LOOP_START, SMALL_START = 0.3, 0.4, 0.25
LASTING_MEMORY = 0.175
# of the target, growth from which a request counts as large; least share of the usual memory
LARGE_GROWTH, LARGE_MEMORY = 0.25, 0.7
LEAST_MEMORY = 1_000  # tokens; with less room beside the newest round a hard target is exceeded
HARD_RECENT = 0.1  # recent rounds of a chat under a hard target; `epoch_budget` divides the rest
REQUESTS_OF_MEAN = 8


@dataclass(frozen=True, slots=True)
class TokenLimits:
    """Limits that one request sets, in tokens. `target` for everything but system messages; `hard`:
    the target was given in the request itself. `prompt`: most tokens that are packed for the model,
    after output reserve and margin. `alternate`: an assistant line separates our user message from
    one of the client. `keep_first`: a short first message of the user is sent whole, first.
    `largest`: most tokens that the model accepts, without the margin, which only guesses about its
    tokenizer and so refuses nothing. None: as `prompt`."""

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
    """Reason for sending a history whole before prices are considered."""

    FITS = "fits"  # no larger than the target, or under 10,000 tokens
    ONE_ROUND = "one-round"  # nothing could be left out
    LARGE_ROUND = "large-round"  # without the part that could be left out it is still too large


@dataclass(frozen=True, slots=True)
class Pass:
    """Decision to send the history whole. `folds_at`: tokens of the history from which on it must
    be folded, if a special reason determines that; None: `first_fold` estimates it."""

    reason: PassReason = PassReason.FITS
    folds_at: int | None = None


@dataclass(frozen=True, slots=True)
class Packed:
    """Decision to fold the history: where it is cut, and how many tokens each part gets. `cut`:
    first message sent unchanged. `recent`: tokens from there on. `memory`: tokens for the memory
    message (0: none). `head`: messages at the beginning that are sent whole before it, 0 or 1.
    `beside`: tokens of these, of assistant lines and of `pinned`: rounds before the cut that are
    sent whole after the memory message. `ask`: tokens shown of the user message whose tool loop is
    cut. `reserved`: tokens that an epoch under a hard target keeps for the next requests. `kept`:
    passages that must stay in the memory message. `tail`: tokens of the newest text that whole
    rounds leave free: for the end of the round before the cut, within the memory message."""

    cut: int
    recent: int
    memory: int
    head: int = 0
    beside: int = 0
    ask: int = 0
    pinned: Rounds = ()
    reserved: int = 0
    kept: KeptSpans = NOTHING_KEPT
    tail: int = 0


@dataclass(frozen=True, slots=True)
class Refuse:
    limit: int
    tokens: int


def admit(history: History, limits: TokenLimits, fixed: int) -> Pass | Refuse | None:
    """Decide as far as possible without a tree; None: the history must be packed. `fixed`: tokens
    of system messages and tools."""
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
    # If the newest round alone exceeds the margin, leaving out earlier ones would not help.
    if newest > room and fixed + total <= largest:
        return Pass(PassReason.LARGE_ROUND, largest - fixed)
    return None


def work_tokens(target: int) -> int:
    """Return the tokens of a memory message that the work log may take; 0 for small targets, where
    it would displace the answer."""
    return max(0, min(int(WORK_SHARE * target), int(WORK_GROWTH * (target - WORK_FROM)), MAX_WORK))


def most_sent(history: History, target: int) -> int:
    """Return the tokens that an answer under a hard target may have: more than the target only if
    the newest round, which is never cut, leaves no room for the least memory."""
    return max(target, history.size(history.cuts[-1]) + min(least_memory(target), LEAST_MEMORY))


def pack(history: History, limits: TokenLimits, fixed: int) -> Packed:
    """Choose the cut and the memory size of an answer unfolded for the present question alone."""
    room = max(0, limits.prompt - fixed)
    target = min(limits.target, room)
    usual, loop, looping = RECENT_SHARE * target, LOOP_SHARE * target, _looping(history)
    if looping and not _questions(history):
        usual = loop
    cut, recent = _cut(history, target, usual, (loop, loop) if looping else ())
    cut, recent = _spare(history, target, cut, recent, least_memory(target))
    for head, pinned in _whole_before(history, limits, target, cut):
        beside = _beside(history, limits, cut, head, pinned)
        memory = target - recent - beside
        if memory < least_memory(target):
            if head or pinned:  # these are sent whole only if memory has room besides them
                continue
            least = _least(history, limits, target, cut, room - recent)
            memory = max(memory, least - beside)
        if memory >= 2 * WRAPPER and cut:
            tail = _tail(history, cut, usual - recent, looping=looping)
            ask = int(ASK_SHARE * target)
            return Packed(cut, recent, memory, head, beside, ask, pinned, tail=tail)
    return Packed(cut, recent, 0)


def begin(history: History, limits: TokenLimits, fixed: int) -> Packed:
    """Choose the cut and the memory size at the start of an epoch: smaller than an answer for one
    question, so that there is room to grow."""
    room = max(0, limits.prompt - fixed)
    target = min(limits.target, room)
    most = target if limits.hard else room
    memory, reserved = _lasting_memory(history, target), 0
    aside = max(history.size(0, head) for head in _heads(history, limits, target, len(history)))
    if limits.hard:
        aside += _size(history, pinned_rounds(history, len(history), int(PINNED_SHARE * target)))
    looping = _looping(history)
    start = LOOP_START if looping else START
    usual = (SMALL_START if target < SMALL_TARGET else start) * target - memory - aside
    if limits.hard:
        usual = (LOOP_SHARE if looping and not _questions(history) else HARD_RECENT) * target
    second = (target - 2 * memory if limits.hard else min(target, room - memory)) - aside
    cut, recent = _cut(history, target, usual, (second, LOOP_SHARE * target) if looping else ())
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
            least = _least(history, limits, target, cut, room - recent)
            if limits.hard:
                least = min(least, most_sent(history, target) - recent)
            left = max(left, least - beside)
        if left >= 2 * WRAPPER and cut:
            ask = int(ASK_SHARE * target)
            tail = _tail(history, cut, usual - recent, looping=looping)
            return Packed(cut, recent, left, head, beside, ask, pinned, reserved, tail=tail)
    return Packed(cut, recent, 0)


def _tail(history: History, cut: int, left: float, *, looping: bool) -> int:
    """Return the tokens of the newest text that whole rounds leave free, for the end of a tool
    loop's round or of the assistant's answer that does not fit."""
    works = looping and any(fact.role == "assistant" for fact in history.facts[cut:])
    return max(0, int(left)) if works or history.facts[cut - 1].role == "assistant" else 0


def _lasting_memory(history: History, target: int) -> int:
    """Return the tokens of the memory message of an epoch. The larger the rounds, the sooner the
    next epoch begins, so it is smaller if a request adds more than a quarter of the target."""
    step = max(1.0, mean_growth(history))
    share = max(LARGE_MEMORY, min(1.0, math.sqrt(LARGE_GROWTH * target / step)))
    # With less than two wrappers there would be no memory message, and so no epoch.
    return max(2 * WRAPPER, int(LASTING_MEMORY * target * share))


def mean_growth(history: History) -> float:
    """Return the mean number of tokens that the newest requests added to the history."""
    requests, first = 0, len(history)
    for first in reversed(history.rounds):
        requests += history.facts[first].role == "assistant"
        if requests == REQUESTS_OF_MEAN:
            break
    return history.size(first) / (requests or len(history.rounds))


def _least(history: History, limits: TokenLimits, target: int, cut: int, room: int) -> int:
    """Return the least memory for which a target is exceeded, a hard one by less, limited by the
    size of what is left out and by the model's window."""
    least = least_memory(target)
    least = min(least, LEAST_MEMORY) if limits.hard else least
    return min(least, history.size(0, cut) + 2 * WRAPPER, room)


def _spare(history: History, most: int, cut: int, recent: int, memory: int) -> tuple[int, int]:
    """Return the cut, moved behind all rounds but the newest if more rounds leave no room for
    memory."""
    newest = history.cuts[-1]
    if cut < newest and recent + memory > most:
        return newest, history.size(newest)
    return cut, recent


def _heads(history: History, limits: TokenLimits, target: int, cut: int) -> tuple[int, ...]:
    """Return how many messages at the beginning may be sent whole before the memory message, the
    best first. If only the first message would be cut off, it belongs into memory."""
    first = history.facts[0]
    short = first.role == "user" and first.tokens < FIRST_SHARE * target
    return (1, 0) if limits.keep_first and short and cut > 1 else (0,)


def _whole_before(
    history: History, limits: TokenLimits, target: int, cut: int
) -> Iterator[tuple[int, Rounds]]:
    """Yield the parts that may be sent whole besides the memory message, head and pinned rounds,
    the best first."""
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
    """Return True for each side of the memory message, before and after, on which a user message of
    the client is adjacent; strict templates skip or reject system messages there."""
    return head > 0, cut < len(history) and history.facts[cut].role == "user"


def _cut(
    history: History, target: int, usual: float, loop: tuple[float, ...] = ()
) -> tuple[int, int]:
    """Return the cut and the size of the messages after it: whole rounds, always the newest,
    further ones while they have at most `usual` tokens. The second round, the third and so on may
    reach `loop`, which is empty while no tools are in use."""
    starts = history.cuts
    limits = [max(usual, each) for each in loop]

    def size(back: int) -> int:
        """Return the tokens of the `back`-th round from the end, 1 being the newest."""
        return history.size(starts[-back], starts[-back + 1] if back > 1 else None)

    kept, total = 1, size(1)
    while kept < len(starts):
        wider = total + size(kept + 1)
        if wider > (limits[kept - 1] if kept <= len(limits) else usual):
            break
        kept, total = kept + 1, wider
    widest = max([usual, *limits]) if kept <= len(limits) + 1 else 0.0
    kept, total = _open_with_assistant(history, size, kept, total, target, widest)
    return starts[-kept], total


def _looping(history: History) -> bool:
    """Return True if tools are in use: calls are answered, or written into the text."""
    first = history.cuts[-3:][0]
    if any(fact.answers is not None for fact in history.facts[first:]):
        return True
    last = (at for at in range(len(history) - 1, -1, -1) if history.facts[at].role == "assistant")
    return any(calls_in_text(history.messages[at].raw) for at in islice(last, 3))


def _questions(history: History) -> bool:
    """Return True if the newest message contains a question. That is often about what was long ago,
    so older evidence for it is worth more than the newest text."""
    return history.questions(len(history) - 1)


def _open_with_assistant(
    history: History, size: Callable[[int], int], kept: int, total: int, target: int, widest: float
) -> tuple[int, int]:
    """Let an assistant round follow the memory message, since strict templates reject two user
    messages in a row. Takes one round more if that stays within `widest`, else one less."""
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
    """Return spans that stand for messages [first, cut) when there is no tree over them.

    The newest round gets half of the budget, each older one half of the next one's part; a round
    over its part is cut in the middle, and below 64 tokens it is dropped.
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
    """Return head and tail of a text of `length` characters, `keep` of it in all."""
    if keep >= 1:
        return [TextSpan(message, 0, length)] if length else []
    half = int(length * keep / 2)
    return [TextSpan(message, 0, half), TextSpan(message, length - half, length)] if half else []
