"""Values of agent memories: which scopes a request means, and what a structured memory replaces."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Final, NamedTuple

from memtree.memories.memory import Memory, NewMemory
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
    (`agents/schemas/unique_on.py`), b"" where nothing is: the live memory of the scope with the
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
