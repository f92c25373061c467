"""Read the results of the provider's tools: the readable strings of a result, as posted.

Results of web search, web fetch, code execution, MCP servers and the like stand in the assistant's
message, each in its own form. Encrypted fields, ids and dates cannot be searched or quoted, so they
are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_SAID = frozenset(
    {"title", "url", "text", "content", "stdout", "stderr", "lines", "source", "error_code"}
)
_ENCRYPTED = "encrypted_"
_REFERENCE = "tool_reference"


def texts(result: dict[str, Any]) -> list[str]:
    """Return the titles, addresses and texts of a result block, in order."""
    lines: list[str] = []
    waiting: list[Any] = [result.get("content")]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            if value:
                lines.append(value)
        elif isinstance(value, list):
            waiting += reversed(value)
        elif isinstance(value, dict):
            plain = value.get("type") == "text"  # the source of a document, with its text as data
            said = [v for k, v in value.items() if k in _SAID or (k == "data" and plain)]
            waiting += reversed(said)
    return lines


def encrypted(result: dict[str, Any]) -> list[str]:
    """Return the strings that only the provider can read, since they cost tokens too."""
    return [
        value
        for part in _objects(result)
        for name, value in part.items()
        if name.startswith(_ENCRYPTED) and isinstance(value, str)
    ]


def loads(result: dict[str, Any]) -> frozenset[str]:
    """Return the names of the tools that a result loads for the model."""
    names = (part.get("tool_name") for part in _objects(result) if part.get("type") == _REFERENCE)
    return frozenset(name for name in names if isinstance(name, str))


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    """Yield all objects of a JSON value, including the value itself."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            yield item
            waiting += item.values()
        elif isinstance(item, list):
            waiting += item
