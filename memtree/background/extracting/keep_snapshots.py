"""Snapshots of a conversation, kept: one for every fifth message of its user and the prefix that
ends there, refreshed when that round has its answer.

A branch has the prefix, and so the snapshot, of the conversation that it left. One that was deleted
stays away. The text is extracted (`snapshots.py`), or a model's where one is configured and what it
writes passes the checks of summaries; a model is asked once, when the answer is there.
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
from memtree.memories.saving.saving import MemorySaving
from memtree.memories.scope import Scope
from memtree.memories.users.user_ports import ExtractedMessages
from memtree.ports.clock import Clock
from memtree.process.bounded import SizedRows
from memtree.process.cache_limits import CacheLimits

log = logging.getLogger("memtree.indexer")

ROW_BYTES = 800  # of a window that a process remembers: a scope, an address, a state

State = tuple[int, bool]  # how far a window went when it was kept, and whether it was answered


class SnapshotStore(MemoryStore, ExtractedMessages, Protocol):
    """Store as snapshots need it."""


class SnapshotWriter(Protocol):
    """A model that writes what a stretch of a conversation was about."""

    async def write(self, history: History, start: int, end: int) -> str:
        """Empty where nothing came that can be kept. `Unavailable` where it is to be tried
        again."""
        ...


class SnapshotKeeper:
    """Stores snapshots of conversations, and remembers which of them it has stored. One per
    process. `most`: memories that a tenant may have."""

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
        """Bytes held by the windows that it remembers."""
        return self._kept.nbytes

    async def lacking(self, scope: Scope, history: History) -> list[SnapshotWindow]:
        """Windows that this process has not kept as they are now, the oldest first."""
        if not self._due(scope, history):
            return []
        all_windows = await asyncio.to_thread(windows, history)
        return [each for each in all_windows if self._kept.get((scope, each.key)) != _state(each)]

    def _due(self, scope: Scope, history: History) -> bool:
        """Return True if there may be new snapshots: to look at every message takes a while, and in
        a chat that grows there is a new window with every fifth request alone."""
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
        """The snapshot, where it is new or says something else now. Raises store errors, and
        `Unavailable` where a model does not answer."""
        memory = None
        if not self._writer or await self._wanted(scope, window):
            memory = await self._put(scope, history, window)
        self._kept.put((scope, window.key), _state(window))
        return memory

    async def _wanted(self, scope: Scope, window: SnapshotWindow) -> bool:
        """Return True if a model is to be paid for the window."""
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
            log.info("extraction.no_snapshot code=%s", error.code)
            return None
        if memory is not None:
            await self._saving.keep_vectors(scope, [(memory, None)])
        return memory


def _state(window: SnapshotWindow) -> State:
    return window.end, window.answered
