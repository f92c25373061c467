"""Read calls that clients write as JSON in prose: `{"name": "edit", "arguments": {...}}`, a list of
such objects, or arguments alone.

    >>> text = 'Action Input: {"path": "a.py", "old": "x = 1", "new": "x = 2"}'
    >>> [(a.kind, a.text) for a in listed(text, 0)]
    [(2, 'a.py')]
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Any

from memtree.digests.tool_calls.calls import PLACES, acted
from memtree.digests.tool_calls.event import CREATED, DELETED, EDITED, WRITTEN, Action
from memtree.digests.tool_calls.fields import groups
from memtree.digests.tool_calls.markup import fences

MAX_CALLS = 100  # calls read in one message
MAX_BROKEN = 12  # objects without an end; each may cost reading the rest
# An object or a list of objects at the beginning of a line, behind a tag or behind `word: `. The
# pattern begins with a character and then looks back, so the engine skips all other text.
_BEGIN = re.compile(
    r"[{\[](?:(?<![^\n>\]].)|(?<=\w: .)|(?<=> .))(?:(?<=\{)\s{0,80}\"|(?<=\[)\s{0,80}\{)"
)
_NEXT = re.compile(r"\s{0,80},\s{0,80}(?=\{)")
_ACTION = re.compile(r"^Action: {0,4}([\w.-]{1,60}) *\n", re.MULTILINE)
_NAMES = ("name", "tool", "tool_name", "action", "function")
_ARGUMENTS = ("arguments", "args", "parameters", "params", "input", "action_input", "tool_input")
_CHANGES = (CREATED, WRITTEN, EDITED, DELETED)


def listed(text: str, start: int, *, fenced: bool = False) -> list[Action]:
    """Return the actions of calls in a text that begins at character `start` of the view.
    `fenced`: an object in fenced code may be a call without a name; otherwise it must tell an
    edit, since it may be an example of data."""
    actions: list[Action] = []
    marks = fences(text)
    for held, low, high in _objects(text):
        arguments = groups(text[low:high], start + low)
        name = _name(held)
        if fenced or (name and _has_arguments(held)) or bisect_left(marks, low) % 2 == 0:
            actions += acted(name or _action_above(text, low), arguments)
            continue
        arguments = [group for group in arguments if not PLACES & group.keys()]
        actions += [action for action in acted(name, arguments) if action.kind in _CHANGES]
    return actions


def _objects(text: str) -> Iterator[tuple[dict[str, Any], int, int]]:
    """Yield the objects of a text with their (start, end)."""
    decoder = json.JSONDecoder(strict=False)  # models write line breaks into strings
    at = calls = broken = 0
    while calls < MAX_CALLS and broken < MAX_BROKEN and (match := _BEGIN.search(text, at)):
        low = text.index("{", match.start())
        while calls < MAX_CALLS:
            try:
                held, at = decoder.raw_decode(text, low)
            except (ValueError, RecursionError):
                at, broken = low + 1, broken + 1
                break
            yield held, low, at
            calls += 1
            following = _NEXT.match(text, at) if text[match.start()] == "[" else None
            if following is None:
                break
            low = following.end()


def _name(held: dict[str, Any]) -> str:
    """Return the name of the call that an object makes, "" if it gives none."""
    said = next((held[key] for key in _NAMES if held.get(key)), "")
    if isinstance(said, dict):
        said = said.get("name")
    return said if isinstance(said, str) else ""


def _has_arguments(held: dict[str, Any]) -> bool:
    inner = held.get("function")
    held = inner if isinstance(inner, dict) else held
    return any(isinstance(held.get(key), dict | str) for key in _ARGUMENTS)


def _action_above(text: str, at: int) -> str:
    """Return the name in a line `Action: name` just above an object."""
    matches = list(_ACTION.finditer(text, max(0, at - 200), at))
    return matches[-1][1] if matches else ""
