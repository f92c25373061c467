"""The operation that reads a file of another program."""

from __future__ import annotations

from memtree.config import Settings
from memtree_proxy.context.parse import MAX_NAME_CHARS
from memtree_proxy.imports.conversation import FORMATS
from memtree_proxy.imports.posted_file import MESSAGES
from memtree_proxy.openapi import failures
from memtree_proxy.openapi.operations import ok, operation
from memtree_proxy.wire.json_schema import (
    COUNT,
    NULL,
    STRING,
    Json,
    array,
    content,
    described,
    either,
    object_of,
    ref,
    schema,
)
from memtree_proxy.wire.operation import READING
from memtree_proxy.wire.types import ADDRESS_SHAPE

_OCTETS = "application/octet-stream"
_EXAMPLE = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]

SCHEMAS: dict[str, Json] = {
    "ParsedFile": object_of(
        {
            "conversations": array(
                object_of(
                    {
                        "title": STRING,
                        "format": {"type": "string", "enum": [MESSAGES, *FORMATS]},
                        "messages": described(
                            array({"type": "object"}), "As the program would send them next."
                        ),
                        "belongs": described(
                            either(COUNT, NULL),
                            "After so many of the messages the history has the address that was "
                            "asked for; null: it never has, or none was asked for.",
                        ),
                    }
                )
            )
        }
    )
}


def request_bodies() -> dict[str, Json]:
    return {
        "ForeignFile": {
            "required": True,
            "description": "The file as it is: JSON, or JSON on each line; no zip.",
            "content": {
                _OCTETS: {},
                **content(
                    described({}, "The same, where it is JSON."),
                    examples={"messages": {"summary": "Plain messages", "value": _EXAMPLE}},
                ),
            },
        }
    }


def paths(settings: Settings) -> dict[str, Json]:
    parameters = [
        {
            "name": "address",
            "in": "query",
            "description": "Of a conversation: does the file hold it?",
            "schema": {**ADDRESS_SHAPE, "pattern": "^[0-9a-fA-F]{64}$"},
        },
        {
            "name": "name",
            "in": "query",
            "description": "The file's name, for titles and errors.",
            "schema": {"type": "string", "maxLength": MAX_NAME_CHARS},
        },
    ]
    return {
        "/context_memory/parse": {
            "post": operation(
                "parseFile",
                "Context memory",
                "Read a file of another program",
                "The conversations of a file in any format that `memtree import` reads, or of "
                "plain messages, as messages to post. Nothing of it is kept. Files of more than "
                "64 kB are read one at a time, each by a process of its own: a second one of the "
                "same tenant, and one that has waited 20 seconds for others, is a 429.",
                {
                    "200": ok("The conversations.", schema("ParsedFile")),
                    **failures.of(settings, *READING),
                },
                parameters=parameters,
                requestBody=ref("requestBodies", "ForeignFile"),
            )
        }
    }
