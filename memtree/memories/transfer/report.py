"""Report on the lines of a file: counts of all, and the lines themselves as far as there is room.
Lines with a problem come first in that room: they are what somebody has to look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from memtree.memories.transfer.file_items import ENDS, LineResult, LineStatus

MOST_LINES = 1_000  # with a problem, and as many without
_FAILED = (LineStatus.REFUSED, LineStatus.INVALID)
_LEFT_OUT = (LineStatus.DUPLICATE, LineStatus.SKIPPED)


@dataclass(frozen=True, slots=True)
class ImportReport:
    """`read`: memories of the file. `skipped`: duplicates among them. `reasons`: how often each,
    of all lines that were not imported. `complete`: the file was read to its end; else `stopped`
    says why not, and what was imported stays. `truncated`: not every line is told."""

    format: str
    dry_run: bool
    keep_ids: bool
    counts: Mapping[LineStatus, int]
    tainted: int
    groups: int
    tombstones: int
    lines: tuple[LineResult, ...]
    reasons: Mapping[str, int]
    stopped: str
    warnings: tuple[str, ...]
    truncated: bool
    schemas: int = 0

    @property
    def complete(self) -> bool:
        return not self.stopped

    @property
    def imported(self) -> int:
        return self.counts.get(LineStatus.IMPORTED, 0)

    @property
    def skipped(self) -> int:
        return sum(self.counts.get(status, 0) for status in _LEFT_OUT)

    @property
    def failed(self) -> int:
        return sum(self.counts.get(status, 0) for status in _FAILED)

    @property
    def read(self) -> int:
        return sum(self.counts.values())


class ReportBuilder:
    """Takes lines in the order of the file. `groups`, `tombstones`, `schemas`: how many were
    made."""

    def __init__(self, *, dry_run: bool, keep_ids: bool) -> None:
        self._dry_run, self._keep_ids = dry_run, keep_ids
        self._counts: Counter[LineStatus] = Counter()
        self._reasons: Counter[str] = Counter()
        self._tainted = 0
        self._lines: dict[bool, list[LineResult]] = {True: [], False: []}
        self._warnings: list[str] = []
        self.groups = self.tombstones = self.schemas = 0
        self.stopped = ""

    def add(self, result: LineResult) -> None:
        self._counts[result.status] += 1
        imported = result.status is LineStatus.IMPORTED
        self._tainted += imported and result.tainted
        if not imported:
            self._reasons[result.reason or result.status] += 1
        if result.reason in ENDS and not self.stopped:
            self.stopped = f"{result.message} (line {result.line})"
        room = self._lines[imported]
        if len(room) < MOST_LINES:
            room.append(result)

    def warn(self, message: str) -> None:
        if message not in self._warnings:
            self._warnings.append(message)

    def report(self, format_: str) -> ImportReport:
        results = [result for room in self._lines.values() for result in room]
        return ImportReport(
            format_,
            self._dry_run,
            self._keep_ids,
            dict(self._counts),
            self._tainted,
            self.groups,
            self.tombstones,
            tuple(sorted(results, key=lambda result: result.line)),
            dict(sorted(self._reasons.items())),
            self.stopped,
            tuple(self._warnings),
            len(results) < self._counts.total(),
            self.schemas,
        )
