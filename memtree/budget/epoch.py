"""The turns during which what is sent only grows: their stored records, and when they end.

An *epoch* fixes a cut and a plan of the memory message; a *turn* says which epoch a posted prefix
belongs to, and which excerpts its newest message got (its recall block). Both hold plans and
numbers, never text. A turn is found by (key, address): a client that goes on, branches or repeats
itself meets the newest turn on its own chain, and continues that turn's epoch.

    rounds   |-- covered by the plan --|cut|-- recent at the start --|-- appended ... --> H
    turns                                                            t0   t1   t2

What recall blocks may take of an epoch is decided here as well; what they hold, in
`unfolding/recall_block.py`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from hashlib import blake2b

import msgspec

from memtree.budget import packing
from memtree.budget.epoch_budget import EpochBudget, epoch_budget
from memtree.budget.packing import SMALL_TARGET, TokenLimits, most_sent
from memtree.budget.prices import Prices
from memtree.conversation.history import History
from memtree.text.memory_lines import MemoryVersion
from memtree.unfolding.plan import ExcerptNote, OutlineNode, Plan, RecallPlan, TextSpan

PLAN_VERSION = 8  # of everything that turns a plan into bytes: another version, another epoch
ID_BYTES = 12
GROWTH, SMALL_GROWTH = 0.8, 0.5  # of the target, where growth ends if rounds are small
# Of the high-water mark, where what a model thought is bound to what it was sent: it ends earlier
# at a question of the user, so that it seldom has to end between a call and its result. Both lie
# where the sum of costs is nearly flat.
BEFORE_ASK, BEFORE_RESULT = 0.9, 1.15
CEILING = 4.0  # times the target, or half the window


class EpochReason(IntEnum):
    """Why an epoch began; kept as a byte."""

    FIRST = 1  # nothing was folded before, or under other settings
    FULL = 2  # what was sent had grown to its limit
    IDLE = 3  # what was sent is in no cache any more: a fresh cut costs nothing
    QUESTION = 4  # the newest question had too little room under a hard target
    LOST = 5  # something that the epoch before it showed is not stored any more
    MEMORY_DELETED = 6  # a memory that it showed was deleted


REASON_NAMES = {each.value: each.name.lower().replace("_", "-") for each in EpochReason}


class Epoch(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Stored record of an epoch: its plan, and the sizes it began with. `start`: messages of the
    history that began it. `size`, `memory`: tokens of what was sent then (system messages and
    recall blocks apart), and of the memory message in it with what stands beside it
    (`packing.Packed.beside`). `memories`: whose lines it ends with. `reserved`: tokens of a hard
    target that it kept for the requests that follow."""

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
    none where there is nothing to recall; `memories`: whose lines stand there, too; `block_tokens`:
    of both. `direct`, `paid`: costs that older versions kept, 0 since there is a log of requests;
    `sent`: tokens of this request.
    `recalled`: the messages (index in the history) that have a block in what is sent. `partial`: it
    stands at a beginning of the history that was sent, for clients that leave the rest out."""

    epoch: bytes
    block: tuple[TextSpan, ...] = ()
    block_tokens: int = 0
    used: float = 0.0  # unix seconds of the last request for it
    direct: float = 0.0
    paid: float = 0.0
    sent: int = 0
    recalled: tuple[int, ...] = ()
    outline: tuple[OutlineNode, ...] = ()  # of the recall block
    notes: tuple[ExcerptNote, ...] = ()
    memories: tuple[MemoryVersion, ...] = ()
    reasons: bytes = b""  # of the excerpts of the block, as in `Plan`
    ranks: bytes = b""
    partial: bool = False
    named: bytes = b""  # of the excerpts of the block, as `days`
    days: tuple[int, ...] = ()

    @property
    def recall(self) -> RecallPlan:
        """The recall block."""
        kept = (self.reasons, self.ranks, self.named, self.days)
        return RecallPlan(self.block, self.outline, self.notes, *kept)

    @property
    def shows(self) -> bool:
        """Return True if a recall block or memories stand before the turn's newest message."""
        return bool(self.block or self.memories)


_encoder = msgspec.msgpack.Encoder()
_epochs = msgspec.msgpack.Decoder(Epoch)
_turns = msgspec.msgpack.Decoder(EpochTurn)


def encode(value: Epoch | EpochTurn) -> bytes:
    return _encoder.encode(value)


def decode_epoch(data: bytes) -> Epoch:
    """Raises `msgspec.DecodeError`."""
    return _epochs.decode(data)


def decode_turn(data: bytes) -> EpochTurn:
    """Raises `msgspec.DecodeError`."""
    return _turns.decode(data)


@dataclass(frozen=True, slots=True)
class EpochTerms:
    """Terms that a request brings to its epoch: a smaller target where system messages and tools
    leave less of the window, `room` for everything but these, and the window itself."""

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
    """Requests with another key never continue each other's epochs. `memories`: whose are shown,
    opaque; "" for nobody's. `dialect`: of the API, as each sends other bytes; "" for chats.
    `keep`: what is to stay beside what the user marked; () for nothing."""
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
    """Return True if the epoch takes this history, too. Its growth counts the memory message and
    posted rounds; recall blocks (`block_tokens`) count only for what may be sent at all. A hard
    target is there to be used, so that is the only limit under it. `mark`: of the high-water mark,
    where it ends (`mark_of`)."""
    if not fits(epoch, history, terms, block_tokens):
        return False
    size = epoch.memory + history.size(epoch.plan.cut)
    return terms.hard or size <= mark * high_water(epoch, history, terms)


def mark_of(history: History, dialect: str) -> float:
    """Return the part of the high-water mark at which an epoch ends. In chats it is all of it,
    because no thinking is bound to what was sent."""
    if not dialect:
        return 1.0
    return BEFORE_ASK if history.asks(len(history) - 1) else BEFORE_RESULT


def fits(epoch: Epoch, history: History, terms: EpochTerms, block_tokens: int) -> bool:
    """Return True if the history may be sent at all."""
    return room_left(epoch, history, terms, block_tokens) >= 0


def room_left(epoch: Epoch, history: History, terms: EpochTerms, block_tokens: int) -> int:
    """Tokens that may still be sent beside the epoch's memory message, its rounds and its recall
    blocks."""
    size = epoch.memory + history.size(epoch.plan.cut) + block_tokens
    most = min(terms.room, most_sent(history, terms.target)) if terms.hard else terms.room
    return most - size


def high_water(epoch: Epoch, history: History, terms: EpochTerms) -> float:
    """Up to where an epoch grows (DESIGN section 8).

    A round is paid for once when it is written and again with each later request that reads it;
    a new epoch writes everything anew. The square root is where the sum of both is least.
    """
    small = terms.target < SMALL_TARGET
    usual = (SMALL_GROWTH if small else GROWTH) * terms.target
    step = packing.mean_growth(history)
    slack = math.sqrt(2 * terms.prices.rewrite * epoch.memory * step)
    return min(ceiling(terms), max(usual, max(epoch.size, epoch.memory + step) + slack))


def ceiling(terms: EpochTerms) -> float:
    return min(CEILING * terms.target, terms.window / 2, terms.room)


# -- recall blocks ---------------------------------------------------------------------------

BLOCK_SHARE, BLOCK_MOST, BLOCK_LEAST = 0.35, 2_400, 1_000  # of the target; tokens
LARGE_SHARE = 0.1  # where it is more than that
REFILL, REFILL_LEAST = 0.33, 400  # of what is appended, and tokens for each message of the user
RESERVE = 0.75  # of a full bucket is left to messages that ask for something


def block_size(target: int) -> int:
    """Tokens that a recall block usually may have; a full bucket."""
    usual = max(BLOCK_LEAST, min(BLOCK_MOST, int(BLOCK_SHARE * target)))
    return max(usual, int(LARGE_SHARE * target))


def serves(
    epoch: Epoch, history: History, terms: EpochTerms, blocks: Mapping[int, EpochTurn], wants: bool
) -> bool:
    """Return True if the newest message finds enough room for its block, where it asks for
    something. The bucket does not count: with it, in a dialogue of long answers every turn would
    end an epoch."""
    if not terms.hard or not wants:
        return True
    planned = _planned(epoch, history, terms)
    return _question_room(planned, epoch, history, terms, blocks) >= planned.wanted


def _planned(epoch: Epoch, history: History, terms: EpochTerms) -> EpochBudget:
    """How an epoch like this one would divide the target now."""
    growth = packing.mean_growth(history)
    return epoch_budget(terms.target, growth, epoch.size - epoch.memory)


def _question_room(
    planned: EpochBudget,
    epoch: Epoch,
    history: History,
    terms: EpochTerms,
    blocks: Mapping[int, EpochTurn],
) -> float:
    """Tokens that the block of a question may have under a hard target: what is left beside the
    growth that is still to come, shared with the questions of those requests as far as they
    count."""
    growth = packing.mean_growth(history)
    made = history.size(epoch.start) / growth if growth else 0.0
    ahead = _fitting(max(0.0, planned.requests - made))
    free = _left(epoch, history, terms, blocks) - ahead * growth
    return max(0.0, free) / (1 + ahead * planned.alike)


def _fitting(requests: float) -> float:
    """About how many whole requests fit where there is room for `requests`: room for half of one
    holds none, and is free for a block; most of one, with what is spare, holds one."""
    whole, part = divmod(requests, 1)
    return whole + min(1.0, max(0.0, 4 * part - 2))


def block_room(
    epoch: Epoch, history: History, terms: EpochTerms, blocks: Mapping[int, EpochTurn], wants: bool
) -> int:
    """Tokens that a block for the newest message may take; `blocks`: earlier ones by message,
    `wants`: whether it asks for something.

    Blocks live on a bucket that is full when the epoch begins and fills with what is appended, so
    that a chat of short messages does not consist of excerpts. Under a hard target the memory
    message is the answer to the message that begins an epoch, and a later question is only bounded
    by what is left: it is answered now, or `serves` lets a new epoch answer it.
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
    """Tokens between what is sent and the most that may be."""
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
