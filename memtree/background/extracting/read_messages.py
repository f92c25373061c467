"""Remember which messages of a conversation were read already, as long as this process lives.

A chat posts all of its messages with every request. So that one that grows costs a hash a message
and nothing else, the raw fragments are remembered, by scope, as keys that nobody outside can
foresee (as in `memtree/conversation/message_cache.py`).
"""

from __future__ import annotations

from typing import NamedTuple

import xxhash

from memtree.memories.scope import Scope
from memtree.process.bounded import SizedRows
from memtree.process.cache_limits import CacheLimits

ROW_BYTES = 240  # a key, its place, and what is known


class KnownMessage(NamedTuple):
    """`by_user`: it is the user's. `plays`: from it on the user speaks for somebody else, in a
    story or a role-play."""

    by_user: bool
    plays: bool = False


class ReadMessages:
    """Bounded; the least recently used go first."""

    def __init__(self, seed: int, most: int = CacheLimits.of().read_messages) -> None:
        """`seed`: random per process. `most`: bytes."""
        self._seed = seed & 0xFFFF_FFFF
        self._done: SizedRows[bytes, KnownMessage] = SizedRows(most, lambda *_: ROW_BYTES)

    @property
    def nbytes(self) -> int:
        return self._done.nbytes

    def keys(self, scope: Scope) -> MessageKeys:
        """Return the function that names messages of a scope, by a hash that only this process
        knows."""
        whole = "\0".join((scope.tenant, scope.kind, scope.owner, scope.subject))
        return MessageKeys(xxhash.xxh3_64_intdigest(whole.encode(errors="replace"), self._seed))

    def known(self, key: bytes) -> KnownMessage | None:
        """None: it was not read yet."""
        return self._done.get(key)

    def add(self, key: bytes, known: KnownMessage) -> None:
        self._done.put(key, known)


class MessageKeys:
    def __init__(self, seed: int) -> None:
        self._seed = seed

    def of(self, raw: bytes) -> bytes:
        """16 bytes for a posted fragment."""
        return xxhash.xxh3_128_digest(raw, self._seed)
