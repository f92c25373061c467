"""Define the values of agent memories, and the ports of the stores that keep and search them.

Methods raise as those of `MemoryStore` do. Where several scopes are changed, they are changed in
one transaction: all or nothing.

Unique values are those fields of a memory's data that the stored schema of its kind names. Of the
live memories of a scope with the same unique values there is one:

- A write, a change, a merge or a person's correction that has the values of another memory
  supersedes it. The superseded one keeps its row and its history and leaves no tombstone.
- One that has expired gives way without being superseded: it ended by itself.
- A deleted one gives way as well, and does not come back while another has its values. Of two that
  come back together the newer does.
- On import the one that is there counts, and of several imported ones the last. The others are
  stored as superseded by it.

In a search, scopes go by the numbers that the store has given them, and memories by the numbers of
their tenant. Every method names the scopes that are meant: numbers of other scopes answer nothing.
"""

from __future__ import annotations

import enum
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

from memtree.memories.memory import Memory, MemoryChange, NewMemory
from memtree.memories.memory_store import ANY, MemoryFilter, SearchRow
from memtree.memories.scope import Scope

NOBODY: Final = ("", 0)  # what a write expects where nobody has its unique values
ALL = "*"  # in place of an agentId or a subjectId: every one of the tenant


@dataclass(frozen=True, slots=True)
class AgentScopes:
    """The scopes of a tenant's agents that a request means. None: of every agent, of every subject;
    `subject` "": what is remembered of nobody in particular."""

    tenant: str
    agent: str | None
    subject: str | None = ""

    @property
    def single(self) -> Scope | None:
        """The scope, where they can only be one."""
        if self.agent is None or self.subject is None:
            return None
        return Scope.of_agent(self.tenant, self.agent, self.subject)


@dataclass(frozen=True, slots=True)
class StructuredWrite:
    """A structured memory to be stored. `unique_key`: of the values that its schema wants unique
    (`memory_schema.unique_key`), b"" where nothing is: the live memory of the scope with the
    same kind and key is superseded. It counts where no schema of the kind is stored; else the store
    makes the key by that one, in the step that stores the memory. `replaces`: the id of a live
    memory of the scope and kind that gets this one's text, data, category, expiry, confidence,
    mentions and time, under its own id, as a new version; its tags and thread where this one has
    any. `expected`: the id and version of the live memory that this one's data was made from, or
    `NOBODY`; nothing is stored where that is no longer so, or where another memory has the unique
    values by now."""

    memory: NewMemory
    unique_key: bytes = b""
    replaces: str = ""
    expected: tuple[str, int] | None = None


class WriteOutcome(enum.StrEnum):
    """`UPDATED`: another version, or in the place of another memory. `UNCHANGED`: the memory that
    is there says the same."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"


class StructuredResult(NamedTuple):
    """`superseded`: the id of the memory in whose place this one stands now."""

    memory: Memory
    outcome: WriteOutcome
    superseded: str | None = None


class LocatedMemory(NamedTuple):
    """A stored memory and whose it is."""

    scope: Scope
    memory: Memory


class AgentPage(NamedTuple):
    """Newest first. `more`: there are older ones. `total`: live memories of all the scopes, filter
    aside."""

    memories: tuple[LocatedMemory, ...]
    more: bool
    total: int


class AgentMemories(Protocol):
    async def write(
        self,
        scope: Scope,
        writes: Sequence[StructuredWrite],
        *,
        done: Sequence[bytes] = (),
        most: int = 0,
    ) -> list[StructuredResult] | None:
        """Store all of them in their order, or none; one that says what is there already changes
        nothing. Of two with the same unique values the later supersedes the other.

        `done`: keys of messages that they were extracted from (as in `ExtractedMessages`): marked
        in the same step; None, and nothing is stored, where one of these was marked before. None
        as well where what a write `expected` was no longer so when the call began.
        `NotFound` (param `writes[i].replaces`) where a memory to be replaced is not live in the
        scope, `BadRequest` where it has another kind; `Conflict` where an id is taken;
        `MemoryLimit` where the tenant had more than `most` live memories afterwards."""
        ...

    async def unique_holders(
        self, scope: Scope, kind: str, keys: Sequence[bytes]
    ) -> dict[bytes, Memory]:
        """The live memories of a kind that have these unique values
        (`memory_schema.unique_key`), by them. What it costs does not grow with the memories of
        the scope."""
        ...

    async def locate(
        self, scopes: AgentScopes, ids: Sequence[str], also: Sequence[Scope] = ()
    ) -> list[LocatedMemory]:
        """Memories with these ids in the scopes, or in one of `also`, that are not deleted; in the
        order asked for, each once. A duplicate's id answers with the one that counts. Where several
        scopes have an id, first live ones, then those of `also`, then by agent and subject. What it
        costs does not grow with the number of scopes."""
        ...

    async def agent_page(
        self,
        scopes: AgentScopes,
        wanted: MemoryFilter = ANY,
        *,
        before: int | None = None,
        limit: int = 100,
    ) -> AgentPage:
        """Newest first, those with a number below `before`: numbers are the tenant's. Groups are of
        one scope: over several, a filter for one lets nothing through."""
        ...

    async def change_all(
        self, rows: Sequence[tuple[Scope, str]], change: MemoryChange
    ) -> list[LocatedMemory]:
        """Change all these (scope, id) in the same way, in one step, in the order asked for; what
        is not there is left out, and what is named twice is changed once."""
        ...

    async def delete_all(
        self, rows: Sequence[tuple[Scope, str]], *, purge: bool = False
    ) -> list[tuple[Scope, str]]:
        """`MemoryStore.delete` of memories of several scopes in one step; those that were there."""
        ...

    async def delete_matching_all(
        self, scopes: AgentScopes, wanted: MemoryFilter, *, purge: bool = False
    ) -> list[tuple[Scope, str]]:
        """`MemoryStore.delete_matching` over several scopes, in one step."""
        ...


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
