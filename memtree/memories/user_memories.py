"""Define groups, a user's settings and the plan of a tenant, and the ports of their store.

Every method is about one scope (plans: one tenant), and raises as those of `MemoryStore` do.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from memtree.memories.memory import Memory, NewMemory
from memtree.memories.memory_store import Added, MemoryRef
from memtree.memories.scope import Scope

PLANS = ("pro", "auto", "free")
PLAN = "pro"  # of a tenant that was given none
TOP_K, MOST_TOP_K = 3, 20
SCORE_THRESHOLD = 0.5
MAX_GROUPS = 1_000  # of a scope
MAX_TITLE_CHARS, MAX_DESCRIPTION_CHARS = 200, 2_000


@dataclass(frozen=True, slots=True)
class MemoryGroup:
    """`members`: live memories in it. Times are unix seconds."""

    id: str
    title: str
    created: float
    updated: float
    description: str = ""
    category: str | None = None
    members: int = 0


@dataclass(frozen=True, slots=True)
class GroupChange:
    """A change of a group; None: it stays. `category` "": it has none any more."""

    title: str | None = None
    description: str | None = None
    category: str | None = None


@dataclass(frozen=True, slots=True)
class UserSettings:
    """The switches of a user. `save`: memories are extracted from conversations, and stand beside
    them; None: the user has not said, and what holds for all decides. `history`: snapshots of
    conversations are kept. `top_k`: memories beside a message, at most; `threshold`: the relevance
    that they need."""

    save: bool | None = None
    history: bool = False
    top_k: int = TOP_K
    threshold: float = SCORE_THRESHOLD


@dataclass(frozen=True, slots=True)
class SettingsChange:
    """A change of settings; None: it stays."""

    save: bool | None = None
    history: bool | None = None
    top_k: int | None = None
    threshold: float | None = None


class MemoryGroups(Protocol):
    """Groups of memories. A soft-deleted memory is in no group until it is brought back; what
    supersedes a member takes its place in its groups. A change of a group or of its members is no
    change of a memory."""

    async def add_group(self, scope: Scope, group: MemoryGroup, most: int) -> MemoryGroup:
        """Add a group; `Conflict` where the scope has `most` groups already."""
        ...

    async def groups(self, scope: Scope) -> list[MemoryGroup]:
        """Return the groups, oldest first."""
        ...

    async def group(self, scope: Scope, id_: str) -> MemoryGroup:
        """Return a group. Raises `NotFound`."""
        ...

    async def change_group(
        self, scope: Scope, id_: str, change: GroupChange, at: float
    ) -> MemoryGroup:
        """Change a group. Raises `NotFound`."""
        ...

    async def delete_group(self, scope: Scope, id_: str) -> bool:
        """Delete the group; return True if there was one. Its memories stay."""
        ...

    async def add_members(self, scope: Scope, id_: str, refs: Sequence[MemoryRef]) -> int:
        """Put live memories into a group; how many were not in it. Others are left out, and so is
        what is no live memory. `NotFound` without the group."""
        ...

    async def remove_members(self, scope: Scope, id_: str, refs: Sequence[MemoryRef]) -> int:
        """Remove members, and return how many were in the group. `NotFound` without the group."""
        ...

    async def groups_of(self, scope: Scope, ids: Collection[str]) -> Mapping[str, list[str]]:
        """Return, by id of a memory, the ids of its groups, oldest group first; without those in
        none."""
        ...


class UserSettingsStore(Protocol):
    async def settings(self, scope: Scope) -> UserSettings:
        """Return the settings; the defaults where nothing was ever changed, and then nothing is
        stored either."""
        ...

    async def change_settings(self, scope: Scope, change: SettingsChange) -> UserSettings: ...


class Plans(Protocol):
    async def plan(self, tenant: str) -> str:
        """Return the plan of a tenant; `PLAN` where none was set."""
        ...

    async def set_plan(self, tenant: str, plan: str) -> None: ...


class ForgetOrder(NamedTuple):
    """An order to forget a memory, known by its `key`. `rest`: what else the memory says, which is
    kept, in its groups."""

    key: bytes
    ref: MemoryRef
    rest: NewMemory | None = None
    reason: str = ""


class ExtractedMessages(Protocol):
    """Digests of messages that memories were extracted from: nothing is extracted twice, and what
    was deleted does not come back. A digest says nothing of the text to who does not have it."""

    async def extracted(self, scope: Scope, digests: Collection[bytes]) -> set[bytes]:
        """Return those of these digests that are done."""
        ...

    async def add_extracted(
        self, scope: Scope, digest: bytes, memories: Sequence[NewMemory], *, most: int
    ) -> list[Added] | None:
        """Keep what was extracted from one message, and that it is done, in one step; a text that
        a live memory has is not kept twice. None, and nothing is kept, where it was done before."""
        ...

    async def forget_once(
        self, scope: Scope, order: ForgetOrder, *, purge: bool = False
    ) -> list[str]:
        """Delete a live memory as `MemoryStore.delete` does, and keep that the order is done, in
        one step. Nothing goes where it was done before; then, and where there is no such memory, no
        id is returned."""
        ...

    async def put_snapshot(
        self, scope: Scope, key: bytes, memory: NewMemory, *, most: int = 0
    ) -> Memory | None:
        """Keep a snapshot, or replace the text of the live one under the same key. None, and
        nothing changes, where the one under that key was deleted, or says the same. `key`: of the
        history that it is of; digests and keys never meet. `most`: as with `add`."""
        ...
