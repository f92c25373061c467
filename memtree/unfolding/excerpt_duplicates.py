"""Find texts that say the same, so that only one of them is quoted, and of versions the newest.

Two texts are near-duplicates if the other contains at least 0.8 of the three-word runs of the
shorter one. They say the same unless a number, a name, an identifier or a negation of the shorter
one is missing in the other.

    >>> shown = ShownTexts()
    >>> shown.add("The server listens on port 8090 and answers slowly when the cache is cold.")
    0
    >>> shown.repeats("the server listens on port 8090, and answers slowly when the cache is cold")
    True
    >>> shown.repeats("Something else was said here about the weather.")
    False
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from memtree.language.borders import DENIALS
from memtree.text.terms import STOP_WORDS

NEAR = 0.65  # share of three-word runs that is required here; tests of the answer require 0.8
OWNERS = 16  # texts that are remembered for each run, the first ones
WHOLE_LINE = 12  # words; a line up to this length is shown whole if a part of it differs
AROUND = 4  # words shown on each side of a differing word
MOST_SPANS = 3  # shown of an older version

# In scripts without spaces every letter counts as a word.
_WORD = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|\w+")
_TOKEN = re.compile(r"\S+")
# Line numbers that tools write before the lines of a file are not part of its content.
_LINE_NUMBER = re.compile(r"^[ \t>]{0,12}[0-9]{1,6}(?:\t|[ \t]?[|│→:])", re.MULTILINE)
_MARKS = "\"'`.,:;!?()[]{}<>*|“”‘’…—–"


def words(text: str) -> list[str]:
    """Return the lower-case words of a text; each letter of a script without spaces is one."""
    return _WORD.findall(text.lower())


def equal(first: str, second: str) -> bool:
    """Return True if two texts are equal apart from white space."""
    return first == second or first.split() == second.split()


def runs(text: str) -> frozenset[int]:
    """Return the hashes of the three-word runs of a text; of a shorter one the hash of the text
    itself."""
    said = words(_LINE_NUMBER.sub("", text))
    if len(said) < 3:
        return frozenset((hash(tuple(said)),)) if said else frozenset()
    return frozenset(map(hash, zip(said, said[1:], said[2:], strict=False)))


def near_runs(first: frozenset[int], second: frozenset[int]) -> bool:
    """Return True if the texts with these runs are near-duplicates."""
    return bool(first and second) and len(first & second) >= NEAR * min(len(first), len(second))


def of_a_size(first: str, second: str) -> bool:
    """Return True if neither of two texts is more than twice as long as the other: they may be
    versions of each other."""
    return len(first) <= 2 * len(second) and len(second) <= 2 * len(first)


def _telling(text: str) -> set[str]:
    telling = set(DENIALS.findall(text.lower()))
    for token in _TOKEN.findall(_LINE_NUMBER.sub("", text)):
        word = token.strip(_MARKS)
        if not word:
            continue
        lower = word.lower()
        if (
            (word != lower and lower not in STOP_WORDS)
            or any(char.isdigit() for char in word)
            or not word.replace("-", "").replace("'", "").replace("’", "").isalpha()
        ):
            telling.add(lower)
    return telling


class ShownTexts:
    """Texts that the model already sees: the three-word runs, lines and significant words of all of
    them; each text has a number."""

    def __init__(self) -> None:
        self._owner: dict[int, int] = {}  # the first text with each run
        self._others: dict[int, list[int]] = {}  # further texts of the few runs that have several
        self._sizes: list[int] = []
        self._known = TextDetails()

    def add(self, text: str, said: frozenset[int] | None = None) -> int:
        """Add a text that is shown now, and return its number. `said`: its runs, if known."""
        number, said = len(self._sizes), runs(text) if said is None else said
        self._sizes.append(len(said))
        self._known.add(text)
        known = said & self._owner.keys()
        self._owner.update(dict.fromkeys(said - known if known else said, number))
        for run in known:
            others = self._others.setdefault(run, [])
            if len(others) < OWNERS - 1:
                others.append(number)
        return number

    def repeats(self, text: str, said: frozenset[int] | None = None) -> bool:
        """Return True if most of a text's three-word runs are shown. `said`: its runs, if known."""
        said = runs(text) if said is None else said
        return bool(said) and len(said & self._owner.keys()) >= NEAR * len(said)

    def lacking(self, text: str) -> list[tuple[int, int]]:
        """Return the spans, (start, end) in characters, of lines with content that is not shown
        yet; of long lines only some words around it."""
        return self._known.differences(text)

    def inside(self, text: str, said: frozenset[int] | None = None) -> list[int]:
        """Return the numbers of texts that are at most half as long as this one and contained in
        it. `said`: its runs, if known."""
        said = runs(text) if said is None else said
        known = said & self._owner.keys()
        shared = Counter(map(self._owner.__getitem__, known))
        for run in known & self._others.keys():
            shared.update(self._others[run])
        return sorted(
            number
            for number, count in shared.items()
            if count >= NEAR * self._sizes[number] and 2 * self._sizes[number] <= len(said)
        )


def says_more(text: str, other: str) -> bool:
    """Return True if a text has a number, a name, an identifier or a negation that the other
    lacks."""
    return not _telling(text) <= _telling(other)


def differences(older: str, newer: str) -> list[tuple[int, int]]:
    """Return the spans, (start, end) in characters, in which an older version differs: lines with a
    number, a name, an identifier or a negation that the newer one lacks; of long lines a few words
    around each."""
    known = TextDetails()
    known.add(newer)
    return known.differences(older)


class TextDetails:
    """Lines of some texts, and their words that distinguish texts; computed on demand, which is
    rare."""

    def __init__(self) -> None:
        self._unread: list[str] = []
        self._lines: set[str] = set()
        self._telling: set[str] = set()

    def add(self, text: str) -> None:
        self._unread.append(text)

    def differences(self, text: str) -> list[tuple[int, int]]:
        for known in self._unread:
            self._lines.update(" ".join(line.split()) for line in known.split("\n"))
            self._telling.update(_telling(known))
        self._unread.clear()
        return list(islice(self._differing(text), MOST_SPANS))

    def _differing(self, text: str) -> Iterator[tuple[int, int]]:
        start = 0
        for line in text.split("\n"):
            new = _telling(line) - self._telling
            if new and " ".join(line.split()) not in self._lines:
                yield from _around_new(line, start, new)
            start += len(line) + 1


def _around_new(line: str, start: int, words: set[str]) -> Iterator[tuple[int, int]]:
    """Yield a short line whole, of a long one the surroundings of the given words."""
    tokens = list(_TOKEN.finditer(line))
    new = [at for at, token in enumerate(tokens) if token[0].strip(_MARKS).lower() in words]
    if len(tokens) <= WHOLE_LINE or not new:
        yield start + tokens[0].start(), start + tokens[min(len(tokens), 3 * WHOLE_LINE) - 1].end()
        return
    low, high = new[0] - AROUND, new[0] + AROUND
    for at in new[1:]:
        if at - AROUND > high + 1:
            yield _stretch(tokens, low, high, start)
            low = at - AROUND
        high = at + AROUND
    yield _stretch(tokens, low, high, start)


def _stretch(tokens: Sequence[re.Match[str]], low: int, high: int, start: int) -> tuple[int, int]:
    first, last = tokens[max(0, low)], tokens[min(high, len(tokens) - 1)]
    return start + first.start(), start + last.end()
