"""Find the text that a message attaches as parts: files, results of a search, and sentences in a
part of an unknown type.

>>> source = {"type": "text", "data": "Call 911."}
>>> attached_texts({"type": "document", "title": "Handbook", "source": source})
[('.title', 'Handbook'), ('.source.data', 'Call 911.')]
>>> attached_texts({"type": "document", "source": {"type": "base64", "data": "JVBERi0"}})
[]
>>> attached_texts({"type": "widget", "id": "w7", "state": {"note": "Call 911."}})
[('.state.note', 'Call 911.')]
"""

from __future__ import annotations

from typing import Any

from memtree.conversation.media import MEDIA, REASONING_PARTS, is_data

DOCUMENT_PARTS = frozenset({"document", "search_result", "file", "input_file"})
TITLES = (".title", ".filename")  # ends of the paths of names
_HEAD = ("title", "filename", "context", "source")
_BODY = ("text", "data", "content")
_INNER = ("document", "file")  # where a chat's part holds its object
_DEEP = 8  # levels of objects and lists


def attached_texts(part: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the readable strings of a part with their paths in it, names first; empty if there is
    no text besides names."""
    unknown = part["type"] not in DOCUMENT_PARTS
    if unknown and (part["type"] in REASONING_PARTS or any(kind in part["type"] for kind in MEDIA)):
        return []
    texts: list[tuple[str, str]] = []
    waiting: list[tuple[str, Any, int, bool]] = [("", part, 0, False)]
    readable = False
    while waiting:
        path, value, depth, body = waiting.pop()
        if isinstance(value, str):
            if value and not is_data(value) and (" " in value or not unknown):
                texts.append((path, value))
                readable |= body
        elif isinstance(value, list) and depth < _DEEP:
            within = [(f"{path}[{at}]", each, depth + 1, body) for at, each in enumerate(value)]
            waiting += reversed(within)
        elif isinstance(value, dict) and depth < _DEEP:
            encoded = value.get("type") not in (None, "text")  # of data: base64, an address, an id
            known = (key for key in (*_HEAD, *_INNER, *_BODY) if key in value)
            keys = value if unknown else known
            within = [
                (f"{path}.{key}", value[key], depth + 1, body or unknown or key in _BODY)
                for key in keys
                if key != "data" or unknown or not encoded
            ]
            waiting += reversed(within)
    return texts if readable else []
