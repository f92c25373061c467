"""Shapes of reading a file of another program."""

from __future__ import annotations

from memtree_proxy.imports.conversation import FORMATS
from memtree_proxy.imports.posted_file import MESSAGES
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
)

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
