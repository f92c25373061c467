"""Write placeholders for images, audio and files in quotations of a message.

A placeholder gives only the kind and the file's name: no data, no address, no id.

    >>> placeholders(Message.of({"role": "user", "content": [
    ...     {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
    ...     {"type": "file", "file": {"filename": "report.pdf", "file_id": "file-1"}}]}))
    ('[image]', '[file report.pdf]')
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

from memtree.history.attachments import attached_texts, is_data
from memtree.history.message import Message
from memtree.text import own_lines

MOST = 8  # different ones that are listed for a message; the rest are counted
LOOKED_AT = 10_000  # parts of a message, nested ones included
NAME = 60  # characters of a file's name
# of these, how many come from the end of a name that is too long: the extension is the most
# informative part
_ENDING = 12
_READ = 4 * NAME  # characters of a name that are cleaned, at each end

# Word in a part's type -> kind; the first match wins
_KINDS = (
    ("image", "image"),
    ("screenshot", "image"),
    ("audio", "audio"),
    ("video", "video"),
    ("file_search", ""),  # a call of a tool, which has text
    ("file", "file"),
    ("document", "file"),
    ("container_upload", "file"),
)
_NAMES = ("filename", "file_name", "title", "name")
# fields in which a result or a document holds parts of its own
_INNER = ("content", "output", "source")
# of a message: from gateways that make images, and speech of an assistant
_FIELDS = ("images", "audio")
_BRACKETS = str.maketrans("", "", "[]<>{}")


def placeholders(message: Message) -> tuple[str, ...]:
    """Return one placeholder for each kind or named file in a message, in order; equal ones are
    counted, as in `[image x3]`. At most `MOST`, then one with the number of the rest."""
    counts: Counter[str] = Counter()
    for part in islice(_media_parts(message), LOOKED_AT):
        counts[_said(part)] += 1
    shown = [
        f"[{said} x{times}]" if times > 1 else f"[{said}]"
        for said, times in islice(counts.items(), MOST)
    ]
    more = counts.total() - sum(times for _, times in islice(counts.items(), MOST))
    return (*shown, f"[{more} more]") if more else tuple(shown)


def _media_parts(message: Message) -> Iterator[dict[str, Any]]:
    """Yield parts that are images, audio, videos or files, also those in tool results."""
    fields = message.fields
    waiting: list[Any] = list(message.parts)
    for name in _FIELDS:
        value = fields.get(name)
        kind = name.removesuffix("s")
        for held in value if isinstance(value, list) else [value] if value else []:
            named = held if isinstance(held, dict) else {}
            waiting.append({**named, "type": kind} if "type" not in named else named)
    looked_at = 0
    waiting.reverse()
    while waiting and looked_at < LOOKED_AT:
        part = waiting.pop()
        looked_at += 1
        if not isinstance(part, dict):
            continue
        if _kind(part):
            if not attached_texts(part):  # else its title stands where its text is quoted
                yield part
            continue
        for name in _INNER:
            inner = part.get(name)
            if isinstance(inner, dict):
                waiting.append(inner)
            elif isinstance(inner, list):
                waiting += reversed(inner[: LOOKED_AT - looked_at])


def _kind(part: dict[str, Any]) -> str:
    """Return image, audio, video or file; "" for any other part."""
    type_ = part.get("type")
    if not isinstance(type_, str):
        return ""
    return next((kind for word, kind in _KINDS if word in type_), "")


def _said(part: dict[str, Any]) -> str:
    """Return the kind, with the file's name if there is one."""
    kind = _kind(part)
    inner = part.get(part["type"])
    for holder in (inner, part, part.get("source")):
        if not isinstance(holder, dict):
            continue
        for key in _NAMES:
            if name := _clean(holder.get(key)):
                return f"{kind} {name}"
    return kind


def _clean(name: object) -> str:
    """Return a file's name as it can stand in a line between brackets; "" for an address or
    data."""
    if not isinstance(name, str) or is_data(name):
        return ""
    if "://" in name[:_READ] or name[:5].lower() == "data:":
        return ""
    ends = name if len(name) <= 2 * _READ else f"{name[:_READ]} {name[-_READ:]}"
    clean = own_lines.one_line(own_lines.printable(ends.translate(_BRACKETS)))
    if len(clean) <= NAME:
        return clean
    return f"{clean[: NAME - _ENDING - 1]}…{clean[-_ENDING:]}"
