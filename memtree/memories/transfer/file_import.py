"""A file as new memories: each gets an id of its own, what is there already is left alone.

Nothing that is stored is overwritten. A batch is stored whole or not at all; whatever stops an
import, the same file again adds what is still missing and nothing twice, since an exact text is
kept once in a scope.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from memtree.errors import Conflict, MemoryLimit
from memtree.memories.memory import NewMemory
from memtree.memories.ports import ANY
from memtree.memories.scope import Scope
from memtree.memories.transfer.checked import checked_group, importable, left_out
from memtree.memories.transfer.file_conflicts import FileConflicts
from memtree.memories.transfer.file_items import (
    FileEnd,
    FileGroup,
    FileHeader,
    FileItem,
    FileMemory,
    LineResult,
    LineStatus,
)
from memtree.memories.transfer.import_options import (
    ImportOptions,
    ImportParts,
    batches,
    off_loop,
)
from memtree.memories.transfer.memory_file import MemoryFile, read_memory_file
from memtree.memories.transfer.report import ImportReport, ReportBuilder
from memtree.memories.user_memories import MAX_GROUPS, MemoryGroup
from memtree.text.canonical_form import text_hash

_PAGE = 1_000
_MOST_USERS = 100
LIMIT = "the limit of memories of this tenant (max_memories) is reached"
NO_END = "the file has no last line of the type `end`: it may be cut off"


def _hashes(texts: Sequence[str]) -> list[bytes]:
    return [text_hash(text) for text in texts]


class NewLine(NamedTuple):
    """A memory of a file that may be stored."""

    item: FileMemory
    memory: NewMemory


class RepeatedLine(NamedTuple):
    """A memory whose text an earlier line of the file has."""

    item: FileMemory


class FileImport:
    """One import. `run` it once."""

    def __init__(self, parts: ImportParts, scope: Scope, options: ImportOptions) -> None:
        self._parts, self._scope, self._options = parts, scope, options
        self._report = ReportBuilder(dry_run=options.dry_run, keep_ids=False)
        self._groups: dict[str, MemoryGroup] = {}  # by the id that the file gives
        self._members: dict[str, list[str]] = {}
        self._users: set[str] = set()
        self._texts: dict[bytes, str | None] = {}  # of a dry run: what is there, or would be
        self._lines: set[str] = set()  # texts of the file so far
        self._ids: dict[str, str | None] = {}  # of what those became
        self._room: int | None = None
        self._conflicts = FileConflicts()
        self._begun = self._ended = False

    async def run(self, raw: bytes) -> ImportReport:
        size, dry = len(raw), self._options.dry_run
        file = await off_loop(size, lambda: read_memory_file(raw, self._options.format))
        if dry:
            self._room = await self._parts.room(self._scope)
            await self._know_texts()
        try:
            await self._go_through(size, file)
            await self._group()
            if not dry:
                await self._conflicts.keep(self._parts.store, self._scope)
        finally:  # also of an import that somebody hung up on, or that the store stopped
            if not dry:
                self._parts.saving.stored_without_vectors(self._scope)
        self._warn(file.format)
        return self._report.report(file.format)

    async def _go_through(self, size: int, file: MemoryFile) -> None:
        seen = 0
        async for batch in batches(size, self._prepared(file)):
            seen += len(batch)
            await self._take([each for each in batch if isinstance(each, NewLine)])
            for each in batch:
                if isinstance(each, LineResult):
                    self._report.add(each)
                elif isinstance(each, RepeatedLine):
                    if each.item.text in self._ids:
                        self._tell(each.item, self._ids[each.item.text], existing=True)
                elif not isinstance(each, NewLine):
                    self._note(each)
            if too_many := self._parts.too_many(seen, size):
                self._report.stopped = too_many
            if self._report.stopped:
                return

    def _prepared(self, file: MemoryFile) -> Iterator[NewLine | RepeatedLine | FileItem]:
        """Runs in a thread where the file is large."""
        parts = self._parts
        for item in file.items:
            if isinstance(item, FileGroup):
                yield checked_group(item)
                continue
            if not isinstance(item, FileMemory):
                yield item
                continue
            now = parts.clock.now()
            if item.text in self._lines and not left_out(item, now):
                yield RepeatedLine(item)
                continue
            id_ = parts.new_memory_id()
            made = importable(item, id_, now, parts.max_text_chars, file.format)
            if isinstance(made, LineResult):
                yield made
                continue
            self._lines.add(item.text)
            yield NewLine(item, made)

    def _note(self, item: NewLine | FileItem) -> None:
        if isinstance(item, FileGroup) and len(self._groups) < MAX_GROUPS:
            self._groups[item.group.id] = item.group
        self._begun = self._begun or isinstance(item, FileHeader)
        self._ended = self._ended or isinstance(item, FileEnd)

    # -- memories ----------------------------------------------------------------------------

    async def _take(self, lines: list[NewLine]) -> None:
        if self._options.dry_run:
            for line in lines:
                self._rehearse(line)
            return
        store, most = self._parts.store, self._parts.most
        memories = [line.memory for line in lines]
        try:
            added = await store.add_many(self._scope, memories, once=True, most=most)
        except MemoryLimit:
            await self._fill(lines)
            return
        for line, (memory, existing) in zip(lines, added, strict=True):
            self._tell(line.item, memory.id, existing, tainted=line.memory.tainted)

    async def _fill(self, lines: list[NewLine]) -> None:
        """Store as many of a batch as there is room for, in their order."""
        for line in lines:
            try:
                memory, existing = await self._parts.store.add(
                    self._scope, line.memory, once=True, most=self._parts.most
                )
            except MemoryLimit:
                self._report.stopped = f"{LIMIT}, in line {line.item.line}"
                return
            self._tell(line.item, memory.id, existing, tainted=line.memory.tainted)

    def _rehearse(self, line: NewLine) -> None:
        if self._report.stopped:
            return
        known = line.memory.text_hash in self._texts
        if not known and self._room == 0:
            self._report.stopped = f"{LIMIT}, in line {line.item.line}"
            return
        if not known and self._room is not None:
            self._room -= 1
        id_ = self._texts.setdefault(line.memory.text_hash, None)
        self._tell(line.item, id_, known, tainted=line.memory.tainted)

    def _tell(
        self, item: FileMemory, id_: str | None, existing: bool, *, tainted: bool = False
    ) -> None:
        self._ids.setdefault(item.text, id_)
        if item.record and id_ is not None:
            self._conflicts.note(item.record.memory, id_)
        if item.user and len(self._users) < _MOST_USERS:
            self._users.add(item.user)
        for group in item.groups:
            members = self._members.setdefault(group, [])
            if id_ is not None:
                members.append(id_)
        status = LineStatus.DUPLICATE if existing else LineStatus.IMPORTED
        self._report.add(LineResult(item.line, status, "", "", id_, tainted and not existing))

    async def _know_texts(self) -> None:
        before: int | None = None
        while True:
            page = await self._parts.store.page(self._scope, ANY, before=before, limit=_PAGE)
            texts = [memory.text for memory in page.memories]
            size = sum(len(text) for text in texts)
            hashes = await off_loop(size, partial(_hashes, texts))
            ids = [memory.id for memory in page.memories]
            self._texts.update(zip(hashes, ids, strict=True))
            if not page.more or not page.memories:
                return
            before = page.memories[-1].number

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
                there[group.title] = "" if self._options.dry_run else await self._new(group)
            members = self._members.get(id_)
            if members and there[group.title] and not self._options.dry_run:
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

    def _warn(self, format_: str) -> None:
        if len(self._users) > 1:
            self._report.warn(
                f"the file holds memories of {len(self._users)} users; all went to this one"
            )
        if self._begun and not self._ended and not self._report.stopped:
            self._report.stopped = NO_END
