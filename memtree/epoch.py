"""The turns during which what is sent only grows: their stored records, and when they end.

An *epoch* fixes a cut and a plan of the memory message; a *turn* says which epoch a posted prefix
belongs to, and which excerpts its newest message got (its recall block). Both hold plans and
numbers, never text. A turn is found by (key, address): a client that goes on, branches or repeats
itself meets the newest turn on its own chain, and continues that turn's epoch.

    rounds   |-- covered by the plan --|cut|-- recent at the start --|-- appended ... --> H
    turns                                                            t0   t1   t2
"""

from __future__ import annotations

import msgspec

from memtree.plan import Plan, Span


class Epoch(msgspec.Struct, frozen=True, array_like=True):
    """`start`: messages of the history that began it. `size`, `memory`: tokens of what was sent
    then (system messages and recall blocks apart), and of the memory message in it."""

    id: bytes
    start: int
    size: int
    memory: int
    plan: Plan
    created: float  # unix seconds


class Turn(msgspec.Struct, frozen=True, array_like=True):
    """One request within an epoch. `block`: spans of the recall block before its newest message,
    none where there is nothing to recall. `direct`, `paid`: input cost of the conversation so far
    in uncached input tokens, sent whole and sent by us; `sent`: tokens of this request."""

    epoch: bytes
    block: tuple[Span, ...] = ()
    block_tokens: int = 0
    used: float = 0.0  # unix seconds of the last request for it
    direct: float = 0.0
    paid: float = 0.0
    sent: int = 0


_encoder = msgspec.msgpack.Encoder()
_epochs = msgspec.msgpack.Decoder(Epoch)
_turns = msgspec.msgpack.Decoder(Turn)


def encode(value: Epoch | Turn) -> bytes:
    return _encoder.encode(value)


def decode_epoch(data: bytes) -> Epoch:
    """Raises `msgspec.DecodeError`."""
    return _epochs.decode(data)


def decode_turn(data: bytes) -> Turn:
    """Raises `msgspec.DecodeError`."""
    return _turns.decode(data)
