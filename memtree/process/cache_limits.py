"""Limits, in bytes, of the caches of posted conversations: shares of one setting.

No answer depends on these caches, so a share that is too small costs time and changes nothing else.
The shares are proportional to what a process holds for conversations of a million tokens
(docs/decisions/archive.md#0038). Indexes of saved memories have a setting of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

MEGABYTES = 512
_THOUSANDTHS = {
    "message_infos": 50,
    "read_histories": 55,
    "known_bodies": 30,
    "conversations": 620,
    "passed": 10,
    "message_translations": 80,
    "response_translations": 80,
    "vectors": 30,
    "queries": 5,
    "read_messages": 15,
    "read_infos": 10,
    "snapshots": 15,
}


@dataclass(frozen=True, slots=True)
class CacheLimits:
    """Bytes that each cache of a process may hold.

    `message_infos`: facts about posted messages. `read_histories`: addresses, rounds and totals of
    posted histories, what was found in them, and texts rendered of them. `known_bodies`: digests of
    posted bodies. `conversations`: trees, and their passages with vectors, ready to rank. `passed`:
    which histories went whole. `message_translations`, `response_translations`: posted items of the
    two APIs as chat messages. `vectors`: of passages that were embedded lately. `queries`: vectors
    of questions. `read_messages`, `read_infos`: messages read for memories, and facts about them;
    `snapshots`: parts of conversations whose snapshot is stored.
    """

    message_infos: int
    read_histories: int
    known_bodies: int
    conversations: int
    passed: int
    message_translations: int
    response_translations: int
    vectors: int
    queries: int
    read_messages: int
    read_infos: int
    snapshots: int

    @classmethod
    def of(cls, megabytes: int = MEGABYTES) -> CacheLimits:
        """Divide this many megabytes among the caches.

        >>> CacheLimits.of(100).conversations
        65011712
        """
        every = megabytes << 20
        return cls(**{each.name: every * _THOUSANDTHS[each.name] // 1_000 for each in fields(cls)})

    def total(self) -> int:
        """Sum of all caches' limits."""
        return sum(getattr(self, each.name) for each in fields(self))
