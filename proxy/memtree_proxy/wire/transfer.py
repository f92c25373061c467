"""Define requests and answers of exports and imports of memories."""

from __future__ import annotations

from typing import Annotated

import msgspec

from memtree.memories.transfer.file_items import AUTO, FORMATS, LineResult, LineStatus
from memtree.memories.transfer.import_options import ImportOptions
from memtree.memories.transfer.report import MOST_LINES, ImportReport
from memtree_proxy.request import fields
from memtree_proxy.wire.answer import WHERE_EMPTY, Answer, Shown, shown_each
from memtree_proxy.wire.json_schema import (
    BOOLEAN,
    COUNT,
    NULL,
    STRING,
    array,
    either,
    schema,
)
from memtree_proxy.wire.shape import Shape, Type
from memtree_proxy.wire.types import TRUE, one_of

MEDIA_TYPE = "application/x-ndjson"

_SWITCH = Type(BOOLEAN, lambda value, name: fields.switch({name: value}, name))


class ImportQuery(Shape, frozen=True):
    format: Annotated[
        str,
        one_of(AUTO, *FORMATS, default=AUTO),
        "What wrote the file; told from its content by default.",
    ] = AUTO
    dry_run: Annotated[bool, _SWITCH, "Store nothing, and report what would be stored."] = (
        msgspec.field(default=False, name="dry_run")
    )
    keep_ids: Annotated[
        bool,
        _SWITCH,
        "Bring our own export back as it was, with ids, histories, tombstones and settings, "
        "into a scope that has no other memories (else 409).",
    ] = msgspec.field(default=False, name="keep_ids")

    def options(self) -> ImportOptions:
        return ImportOptions(self.format, dry_run=self.dry_run, keep_ids=self.keep_ids)


LINE: Answer[LineResult] = {
    "line": Shown(
        {"type": "integer", "minimum": 1},
        says="Of a file of lines; of a JSON document the place in its list.",
    ),
    "status": Shown({"type": "string", "enum": [status.value for status in LineStatus]}),
    "id": Shown(STRING, says="The memory that it became, or that was there.", optional=WHERE_EMPTY),
    "reason": Shown(STRING, optional=WHERE_EMPTY),
    "message": Shown(
        STRING, says="The reason in words. Never the text of the line.", optional=WHERE_EMPTY
    ),
    "tainted": Shown(TRUE, optional=WHERE_EMPTY),
}
REPORT: Answer[ImportReport] = {
    "dry_run": Shown(BOOLEAN, says="Nothing was stored: this is what would be."),
    "keep_ids": Shown(BOOLEAN),
    "format": Shown({"type": "string", "enum": list(FORMATS)}),
    "complete": Shown(BOOLEAN, says="The file was read to its end."),
    "stopped": Shown(
        either(STRING, NULL),
        lambda report: report.stopped or None,
        "Why it was not. What was imported before stays, and the same import again goes on "
        "from there.",
    ),
    "read": Shown(COUNT, says="Memories of the file; broken lines count as well."),
    "imported": Shown(COUNT),
    "skipped": Shown(COUNT, says="Duplicates, and what was deleted where it comes from."),
    "failed": Shown(COUNT, says="Refused, or not to be read."),
    "tainted": Shown(
        COUNT,
        says="Of the imported: those that speak to the model. They are shown to it as facts "
        "until a person confirms them.",
    ),
    "groups": Shown(COUNT, says="Groups that were made."),
    "tombstones": Shown(COUNT),
    "schemas": Shown(COUNT, says="Schemas that were made, of an agent's export."),
    "reasons": Shown(
        {"type": "object", "additionalProperties": COUNT},
        says="How often each reason, of all that was not imported.",
    ),
    "warnings": Shown(array(STRING)),
    "lines": Shown(
        array(schema("ImportedLine")),
        lambda report: shown_each(LINE, report.lines),
        f"The first {MOST_LINES:,} lines with a problem, and as many without.",
    ),
    "truncated": Shown(BOOLEAN, says="There are more lines than these."),
}
