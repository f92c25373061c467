"""Epochs: runs of turns in which the sent text only grows. Their stored records, and when they end.

An *epoch* fixes a cut and a plan of the memory message; a *turn* says which epoch a posted prefix
belongs to, and which excerpts its newest message got (its recall block). Both hold plans and
numbers, never text. A turn is found by (key, address): a client that continues, branches or repeats
a request finds the newest turn on its own chain, and continues that turn's epoch.

    rounds   |-- covered by the plan --|cut|-- recent at the start --|-- appended ... --> H
    turns                                                            t0   t1   t2

The size of recall blocks is decided here as well; their content in
`memtree.unfolding.recall_block`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from hashlib import blake2b

import msgspec

from memtree.budget import packing
from memtree.budget.packing import SMALL_TARGET, EpochBudget, TokenLimits, epoch_budget, most_sent
from memtree.budget.prices import Prices
from memtree.history.chat_history import History
from memtree.text.memory_lines import MemoryVersion
from memtree.unfolding.memory_plan import ExcerptNote, OutlineNode, Plan, RecallPlan, TextSpan

# version of everything that turns a plan into bytes: another version begins another epoch
PLAN_VERSION = 10
ID_BYTES = 12
GROWTH, SMALL_GROWTH = 0.8, 0.5  # of the target, at which growth ends if rounds are small
# Share of the high-water mark at which an epoch ends if a model's reasoning is bound to its prompt:
# earlier at a question of the user, so that it rarely ends between a call and its result. Near both
# values the total cost hardly changes.
BEFORE_ASK, BEFORE_RESULT = 0.9, 1.15
CEILING = 4.0  # times the target, or half the window


class EpochReason(IntEnum):
    """Why an epoch began; kept as a byte."""

    FIRST = 1  # nothing was folded before, or under different settings
    FULL = 2  # the sent text had grown to its limit
    IDLE = 3  # no cache holds the sent text any more: a new cut costs nothing
    QUESTION = 4  # the newest question had too little room under a hard target
    LOST = 5  # something that the previous epoch showed is not stored any more
    MEMORY_DELETED = 6  # a memory that the epoch showed was deleted


REASON_NAMES = {each.value: each.name.lower().replace("_", "-") for each in EpochReason}


class Epoch(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Stored record of an epoch: its plan, and the sizes it began with. `start`: messages of the
    history that began it. `size`, `memory`: tokens sent then (without system messages and recall
    blocks), and those of the memory message with the lines beside it (`packing.Packed.beside`).
    `memories`: their lines end the message. `reserved`: tokens of a hard target that it kept for
    the next requests."""

    id: bytes
    start: int
    size: int
    memory: int
    plan: Plan
    created: float  # unix seconds
    memories: tuple[MemoryVersion, ...] = ()
    reason: int = 0  # an `EpochReason`, or one of a later version; 0: not kept
    reserved: int = 0


class EpochTurn(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One request within an epoch. `block`: spans of the recall block before its newest message,
    none if there is nothing to recall; `memories`: their lines are part of the block;
    `block_tokens`: of both. `sent`: tokens of this request. `recalled`: the messages (index in
    the history) sent with a block. `partial`: the turn is stored at a prefix of the sent history,
    for clients that leave the rest out later."""

    epoch: bytes
    block: tuple[TextSpan, ...] = ()
    block_tokens: int = 0
    used: float = 0.0  # unix seconds of the last request for it
    sent: int = 0
    recalled: tuple[int, ...] = ()
    outline: tuple[OutlineNode, ...] = ()  # of the recall block
    notes: tuple[ExcerptNote, ...] = ()
    memories: tuple[MemoryVersion, ...] = ()
    reasons: bytes = b""  # of the block's excerpts, as in `Plan`
    ranks: bytes = b""
    partial: bool = False
    named: bytes = b""  # of the block's excerpts, as is `days`
    days: tuple[int, ...] = ()

    @property
    def recall(self) -> RecallPlan:
        """Return the recall block."""
        kept = (self.reasons, self.ranks, self.named, self.days)
        return RecallPlan(self.block, self.outline, self.notes, *kept)

    @property
    def shows(self) -> bool:
        """Return True if a recall block or memories are sent before the turn's newest message."""
        return bool(self.block or self.memories)


_encoder = msgspec.msgpack.Encoder()
_epochs = msgspec.msgpack.Decoder(Epoch)
_turns = msgspec.msgpack.Decoder(EpochTurn)


def encode(value: Epoch | EpochTurn) -> bytes:
    return _encoder.encode(value)


def decode_epoch(data: bytes) -> Epoch:
    """Decode an epoch. Raises `msgspec.DecodeError`."""
    return _epochs.decode(data)


def decode_turn(data: bytes) -> EpochTurn:
    """Decode a turn. Raises `msgspec.DecodeError`."""
    return _turns.decode(data)


@dataclass(frozen=True, slots=True)
class EpochTerms:
    """Limits that a request sets for its epoch: a target, reduced if system messages and tools
    leave less of the window, `room` for everything except these, and the window itself."""

    target: int
    hard: bool
    room: int
    window: int
    prices: Prices

    @classmethod
    def of(cls, limits: TokenLimits, fixed: int, window: int, prices: Prices) -> EpochTerms:
        room = max(0, limits.prompt - fixed)
        return cls(min(limits.target, room), limits.hard, room, window, prices)


def key(
    limits: TokenLimits,
    window: int,
    prices: Prices,
    recipe: str,
    query: str | None,
    memories: str = "",
    dialect: str = "",
    keep: Sequence[tuple[str, ...]] = (),
) -> bytes:
    """Return the key of epochs. Requests with different keys never continue each other's epochs.
    `memories`: opaque name of their owner; "" for none. `dialect`: of the API, since each sends
    different bytes; "" for chats. `keep`: passages to keep besides those that the user marked; ()
    for none."""
    named = (PLAN_VERSION, limits.target, limits.hard, window, prices.write, prices.read)
    form = (limits.alternate, limits.keep_first)
    scope = (memories,) if memories else ()
    wire = (("dialect", dialect),) if dialect else ()
    stays = (("keep", *keep),) if any(keep) else ()
    return _hash(repr((*named, *form, recipe, query, *scope, *wire, *stays)).encode())


def name(
    key_: bytes, address: bytes, plan: Plan, now: float, memories: tuple[MemoryVersion, ...] = ()
) -> bytes:
    """Make an id for a new epoch. Two epochs that begin at once get the same id only if they have
    the same content."""
    shown = _encoder.encode(memories) if memories else b""
    return _hash(repr((key_, address, now)).encode() + _encoder.encode(plan) + shown)


def _hash(data: bytes) -> bytes:
    return blake2b(data, digest_size=ID_BYTES).digest()


def stays(
    epoch: Epoch, history: History, terms: EpochTerms, block_tokens: int, mark: float = 1.0
) -> bool:
    """Return True if the epoch can continue with this history. Its growth counts the memory message
    and posted rounds; recall blocks (`block_tokens`) count only toward the absolute limit. A hard
    target may be used fully, so that is the only limit under it. `mark`: share of the high-water
    mark at which it ends (`mark_of`)."""
    if not fits(epoch, history, terms, block_tokens):
        return False
    size = epoch.memory + history.size(epoch.plan.cut)
    return terms.hard or size <= mark * high_water(epoch, history, terms)


def mark_of(history: History, dialect: str) -> float:
    """Return the share of the high-water mark at which an epoch ends. In chats it is 1, because no
    reasoning is bound to the prompt."""
    if not dialect:
        return 1.0
    return BEFORE_ASK if history.asks(len(history) - 1) else BEFORE_RESULT


def fits(epoch: Epoch, history: History, terms: EpochTerms, block_tokens: int) -> bool:
    """Return True if the history may be sent at all."""
    return room_left(epoch, history, terms, block_tokens) >= 0


def room_left(epoch: Epoch, history: History, terms: EpochTerms, block_tokens: int) -> int:
    """Return the tokens that may still be sent besides the epoch's memory message, its rounds and
    its recall blocks."""
    size = epoch.memory + history.size(epoch.plan.cut) + block_tokens
    most = min(terms.room, most_sent(history, terms.target)) if terms.hard else terms.room
    return most - size


def high_water(epoch: Epoch, history: History, terms: EpochTerms) -> float:
    """Return the size up to which an epoch grows (DESIGN section 8).

    A round is paid for once when it is written and again with each later request that reads it; a
    new epoch writes everything anew. The square root minimises the sum of both.
    """
    small = terms.target < SMALL_TARGET
    usual = (SMALL_GROWTH if small else GROWTH) * terms.target
    step = packing.mean_growth(history)
    slack = math.sqrt(2 * terms.prices.rewrite * epoch.memory * step)
    return min(ceiling(terms), max(usual, max(epoch.size, epoch.memory + step) + slack))


def ceiling(terms: EpochTerms) -> float:
    return min(CEILING * terms.target, terms.window / 2, terms.room)


# -- recall blocks ---------------------------------------------------------------------------

# share of the target, and limits in tokens
BLOCK_SHARE, BLOCK_MOST, BLOCK_LEAST = 0.35, 2_400, 1_000
LARGE_SHARE = 0.1  # share used if it gives more than that
# share of appended text, and least tokens for each message of the user
REFILL, REFILL_LEAST = 0.33, 400
RESERVE = 0.75  # of a full bucket, left to messages that ask for something


def block_size(target: int) -> int:
    """Return the usual limit of a recall block in tokens; a full bucket."""
    usual = max(BLOCK_LEAST, min(BLOCK_MOST, int(BLOCK_SHARE * target)))
    return max(usual, int(LARGE_SHARE * target))


def serves(
    epoch: Epoch, history: History, terms: EpochTerms, blocks: Mapping[int, EpochTurn], wants: bool
) -> bool:
    """Return True if the newest message has enough room for its block, if it asks for something.
    The bucket is ignored: otherwise, in a dialogue of long answers every turn would end an epoch.
    """
    if not terms.hard or not wants:
        return True
    planned = _planned(epoch, history, terms)
    return _question_room(planned, epoch, history, terms, blocks) >= planned.wanted


def _planned(epoch: Epoch, history: History, terms: EpochTerms) -> EpochBudget:
    """Return how an epoch like this one would divide the target now."""
    growth = packing.mean_growth(history)
    return epoch_budget(terms.target, growth, epoch.size - epoch.memory)


def _question_room(
    planned: EpochBudget,
    epoch: Epoch,
    history: History,
    terms: EpochTerms,
    blocks: Mapping[int, EpochTurn],
) -> float:
    """Return the tokens for the block of a question under a hard target: those left after the
    expected growth, shared with the questions of later requests as far as they count."""
    growth = packing.mean_growth(history)
    made = history.size(epoch.start) / growth if growth else 0.0
    whole, part = divmod(max(0.0, planned.requests - made), 1)
    # About how many whole requests fit: room for half a request holds none, and is free for a
    # block; room for most of one, with the spare tokens, holds one.
    ahead = whole + min(1.0, max(0.0, 4 * part - 2))
    free = _left(epoch, history, terms, blocks) - ahead * growth
    return max(0.0, free) / (1 + ahead * planned.alike)


def block_room(
    epoch: Epoch, history: History, terms: EpochTerms, blocks: Mapping[int, EpochTurn], wants: bool
) -> int:
    """Return the tokens that a block for the newest message may take; `blocks`: earlier ones by
    message, `wants`: True if the message asks for something.

    Blocks are paid from a bucket that is full when the epoch begins and refills with appended text,
    so that a chat of short messages does not consist mainly of excerpts. Under a hard target the
    memory message answers the message that begins an epoch, and a later question is limited only by
    the room left: it is answered now, or `serves` lets a new epoch answer it.
    """
    room = _left(epoch, history, terms, blocks)
    if terms.hard:
        if len(history) == epoch.start:
            return 0
        planned = _planned(epoch, history, terms)
        room = _question_room(planned, epoch, history, terms, blocks)
        if wants:
            return int(room)
    level = _bucket(epoch, history, terms, blocks)
    if not wants:
        level -= RESERVE * block_size(terms.target)
    return int(min(room, level))


def _left(
    epoch: Epoch, history: History, terms: EpochTerms, blocks: Mapping[int, EpochTurn]
) -> float:
    """Return the tokens between the present size and the limit."""
    size = epoch.memory + history.size(epoch.plan.cut)
    used = sum(turn.block_tokens for turn in blocks.values())
    if terms.hard:
        return terms.target - size - used
    most = max(terms.target, high_water(epoch, history, terms))
    return min(terms.room, most) - size - used


def _bucket(
    epoch: Epoch, history: History, terms: EpochTerms, blocks: Mapping[int, EpochTurn]
) -> float:
    full = float(block_size(terms.target))
    level, at = full, epoch.start
    for message, turn in sorted(blocks.items()):
        level = min(full, level + _refill(history, at, message + 1)) - turn.block_tokens
        at = max(at, message + 1)
    return min(full, level + _refill(history, at, len(history)))


def _refill(history: History, start: int, end: int) -> float:
    user_messages = sum(fact.role == "user" for fact in history.facts[start:end])
    return max(REFILL * history.size(start, end), REFILL_LEAST * user_messages)
