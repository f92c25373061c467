"""Report on the lines of a file: counts of all, and the lines themselves as far as there is room.
Lines with a problem come first in that room: they are what somebody has to look at."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from memtree.memories.transfer.file_items import ENDS, LineResult, LineStatus

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
