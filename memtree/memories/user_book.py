"""Keep what a user has beside the memories: groups, settings, and the plan of the tenant."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

from memtree.clock import Clock
from memtree.errors import BadRequest, Forbidden, Unavailable
from memtree.memories.draft import checked_name, checked_text
from memtree.memories.memory import Memory
from memtree.memories.memory_store import MemoryRef, MemoryStore
from memtree.memories.memory_topics import checked_category
from memtree.memories.scope import Scope
from memtree.memories.user_memories import (
    MAX_DESCRIPTION_CHARS,
    MAX_GROUPS,
    PLANS,
    GroupChange,
    MemoryGroup,
    MemoryGroups,
    Plans,
    SettingsChange,
    UserSettings,
    UserSettingsStore,
)
from memtree.process.bounded import remember

log = logging.getLogger("memtree")

MOMENT = 2.0  # seconds
PATIENCE = 0.5  # seconds that a chat waits for the store
MOST = 4_096  # users


class _Known(NamedTuple):
    settings: UserSettings
    until: float  # monotonic seconds


class RecentSettings:
    """Remembers for a moment what users have switched on. Every chat request asks for it, so it
    costs those who have no memories next to nothing. `effective` asks the store, which has
    `patience` seconds."""

    def __init__(
        self,
        effective: Callable[[Scope], Awaitable[UserSettings]],
        clock: Clock,
        most: int = MOST,
        *,
        patience: float = PATIENCE,
    ) -> None:
        self._effective, self._clock, self._most = effective, clock, most
        self._patience = patience
        self._known: OrderedDict[Scope, _Known] = OrderedDict()

    async def of(self, scope: Scope) -> UserSettings:
        """Return the settings as they were at most two seconds ago. While the store fails, they are
        the last known ones, and for a user never met the first ones: all is off. Of requests at
        once, one asks the store, and the others go on with what is known."""
        known, now = self._known.get(scope), self._clock.monotonic()
        if known is not None and now < known.until:
            return known.settings
        if known is not None:
            self._known[scope] = known._replace(until=now + self._patience)
        try:
            async with asyncio.timeout(self._patience):
                settings = await self._effective(scope)
        except (Unavailable, TimeoutError) as error:
            log.warning("memories.settings_unknown code=%s", getattr(error, "code", "timeout"))
            settings = known.settings if known else UserSettings()
        until = self._clock.monotonic() + MOMENT
        remember(self._known, scope, _Known(settings, until), self._most)
        return settings

    def forget(self, scope: Scope) -> None:
        """Forget the settings, which were changed here: the next request asks the store."""
        self._known.pop(scope, None)


FREE, AUTO = "free", "auto"


class UserStore(MemoryStore, MemoryGroups, UserSettingsStore, Plans, Protocol):
    """Store as the book needs it."""


@dataclass(frozen=True, slots=True)
class GroupDraft:
    """A group as somebody asks for it."""

    title: str
    description: str = ""
    category: str | None = None


class MembersAdded(NamedTuple):
    """`added`: how many were not in the group. `unknown`: refs that are no live memory."""

    added: int
    unknown: tuple[MemoryRef, ...] = ()


class UserBook:
    """Bound to its ports; safe for concurrent calls. `clock`: the memories' own. `recent`: what
    chats ask for, and wait for `patience` seconds. `saves`: for users who have not said."""

    def __init__(
        self,
        store: UserStore,
        clock: Clock,
        new_id: Callable[[], str],
        most: int = MAX_GROUPS,
        *,
        patience: float = PATIENCE,
        saves: bool = False,
    ) -> None:
        self._store, self.clock, self._new_id, self._most = store, clock, new_id, most
        self._saves = saves
        self.recent = RecentSettings(self.effective, clock, patience=patience)

    # -- settings and plans --------------------------------------------------------------------

    async def settings(self, scope: Scope) -> UserSettings:
        """Return the settings as the user has set them, whatever the plan."""
        return await self._store.settings(scope)

    async def effective(self, scope: Scope) -> UserSettings:
        """Return the settings that hold: under the free plan nothing is stored or shown unasked;
        under the plan `auto` it is for each user who has not switched it off."""
        settings, plan = await asyncio.gather(
            self._store.settings(scope), self._store.plan(scope.tenant)
        )
        if plan == FREE:
            return replace(settings, save=False, history=False)
        said = settings.save
        return replace(settings, save=plan == AUTO or self._saves if said is None else said)

    async def change_settings(self, scope: Scope, change: SettingsChange) -> UserSettings:
        """Change the settings and return what holds then. Raises `Forbidden` for a switch that the
        plan does not have."""
        if (change.save or change.history) and await self.plan(scope.tenant) == FREE:
            name = "memories_save_enabled" if change.save else "memories_chat_history_enabled"
            raise Forbidden(
                f"{name}: memories are made from conversations under the plan `pro` alone.",
                param=name,
            )
        await self._store.change_settings(scope, change)
        self.recent.forget(scope)
        return await self.effective(scope)

    async def plan(self, tenant: str) -> str:
        return await self._store.plan(tenant)

    async def set_plan(self, tenant: str, plan: str) -> None:
        """Set the plan of a tenant, for whoever runs the server. Raises `BadRequest`."""
        if plan not in PLANS:
            raise BadRequest(f"plan must be one of {', '.join(PLANS)}", param="plan")
        await self._store.set_plan(tenant, plan)

    # -- groups --------------------------------------------------------------------------------

    async def add_group(self, scope: Scope, draft: GroupDraft) -> MemoryGroup:
        """Add a group. Raises `BadRequest`, `SecretRejected`, and `Conflict` where there are too
        many."""
        now = self.clock.now()
        group = MemoryGroup(
            self._new_id(),
            _title(draft.title),
            now,
            now,
            _description(draft.description),
            checked_category(draft.category, "category") if draft.category is not None else None,
        )
        return await self._store.add_group(scope, group, self._most)

    async def groups(self, scope: Scope) -> list[MemoryGroup]:
        """Return the groups, oldest first."""
        return await self._store.groups(scope)

    async def group(self, scope: Scope, id_: str) -> MemoryGroup:
        """Return a group. Raises `NotFound`."""
        return await self._store.group(scope, id_)

    async def change_group(self, scope: Scope, id_: str, change: GroupChange) -> MemoryGroup:
        """Change a group. Raises `NotFound`, and as `add_group` does."""
        checked = GroupChange(
            None if change.title is None else _title(change.title),
            None if change.description is None else _description(change.description),
            checked_category(change.category, "category") if change.category else change.category,
        )
        return await self._store.change_group(scope, id_, checked, self.clock.now())

    async def delete_group(self, scope: Scope, id_: str) -> bool:
        """Delete the group; return True if there was one. Its memories stay."""
        return await self._store.delete_group(scope, id_)

    async def add_members(self, scope: Scope, id_: str, refs: Sequence[MemoryRef]) -> MembersAdded:
        """Add members; what is no live memory is left out, and told. Raises `NotFound` without the
        group."""
        added = await self._store.add_members(scope, id_, refs)
        memories = await self._store.get(scope, refs)
        names = _names(memories)
        rest = [ref for ref in refs if ref not in names]
        if not rest:
            return MembersAdded(added)
        # A duplicate answers with the memory that counts, under the other one's id.
        counting = {memory.id for memory in memories}
        stored = await self._store.get(scope, rest, deleted=True)
        names |= _names([memory for memory in stored if memory.duplicate_of in counting])
        return MembersAdded(added, tuple(dict.fromkeys(ref for ref in rest if ref not in names)))

    async def remove_members(self, scope: Scope, id_: str, refs: Sequence[MemoryRef]) -> int:
        """Remove members, and return how many were in the group. Raises `NotFound` without the
        group."""
        return await self._store.remove_members(scope, id_, refs)

    async def groups_of(self, scope: Scope, ids: Collection[str]) -> Mapping[str, list[str]]:
        """Return, by id of a memory, the ids of its groups, oldest group first."""
        return await self._store.groups_of(scope, ids)

    async def twins(self, scope: Scope, ids: Sequence[str]) -> Mapping[str, list[str]]:
        """Return, by id of a memory, the ids of those that say the same and for which it stands."""
        return await self._store.twins(scope, ids)


def _names(memories: Sequence[Memory]) -> set[MemoryRef]:
    return {name for memory in memories for name in (memory.id, memory.number)}


def _title(text: str) -> str:
    title = text.strip()
    if not title:
        raise BadRequest("title must not be empty", param="title")
    return checked_name(title, "title")


def _description(text: str) -> str:
    """Check a description; "" where nothing is said."""
    return checked_text(text, MAX_DESCRIPTION_CHARS, "description") if text.strip() else ""
