"""Recognise lines that recur in every session and say nothing of this one: commands, prompts,
banners, frames.

The forms are a fixed list. A summary's body may hold them if there is nothing else, its headline
never. This file does not recognise small talk (`clauses.py`).

    >>> [is_boilerplate(line) for line in ("/undo", "continue", "Undo the last commit")]
    [True, True, False]
"""

from __future__ import annotations

import re

from memtree.language.word_file import WordFiles, lazily

_DATA = WordFiles("boilerplate")

# A time in front of a statement; alone on its line it is boilerplate.
_STAMP = re.compile(
    r"(?:\[[^\]\n]{0,24}\d{1,2}[:.]\d\d[^\]\n]{0,32}\]|\[\d{1,4}[-./]\d{1,2}[-./]\d{1,4}[^\]\n]{0,20}\]"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d[\d:.,Z+]*|\d\d:\d\d:\d\d(?:[.,]\d{1,6})?"
    r"|\d{1,4}[./-]\d{1,2}[./-]\d{1,4},? \d{1,2}:\d\d(?::\d\d)?(?: ?[aApP][mM])?)"
    r"(?: ?[-–|:])? ?(?=\S|$)"
)
_NAME = re.compile(
    r"(?:[A-ZÀ-ÖØ-ÞА-ЯЁ][\w'’.-]{0,24}(?: [A-ZÀ-ÖØ-ÞА-ЯЁ][\w'’.-]{0,24}){0,2}"
    r"|[\u3041-\u9fff\uac00-\ud7a3]{1,8})[:：] ?(?=\S)"
)
_FORMS = lazily(
    # /undo, /add path
    lambda: rf"/[a-z][\w-]*(?: \S+){{0,3}}$|(?:{_DATA.part('forms')})",
    re.IGNORECASE,
)


def is_boilerplate(line: str) -> bool:
    """Return True if a tidied line is boilerplate."""
    if len(line) < 24 and line.lower().strip(' .!?。！“”"') in _DATA.word_set("alone"):
        return True
    return _may_be(line) and bool(_FORMS.match(line))


def _may_be(line: str) -> bool:
    first = line.partition(" ")[0].lower().rstrip(",!.:")
    return (
        first in _DATA.word_set("first")
        or not line[:1].isalpha()
        or line[-3:] in ("? y", "? n")
        or "tokens truncated…" in line[:80]
        or " v" in line[:32]
        or " chat started at " in line[:80]
    )


def without_stamp(line: str) -> str:
    """Return the line without the time in front of it."""
    if line and (line[0] in "[(" or line[0].isdigit()) and (match := _STAMP.match(line)):
        return line[match.end() :]
    return line


def speaker_of(line: str) -> str:
    """Return the speaker's name at the start of a line ("Ann" of "Ann: hello"), or ""."""
    match = _NAME.match(line)
    return match.group().rstrip(": ：") if match else ""
