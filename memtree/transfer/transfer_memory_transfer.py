"""Memories of one scope as a file, and files as memories.

    export:  header, settings, groups (or schemas) -> memories, page by page -> tombstones -> end
    import:  a file -> items -> what may be stored of them -> batches -> a report, line by line

Settings and groups are a user's. An agent's export holds the schemas of its tenant instead; grants
and wallets are in none.

An export is a stream in constant memory. Who writes meanwhile is not held up: what is saved later
comes at the end, what is changed or deleted behind the page that is being sent stands there as it
was, and the last line says that it may be so.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable

from memtree.memories.memory_store import MemoryStore
from memtree.memories.scope import Scope, ScopeKind
from memtree.transfer import export_lines
from memtree.transfer.file_items import ImportReport
from memtree.transfer.file_restore import FileRestore
from memtree.transfer.import_options import ImportOptions, ImportParts
from memtree.transfer.transfer_agent_import import AgentImport
from memtree.transfer.transfer_file_import import FileImport

PAGE = 200  # memories that are read at once
MOST_TOMBSTONES = 100_000


class MemoryTransfer:
    """Safe for concurrent calls."""

    def __init__(self, parts: ImportParts) -> None:
        self._parts, self._store, self._clock = parts, parts.store, parts.clock

    async def export(
        self, scope: Scope, allowed: Callable[[], Awaitable[bool]] | None = None
    ) -> AsyncGenerator[bytes]:
        """The lines of a scope, many at once. `allowed`: whether whoever asked for it may still see
        it; looked at before each page, and without it the file ends where it is. Raises store
        errors."""
        store: MemoryStore = self._store
        begun = (await store.state(scope)).changed
        agent = scope.kind is ScopeKind.AGENT
        groups = [] if agent else await self._store.groups(scope)
        schemas = await self._store.schemas(scope.tenant) if agent else []
        head = [export_lines.header_line(self._clock.now())]
        if not agent:
            head += [export_lines.settings_line(await self._store.settings(scope))]
        head += map(export_lines.group_line, groups)
        head += map(export_lines.schema_line, schemas)
        yield b"".join(head)
        after = memories = 0
        while records := await store.records(scope, after, PAGE):
            if allowed is not None and not await allowed():
                return
            ids = [record.memory.id for record in records]
            members = await self._store.groups_of(scope, ids) if groups else {}
            after, memories = records[-1].memory.number, memories + len(records)
            yield b"".join(
                export_lines.memory_line(record, members.get(record.memory.id, ()))
                for record in records
            )
        if allowed is not None and not await allowed():
            return
        left = [
            each for each in await store.tombstones(scope, MOST_TOMBSTONES) if not each.replaced_by
        ]
        changed = (await store.state(scope)).changed != begun
        yield b"".join(
            [
                *map(export_lines.tombstone_line, reversed(left)),
                export_lines.end_line(
                    memories=memories,
                    groups=len(groups),
                    tombstones=len(left),
                    schemas=len(schemas),
                    changed=changed,
                ),
            ]
        )

    async def import_file(self, scope: Scope, raw: bytes, options: ImportOptions) -> ImportReport:
        """Import a file and report on each line. Raises `BadRequest` for a file that cannot be read
        at all, `Conflict` where `keep_ids` meets a scope with other memories, and store errors:
        what was stored before one stays, and the same import again goes on from there."""
        if options.keep_ids:
            return await FileRestore(self._parts, scope, options).run(raw)
        if scope.kind is ScopeKind.AGENT:
            return await AgentImport(self._parts, scope, options).run(raw)
        return await FileImport(self._parts, scope, options).run(raw)
