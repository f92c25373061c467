"""Export the memories of a scope, import files, and bring an export back as it was.

    export:  header, settings, groups (or schemas) -> memories, page by page -> tombstones -> end
    import:  a file -> items -> what may be stored of them -> batches -> a report, line by line

Settings and groups are a user's. An agent's export holds the schemas of its tenant instead; grants
and wallets are in none.

An export is a stream in constant memory. Who writes meanwhile is not held up: what is saved later
comes at the end, what is changed or deleted behind the page that is being sent stands there as it
was, and the last line says that it may be so.

An export brought back as it was keeps ids, times, histories, links, tombstones, and groups and
settings, or an agent's schemas. This is only for a scope that has no other memories. One that holds
a part of the file's, since an earlier run was killed, gets the rest.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from typing import NamedTuple

from memtree.errors import BadRequest, Conflict, MemoryLimit
from memtree.memories.memory import Tombstone
from memtree.memories.memory_store import MemoryRecord
from memtree.memories.scope import Scope, ScopeKind
from memtree.memories.user_memories import MAX_GROUPS, SettingsChange, UserSettings
from memtree.transfer import export_format
from memtree.transfer.agent_import import AgentImport, FileSchemas
from memtree.transfer.file_import import (
    LIMIT,
    FileConflicts,
    FileImport,
    ImportOptions,
    ImportParts,
    ImportRun,
    batches,
)
from memtree.transfer.file_items import (
    MEMTREE,
    FileGroup,
    FileItem,
    FileMemory,
    FileSchema,
    FileSettings,
    FileTombstone,
    ImportReport,
    LineResult,
    LineStatus,
)
from memtree.transfer.import_rules import checked_group, checked_left, restorable
from memtree.transfer.memory_file import read_memory_file

_PAGE = 1_000
_MOST_TOMBSTONES = 1_000_000  # of a scope
TOGETHER = 2_000  # memories that are stored in one step: they may name each other
NOT_EMPTY = (
    "keep_ids brings an export back into an empty scope, and this one has other memories; without "
    "keep_ids they are imported beside them, under new ids"
)


class KeptLine(NamedTuple):
    """A memory of an export that may be stored as it was."""

    item: FileMemory
    record: MemoryRecord


class FileRestore(ImportRun[KeptLine | FileItem]):
    """One import with `keep_ids`. `run` it once. The file is gone through twice: first to see
    whether it may be stored at all."""

    def __init__(self, parts: ImportParts, scope: Scope, options: ImportOptions) -> None:
        super().__init__(parts, scope, options)
        self._ids: set[str] = set()  # of the file
        self._live = 0
        self._there: set[str] = set()  # of the scope
        self._groups: list[FileGroup] = []
        self._members: dict[str, list[str]] = {}
        self._tombstones: list[Tombstone] = []
        self._settings: SettingsChange | None = None
        self._conflicts = FileConflicts()
        self._of_agent = scope.kind is ScopeKind.AGENT
        self._schemas = FileSchemas(parts.schemas, scope.tenant, dry_run=options.dry_run)

    async def run(self, raw: bytes) -> ImportReport:
        await self._survey(raw)
        await self._check_scope()
        with self._storing():
            if self._of_agent:
                await self._schemas.begin()
            waiting: list[KeptLine] = []
            async for batch in self._batches(len(raw), self._prepared(raw)):
                for each in batch:
                    if isinstance(each, LineResult):
                        self._report.add(each)
                    elif isinstance(each, KeptLine):
                        waiting.append(each)
                    else:
                        await self._note(each)
                if len(waiting) >= TOGETHER:
                    await self._take(waiting)
                    waiting = []
            await self._take(waiting)
            await self._finish()
        return self._reported(MEMTREE)

    # -- whether it may be stored ------------------------------------------------------------

    async def _survey(self, raw: bytes) -> None:
        now, seen = self._parts.clock.now(), 0
        async for batch in batches(len(raw), self._prepared(raw)):
            for each in batch:
                if isinstance(each, KeptLine):
                    memory = each.record.memory
                    self._live += memory.live(now) and memory.id not in self._ids
                    self._ids.add(memory.id)
            seen += len(batch)
            if self._parts.too_many(seen, len(raw)):
                return

    async def _check_scope(self) -> None:
        store, scope = self._parts.store, self._scope
        after = live = 0
        now = self._parts.clock.now()
        while records := await store.records(scope, after, _PAGE):
            after = records[-1].memory.number
            memories = [record.memory for record in records]
            live += sum(memory.live(now) for memory in memories)
            self._there.update(memory.id for memory in memories)
            if not self._there <= self._ids:
                raise Conflict(NOT_EMPTY, param="keep_ids")
        room = await self._parts.room(scope)
        if room is not None and self._live - live > room:
            raise MemoryLimit(LIMIT)

    # -- memories ----------------------------------------------------------------------------

    def _prepared(self, raw: bytes) -> Iterator[KeptLine | FileItem]:
        """Runs in a thread where the file is large."""
        file = read_memory_file(raw, self._options.format)
        if file.format != MEMTREE:
            raise BadRequest("keep_ids is only for exports of MemTree", param="keep_ids")
        ids: set[str] = set()
        for item in file.items:
            if isinstance(item, FileMemory):
                made = restorable(
                    item,
                    self._parts.max_text_chars,
                    of_agent=self._of_agent,
                    allow_secrets=self._parts.allow_secrets,
                )
                if isinstance(made, LineResult):
                    yield made
                elif made.memory.id in ids:
                    why = "a line before it has the same id"
                    yield LineResult(item.line, LineStatus.INVALID, "repeated_id", why)
                else:
                    ids.add(made.memory.id)
                    yield KeptLine(item, made)
            elif isinstance(item, FileGroup):
                yield checked_group(item)
            elif isinstance(item, FileTombstone):
                yield checked_left(item, self._parts.max_text_chars)
            else:
                yield item

    async def _take(self, lines: list[KeptLine]) -> None:
        store, scope = self._parts.store, self._scope
        ids = [line.record.memory.id for line in lines]
        stored = {memory.id for memory in await store.get(scope, ids, deleted=True)}
        new = [line for line in lines if line.record.memory.id not in stored]
        if new and not self._dry:
            records = [line.record for line in new]
            await store.restore(scope, records, most=self._parts.most)
        for line in lines:
            memory = line.record.memory
            for group in () if self._of_agent else line.item.groups:
                self._members.setdefault(group, []).append(memory.id)
            if memory.id not in stored or memory.id in self._there:
                self._conflicts.note(memory, memory.id)
            if memory.id not in stored:
                result = LineResult(
                    line.item.line, LineStatus.IMPORTED, "", "", memory.id, memory.tainted
                )
            elif memory.id in self._there:
                result = LineResult(line.item.line, LineStatus.DUPLICATE, "", "", memory.id)
            else:
                why = "a deleted memory has its id until it is erased"
                result = LineResult(line.item.line, LineStatus.REFUSED, "id_taken", why, memory.id)
            self._report.add(result)

    async def _note(self, item: FileItem) -> None:
        """Schemas are of an agent's tenant; groups and settings are of users."""
        if isinstance(item, FileTombstone):
            self._tombstones.append(item.tombstone)
        elif isinstance(item, FileSchema) and self._of_agent:
            if result := await self._schemas.take(item):
                self._report.add(result)
        elif isinstance(item, FileGroup) and not self._of_agent:
            if len(self._groups) < MAX_GROUPS:
                self._groups.append(item)
        elif isinstance(item, FileSettings) and not self._of_agent:
            self._settings = item.settings
        self._note_ends(item)

    # -- what belongs to them ----------------------------------------------------------------

    async def _finish(self) -> None:
        store, scope, dry = self._parts.store, self._scope, self._dry
        self._report.schemas = self._schemas.kept
        known = {each.id for each in await store.tombstones(scope, _MOST_TOMBSTONES)} | self._ids
        left = [each for each in self._tombstones if each.id not in known]
        groups = {group.id for group in await store.groups(scope)}
        self._report.tombstones = len(left)
        self._report.groups = sum(item.group.id not in groups for item in self._groups)
        if dry:
            return
        await self._conflicts.keep(store, scope)
        if left:
            await store.restore(scope, [], left)
        for item in self._groups:
            if item.group.id not in groups:
                await store.add_group(scope, item.group, MAX_GROUPS)
        groups |= {item.group.id for item in self._groups}
        for id_, members in self._members.items():
            if id_ in groups:
                for at in range(0, len(members), _PAGE):
                    await store.add_members(scope, id_, members[at : at + _PAGE])
        if self._settings is not None and await store.settings(scope) == UserSettings():
            await store.change_settings(scope, self._settings)


PAGE = 200  # memories that are read at once
MOST_TOMBSTONES = 100_000


class MemoryTransfer:
    """Safe for concurrent calls."""

    def __init__(self, parts: ImportParts) -> None:
        self._parts = parts

    async def export(
        self, scope: Scope, allowed: Callable[[], Awaitable[bool]] | None = None
    ) -> AsyncGenerator[bytes]:
        """The lines of a scope, many at once. `allowed`: whether whoever asked for it may still see
        it; looked at before each page, and without it the file ends where it is. Raises store
        errors."""
        store = self._parts.store
        begun = (await store.state(scope)).changed
        agent = scope.kind is ScopeKind.AGENT
        groups = [] if agent else await store.groups(scope)
        schemas = await store.schemas(scope.tenant) if agent else []
        head = [export_format.header_line(self._parts.clock.now())]
        if not agent:
            head += [export_format.settings_line(await store.settings(scope))]
        head += map(export_format.group_line, groups)
        head += map(export_format.schema_line, schemas)
        yield b"".join(head)
        after = memories = 0
        while records := await store.records(scope, after, PAGE):
            if allowed is not None and not await allowed():
                return
            ids = [record.memory.id for record in records]
            members = await store.groups_of(scope, ids) if groups else {}
            after, memories = records[-1].memory.number, memories + len(records)
            yield b"".join(
                export_format.memory_line(record, members.get(record.memory.id, ()))
                for record in records
            )
        if allowed is not None and not await allowed():
            return
        left = [
            each for each in await store.tombstones(scope, MOST_TOMBSTONES) if not each.replaced_by
        ]
        end = export_format.end_line(
            memories=memories,
            groups=len(groups),
            tombstones=len(left),
            schemas=len(schemas),
            changed=(await store.state(scope)).changed != begun,
        )
        yield b"".join([*map(export_format.tombstone_line, reversed(left)), end])

    async def import_file(self, scope: Scope, raw: bytes, options: ImportOptions) -> ImportReport:
        """Import a file and report on each line. Raises `BadRequest` for a file that cannot be read
        at all, `Conflict` where `keep_ids` meets a scope with other memories, and store errors:
        what was stored before one stays, and the same import again goes on from there."""
        if options.keep_ids:
            return await FileRestore(self._parts, scope, options).run(raw)
        if scope.kind is ScopeKind.AGENT:
            return await AgentImport(self._parts, scope, options).run(raw)
        return await FileImport(self._parts, scope, options).run(raw)
