"""Define the items of a file of memories, whoever wrote it, and report on its lines.

A reader gives items in the order of the file and never raises for one of them: what it cannot read
is a `LineResult` that says why, and the rest of the file is read all the same.

The report has counts of all lines, and the lines themselves as far as there is room. Lines with a
problem come first in that room: they are what somebody has to look at.
"""

from __future__ import annotations

import enum
from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from memtree.agents.memory_schema import MemorySchema
from memtree.memories.memory import MemoryFields, Tombstone
from memtree.memories.memory_store import MemoryRecord
from memtree.memories.user_memories import MemoryGroup, SettingsChange

MEMTREE, MEM0, OPENMEMORY = "memtree", "mem0", "openmemory"
SERVER_MEMORY, CHATGPT, CLAUDE_AI, TEXT = "server-memory", "chatgpt", "claude-ai", "text"
FORMATS = (MEMTREE, MEM0, OPENMEMORY, SERVER_MEMORY, CHATGPT, CLAUDE_AI, TEXT)
AUTO = "auto"  # told from the content
CUT_OFF, BROKEN = ENDS = ("cut_off", "broken")  # reasons why nothing follows that can be read


class LineStatus(enum.StrEnum):
    """`SKIPPED`: it can be read and is not wanted, as what was deleted where it comes from."""

    IMPORTED = "imported"
    DUPLICATE = "duplicate"
    SKIPPED = "skipped"
    REFUSED = "refused"
    INVALID = "invalid"


class LineResult(NamedTuple):
    """Result of one line. `line`: of a file of lines; of a JSON document the place in its list,
    from 1. `reason`: a word; `message`: the sentence for people, without the line's text. `id`: of
    the memory that it became, or that was there."""

    line: int
    status: LineStatus
    reason: str = ""
    message: str = ""
    id: str | None = None
    tainted: bool = False


@dataclass(frozen=True, slots=True)
class FileMemory(MemoryFields):
    """A memory of a file. `created`: when it was first said or saved, None where the file does not
    tell. `groups`: ids of groups of the same file. `record`: all that our own export holds of it,
    for a scope that is to become what it was. `user`: whose it was where it comes from."""

    line: int
    text: str
    created: float | None = None
    groups: tuple[str, ...] = ()
    record: MemoryRecord | None = None
    user: str = ""


class FileHeader(NamedTuple):
    """The first line of an export."""

    line: int


class FileGroup(NamedTuple):
    line: int
    group: MemoryGroup


class FileSettings(NamedTuple):
    line: int
    settings: SettingsChange


class FileSchema(NamedTuple):
    """A schema of structured memories, which is not known to be one yet."""

    line: int
    schema: MemorySchema


class FileTombstone(NamedTuple):
    line: int
    tombstone: Tombstone


class FileEnd(NamedTuple):
    """The last line of an export: `memories` is how many it holds."""

    line: int
    memories: int


FileItem = (
    FileHeader
    | FileMemory
    | FileGroup
    | FileSchema
    | FileSettings
    | FileTombstone
    | FileEnd
    | LineResult
)


MOST_LINES = 1_000  # with a problem, and as many without
_FAILED = (LineStatus.REFUSED, LineStatus.INVALID)
_LEFT_OUT = (LineStatus.DUPLICATE, LineStatus.SKIPPED)


@dataclass(slots=True)
class ImportReport:
    """Takes lines in the order of the file, and tells of them. `read`: memories of the file.
    `skipped`: duplicates among them. `reasons`: how often each, of all lines that were not
    imported. `complete`: the file was read to its end; else `stopped` says why not, and what was
    imported stays. `groups`, `tombstones`, `schemas`: how many were made. `truncated`: not every
    line is told."""

    dry_run: bool
    keep_ids: bool
    format: str = ""
    counts: Counter[LineStatus] = field(default_factory=Counter)
    tainted: int = 0
    groups: int = 0
    tombstones: int = 0
    schemas: int = 0
    stopped: str = ""
    warnings: tuple[str, ...] = ()
    _reasons: Counter[str] = field(default_factory=Counter)
    _lines: dict[bool, list[LineResult]] = field(default_factory=lambda: {True: [], False: []})

    def add(self, result: LineResult) -> None:
        self.counts[result.status] += 1
        imported = result.status is LineStatus.IMPORTED
        self.tainted += imported and result.tainted
        if not imported:
            self._reasons[result.reason or result.status] += 1
        if result.reason in ENDS and not self.stopped:
            self.stopped = f"{result.message} (line {result.line})"
        room = self._lines[imported]
        if len(room) < MOST_LINES:
            room.append(result)

    def warn(self, message: str) -> None:
        if message not in self.warnings:
            self.warnings += (message,)

    @property
    def lines(self) -> list[LineResult]:
        results = [result for room in self._lines.values() for result in room]
        return sorted(results, key=lambda result: result.line)

    @property
    def truncated(self) -> bool:
        return sum(map(len, self._lines.values())) < self.read

    @property
    def reasons(self) -> dict[str, int]:
        return dict(sorted(self._reasons.items()))

    @property
    def complete(self) -> bool:
        return not self.stopped

    @property
    def imported(self) -> int:
        return self.counts[LineStatus.IMPORTED]

    @property
    def skipped(self) -> int:
        return sum(self.counts[status] for status in _LEFT_OUT)

    @property
    def failed(self) -> int:
        return sum(self.counts[status] for status in _FAILED)

    @property
    def read(self) -> int:
        return self.counts.total()
