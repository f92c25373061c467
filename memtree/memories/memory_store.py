"""Define the ports of a store of memories, and the values that they take and give.

`MemoryReading`, `MemoryWriting` and `MemoryIndexing` are for parts that do no more than that;
`MemoryStore` is all three. Every method of them is about one scope, which it requires: no default,
and no value that means all. "Live" is what `Memory.live` says at the store's own clock.

Every write of memories raises the scope's change counter by one and stamps it on the rows that it
changes. So whoever knows the scope as of one count reads only what changed since: an index, a
stream of events, another proxy. (Segments, and what a conversation was shown, are no memories.)
Where a memory is asked for or changed, the id or number of a duplicate means the one that counts.

All methods raise `StoreUnavailable` or `StoreCorrupt`, and then nothing is half-written. A write
that returned survives the end of the process, and a power cut as the store's other rows do.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from memtree.memories.memory import Memory, MemoryChange, NewMemory, PossibleUpdate, Tombstone
from memtree.memories.scope import Scope

MemoryRef = str | int  # an id (`mem_...`) or a number


@dataclass(frozen=True, slots=True)
class MemoryFilter:
    """A filter of live memories; None: any. `tags`: all of them. `group`: members of the group with
    this id. `text_hash`: those with this canonical text. `conflicts`: those that may replace
    another one, which counts as well. `created_from` (included) and `created_before` are unix
    seconds. `superseded`, `expired`, `deleted`: those as well."""

    category: str | None = None
    kind: str | None = None
    source_type: str | None = None
    session_id: str | None = None
    thread_id: str | None = None
    tags: tuple[str, ...] = ()
    group: str | None = None
    text_hash: bytes | None = None
    tainted: bool | None = None
    standing: bool | None = None
    conflicts: bool | None = None
    created_from: float | None = None
    created_before: float | None = None
    superseded: bool = False
    expired: bool = False
    deleted: bool = False


ANY = MemoryFilter()


class Added(NamedTuple):
    """`existing`: nothing was added, `memory` stood there already."""

    memory: Memory
    existing: bool = False


class MemoryRecord(NamedTuple):
    """All that is stored of one memory but its vectors: `versions` before the present one, oldest
    first. `tombstone`: what it left when it was corrected. `replaced`: unix seconds since when
    another one counts in its place; None where that is not known. `text_hash` and `terms`: of the
    present text, as in `NewMemory`; who restores a record makes them anew."""

    memory: Memory
    versions: tuple[Memory, ...] = ()
    tombstone: Tombstone | None = None
    replaced: float | None = None
    text_hash: bytes = b""
    terms: bytes = b""


class MemoryPage(NamedTuple):
    """`more`: there are older ones. `total`: of all live memories of the scope, filter aside."""

    memories: tuple[Memory, ...]
    more: bool
    total: int


class ScopeState(NamedTuple):
    """`changed`: the change counter, 0 where nothing was ever saved. `total`: live memories.
    `purges`: how often rows were erased for good: an index of an earlier number is void.
    `conflicts`: memories that may replace another one; `standing`: those that stand in every
    prompt; of both some may have expired."""

    changed: int = 0
    total: int = 0
    purges: int = 0
    conflicts: int = 0
    standing: int = 0


class ChangeEvent(NamedTuple):
    """The last change of one memory: `type` is `created`, `updated` or `deleted`."""

    changed: int
    type: str
    id: str
    version: int


class SearchRow(NamedTuple):
    """The row of one memory in an index. `live`: deletion, supersession and duplicates considered,
    expiry not: `expires` is unix seconds or None. `vector`: packed, None where the recipe has none
    yet. `session`: its `session_id`."""

    number: int
    live: bool
    expires: float | None
    terms: bytes
    vector: bytes | None
    session: str | None = None


class SearchRows(NamedTuple):
    """The rows that changed after a count, by number, and the scope's state in the same instant."""

    state: ScopeState
    rows: tuple[SearchRow, ...]


class StoredSegment(NamedTuple):
    """An index as it was packed: all rows up to the count `changed`, after `purges` erasures."""

    changed: int
    purges: int
    data: bytes


class ShownMemory(NamedTuple):
    """A memory that a conversation was shown. `hit`: unix seconds when it last fitted a message."""

    id: str
    version: int
    hit: float


class MemoryReading(Protocol):
    """Reads memories: as they are, as they were, and what changed."""

    async def get(
        self,
        scope: Scope,
        refs: Sequence[MemoryRef],
        *,
        over: bool = False,
        deleted: bool = False,
    ) -> list[Memory]:
        """Return those live memories, in the order asked for; what is not there is left out, and a
        duplicate's id answers with the one that counts. `over`: expired and superseded ones as
        well. `deleted`: all that are stored, as they are."""
        ...

    async def page(
        self,
        scope: Scope,
        wanted: MemoryFilter = ANY,
        *,
        before: int | None = None,
        limit: int = 100,
    ) -> MemoryPage:
        """Return a page of memories with a number below `before`, newest first."""
        ...

    async def versions(
        self, scope: Scope, wanted: Sequence[tuple[str, int]]
    ) -> dict[tuple[str, int], Memory]:
        """Return the memories as of these (id, version), out of the history where they changed
        since; expired and superseded ones too, deleted ones never."""
        ...

    async def history(self, scope: Scope, ref: MemoryRef) -> list[Memory]:
        """Return all versions of a memory that is not deleted, newest first."""
        ...

    async def twins(self, scope: Scope, ids: Sequence[str]) -> Mapping[str, list[str]]:
        """Return, by id of a memory, the ids of its duplicates, oldest first; memories without any
        are left out."""
        ...

    async def deletable(
        self, scope: Scope, wanted: Sequence[MemoryRef] | MemoryFilter, *, purge: bool = False
    ) -> list[str]:
        """Return the ids that `delete`, or for a filter `delete_matching`, would return."""
        ...

    async def tombstones(self, scope: Scope, limit: int = 1_000) -> list[Tombstone]:
        """Return the tombstones, newest first."""
        ...

    async def records(self, scope: Scope, after: int = 0, limit: int = 500) -> list[MemoryRecord]:
        """Return all memories with a number above `after`, by number: superseded and expired ones
        too, duplicates too, deleted ones never. A forgotten one is a tombstone alone
        (`tombstones`)."""
        ...

    async def state(self, scope: Scope) -> ScopeState: ...

    async def changes(self, scope: Scope, after: int, limit: int = 1_000) -> list[ChangeEvent]:
        """Return what changed after that count, in order; of each memory only its last change.
        Getting a vector is no change here. What one write changed is given whole, so they may be
        more than `limit`."""
        ...

    async def shown(self, scope: Scope, conversation: str) -> list[ShownMemory]:
        """Return what a conversation was shown, by number of the memory; gone ones are left out."""
        ...


class MemoryWriting(Protocol):
    """Adds, changes, replaces and deletes memories."""

    async def add(
        self,
        scope: Scope,
        memory: NewMemory,
        *,
        once: bool = False,
        most: int = 0,
    ) -> Added:
        """Keep a memory under the next number of its tenant.

        `once`: where a live one of the scope has the same `text_hash`, that one is returned and
        nothing is added; of rivals one wins. Without it, the live ones of a user's or a chat's
        memories with this canonical text and no kind are its duplicates from now on: it has the
        tags of all, the latest expiry, and no taint where one has none. `most`: live memories that
        the tenant may have (0: any number); `MemoryLimit` beyond.
        """
        ...

    async def add_many(
        self, scope: Scope, memories: Sequence[NewMemory], *, once: bool = False, most: int = 0
    ) -> list[Added]:
        """`add` for each, all or none."""
        ...

    async def replace_thread(
        self, scope: Scope, thread_id: str, memories: Sequence[NewMemory], *, most: int = 0
    ) -> int:
        """Keep these in the place of all live memories with this `thread_id` (not empty), in one
        step, and return how many those were. They leave no tombstones and cannot be brought back:
        the next sweep erases them. One that says what one of them said gets its vectors.
        `MemoryLimit` where the tenant had more than `most` afterwards; then nothing changes."""
        ...

    async def restore(
        self,
        scope: Scope,
        records: Sequence[MemoryRecord],
        tombstones: Sequence[Tombstone] = (),
        *,
        most: int = 0,
    ) -> list[Memory]:
        """Keep records under their own ids, with new numbers, their times, links and histories, and
        tombstones of forgotten memories, under new numbers as well: all or none. `Conflict` where
        an id is taken, `BadRequest` where the versions of a record are not 1 to its own.

        A link to what is neither stored nor among the records is dropped, but for `superseded_by`:
        what took its place may follow. Messages that they were extracted from are done here, too.
        `most`: as with `add`, of those that are live."""
        ...

    async def change(
        self, scope: Scope, ref: MemoryRef, change: MemoryChange, *, if_version: int | None = None
    ) -> Memory:
        """Change a memory, which may have expired or be superseded, and return it; what it was goes
        into its history. `NotFound` where it is not there, `VersionConflict` where it has another
        version."""
        ...

    async def supersede(self, scope: Scope, ref: MemoryRef, by: NewMemory, reason: str) -> Memory:
        """Add `by` in the place of a live memory, which leaves a tombstone with its text and is
        live no more. `NotFound` where it is not live."""
        ...

    async def merge(
        self,
        scope: Scope,
        ref: MemoryRef,
        older: MemoryRef,
        reason: str,
        *,
        change: MemoryChange | None = None,
    ) -> Memory:
        """Let a live memory count in the place of an older live one, which leaves a tombstone with
        its text, as with `supersede`; returns the one that counts, in a new version whose
        `supersedes` names the older one. What it superseded before says so still, by its
        `superseded_by` and its tombstone. `change`: what else is new in that version, its text and
        data aside. `NotFound` where one is not live (its `param` is `with`
        for the older one), `BadRequest` where both are the same."""
        ...

    async def put_updates(self, scope: Scope, id_: str, updates: Sequence[PossibleUpdate]) -> None:
        """Keep which older memories a memory may replace; those that are not there are left out.
        `get`, `page` and `versions` tell them as `Memory.updates` while they are live, until one of
        a pair is deleted, replaced, or says something else."""
        ...

    async def keep_both(self, scope: Scope, one: str, two: str) -> bool:
        """Keep that neither of two memories may replace the other; return True if one could
        before."""
        ...

    async def mark_duplicate(self, scope: Scope, id_: str, of: str) -> bool:
        """Let `of` count in the place of `id_`, where both are live still."""
        ...

    async def delete(
        self,
        scope: Scope,
        refs: Sequence[MemoryRef],
        *,
        reason: str | None = None,
        purge: bool = False,
    ) -> list[str]:
        """Soft-delete memories, expired and superseded ones too, and return the ids of those that
        were there. Behind these stand their twins: other rows of the scope with this kind, data and
        canonical text, which go as well (not in a namespace of documents). Duplicates of them go
        too, and what they took the place of: older words for the same thing. `reason` (also ""):
        leave a tombstone without text. `purge`: erase them for good, also those that were
        soft-deleted before: rows, vectors, history and what they superseded, and no byte of them
        stays in the store's files."""
        ...

    async def delete_matching(
        self,
        scope: Scope,
        wanted: MemoryFilter,
        *,
        reason: str | None = None,
        purge: bool = False,
    ) -> list[str]:
        """`delete` for all that a filter lets through, in one step; ids by number. What was
        superseded is deleted as well where the filter says so."""
        ...

    async def undelete(self, scope: Scope, refs: Sequence[MemoryRef]) -> list[Memory]:
        """Make soft-deleted memories live again, without their tombstones, and return them. What
        expired meanwhile stays deleted, and so does what was superseded by a deleted memory: it
        comes back with that one."""
        ...

    async def put_shown(
        self, scope: Scope, conversation: str, shown: Sequence[ShownMemory], expires: float
    ) -> None:
        """Replace what a conversation was shown; forgotten after `expires` (unix seconds)."""
        ...


class MemoryIndexing(Protocol):
    """Reads and keeps what a search ranks by: rows with vectors, and segments of packed ones."""

    async def search_rows(self, scope: Scope, recipe: str, after: int) -> SearchRows:
        """Return the rows that changed after that count (0: all), with their vectors under
        `recipe`. Getting a vector is a change here."""
        ...

    async def matching(self, scope: Scope, wanted: MemoryFilter) -> list[int]:
        """Return the numbers of the memories that a filter lets through, ascending."""
        ...

    async def put_vectors(
        self, scope: Scope, recipe: str, rows: Mapping[int, tuple[int, bytes]]
    ) -> None:
        """Keep packed vectors by number, each for a version of the memory; other versions are left
        out."""
        ...

    async def without_vectors(self, scope: Scope, recipe: str, limit: int) -> list[Memory]:
        """Return live memories that have no vector under this recipe, oldest first."""
        ...

    async def count_without_vectors(self, scope: Scope, recipe: str) -> int:
        """Count the live memories that have no vector under this recipe."""
        ...

    async def segment(self, scope: Scope, recipe: str) -> StoredSegment | None: ...

    async def put_segment(self, scope: Scope, recipe: str, segment: StoredSegment) -> None:
        """Keep the newer of two segments; one made before the last purge is not kept."""
        ...


class MemoryStore(MemoryReading, MemoryWriting, MemoryIndexing, Protocol):
    """All that is done with the memories of one scope."""


class MemoryMaintenance(Protocol):
    """The work of the process itself for all scopes. Gives no text of a memory."""

    async def any_memories(self) -> bool:
        """Return True if anybody ever saved one that was not erased."""
        ...

    async def scopes_without_vectors(self, recipe: str, limit: int) -> list[Scope]:
        """Return scopes with live memories that have no vector under this recipe."""
        ...

    async def sweep_memories(self, now: float, deleted_days: int) -> int:
        """Erase for good what was soft-deleted `deleted_days` ago and what expired as long ago,
        with shown sets and vectors of recipes that ended; return how many memories."""
        ...

    async def erase_memories(self, tenant: str) -> int:
        """Erase all that a tenant has, for good, and return how many memories."""
        ...

    async def memory_scopes(self, tenant: str | None) -> list[tuple[Scope, int]]:
        """Return the scopes in which a tenant, or with None anybody, has live memories, with their
        counts: for the command line of whoever runs the store."""
        ...


async def all_pages(
    store: MemoryReading, scope: Scope, wanted: MemoryFilter = ANY, before: int | None = None
) -> AsyncIterator[Sequence[Memory]]:
    """Yield all live memories that a filter lets through, page by page, newest first."""
    while True:
        page = await store.page(scope, wanted, before=before, limit=1_000)
        if page.memories:
            yield page.memories
        if not page.more or not page.memories:
            return
        before = page.memories[-1].number
