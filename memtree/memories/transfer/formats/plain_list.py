"""A list that somebody copied: one memory a line, with or without bullets, numbers and dates.

ChatGPT shows its saved memories as such a list, and gives it no other way out (Settings,
Personalization, Manage memories); asked for them it writes `1. [2026-03-07]. TEXT` or
`[2026-03-07] - TEXT`.

    >>> list_line("- [2026-03-07] - Lives in Graz.")
    ('Lives in Graz.', 1772841600.0)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memtree.memories.transfer.file_items import FileItem, FileMemory, LineResult, LineStatus
from memtree.memories.transfer.formats.foreign import moment

_LINE = re.compile(rb"[^\s][^\n]*")
_MARK = re.compile(r"(?:[-*•‣◦–—·]|\(?[0-9]{1,5}[.)])(?:\s+(?:\[[ xX]\]\s)?|(?=\[))")
_DATE = re.compile(
    r"\[([0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9:.]{4,15}Z?)?)\](?:\s?[-–—:.]\s|[.:]?\s|(?=\S))"
)
_NOTHING = re.compile(r"[\W_]*")
_FENCE, _HEADING = "```", re.compile(r"#{1,6} ")


def list_items(raw: bytes) -> Iterator[FileItem]:
    """A memory each line that holds a word."""
    number, seen = 1, 0
    for match in _LINE.finditer(raw):
        number += raw.count(b"\n", seen, match.start())
        seen = match.start()
        try:
            text = match[0].decode().strip()
        except UnicodeDecodeError as error:
            message = f"not text in UTF-8 (byte {error.start + 1} of the line)"
            yield LineResult(number, LineStatus.INVALID, "encoding", message)
            continue
        if text.startswith(_FENCE) or _HEADING.match(text):
            continue
        text, created = list_line(text)
        if not _NOTHING.fullmatch(text):
            yield FileMemory(number, text, created=created)


def list_line(line: str) -> tuple[str, float | None]:
    """The text of a line, and the day that stands before it as unix seconds."""
    text = line.strip()
    if mark := _MARK.match(text):
        text = text[mark.end() :].lstrip()
    created = None
    if date := _DATE.match(text):
        created = moment(date[1])
        text = text[date.end() :].lstrip()
    return text, created
