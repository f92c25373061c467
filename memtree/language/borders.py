"""Find where a text can be cut without breaking a sentence, a clause or a word.

It also tells whether a text denies something, by the words that each language lists in
`claims.txt`. A full stop ends a sentence if a space and no small letter follow it, and it belongs
to no abbreviation, initial, number or address. The end of a line ends a sentence too, unless a full
line continues in small letters on the next: people wrap text, and write one statement a line.
Chinese and Japanese are written without spaces. There a word ends at punctuation, where the script
changes, after particles, and around the commonest function words: no dictionary is needed. Which
piece is worth keeping is not said here.

    >>> split("Dr. Ito moved to Kobe on the 3. of May, e.g. by train. I stayed!")
    ['Dr. Ito moved to Kobe on the 3. of May, e.g. by train.', 'I stayed!']
    >>> list(clauses("we keep SQLite, because the installers must work offline"))
    ['we keep SQLite', 'because the installers must work offline']
    >>> units("田中さんはプロジェクトを辞めます")
    ['田中さんは', 'プロジェクトを', '辞めます']
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from memtree.language.word_file import WordFile, WordFiles, in_order, lazily

# -- sentences ---------------------------------------------------------------------------------

_DATA = WordFile("all", "abbreviations")
WRAPPED = 50  # characters; a line at least this long may continue in the next
# Begins with one set, so that the engine skips other characters.
_END = re.compile(
    r"[.!?…؟।。！？\n](?:(?<=[.!?…؟।])(?<![.!?…؟।].)[.!?…؟।]*+[\"'”’»)\]*_]{0,4}+(?=\s|$)"
    r"|(?<=[。！？])[。！？]*[」』”）]{0,2}|(?<=\n))"
)
_LAST_WORD = re.compile(r"(?:[^\W\d_]\.){1,4}$|[^\W_]+\.$")
_TAIL = 16  # characters searched for the last word of a sentence
_ABBREVIATIONS = _DATA.words("abbreviations")
# People who type in small letters: "... in flutter, my first app. what now"
_SMALL_STOP = _DATA.pattern("small_stop")


def split(text: str) -> list[str]:
    """Return the sentences of a text, without white space around them."""
    return [text[start:end] for start, end in sentences(text)]


def sentences(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of the sentences of `text[start:end]` that hold a letter or digit, in
    order, without white space around them. Linear."""
    first, stop = start, len(text) if end is None else end
    for match in _END.finditer(text, start, stop):
        at = match.end()
        if match.group() == "\n":
            ends = _line_ends(text, start, match.start(), stop)
        else:
            ends = _stop_ends(text, match.start(), at, (first, stop))
        if ends:
            yield from _trimmed(text, start, at)
            start = at
    yield from _trimmed(text, start, stop)


def small_stops(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of the parts of a sentence that a writer who uses no capitals
    separated by a full stop."""
    for stop in _SMALL_STOP.finditer(text, start, end):
        yield start, stop.start() + 1
        start = stop.end()
    yield start, end


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if any(map(str.isalnum, text[start:end])):
        yield start, end


def _line_ends(text: str, start: int, at: int, stop: int) -> bool:
    """Return True if the sentence that began at `start` ends with its line, at `at`."""
    following = text[at + 1 : min(at + 40, stop)].lstrip()
    line = max(start, text.rfind("\n", start, at) + 1)
    return not following[:1].islower() or at - line < WRAPPED


def _stop_ends(text: str, first: int, end: int, span: tuple[int, int]) -> bool:
    following = text[end : min(end + 8, span[1])].lstrip()[:1]
    if text[first] != "." or text[first : first + 2] in ("..", ".!", ".?"):
        return text[first] not in ".…" or not following.islower()
    if following.islower():
        return False
    word = _LAST_WORD.search(text, max(span[0], first - _TAIL), first + 1)
    if word is None or end > first + 1:
        return True
    last = word.group()[:-1].replace(".", "").lower()
    if last.isdigit():  # "the 3. of May" is handled above; "am 3. Mai" is not
        if len(last) >= 3 or not following.isalpha():
            return True
        before = text[max(0, first - len(last) - 6) : first - len(last)].lower()
        return not before.rstrip().endswith(_DATA.entries("before_days"))
    return not (last in _ABBREVIATIONS or (len(last) == 1 and last != "i"))


# -- words and clauses -------------------------------------------------------------------------

_LISTS = WordFiles("clauses")
_HAN = "\u3400-\u9fff\uf900-\ufaff"
_HIRAGANA = "\u3041-\u309f"
_KATAKANA = "\u30a1-\u30ff"
UNSPACED = re.compile(f"[{_HAN}{_HIRAGANA}{_KATAKANA}]")
_STOPS = "，。；：！？、…」』）】》〉"
_SPACED = re.compile(r"\S+")


def _unit() -> str:
    """Build the pattern of a unit: a run of one script with the particles and marks behind it."""
    function = _LISTS.part("function_unspaced")
    return (
        rf"(?:{function})[{_STOPS}]*"
        rf"|[{_KATAKANA}]+[{_HIRAGANA}]*+[{_STOPS}]*"
        rf"|[{_HAN}](?:(?!{function})(?!(?<=[的了着过吗呢吧])(?![解地确]))[{_HAN}])*+"
        rf"[{_HIRAGANA}]*+[{_STOPS}]*"
        rf"|[{_HIRAGANA}]+[{_STOPS}]*"
        rf"|[^\s{_HAN}{_HIRAGANA}{_KATAKANA}]+"
    )


def _no_ordinal(end: str = "") -> str:
    """Build the lookbehind that keeps a German ordinal ("ab dem 3. September") in its clause."""
    sizes = groupby(_DATA.entries("before_days"), len)
    return "".join(
        rf"(?<!\b(?:{'|'.join(words)}) {digits}\.{end})"
        for words in [list(words) for _, words in sizes]
        for digits in (r"\d", r"\d\d")
    )


_UNIT = lazily(_unit)
# After a mark, and before words that begin a clause; the text has single spaces.
_CLAUSE = lazily(
    lambda: (
        r"(?<=[,;!?]) (?!\d{4}\b)| (?:[-–—]|->) |(?<=[，；！？。])|(?<=[\u3041-\u309f]、)"
        rf"|(?<=[.…]){_no_ordinal()} (?=[^a-z\s])|(?<=[a-z]{{3}}\.) "
        rf"|(?<!obody)(?<!othing) (?=(?:{_LISTS.part('joints')})\b)"
    ),
    re.IGNORECASE,
)
# The ASCII version: every alternative begins with a space, so the engine skips other characters.
# Four characters that `\s` matches in Unicode are not white space here.
_CLAUSE_ASCII = lazily(
    lambda: (
        r" (?:(?<=[,;!?] )(?!\d{4}\b)|(?:-|->) "
        rf"|(?<=[.] ){_no_ordinal(' ')}(?=[^a-z\s\x1c-\x1f])"
        r"|(?<=[a-z]{3}\. )"
        f"|(?<!obody )(?<!othing )"
        rf"(?=(?:{in_order(filter(str.isascii, _LISTS.entries('joints')))})\b))"
    ),
    re.IGNORECASE | re.ASCII,
)


def units(text: str) -> list[str]:
    """Return the words without the space between them; in unspaced scripts, short phrases."""
    if text.isascii():
        return text.split()
    if not UNSPACED.search(text):
        return _SPACED.findall(text)
    return _UNIT.findall(text)


def ends(text: str) -> list[int]:
    """Return the offset, in characters, of the end of each unit."""
    pattern = _UNIT if not text.isascii() and UNSPACED.search(text) else _SPACED
    return [match.end() for match in pattern.finditer(text)]


def clause_ends(text: str) -> list[int]:
    """Return the offset, in characters, of the end of each clause but the last."""
    pattern = _CLAUSE_ASCII if text.isascii() else _CLAUSE
    return [match.start() for match in pattern.finditer(text)]


def clauses(text: str) -> Iterator[str]:
    """Yield the text's clauses in order, without the marks between them."""
    for piece in (_CLAUSE_ASCII if text.isascii() else _CLAUSE).split(text):
        bare = piece.strip(" ,;:.!?，；：。！？、-–—")
        if bare:
            yield bare


_NEGATION = WordFiles("claims")
DENIALS = lazily(
    lambda: rf"\b(?:{_NEGATION.part('denies')})\b|{_NEGATION.part('denies_unspaced')}",
    re.IGNORECASE,
)


def denies(text: str) -> bool:
    """Return True if a text says that something is not so, or never was.

    >>> denies("I don't smoke."), denies("Ich rauche nicht."), denies("I smoke.")
    (True, True, False)
    """
    return DENIALS.search(text) is not None
