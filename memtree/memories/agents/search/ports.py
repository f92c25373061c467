"""Port of a store for a search over many scopes of agents.

Scopes go by the numbers that the store has given them; memories by the numbers of their tenant.
Every method names the scopes that are meant: numbers of other scopes answer nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

from memtree.memories.agents.agent_memory import AgentScopes, LocatedMemory
from memtree.memories.ports import MemoryFilter, SearchRow


class ScopeTotals(NamedTuple):
    """How many scopes there are, and the sums of their numbers, change counters and erasures: equal
    totals mean that nothing has changed, for a scope that was there once stays, and counters only
    grow."""

    scopes: int = 0
    numbers: int = 0
    changed: int = 0
    purges: int = 0


class ScopeVersion(NamedTuple):
    """A scope's counters. `counted`: memories that are live, expiry aside."""

    number: int
    owner: str
    subject: str
    changed: int
    purges: int
    counted: int


class PlacedRow(NamedTuple):
    """`place`: the number of the scope that holds the row."""

    place: int
    row: SearchRow


class AgentSearchStore(Protocol):
    """Raises as `MemoryStore` does."""

    async def scope_totals(self, scopes: AgentScopes) -> ScopeTotals: ...

    async def scope_versions(self, scopes: AgentScopes) -> list[ScopeVersion]:
        """Return the versions of all these scopes, by number."""
        ...

    async def placed_rows(
        self,
        scopes: AgentScopes,
        recipe: str,
        *,
        places: Collection[int] | None = None,
        counted: bool = True,
    ) -> list[PlacedRow]:
        """Rows with their vectors under `recipe`, by scope and number. `places`: of these scopes
        alone. `counted`: those that count, expired or not; else all that are stored."""
        ...

    async def placed_changes(
        self, scopes: AgentScopes, recipe: str, after: Mapping[int, int]
    ) -> list[PlacedRow]:
        """Rows that changed after a count, by the number of the scope: also those that count no
        more."""
        ...

    async def matching_in(self, scopes: AgentScopes, wanted: MemoryFilter) -> list[int]:
        """Numbers of the memories that a filter lets through."""
        ...

    async def placed_memories(
        self, scopes: AgentScopes, places: Sequence[tuple[int, int]], *, past: bool = False
    ) -> list[LocatedMemory]:
        """Those live memories, by (number of the scope, number), in the order asked for; what is
        not there is left out. `past`: what was superseded or expired, too."""
        ...
