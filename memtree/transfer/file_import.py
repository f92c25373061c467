"""Import a file as new memories of a user, and hold what every import of a file shares.

Each memory gets an id of its own; nothing that is stored is overwritten. A batch is stored whole or
not at all. Whatever stops an import, the same file again adds what is still missing and nothing
twice, since an exact text is kept once in a scope.
"""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Generic, NamedTuple, Protocol, TypeVar

from memtree.agents.agent_memory import AgentMemories
from memtree.agents.memory_schema import SchemaStore
from memtree.agents.schema_book import SchemaBook
from memtree.clock import Clock
from memtree.errors import BadRequest, Conflict, MemoryLimit, SecretRejected
from memtree.memories.draft import checked_text
from memtree.memories.memory import Memory, NewMemory, PossibleUpdate
from memtree.memories.memory_store import MemoryMaintenance, MemoryStore, all_pages
from memtree.memories.saving import MemorySaving
from memtree.memories.scope import Scope
from memtree.memories.user_memories import MAX_GROUPS, MemoryGroup, MemoryGroups, UserSettingsStore
from memtree.process.threads import counted
from memtree.text.normal_form import text_hash
from memtree.transfer.file_items import (
    AUTO,
    FileEnd,
    FileGroup,
    FileHeader,
    FileItem,
    FileMemory,
    ImportReport,
    LineResult,
    LineStatus,
)
from memtree.transfer.import_rules import checked_group, importable, left_out
from memtree.transfer.memory_file import MemoryFile, read_memory_file

BATCH, BATCH_SECONDS = 200, 0.25  # lines that are read, and memories that are stored, at once
OFF_LOOP_BYTES = 16 * 1024  # a larger file is read in a thread: 100 lines take 30 ms
LINE_BYTES = 256  # a file may have a line more for each: our own exports take as many or more

Result = TypeVar("Result")


class TransferStore(
    MemoryStore,
    MemoryGroups,
    UserSettingsStore,
    MemoryMaintenance,
    AgentMemories,
    SchemaStore,
    Protocol,
):
    """Store as export and import need it."""


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """`dry_run`: nothing is stored, the report says what would be. `keep_ids`: the scope is to
    become what an export holds, with its ids, histories, tombstones and settings."""

    format: str = AUTO
    dry_run: bool = False
    keep_ids: bool = False


@dataclass(frozen=True, slots=True)
class ImportParts:
    """`most`: memories of a tenant (0: any number). `allow_secrets`: in the data of agents.
    `most_lines`: of a short file."""

    store: TransferStore
    schemas: SchemaBook
    saving: MemorySaving
    clock: Clock
    new_memory_id: Callable[[], str]
    new_group_id: Callable[[], str]
    max_text_chars: int
    most: int
    allow_secrets: bool = False
    most_lines: int = 1_000_000

    def too_many(self, lines: int, size: int) -> str:
        """Why no more than these lines of a file of `size` bytes are read; empty while more are. A
        line costs some 0.2 ms of CPU however short it is."""
        most = self.most_lines + size // LINE_BYTES
        return f"the file has more than {most:,} entries; import the rest as another file" * (
            lines >= most
        )

    async def room(self, scope: Scope) -> int | None:
        """How many live memories the tenant may have beside those that it has; None: any."""
        if not self.most:
            return None
        scopes = await self.store.memory_scopes(scope.tenant)
        return max(0, self.most - sum(count for _, count in scopes))


async def off_loop(size: int, work: Callable[[], Result]) -> Result:
    """`work` here, or in a thread where a file of `size` bytes would hold up everybody else."""
    if size > OFF_LOOP_BYTES:
        return await asyncio.to_thread(counted, work)
    return counted(work)


def _some(results: Iterator[Result]) -> list[Result]:
    """A batch: what somebody hung up on ends with it."""
    batch: list[Result] = []
    end = time.thread_time() + BATCH_SECONDS
    for result in islice(results, BATCH):
        batch.append(result)
        if time.thread_time() > end:
            break
    return batch


async def batches(size: int, results: Iterator[Result]) -> AsyncIterator[list[Result]]:
    """Yield the results of reading a file of `size` bytes, some at a time."""
    while batch := await off_loop(size, lambda: _some(results)):
        yield batch
        await asyncio.sleep(0)  # a small file is many memories, too


_PAGE = 1_000
_MOST_USERS = 100
LIMIT = "the limit of memories of this tenant (max_memories) is reached"
NO_END = "the file has no last line of the type `end`: it may be cut off"
Prepared = TypeVar("Prepared")


class NewLine(NamedTuple):
    """A memory of a file that may be stored."""

    item: FileMemory
    memory: NewMemory


class RepeatedLine(NamedTuple):
    """A memory whose text an earlier line of the file has."""

    item: FileMemory


class TakenMemory(NamedTuple):
    """A memory of the file: stored, or there already under this id. None: in a dry run."""

    id: str | None
    existing: bool


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


class ImportRun(Generic[Prepared]):
    """Base of every import of a file, whatever it stores. It goes through the file in batches, and
    notes why it stopped before the end."""

    def __init__(self, parts: ImportParts, scope: Scope, options: ImportOptions) -> None:
        self._parts, self._scope, self._options = parts, scope, options
        self._dry = options.dry_run
        self._report = ImportReport(options.dry_run, options.keep_ids)
        self._begun, self._ended = options.keep_ids, False

    async def _batches(
        self, size: int, prepared: Iterator[Prepared]
    ) -> AsyncIterator[list[Prepared]]:
        """Yield what was prepared of a file of `size` bytes, until the import is stopped."""
        seen = 0
        async for batch in batches(size, prepared):
            seen += len(batch)
            yield batch
            if too_many := self._parts.too_many(seen, size):
                self._report.stopped = too_many
            if self._report.stopped:
                return

    def _note_ends(self, item: object) -> None:
        self._begun = self._begun or isinstance(item, FileHeader)
        self._ended = self._ended or isinstance(item, FileEnd)

    @contextmanager
    def _storing(self) -> Iterator[None]:
        """Vectors follow, also of what was stored before somebody hung up, or the store failed."""
        try:
            yield
        finally:
            if not self._dry:
                self._parts.saving.stored_without_vectors(self._scope)

    def _reported(self, format_: str) -> ImportReport:
        if self._begun and not self._ended and not self._report.stopped:
            self._report.stopped = NO_END
        self._report.format = format_
        return self._report


class NewMemoriesRun(ImportRun[NewLine | RepeatedLine | FileItem], ABC):
    """An import that gives new ids. A dry run counts the room that is left itself."""

    _room: int | None = None

    async def _read(self, raw: bytes) -> MemoryFile:
        if self._dry:
            self._room = await self._parts.room(self._scope)
        return await off_loop(len(raw), lambda: read_memory_file(raw, self._options.format))

    @abstractmethod
    async def _store(self, lines: Sequence[NewLine]) -> Sequence[TakenMemory]:
        """Store all or none of those that are not there; a dry run tells what would be. Raises
        `MemoryLimit`."""

    async def _take(self, lines: Sequence[NewLine]) -> None:
        """Store a batch, or as many of it as there is room for, in their order."""
        if not self._dry:
            try:
                for line, taken in zip(lines, await self._store(lines), strict=True):
                    self._tell(line.item, taken, tainted=line.memory.tainted)
            except MemoryLimit:
                pass
            else:
                return
        for line in lines:
            try:
                [taken] = await self._store([line])
                if self._room is not None and not taken.existing:
                    if not self._room:
                        raise MemoryLimit(LIMIT)
                    self._room -= 1
            except MemoryLimit:
                self._report.stopped = f"{LIMIT}, in line {line.item.line}"
                return
            self._tell(line.item, taken, tainted=line.memory.tainted)

    def _tell(self, item: FileMemory, taken: TakenMemory, *, tainted: bool = False) -> None:
        status = LineStatus.DUPLICATE if taken.existing else LineStatus.IMPORTED
        tainted = tainted and not taken.existing
        self._report.add(LineResult(item.line, status, "", "", taken.id, tainted))


class FileImport(NewMemoriesRun):
    """One import. `run` it once."""

    def __init__(self, parts: ImportParts, scope: Scope, options: ImportOptions) -> None:
        super().__init__(parts, scope, options)
        self._groups: dict[str, MemoryGroup] = {}  # by the id that the file gives
        self._members: dict[str, list[str]] = {}
        self._users: set[str] = set()
        self._texts: dict[bytes, str | None] = {}  # of a dry run: what is there, or would be
        self._lines: set[str] = set()  # texts of the file so far
        self._ids: dict[str, str | None] = {}  # of what those became
        self._conflicts = FileConflicts()

    async def run(self, raw: bytes) -> ImportReport:
        file = await self._read(raw)
        if self._dry:
            await self._know_texts()
        with self._storing():
            async for batch in self._batches(len(raw), self._prepared(file)):
                await self._take([each for each in batch if isinstance(each, NewLine)])
                for each in batch:
                    self._note(each)
            await self._group()
            if not self._dry:
                await self._conflicts.keep(self._parts.store, self._scope)
        if len(self._users) > 1:
            self._report.warn(
                f"the file holds memories of {len(self._users)} users; all went to this one"
            )
        return self._reported(file.format)

    def _prepared(self, file: MemoryFile) -> Iterator[NewLine | RepeatedLine | FileItem]:
        """Runs in a thread where the file is large."""
        parts = self._parts
        for item in file.items:
            now = parts.clock.now()
            if isinstance(item, FileGroup):
                yield checked_group(item)
            elif not isinstance(item, FileMemory):
                yield item
            elif item.text in self._lines and not left_out(item, now):
                yield RepeatedLine(item)
            else:
                id_ = parts.new_memory_id()
                made = importable(item, id_, now, parts.max_text_chars, file.format)
                if isinstance(made, LineResult):
                    yield made
                else:
                    self._lines.add(item.text)
                    yield NewLine(item, made)

    def _note(self, item: NewLine | RepeatedLine | FileItem) -> None:
        if isinstance(item, LineResult):
            self._report.add(item)
        elif isinstance(item, RepeatedLine):
            if item.item.text in self._ids:
                self._tell(item.item, TakenMemory(self._ids[item.item.text], existing=True))
        elif isinstance(item, FileGroup) and len(self._groups) < MAX_GROUPS:
            self._groups[item.group.id] = item.group
        self._note_ends(item)

    # -- memories ----------------------------------------------------------------------------

    async def _store(self, lines: Sequence[NewLine]) -> Sequence[TakenMemory]:
        if self._dry:
            hashes = [line.memory.text_hash for line in lines]
            known = [said in self._texts for said in hashes]
            ids = [self._texts.setdefault(said, None) for said in hashes]
            return list(map(TakenMemory, ids, known))
        memories = [line.memory for line in lines]
        added = await self._parts.store.add_many(
            self._scope, memories, once=True, most=self._parts.most
        )
        return [TakenMemory(memory.id, existing) for memory, existing in added]

    def _tell(self, item: FileMemory, taken: TakenMemory, *, tainted: bool = False) -> None:
        self._ids.setdefault(item.text, taken.id)
        if item.record and taken.id is not None:
            self._conflicts.note(item.record.memory, taken.id)
        if item.user and len(self._users) < _MOST_USERS:
            self._users.add(item.user)
        for group in item.groups:
            members = self._members.setdefault(group, [])
            if taken.id is not None:
                members.append(taken.id)
        super()._tell(item, taken, tainted=tainted)

    async def _know_texts(self) -> None:
        async for memories in all_pages(self._parts.store, self._scope):
            texts = [memory.text for memory in memories]
            size = sum(map(len, texts))
            hashes: list[bytes] = await off_loop(size, partial(list, map(text_hash, texts)))
            self._texts.update(zip(hashes, [memory.id for memory in memories], strict=True))

    # -- groups ------------------------------------------------------------------------------

    async def _group(self) -> None:
        """Groups by their title: one that is there takes the memories of the file's as well."""
        wanted = {
            id_: group
            for id_, group in self._groups.items()
            if id_ in self._members or not self._report.stopped
        }
        if not wanted:
            return
        store, scope = self._parts.store, self._scope
        there = {group.title: group.id for group in await store.groups(scope)}
        for id_, group in wanted.items():
            if group.title not in there:
                self._report.groups += 1
                there[group.title] = "" if self._dry else await self._new(group)
            members = self._members.get(id_)
            if members and there[group.title] and not self._dry:
                for at in range(0, len(members), _PAGE):
                    some = members[at : at + _PAGE]
                    await store.add_members(scope, there[group.title], some)

    async def _new(self, group: MemoryGroup) -> str:
        """Empty where the scope has as many groups as it may."""
        now = self._parts.clock.now()
        new = MemoryGroup(
            self._parts.new_group_id(),
            group.title,
            min(group.created, now) or now,
            now,
            group.description,
            group.category,
        )
        try:
            return (await self._parts.store.add_group(self._scope, new, MAX_GROUPS)).id
        except Conflict:
            self._report.groups -= 1
            self._report.warn("there are as many groups as a user may have; some were not made")
            return ""
