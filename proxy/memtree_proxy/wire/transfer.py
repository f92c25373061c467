"""Requests and answers of exports and imports of memories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import UNSET, UnsetType

from memtree.transfer.file_items import ImportReport, LineResult
from memtree.transfer.import_options import ImportOptions
from memtree_proxy.http.decoding import OrNull
from memtree_proxy.wire.values import AgentQuery, Answer, Count, Place, where_given

MEDIA_TYPE = "application/x-ndjson"
Format = Literal["memtree", "mem0", "openmemory", "server-memory", "chatgpt", "claude-ai", "text"]
Chosen = Literal[
    "auto", "memtree", "mem0", "openmemory", "server-memory", "chatgpt", "claude-ai", "text"
]  # fmt: skip
Status = Literal["imported", "duplicate", "skipped", "refused", "invalid"]


class ImportQuery(AgentQuery, frozen=True):
    """`keep_ids`: bring our own export back as it was."""

    format: OrNull[Chosen] = "auto"
    dry_run: OrNull[bool] = False
    keep_ids: OrNull[bool] = False

    def options(self) -> ImportOptions:
        return ImportOptions(self.format, dry_run=self.dry_run, keep_ids=self.keep_ids)


class ImportedLine(Answer, frozen=True, kw_only=True):
    line: Place
    status: Status
    id: str | UnsetType = UNSET
    reason: str | UnsetType = UNSET
    message: str | UnsetType = UNSET
    tainted: Literal[True] | UnsetType = UNSET

    @classmethod
    def of(cls, line: LineResult) -> ImportedLine:
        return cls(
            line=line.line,
            status=line.status.value,
            id=where_given(line.id),
            reason=where_given(line.reason),
            message=where_given(line.message),
            tainted=where_given(line.tainted),
        )


class ShownReport(Answer, frozen=True, kw_only=True):
    """The outcome of each line of a file."""

    dry_run: bool
    keep_ids: bool
    format: Format
    complete: bool
    stopped: str | None
    read: Count
    imported: Count
    skipped: Count
    failed: Count
    tainted: Count
    groups: Count
    tombstones: Count
    schemas: Count
    reasons: Mapping[str, Count]
    warnings: Sequence[str]
    lines: Sequence[ImportedLine]
    truncated: bool

    @classmethod
    def of(cls, report: ImportReport) -> ShownReport:
        same = {name: getattr(report, name) for name in cls.__struct_fields__}
        made = [ImportedLine.of(line) for line in report.lines]
        return cls(**(same | {"stopped": report.stopped or None, "lines": made}))
