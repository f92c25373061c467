"""Remember which messages of a conversation were read, for the lifetime of this process.

A chat posts all of its messages with every request. To make a growing chat cost only a hash a
message, the raw fragments are remembered, by scope, under keys that no outsider can predict (as in
`memtree/conversation/message_cache.py`).
"""

from __future__ import annotations

from typing import NamedTuple

import xxhash

from memtree.memories.scope import Scope
from memtree.process.bounded import SizedRows
from memtree.process.cache_limits import CacheLimits

ROW_BYTES = 240  # a key, its place, and the entry


class KnownMessage(NamedTuple):
    """`by_user`: written by the user. `plays`: from it on the user speaks for somebody else, in a
    story or a role-play."""

    by_user: bool
    plays: bool = False


class ReadMessages:
    """Messages that were read; bounded, least recently used first out."""

    def __init__(self, seed: int, most: int = CacheLimits.of().read_messages) -> None:
        """`seed`: random per process. `most`: bytes."""
        self._seed = seed & 0xFFFF_FFFF
        self._done: SizedRows[bytes, KnownMessage] = SizedRows(most, lambda *_: ROW_BYTES)

    @property
    def nbytes(self) -> int:
        return self._done.nbytes

    def keys(self, scope: Scope) -> MessageKeys:
        """Return the function that computes keys of a scope's messages, by a hash with a secret of
        this process."""
        whole = "\0".join((scope.tenant, scope.kind, scope.owner, scope.subject))
        return MessageKeys(xxhash.xxh3_64_intdigest(whole.encode(errors="replace"), self._seed))

    def known(self, key: bytes) -> KnownMessage | None:
        """Return the entry of a message; None if it was not read yet."""
        return self._done.get(key)

    def add(self, key: bytes, known: KnownMessage) -> None:
        self._done.put(key, known)


class MessageKeys:
    def __init__(self, seed: int) -> None:
        self._seed = seed

    def of(self, raw: bytes) -> bytes:
        """Return the key of a posted fragment, 16 bytes."""
        return xxhash.xxh3_128_digest(raw, self._seed)
