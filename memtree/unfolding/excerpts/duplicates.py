"""Texts that say the same: so that of several only one is quoted, and of versions the newest.

Two texts are near-duplicates where at least 0.8 of the three-word runs of the shorter one stand in
the other. They say the same unless a number, a name, an identifier or a negation of the shorter one
is missing in the other.

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

from memtree.language.negation import DENIALS
from memtree.text.words.stop_words import STOP_WORDS

NEAR = 0.65  # share of three-word runs; what is judged from outside is 0.8
OWNERS = 16  # texts that one run is remembered for, the first ones
WHOLE_LINE = 12  # words of a line that is shown whole where a part of it differs
AROUND = 4  # words shown on each side of one that differs
MOST_SPANS = 3  # of an older version

# Scripts without spaces count by the letter.
_WORD = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|\w+")
_TOKEN = re.compile(r"\S+")
# What tools write before the lines of a file: their numbers are no part of what it says.
_LINE_NUMBER = re.compile(r"^[ \t>]{0,12}[0-9]{1,6}(?:\t|[ \t]?[|│→:])", re.MULTILINE)
_MARKS = "\"'`.,:;!?()[]{}<>*|“”‘’…—–"


def words(text: str) -> list[str]:
    """Lower-case words of a text; each letter of a script without spaces is one."""
    return _WORD.findall(text.lower())


def equal(first: str, second: str) -> bool:
    """Return True if two texts are the same but for white space."""
    return first == second or first.split() == second.split()


def runs(text: str) -> frozenset[int]:
    """Hashes of the three-word runs of a text; of a shorter one the text itself."""
    said = words(_LINE_NUMBER.sub("", text))
    if len(said) < 3:
        return frozenset((hash(tuple(said)),)) if said else frozenset()
    return frozenset(map(hash, zip(said, said[1:], said[2:], strict=False)))


def near_runs(first: frozenset[int], second: frozenset[int]) -> bool:
    """Return True if the texts of which these are the runs are near-duplicates."""
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
    """Texts that the model sees already: three-word runs, lines and telling words of all of them;
    each text has a number."""

    def __init__(self) -> None:
        self._owner: dict[int, int] = {}  # of each run the first text that has it
        self._others: dict[int, list[int]] = {}  # of the few that more texts have the next ones
        self._sizes: list[int] = []
        self._known = Known()

    def add(self, text: str, said: frozenset[int] | None = None) -> int:
        """The number of a text that is shown now. `said`: its runs, where they are known."""
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
        """Return True if most of a text's three-word runs are shown. `said`: these, where known."""
        said = runs(text) if said is None else said
        return bool(said) and len(said & self._owner.keys()) >= NEAR * len(said)

    def lacking(self, text: str) -> list[tuple[int, int]]:
        """(start, end) in characters of the lines that say something of their own beside all that
        is shown, of long lines some words around it."""
        return self._known.differences(text)

    def inside(self, text: str, said: frozenset[int] | None = None) -> list[int]:
        """The numbers of texts that are at most half as long as this one and stand in it. `said`:
        its runs, where they are known."""
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
    """(start, end) in characters of what an older version says otherwise: lines with a number, a
    name, an identifier or a negation that the newer one lacks, of long lines a few words around
    each."""
    known = Known()
    known.add(newer)
    return known.differences(older)


class Known:
    """The lines of some texts, and those of their words that tell texts apart; read when they are
    asked for, which is rare."""

    def __init__(self) -> None:
        self._unread: list[str] = []
        self._lines: set[str] = set()
        self._telling: set[str] = set()

    def add(self, text: str) -> None:
        self._unread.append(text)

    def _read(self) -> None:
        for text in self._unread:
            self._lines.update(" ".join(line.split()) for line in text.split("\n"))
            self._telling.update(_telling(text))
        self._unread.clear()

    def differences(self, text: str) -> list[tuple[int, int]]:
        self._read()
        return list(islice(self._differing(text), MOST_SPANS))

    def _differing(self, text: str) -> Iterator[tuple[int, int]]:
        start = 0
        for line in text.split("\n"):
            new = _telling(line) - self._telling
            if new and " ".join(line.split()) not in self._lines:
                yield from _around_new(line, start, new)
            start += len(line) + 1


def _around_new(line: str, start: int, words: set[str]) -> Iterator[tuple[int, int]]:
    """The whole of a short line, of a long one what stands around some of its words."""
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
