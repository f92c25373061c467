"""Operations of exports and imports: what a user's memories go out as, and come in from."""

from __future__ import annotations

from memtree.config import Settings
from memtree.memories.transfer.file_items import AUTO, FORMATS, LineStatus
from memtree.memories.transfer.report import MOST_LINES
from memtree_proxy.http import content_encoding
from memtree_proxy.http.own_headers import USER_HEADER
from memtree_proxy.memories.transfer.export_stream import MEDIA_TYPE
from memtree_proxy.openapi import failures, headers
from memtree_proxy.openapi.memories.curation_paths import one_agent
from memtree_proxy.openapi.memories.parts import answer, memory_operation
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
from memtree_proxy.wire.operation import KNOWN, READING
from memtree_proxy.wire.parameter import named, query

TAG = "Export and import"
EXPORT, IMPORT = "/memories/export", "/memories/import"
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


def paths(settings: Settings) -> dict[str, Json]:
    known, reading = failures.of(settings, 400, *KNOWN), failures.of(settings, 409, *READING)
    return {
        EXPORT: {
            "get": memory_operation(
                TAG,
                "exportMemories",
                "Export memories",
                "All memories of a user as lines of JSON, with groups, settings, earlier versions "
                "and tombstones; deleted ones never. Of an agent: with the schemas of the tenant. "
                "Grants and wallets are in none. A file without a last line of the type `end` "
                "is cut off.",
                {"200": _export(), **known},
                [*named(USER_HEADER), *one_agent()],
            )
        },
        IMPORT: {
            "post": memory_operation(
                TAG,
                "importMemories",
                "Import memories",
                "A file of memories: our own export, or what mem0, OpenMemory, the MCP server "
                "`server-memory` or ChatGPT give out, or a list with one memory a line; also as a "
                "zip or compressed. Make a dry run first. Each memory gets a new id, what is there "
                "already is not stored twice, and what holds a secret is refused. For an agent: "
                "data is held against the schema of its kind, a text alone becomes the data of a "
                "fact, and a schema of the file is kept where its kind has none.",
                {"200": answer("What became of each line.", "ImportReport"), **reading},
                [*_asked(), *named(USER_HEADER, content_encoding.HEADER), *one_agent()],
                "MemoryFile",
            )
        },
    }


def request_bodies() -> dict[str, Json]:
    """`components.requestBodies`."""
    some = {"mem0": {"summary": "What mem0 answers", "value": _EXAMPLE}}
    media = {
        **content(described({}, "A JSON document of memories."), examples=some),
        **content(described(STRING, "A line of JSON each."), MEDIA_TYPE),
        **content(described(STRING, "A file as it is."), _OCTETS),
    }
    return {"MemoryFile": {"required": True, "content": media}}


def _asked() -> list[Json]:
    flag: Json = {"type": "boolean", "default": False}
    return [
        query(
            "format",
            "What wrote the file; told from its content by default.",
            {"type": "string", "enum": [AUTO, *FORMATS], "default": AUTO},
        ),
        query("dry_run", "Store nothing, and report what would be stored.", flag),
        query(
            "keep_ids",
            "Bring our own export back as it was, with ids, histories, tombstones and settings, "
            "into a scope that has no other memories (else 409).",
            flag,
        ),
    ]


def _export() -> Json:
    return {
        "description": "The lines, as long as it takes.",
        "headers": headers.of_every(),
        "content": content(described(STRING, "A line of JSON each."), MEDIA_TYPE),
    }
