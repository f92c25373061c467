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

from collections.abc import Iterator
from itertools import islice
from typing import Any

from memtree.history.media import MEDIA, REASONING_PARTS, is_data

DOCUMENT_PARTS = frozenset({"document", "search_result", "file", "input_file"})
TITLES = (".title", ".filename")  # ends of the paths of names
_HEAD = ("title", "filename", "context", "source")
_BODY = ("text", "data", "content")
_INNER = ("document", "file")  # where a chat's part holds its object
_DEEP = 8  # levels of objects and lists
_LONG = 120  # characters of a path, which is kept with each string below it
MOST_TEXTS = 10_000  # strings of a part that are read


def attached_texts(part: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the readable strings of a part with their paths in it, names first; empty if there is
    no text besides names."""
    unknown = part["type"] not in DOCUMENT_PARTS
    if unknown and (part["type"] in REASONING_PARTS or any(kind in part["type"] for kind in MEDIA)):
        return []
    texts = list(islice(_strings(part, "", 0, unknown, unknown), MOST_TEXTS))
    return [(path, text) for path, text, _ in texts] if any(body for *_, body in texts) else []


def _strings(
    value: Any, path: str, depth: int, body: bool, unknown: bool
) -> Iterator[tuple[str, str, bool]]:
    """Yield readable strings in a part with their paths, and False for a name. `unknown`: all that
    the part holds may be text."""
    if isinstance(value, str):
        readable = not unknown or " " in value or not value.isascii()  # Chinese has no spaces
        if value and readable and not is_data(value):
            yield path, value, body
    elif isinstance(value, list) and depth < _DEEP:
        for at, each in enumerate(value):
            yield from _strings(each, f"{path}[{at}]", depth + 1, body, unknown)
    elif isinstance(value, dict) and depth < _DEEP:
        encoded = value.get("type") not in (None, "text")  # of data: base64, an address, an id
        known = (key for key in (*_HEAD, *_INNER, *_BODY) if key in value)
        for key in value if unknown else known:
            if len(path) + len(key) <= _LONG and (key != "data" or unknown or not encoded):
                inner = f"{path}.{key}"
                yield from _strings(value[key], inner, depth + 1, body or key in _BODY, unknown)
