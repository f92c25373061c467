"""The report of an import as JSON."""

from __future__ import annotations

from typing import Any

from memtree.memories.transfer.file_items import LineResult
from memtree.memories.transfer.report import ImportReport


def report_json(report: ImportReport) -> dict[str, Any]:
    return {
        "dry_run": report.dry_run,
        "keep_ids": report.keep_ids,
        "format": report.format,
        "complete": report.complete,
        "stopped": report.stopped or None,
        "read": report.read,
        "imported": report.imported,
        "skipped": report.skipped,
        "failed": report.failed,
        "tainted": report.tainted,
        "groups": report.groups,
        "tombstones": report.tombstones,
        "schemas": report.schemas,
        "reasons": report.reasons,
        "warnings": report.warnings,
        "lines": [_line(result) for result in report.lines],
        "truncated": report.truncated,
    }


def _line(result: LineResult) -> dict[str, Any]:
    line: dict[str, Any] = {"line": result.line, "status": result.status.value}
    more = {"id": result.id, "reason": result.reason, "message": result.message}
    line |= {name: value for name, value in more.items() if value}
    return {**line, "tainted": True} if result.tainted else line
