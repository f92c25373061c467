"""Count or erase, in one step, all that is kept of one user.

That is memories, groups, settings, and what agents remember of the user (the subject with the
user's name).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from memtree.agents.agent_book import AgentCuration
from memtree.agents.agent_memory import AgentScopes
from memtree.memories.book import MAX_PAGE
from memtree.memories.memory import MemoryState
from memtree.memories.memory_curation import DeletionReceipt, MemoryCuration
from memtree.memories.memory_store import MemoryFilter
from memtree.memories.scope import Scope
from memtree.memories.user_book import UserBook
from memtree.memories.user_memories import SettingsChange, UserSettings

ALL = MemoryFilter(superseded=True, expired=True, deleted=True)


@dataclass(frozen=True, slots=True)
class UserOverview:
    """`memories`: how many, by state, and `categories` of the live ones. `tainted`, `standing`,
    `conflicts`: among the live ones. `agents`: records of agents about the user. `first`, `last`:
    when the first and the newest memory were saved, unix seconds."""

    settings: UserSettings
    memories: Mapping[MemoryState, int] = field(default_factory=dict)
    categories: Mapping[str, int] = field(default_factory=dict)
    tainted: int = 0
    standing: int = 0
    conflicts: int = 0
    groups: int = 0
    agents: int = 0
    first: float | None = None
    last: float | None = None


@dataclass(frozen=True, slots=True)
class UserErasure:
    """`memories`: of the user; `agents`: of agents about the user, None without a name."""

    memories: DeletionReceipt
    groups: int
    agents: DeletionReceipt | None = None


class WholeUser:
    """Bound to its use cases; safe for concurrent calls."""

    def __init__(self, curation: MemoryCuration, agents: AgentCuration, users: UserBook) -> None:
        self._curation, self._agents, self._users = curation, agents, users

    async def overview(self, scope: Scope) -> UserOverview:
        """Count all that is kept of a user. Raises store errors."""
        book, settings = self._curation.book, await self._users.effective(scope)
        now, cursor = book.clock.now(), None
        states, categories, marks = Counter[MemoryState](), Counter[str](), Counter[str]()
        times: list[float] = []
        while True:
            page = await book.page(scope, ALL, cursor=cursor, limit=MAX_PAGE)
            for memory in page.memories:
                times = [min([*times[:1], memory.created]), max([*times[1:], memory.created])]
                states[memory.state(now)] += 1
                if memory.live(now):
                    categories[memory.category or ""] += 1
                    marks["tainted"] += memory.tainted
                    marks["standing"] += bool(memory.standing)
                    marks["conflicts"] += bool(memory.updates)
            cursor = page.next_cursor
            if cursor is None:
                break
        about = _about(scope)
        return UserOverview(
            settings,
            states,
            categories,
            **marks,
            groups=len(await self._users.groups(scope)),
            agents=await self._agents.count(about, ALL) if about else 0,
            first=times[0] if times else None,
            last=times[1] if times else None,
        )

    async def erase(self, scope: Scope) -> UserErasure:
        """Erase all that is kept of a user, for good, after nothing new is kept. Raises store
        errors; what is left then goes with the next call."""
        off = SettingsChange(save=False, history=False)
        await self._users.change_settings(scope, off)
        groups = await self._users.groups(scope)
        for group in groups:
            await self._users.delete_group(scope, group.id)
        about, agents = _about(scope), None
        if about:
            agents = await self._agents.delete_matching(about, ALL, purge=True)
        gone = await self._curation.delete_matching(scope, ALL, purge=True)
        return UserErasure(gone, len(groups), agents)


def _about(scope: Scope) -> AgentScopes | None:
    """Return the scopes of all agents about a user with a name."""
    return AgentScopes(scope.tenant, None, scope.owner) if scope.owner else None
