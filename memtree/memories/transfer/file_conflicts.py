"""Conflicts of a file's memories, kept once both of a pair are stored."""

from __future__ import annotations

from memtree.errors import BadRequest, SecretRejected
from memtree.memories.draft import checked_text
from memtree.memories.memory import Memory, PossibleUpdate
from memtree.memories.ports import MemoryStore
from memtree.memories.scope import Scope


class FileConflicts:
    """`note` each stored memory of the file, then `keep` them."""

    def __init__(self) -> None:
        self._ids: dict[str, str] = {}  # in the file: in the store
        self._updates: dict[str, tuple[PossibleUpdate, ...]] = {}  # by the id in the store

    def note(self, memory: Memory, id_: str) -> None:
        """`id_`: under which a memory of the file is stored."""
        self._ids[memory.id] = id_
        if memory.updates:
            self._updates[id_] = memory.updates

    async def keep(self, store: MemoryStore, scope: Scope) -> None:
        """Store the pairs whose older memory came with the file, too. Raises store errors."""
        for id_, updates in self._updates.items():
            known = [
                update._replace(id=self._ids[update.id])
                for update in updates
                if update.id in self._ids and _storable(update)
            ]
            if known:
                await store.put_updates(scope, id_, known)


def _storable(update: PossibleUpdate) -> bool:
    """Return True if what differs is plain text without a secret: it is shown to people."""
    try:
        for each in update.differs:
            checked_text(each, name="differs")
    except (BadRequest, SecretRejected):
        return False
    return True
