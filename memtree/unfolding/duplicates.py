"""Texts that say the same: so that of several only one is quoted, and of versions the newest.

Two texts are near-duplicates where at least 0.8 of the three-word runs of the shorter one stand in
the other. They say the same unless a number, a name, an identifier or a negation of the shorter one
is missing in the other.

    >>> shown = ShownTexts()
    >>> shown.add("The server listens on port 8090 and answers slowly when the cache is cold.")
    0
    >>> shown.nearest("the server listens on port 8090, and answers slowly when the cache is cold")
    0
    >>> shown.nearest("Something else was said here about the weather.") is None
    True
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from memtree.text.terms import STOP_WORDS

NEAR = 0.75  # share of three-word runs; what is judged from outside is 0.8
OWNERS = 16  # texts that one run is remembered for, the first ones
WHOLE_LINE = 12  # words of a line that is shown whole where a part of it differs
AROUND = 4  # words shown on each side of one that differs
MOST_SPANS = 6  # of an older version

# Scripts without spaces count by the letter.
_WORD = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|\w+")
_TOKEN = re.compile(r"\S+")
_MARKS = "\"'`.,:;!?()[]{}<>*|“”‘’…—–"
_NEGATIONS = frozenset(
    """
    no not never none nor without cannot can't don't doesn't didn't won't isn't aren't wasn't
    shouldn't nicht kein keine keinen nie niemals ohne ne pas jamais sans non senza mai sin nunca
    jamás não sem niet geen nooit nie bez не нет никогда без değil asla لا لن ليس
    """.split()
)
_NEGATING = re.compile(r"[不没沒無无非未別别]|ない|ません|않|안 |못")


def words(text: str) -> list[str]:
    """Lower-case words of a text; each letter of a script without spaces is one."""
    return _WORD.findall(text.lower())


def equal(first: str, second: str) -> bool:
    """Whether two texts are the same but for white space."""
    return first == second or first.split() == second.split()


def runs(text: str) -> frozenset[int]:
    """Hashes of the three-word runs of a text; of a shorter one the text itself."""
    said = words(text)
    if len(said) < 3:
        return frozenset((hash(tuple(said)),)) if said else frozenset()
    return frozenset(map(hash, zip(said, said[1:], said[2:], strict=False)))


def near(first: str, second: str) -> bool:
    """Whether two texts are near-duplicates."""
    one, other = runs(first), runs(second)
    return bool(one and other) and len(one & other) >= NEAR * min(len(one), len(other))


def of_a_size(first: str, second: str) -> bool:
    """Whether neither of two texts is more than twice as long as the other: they may be versions of
    each other."""
    return len(first) <= 2 * len(second) and len(second) <= 2 * len(first)


def _telling(text: str) -> set[str]:
    telling: set[str] = set(_NEGATING.findall(text)) if not text.isascii() else set()
    for token in _TOKEN.findall(text):
        word = token.strip(_MARKS)
        if not word:
            continue
        lower = word.lower()
        if (
            lower in _NEGATIONS
            or (word != lower and lower not in STOP_WORDS)
            or any(char.isdigit() for char in word)
            or not word.replace("-", "").replace("'", "").replace("’", "").isalpha()
        ):
            telling.add(lower)
    return telling


class ShownTexts:
    """What the model sees already, by three-word runs; each text has a number."""

    def __init__(self) -> None:
        self._owners: dict[int, list[int]] = {}
        self._sizes: list[int] = []
        self._texts: list[str] = []
        self._known: dict[int, _Known] = {}

    def add(self, text: str) -> int:
        """The number of a text that is shown now."""
        number, said = len(self._sizes), runs(text)
        self._sizes.append(len(said))
        self._texts.append(text)
        for run in said:
            owners = self._owners.setdefault(run, [])
            if len(owners) < OWNERS:
                owners.append(number)
        return number

    def remove(self, number: int) -> None:
        """It is not shown after all."""
        self._sizes[number] = 0

    def nearest(self, text: str) -> int | None:
        """The number of a text that is a near-duplicate of this one; None where there is none."""
        said = runs(text)
        if not said:
            return None
        shared = Counter(owner for run in said for owner in self._owners.get(run, ()))
        for number, count in sorted(shared.items(), key=lambda pair: (-pair[1], pair[0]))[:OWNERS]:
            size = min(len(said), self._sizes[number])
            if size and count >= NEAR * size:
                return number
        return None

    def holds_most_of(self, number: int, text: str) -> bool:
        """Whether that text is at least half as long as this one: it does not merely stand in
        it."""
        return 2 * self._sizes[number] >= len(runs(text))

    def lacks(self, number: int, text: str) -> list[tuple[int, int]]:
        """(start, end) in characters of what that text does not say of this one; none where the
        two say the same."""
        known = self._known.get(number)
        if known is None:
            known = self._known[number] = _Known.of(self._texts[number])
        return known.differences(text) if known.says_less(text) else []


def says_more(text: str, other: str) -> bool:
    """Whether a text has a number, a name, an identifier or a negation that the other lacks."""
    return _Known.of(other).says_less(text)


def differences(older: str, newer: str) -> list[tuple[int, int]]:
    """(start, end) in characters of what an older version says otherwise: lines that the newer one
    lacks, of long lines a few words around each that it lacks."""
    return _Known.of(newer).differences(older)


@dataclass(frozen=True, slots=True)
class _Known:
    """What a text holds: its lines, its words, and those words that tell it from others."""

    lines: frozenset[str]
    words: frozenset[str]
    telling: frozenset[str]

    @classmethod
    def of(cls, text: str) -> _Known:
        return cls(
            frozenset(" ".join(line.split()) for line in text.split("\n")),
            frozenset(token.strip(_MARKS).lower() for token in text.split()),
            frozenset(_telling(text)),
        )

    def says_less(self, text: str) -> bool:
        return not _telling(text) <= self.telling

    def differences(self, text: str) -> list[tuple[int, int]]:
        return list(islice(self._differing(text), MOST_SPANS))

    def _differing(self, text: str) -> Iterator[tuple[int, int]]:
        start = 0
        for line in text.split("\n"):
            if line.strip() and " ".join(line.split()) not in self.lines:
                yield from _around_new(line, start, self.words)
            start += len(line) + 1


def _around_new(line: str, start: int, known: frozenset[str]) -> Iterator[tuple[int, int]]:
    tokens = list(_TOKEN.finditer(line))
    new = [at for at, token in enumerate(tokens) if token[0].strip(_MARKS).lower() not in known]
    if not new:
        return
    if len(tokens) <= WHOLE_LINE:
        yield start + tokens[0].start(), start + tokens[-1].end()
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
