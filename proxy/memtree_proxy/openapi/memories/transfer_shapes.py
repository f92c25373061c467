"""Shapes of exports and imports: what a user's memories go out as, and come in from."""

from __future__ import annotations

from memtree.memories.transfer.file_items import FORMATS, LineStatus
from memtree.memories.transfer.report import MOST_LINES
from memtree_proxy.memories.transfer.routes import EXPORTED
from memtree_proxy.wire.json_schema import (
    BOOLEAN,
    COUNT,
    NULL,
    STRING,
    Json,
    array,
    content,
    described,
    either,
    object_of,
    schema,
)

_OCTETS = "application/octet-stream"
_EXAMPLE = {"results": [{"id": "1", "memory": "Lives in Graz.", "categories": ["home"]}]}

SCHEMAS: dict[str, Json] = {
    "ImportReport": object_of(
        {
            "dry_run": described(BOOLEAN, "Nothing was stored: this is what would be."),
            "keep_ids": BOOLEAN,
            "format": {"type": "string", "enum": list(FORMATS)},
            "complete": described(BOOLEAN, "The file was read to its end."),
            "stopped": described(
                either(STRING, NULL),
                "Why it was not. What was imported before stays, and the same import again goes on "
                "from there.",
            ),
            "read": described(COUNT, "Memories of the file; broken lines count as well."),
            "imported": COUNT,
            "skipped": described(COUNT, "Duplicates, and what was deleted where it comes from."),
            "failed": described(COUNT, "Refused, or not to be read."),
            "tainted": described(
                COUNT,
                "Of the imported: those that speak to the model. They are shown to it as facts "
                "until a person confirms them.",
            ),
            "groups": described(COUNT, "Groups that were made."),
            "tombstones": COUNT,
            "schemas": described(COUNT, "Schemas that were made, of an agent's export."),
            "reasons": described(
                {"type": "object", "additionalProperties": COUNT},
                "How often each reason, of all that was not imported.",
            ),
            "warnings": array(STRING),
            "lines": described(
                array(schema("ImportedLine")),
                f"The first {MOST_LINES:,} lines with a problem, and as many without.",
            ),
            "truncated": described(BOOLEAN, "There are more lines than these."),
        }
    ),
    "ImportedLine": object_of(
        {
            "line": described(
                {"type": "integer", "minimum": 1},
                "Of a file of lines; of a JSON document the place in its list.",
            ),
            "status": {"type": "string", "enum": [status.value for status in LineStatus]},
            "id": described(STRING, "The memory that it became, or that was there."),
            "reason": STRING,
            "message": described(STRING, "The reason in words. Never the text of the line."),
            "tainted": {"const": True},
        },
        required=("line", "status"),
    ),
}


def request_bodies() -> dict[str, Json]:
    """Return `components.requestBodies` of imports."""
    some = {"mem0": {"summary": "What mem0 answers", "value": _EXAMPLE}}
    media = {
        **content(described({}, "A JSON document of memories."), examples=some),
        **EXPORTED,
        **content(described(STRING, "A file as it is."), _OCTETS),
    }
    return {"MemoryFile": {"required": True, "content": media}}
