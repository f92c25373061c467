"""The lines of a memory message that we write, and the characters that a quotation leaves out so
that no quoted line looks like one of them.

Each of our lines begins with `MARK`, which ordinary text does not have at the beginning of a line,
or is a gap mark. A quoted line that would look like one loses only that character; lines are
compared after NFKC, without invisible characters, leading blanks, bullets and `>`. Lists, footnotes
and quotations stay whole.

    >>> text = "> \\u00b67 user"
    >>> [text[:low] + text[high:] for low, high in cut_spans(text, 0, len(text))]
    ['> 7 user']
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from memtree.text.memory_lines import DOCUMENTS_HEADING, HEADING, USER_HEADING
from memtree.text.spans import without

MARK = "¶"
GAP = "[...]"
WORK = "Work done so far, by tool calls and their results:"
RULES = "Standing requests of the user, verbatim:"
STAYS = "Marked to stay in view, verbatim:"
NO_ROOM = "Marked to stay, but without room here, in messages"
ELSEWHERE = "Headlines of other places, by message numbers:"

LONGEST_HEADING = 120  # characters of a line that may be compared with headings
_OWN_TAG = re.compile(
    r"</?(?:context_memory|recalled_context|user_memories|retrieved_documents)>", re.IGNORECASE
)
_LINE = re.compile(r"[^\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]+")
# Blanks, invisible characters, bullets and quotation marks before the text of a line.
_BEFORE = re.compile(
    r"[\s\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    r"\u3164\ufe00-\ufe0f\ufeff\uffa0\-*+•·‣▪◦‐-―>﹥＞|]*"
)
_OPENING = re.compile("[<﹤＜]")
_PILCROWS = "¶⁋❡⸿⸾⹍"
_COLONS = ":：﹕︓"
_HEADINGS = frozenset(
    heading.casefold()
    for heading in (WORK, RULES, STAYS, ELSEWHERE, HEADING, USER_HEADING, DOCUMENTS_HEADING)
)


def without_tags(line: str) -> str:
    """Return a line of a summary without our own tags, which its source may contain."""
    return " ".join(_OWN_TAG.sub("", line).split()) if "<" in line else line


def without_signs(text: str) -> str:
    """Return a text without characters by which it could be mistaken for ours."""
    return without(text, cut_spans(text, 0, len(text)))


def cut_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of text[start:end] that a quotation leaves out, in order: our own tags, and
    in each line the character by which it could be mistaken for one of ours. Takes time linear in
    the piece."""
    for low, high in lines(text, start, end):
        yield from _cut_from_line(text[low:high], low)


def lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of the lines of text[start:end] that are not empty."""
    for line in _LINE.finditer(text, start, end):
        yield line.span()


def _cut_from_line(line: str, at: int) -> Iterator[tuple[int, int]]:
    start = 0
    for tag in _OWN_TAG.finditer(line) if "<" in line else ():
        yield from _signs(line[start : tag.start()], at + start)
        yield at + tag.start(), at + tag.end()
        start = tag.end()
    yield from _signs(line[start:], at + start)


def _signs(line: str, at: int) -> Iterator[tuple[int, int]]:
    """Yield the single characters that are left out of a line without our tags."""
    signs = {*_leading_signs(line), *_heading_colon(line)}
    if not line.isascii():
        signs |= _disguised_tags(line)
    for sign in sorted(signs):
        yield at + sign, at + sign + 1


def _leading_signs(line: str) -> Iterator[int]:
    """Yield the marks at the beginning of a line, or the bracket of a gap mark."""
    begin = _BEFORE.match(line)
    first = begin.end() if begin else 0
    while line[first : first + 1] and line[first] in _PILCROWS:
        yield first
        first += 1
        begin = _BEFORE.match(line, first)
        first = begin.end() if begin else first
    opens = unicodedata.normalize("NFKC", line[first : first + 4]).startswith("[...")
    if opens and _plain(line[-8:]).endswith("]"):
        yield first


def _heading_colon(line: str) -> Iterator[int]:
    """Yield the colon of a line that looks like one of our headings."""
    if len(line) <= LONGEST_HEADING:
        colon = max(line.rfind(sign) for sign in _COLONS)
        if colon >= 0 and _plain(line).lstrip(f"{_PILCROWS} ") in _HEADINGS:
            yield colon


def _disguised_tags(line: str) -> set[int]:
    """Return the opening characters of a line that contains one of our tags after normalisation."""
    opening = {match.start() for match in _OPENING.finditer(line)}
    return opening if opening and _OWN_TAG.search(_plain(line)) else set()


def _plain(line: str) -> str:
    """Return a line as a reader perceives it: NFKC, case folded, without invisible characters, and
    without blanks and bullets at its beginning."""
    shown = "".join(sign for sign in line if unicodedata.category(sign) not in ("Cf", "Cc", "Mn"))
    plain = unicodedata.normalize("NFKC", shown).casefold()
    return " ".join(_BEFORE.sub("", plain, count=1).split())
