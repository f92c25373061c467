"""A file as new memories of an agent: what `file_import.py` does for texts, under schemas.

Nothing that is stored is overwritten, a batch is stored whole or not at all, and the same file
again adds what is still missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from memtree.errors import MemoryLimit
from memtree.memories.memory import NewMemory
from memtree.memories.scope import Scope
from memtree.memories.transfer.agent_lines import AgentLines, TakenMemory
from memtree.memories.transfer.checked import structured
from memtree.memories.transfer.file_import import LIMIT, NO_END
from memtree.memories.transfer.file_items import (
    FileEnd,
    FileHeader,
    FileItem,
    FileMemory,
    FileSchema,
    LineResult,
    LineStatus,
)
from memtree.memories.transfer.file_schemas import FileSchemas
from memtree.memories.transfer.formats.memory_file import MemoryFile, read_memory_file
from memtree.memories.transfer.import_options import (
    ImportOptions,
    ImportParts,
    batches,
    off_loop,
)
from memtree.memories.transfer.report import ImportReport, ReportBuilder


class AgentLine(NamedTuple):
    """A memory of a file that may be stored, as far as its schema allows it."""

    line: int
    memory: NewMemory


class AgentImport:
    """One import. `run` it once."""

    def __init__(self, parts: ImportParts, scope: Scope, options: ImportOptions) -> None:
        self._parts, self._scope, self._dry = parts, scope, options.dry_run
        self._format = options.format
        self._report = ReportBuilder(dry_run=options.dry_run, keep_ids=False)
        self._schemas = FileSchemas(parts.schemas, scope.tenant, dry_run=options.dry_run)
        self._lines = AgentLines(parts, scope, self._schemas, dry_run=options.dry_run)
        self._room: int | None = None
        self._begun = self._ended = False

    async def run(self, raw: bytes) -> ImportReport:
        file = await off_loop(len(raw), lambda: read_memory_file(raw, self._format))
        self._room = await self._parts.room(self._scope) if self._dry else None
        await self._schemas.begin()
        await self._lines.begin()
        try:
            await self._go_through(len(raw), file)
        finally:  # also of an import that somebody hung up on, or that the store stopped
            if not self._dry:
                self._parts.saving.stored_without_vectors(self._scope)
        if self._begun and not self._ended and not self._report.stopped:
            self._report.stopped = NO_END
        self._report.schemas = self._schemas.kept
        return self._report.report(file.format)

    async def _go_through(self, size: int, file: MemoryFile) -> None:
        seen = 0
        async for batch in batches(size, self._prepared(file)):
            seen += len(batch)
            for each in batch:
                await self._note(each)
            await self._take([each for each in batch if isinstance(each, AgentLine)])
            if too_many := self._parts.too_many(seen, size):
                self._report.stopped = too_many
            if self._report.stopped:
                return

    def _prepared(self, file: MemoryFile) -> Iterator[AgentLine | FileItem]:
        """Runs in a thread where the file is large."""
        parts = self._parts
        for item in file.items:
            if not isinstance(item, FileMemory):
                yield item
                continue
            made = structured(
                item,
                parts.new_memory_id(),
                parts.clock.now(),
                parts.max_text_chars,
                file.format,
                allow_secrets=parts.allow_secrets,
            )
            yield made if isinstance(made, LineResult) else AgentLine(item.line, made)

    async def _note(self, item: AgentLine | FileItem) -> None:
        """Groups and settings are of users: an agent has none."""
        if isinstance(item, LineResult):
            self._report.add(item)
        elif isinstance(item, FileSchema):
            await self._take_schema(item)
        self._begun = self._begun or isinstance(item, FileHeader)
        self._ended = self._ended or isinstance(item, FileEnd)

    async def _take_schema(self, item: FileSchema) -> None:
        kind = item.schema.kind
        known = self._schemas.knows(kind)
        if result := await self._schemas.take(item):
            self._report.add(result)
        if not known and self._schemas.knows(kind):
            await self._lines.begin_kind(kind)

    async def _take(self, lines: list[AgentLine]) -> None:
        problems = await self._schemas.problems([line.memory for line in lines])
        sound = []
        for line, problem in zip(lines, problems, strict=True):
            if problem:
                self._report.add(LineResult(line.line, LineStatus.INVALID, "schema", problem))
            else:
                sound.append(line)
        if self._dry:
            await self._rehearse(sound)
            return
        try:
            taken = await self._lines.store([line.memory for line in sound])
        except MemoryLimit:
            await self._fill(sound)
            return
        for line, stored in zip(sound, taken, strict=True):
            self._tell(line, stored)

    async def _fill(self, lines: list[AgentLine]) -> None:
        """Store as many of a batch as there is room for, in their order."""
        for line in lines:
            try:
                (stored,) = await self._lines.store([line.memory])
            except MemoryLimit:
                self._stop(line)
                return
            self._tell(line, stored)

    async def _rehearse(self, lines: list[AgentLine]) -> None:
        for line in lines:
            (stored,) = await self._lines.store([line.memory])
            if not stored.existing and self._room is not None:
                if self._room == 0:
                    self._stop(line)
                    return
                self._room -= 1
            self._tell(line, stored)

    def _stop(self, line: AgentLine) -> None:
        self._report.stopped = f"{LIMIT}, in line {line.line}"

    def _tell(self, line: AgentLine, stored: TakenMemory) -> None:
        status = LineStatus.DUPLICATE if stored.existing else LineStatus.IMPORTED
        tainted = line.memory.tainted and not stored.existing
        self._report.add(LineResult(line.line, status, "", "", stored.id, tainted))
