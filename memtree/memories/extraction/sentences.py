"""Sentences of prose, with their places: short enough to be read as one statement.

A full stop ends a sentence where a space and no small letter follow it, and it belongs to no
abbreviation, initial, number or address. A line ends one as well, unless the next goes on in small
letters behind a full line: people wrap text, and write one statement a line.

    >>> text = "Dr. Ito moved to Kobe on the 3. of May, e.g. by train. I stayed!"
    >>> [text[start:end] for start, end in sentences(text, Span(0, len(text)))]
    ['Dr. Ito moved to Kobe on the 3. of May, e.g. by train.', 'I stayed!']
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memtree.language.word_file import WordFile
from memtree.text.spans import Span

_DATA = WordFile("all", "memory_abbreviations")

WRAPPED = 50  # characters of a line that may go on in the next
_END = re.compile(r"[.!?…]+[\"'”’»)\]]{0,3}(?=\s|$)|[。！？]+[」』”）]{0,2}|\n")
_LAST_WORD = re.compile(r"(?:[^\W\d_]\.){1,4}$|[^\W_]+\.$")
_NEAR = 40  # characters before a sentence
_CUT = re.compile(r"[^.!?…:\s][\"'”’»`)\]]\s+$")
_TAIL = 16  # characters in which the last word of a sentence is looked for
_ABBREVIATIONS = _DATA.words("abbreviations")


def sentences(text: str, span: Span) -> Iterator[Span]:
    """The sentences of a span of `text` that hold a letter or digit, in order, without white space
    around them."""
    start = span.start
    for match in _END.finditer(text, span.start, span.end):
        at = match.end()
        if match.group() == "\n":
            ends = _line_ends(text, start, match.start(), span)
        else:
            ends = _stop_ends(text, match.start(), at, span)
        if ends:
            yield from _one(text, start, at)
            start = at
    yield from _one(text, start, span.end)


def is_torn(text: str, sentence: Span) -> bool:
    """Return True if it ends where something was cut out of its line: without an end of its own,
    and with more on its line."""
    if text[sentence.end - 1 : sentence.end] in ".!?…。！？":
        return False
    stop = text.find("\n", sentence.end, sentence.end + 200)
    rest = text[sentence.end : stop if stop >= 0 else sentence.end + 200]
    return bool(rest.strip(" \t\"'”’»)]*_"))


def begins_torn(text: str, start: int) -> bool:
    """Return True if code or a quotation was cut out before a sentence, so that it lacks its
    beginning."""
    before = text[max(text.rfind("\n", max(0, start - _NEAR), start) + 1, start - _NEAR) : start]
    return bool(_CUT.search(before))


def _one(text: str, start: int, end: int) -> Iterator[Span]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if any(map(str.isalnum, text[start:end])):
        yield Span(start, end)


def _line_ends(text: str, start: int, at: int, span: Span) -> bool:
    """Return True if the sentence that began at `start` ends with its line, at `at`."""
    following = text[at + 1 : min(at + 40, span.end)].lstrip()
    line = max(start, text.rfind("\n", start, at) + 1)
    return not following[:1].islower() or at - line < WRAPPED


def _stop_ends(text: str, first: int, end: int, span: Span) -> bool:
    if text[first] not in "." or text[first : first + 2] in ("..", ".!", ".?"):
        following = text[end : min(end + 8, span.end)].lstrip()
        return text[first] not in ".…" or not following[:1].islower()
    word = _LAST_WORD.search(text, max(span.start, first - _TAIL), first + 1)
    following = text[end : min(end + 8, span.end)].lstrip()[:1]
    if following.islower():
        return False
    if word is None or end > first + 1:
        return True
    last = word.group()[:-1].replace(".", "").lower()
    if last.isdigit():  # "the 3. of May" has been looked at; "am 3. Mai" has not
        return not (len(last) < 3 and following.isalpha() and _ordinal(text, first, last))
    return not (last in _ABBREVIATIONS or (len(last) == 1 and last != "i"))


def _ordinal(text: str, first: int, digits: str) -> bool:
    """Return True if the number before a full stop counts days, as in "am 3. Mai"."""
    before = text[max(0, first - len(digits) - 6) : first - len(digits)].lower()
    return before.rstrip().endswith(("am", "den", "der", "zum", "vom", "bis", "ab", "the", "dem"))
