r"""Part a message into runs of prose, and tell which runs show that they belong to a document.

A run is what stands between two breaks: a line, a paragraph that was wrapped, an item of a list.
The marks of a document are told by form alone, in any language: an address ("Hi Sam,") or a
signature, lines that begin with a time or a name and colon, headings, titles, text between rules.
What is asked about a text plays no part.

    >>> [run.short for run in runs("Sum it up.\n\nHi Sam,\n\nI moved.\n\nYours\nEve".split("\n"))]
    [False, True, False, True, True]
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from memtree.language.word_file import WordFiles, lazily
from memtree.text.lines import BULLET, LineKind, begins_note, kinds

WRAPPED = 50  # characters of a line that may have been wrapped
_part = WordFiles("own_voice").part
_OWN = lazily(
    lambda: (
        rf"\b(?:{_part('own')}|{_part('joins')})\b"
        rf"|{_part('own_unspaced')}|{_part('joins_unspaced')}"
    )
)
TELLS = lazily(lambda: rf"\b(?:{_part('tells')})\b|{_part('tells_unspaced')}")
READ = 400  # characters of a line whose form is read
_SHORT, _TITLE = 45, 80  # characters of a line of a signature; of an address or title
_DENSE = 3  # letters that say as much as one letter of a script without spaces
_ENDS = re.compile(r"[.!?…:;。！？：；)\]\"”»」’*_]\s*$")
_STAMP = re.compile(
    r"\W{0,3}(?:\d{1,4}[-/]\d{1,2}(?:[-/]\d{1,4})?\b|\d{1,2}\.\d{1,2}\.(?:\d{2,4}\b)?|\d{1,2}:\d\d\b"
    r"|\d{4}年)"
)
_FIELD = re.compile(r"\W{0,4}(?P<label>[^\W\d_][^\n:：?？!。]{0,40}?)\W{0,3}[:：](?=\s*\S)(?!//)")
_NAMES = 3  # words of a name before a colon
_ADDRESS = re.compile(r"[^?!:;。？！]{1,60}[,，、،]$|[^.?!:;。？！]{1,60}[!！]$")
_MADE_OF = re.compile(r"[-*_=~#.·•—–+<> ]{3,}$")
_RULE = 3  # equal signs at both ends of a line
_DIGIT = re.compile(r"\d")
_CAPITALS = re.compile(r"[A-Z][A-Z /&-]{3,40}:?$")
_HEADING = re.compile(r"#{1,6}\s|\*\*[^*\n]{1,80}\*\*:?$|[-*]{2} $|--\s*$")


@dataclass(frozen=True, slots=True)
class Run:
    """A run of the lines [first, end). `start`: column of its words on its first line. `mark`: it
    shows that a document stands here. `short`: it looks like an address, a title or a signature.
    `item`: of a list. `opens`: it begins a paragraph. `border`:
    a text with marks of its own around it, such as code or a quotation, stands before it."""

    first: int
    end: int
    start: int
    mark: bool
    short: bool
    item: bool
    opens: bool
    border: bool


def runs(lines: Sequence[str], delimited: frozenset[int] = frozenset()) -> list[Run]:
    """Part lines into runs. `delimited`: blank lines in place of a text with marks around it."""
    line_kinds = kinds(lines)
    rules = _rules(lines, line_kinds)
    ruled = range(rules[0], rules[-1] + 1) if rules else ()
    parted: list[Run] = []
    border = note = False
    opens = True
    for at, (line, kind) in enumerate(zip(lines, line_kinds, strict=True)):
        read = line.strip()
        note = bool(read) and (note or begins_note(line))
        if kind is not LineKind.PROSE or at in delimited or at in ruled or note:
            made = kind is LineKind.MADE or at in delimited or at in ruled or note
            border = border or made or read[:1] in (">", "＞")
            opens = True
            if kind is LineKind.MARK and not made and _is_document(read):
                parted.append(Run(at, at + 1, 0, True, False, False, True, border))
            continue
        bullet = BULLET.match(line)
        if parted and not opens and not bullet and _goes_on(lines[at - 1], line):
            parted[-1] = replace(parted[-1], end=at + 1)
            continue
        start = bullet.end() if bullet else 0
        mark = _is_marked(line)
        parted.append(Run(at, at + 1, start, mark, False, bool(bullet), opens, border))
        border = opens = False
    return _before(_shortened(lines, parted), rules)


def _is_document(read: str) -> bool:
    """Return True if a line that is no prose belongs to a document: a heading, a number, a time."""
    letters = any(map(str.isalpha, read))
    return (
        bool(_HEADING.match(read) or _CAPITALS.match(read))
        if letters
        else bool(_DIGIT.search(read))
    )


def _goes_on(before: str, line: str) -> bool:
    """Return True if a line goes on where the line before it was wrapped."""
    return len(before) >= WRAPPED and not _ENDS.search(before[-8:]) and line[:1] not in " \t"


def _is_marked(line: str) -> bool:
    read = line.strip()[:READ]
    if _STAMP.match(read) or _HEADING.match(read):
        return True
    field = _FIELD.match(read)
    return bool(field and _is_name(field["label"]) and not is_about_self(field["label"]))


def _is_name(label: str) -> bool:
    """Return True for a word, or a few that all begin with a capital letter, as names do."""
    words = label.split()
    capital = all(word[0].isalpha() and not word[0].islower() for word in words)
    return len(words) == 1 or (len(words) <= _NAMES and capital)


def _before(parted: list[Run], rules: Sequence[int]) -> list[Run]:
    """Leave out what stands behind a single rule of signs, if no document stands before it."""
    if len(rules) != 1:
        return parted
    before = [run for run in parted if run.first < rules[0]]
    letter = any(run.mark for run in before) or any(run.short for run in before[1:])
    return parted if letter else before


def _shortened(lines: Sequence[str], parted: list[Run]) -> list[Run]:
    """Note addresses, titles and signatures: short lines, most of which no mark ends."""
    noted: list[Run] = []
    for at, run in enumerate(parted):
        read = lines[run.first].strip()
        following = parted[at + 1] if at + 1 < len(parted) else None
        if run.end == run.first + 1 and not run.item and len(parted) > 1:
            apart = run.opens and (following is None or following.opens)
            size = len(read) if read.isascii() or " " in read else _DENSE * len(read)
            title = size <= _TITLE and not read[:1].islower()
            beside = following is not None and following.border
            short = title if apart else size <= _SHORT
            address = run.opens and size <= _TITLE and bool(_ADDRESS.match(read))
            bare = short and not _ENDS.search(read[-8:])
            run = replace(run, short=not beside and (address or bare))
        noted.append(run)
    return noted


def is_about_self(head: str) -> bool:
    """Return True if words before a colon show that what follows is their author's own."""
    lower = lowered(head)
    return bool(_OWN.search(lower)) and not TELLS.search(lower)


def lowered(text: str) -> str:
    return text.replace("İ", "i").lower().replace("’", "'")


def _rules(lines: Sequence[str], line_kinds: Sequence[LineKind]) -> list[int]:
    """Return the lines that are rules of signs."""
    return [
        at
        for at, (line, kind) in enumerate(zip(lines, line_kinds, strict=True))
        if kind is not LineKind.BLANK and _is_rule(line.strip()[:READ])
    ]


def _is_rule(read: str) -> bool:
    """Return True for a line of signs, or of words between the same signs: "=== PAGE ==="."""
    ends = read[:1] in "-=*_~#+<>" and read[:_RULE] == read[-_RULE:] == _RULE * read[:1]
    return bool(read) and (ends or _MADE_OF.match(read) is not None)
