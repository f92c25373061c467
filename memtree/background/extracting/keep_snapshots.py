"""Store snapshots of a conversation: one for every fifth user message and the prefix that ends
there, updated once that round has its answer.

A branch shares the prefix, and so the snapshot, with the conversation it left. A deleted snapshot
is not made again. The text is extracted (`snapshots.py`), or written by a model if one is
configured and its text passes the checks of summaries; the model is called once, when the answer is
there.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Protocol

from memtree.background.extracting.snapshots import (
    USER_MESSAGES,
    SnapshotWindow,
    snapshot_text,
    windows,
)
from memtree.conversation.history import History
from memtree.errors import BadRequest, MemoryLimit, SecretRejected
from memtree.memories.draft import MemoryDraft
from memtree.memories.draft import new_memory as made
from memtree.memories.memory import EXTRACTED, SNAPSHOT, Memory, MemorySource
from memtree.memories.ports import MemoryFilter, MemoryStore
from memtree.memories.saving import MemorySaving
from memtree.memories.scope import Scope
from memtree.memories.user_memories import ExtractedMessages
from memtree.ports.clock import Clock
from memtree.process.bounded import SizedRows
from memtree.process.cache_limits import CacheLimits

log = logging.getLogger("memtree.indexer")

ROW_BYTES = 800  # of a remembered window: a scope, an address, a state

State = tuple[int, bool]  # where a window ended when it was stored, and True if it was answered


class SnapshotStore(MemoryStore, ExtractedMessages, Protocol):
    """Ports of the store that snapshots need."""


class SnapshotWriter(Protocol):
    """A model that summarises a part of a conversation."""

    async def write(self, history: History, start: int, end: int) -> str:
        """Summarise messages [start, end). Returns "" if the model wrote nothing usable. Raises
        `Unavailable` if the call should be repeated later."""
        ...


class SnapshotKeeper:
    """Stores snapshots of conversations, and remembers which it has stored. One per process.
    `most`: memories that a tenant may have."""

    def __init__(
        self,
        store: SnapshotStore,
        saving: MemorySaving,
        clock: Clock,
        new_id: Callable[[], str],
        writer: SnapshotWriter | None = None,
        *,
        most: int = 0,
        cache_bytes: int = CacheLimits.of().snapshots,
    ) -> None:
        self._store, self._saving, self._clock = store, saving, clock
        self._new_id, self._writer, self._most = new_id, writer, most
        self._kept: SizedRows[tuple[Scope, bytes], State] = SizedRows(
            cache_bytes, lambda *_: ROW_BYTES
        )

    @property
    def nbytes(self) -> int:
        """Return the bytes held by the remembered windows."""
        return self._kept.nbytes

    async def lacking(self, scope: Scope, history: History) -> list[SnapshotWindow]:
        """Return the windows that this process has not stored in their present state, oldest
        first."""
        if not self._due(scope, history):
            return []
        all_windows = await asyncio.to_thread(windows, history)
        return [each for each in all_windows if self._kept.get((scope, each.key)) != _state(each)]

    def _due(self, scope: Scope, history: History) -> bool:
        """Return True if there may be new snapshots. Checking every message takes a while, and a
        growing chat gets a new window only with every fifth request."""
        user_messages = 0
        for at in range(len(history), -1, -1):
            state = self._kept.get((scope, history.addresses[at]))
            if state is not None and state[1]:
                return False
            user_messages += at > 0 and history.facts[at - 1].role == "user"
            if user_messages >= USER_MESSAGES:
                return True
        return False

    async def keep(self, scope: Scope, history: History, window: SnapshotWindow) -> Memory | None:
        """Store the snapshot and return it if it is new or has changed. Raises store errors, and
        `Unavailable` if a model fails."""
        memory = None
        if not self._writer or await self._wanted(scope, window):
            memory = await self._put(scope, history, window)
        self._kept.put((scope, window.key), _state(window))
        return memory

    async def _wanted(self, scope: Scope, window: SnapshotWindow) -> bool:
        """Return True if a model should write this window."""
        wanted = MemoryFilter(kind=SNAPSHOT, thread_id=window.key.hex(), deleted=True, expired=True)
        known = await self._store.page(scope, wanted, limit=1)
        return window.answered and not known.memories

    async def _put(self, scope: Scope, history: History, window: SnapshotWindow) -> Memory | None:
        mode, text = "model", ""
        if self._writer is not None:
            text = await self._writer.write(history, window.start, window.end)
        if not text:
            mode = "rule"
            text = await asyncio.to_thread(snapshot_text, history, window.start, window.end)
        if not text:
            return None
        now = self._clock.now()
        address = window.key.hex()
        draft = MemoryDraft(
            text=text,
            kind=SNAPSHOT,
            category=SNAPSHOT,
            source_type=EXTRACTED,
            capture_mode=mode,
            thread_id=address,
            source=MemorySource(address=address, recorded=now),
        )
        try:
            new = made(draft, self._new_id(), now)
            memory = await self._store.put_snapshot(scope, window.key, new, most=self._most)
        except (SecretRejected, BadRequest, MemoryLimit) as error:
            log.info("extraction.snapshot_rejected code=%s", error.code)
            return None
        if memory is not None:
            await self._saving.keep_vectors(scope, [(memory, None)])
        return memory


def _state(window: SnapshotWindow) -> State:
    return window.end, window.answered
