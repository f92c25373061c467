"""A passage of a document as one line of a prompt. What the document says is anybody's text, and so
are its metadata: the line is as safe as a memory's, and its label cannot be forged from within.

    >>> metadata_line({"author": "Ada", "year": 2024, "draft": True, "none": None})
    'author=Ada; year=2024; draft=true'
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from memtree.memories.injection.rendering import CUT, one_line
from memtree.memories.memory import Memory

MOST_CHARS = 1_200  # of a line with its number: a passage as it is cut fits whole
MOST_METADATA = 240  # characters of a metadata line
MOST_KEY, MOST_VALUE = 40, 80
MOST_LABEL = 100  # characters of a document's id that are shown
READ = 1_000  # characters of a key or a value that are looked at
_NUMBER = len("20. ")
_SEPARATORS = str.maketrans("[];", "(),")


def line(memory: Memory, *, metadata: bool = False) -> str:
    """`[handbook.md 3/12] text`, as it stands in a numbered list; with `metadata`, what is known of
    the document before the bracket ends. Empty where nothing of the text can be shown."""
    data = memory.data or {}
    shown = one_line(memory.text)
    if not shown:
        return ""
    label = _cut(_plain(memory.thread_id or ""), MOST_LABEL)
    place, of = data.get("place"), data.get("of")
    if isinstance(place, int) and isinstance(of, int):
        label = f"{label} {place + 1}/{of}"
    details = data.get("shown")
    if metadata and isinstance(details, str) and details:
        label = f"{label}; {details}"
    room = MOST_CHARS - _NUMBER - len(f"[{label}] ")
    return f"[{label}] {_cut(shown, room)}"


def metadata_line(metadata: Mapping[str, Any]) -> str:
    """Simple values as short `key=value`, in the order given; what is nested is left out."""
    line = ""
    for pair in _pairs(metadata):
        longer = f"{line}; {pair}" if line else pair
        if len(longer) > MOST_METADATA:
            break
        line = longer
    return line


def _pairs(metadata: Mapping[str, Any]) -> Iterator[str]:
    for key, value in metadata.items():
        values = value if isinstance(value, list) else [value]
        said = ", ".join(_said(each) for each in values[:READ])
        name, shown = _plain(key[:READ]), _plain(said[:READ])
        if name and shown:
            yield f"{_cut(name, MOST_KEY)}={_cut(shown, MOST_VALUE)}"


def _said(value: object) -> str:
    """A simple value as JSON has it; others say nothing."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else ""


def _plain(text: str) -> str:
    return one_line(text).translate(_SEPARATORS)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - len(CUT)].rstrip() + CUT
