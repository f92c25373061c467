"""Read the topic of a standing rule: its words, its numbers, and if it forbids, corrects or
withdraws something.

Two rules are compared by these alone (`unfolding/pinned/rule_ledger.py`), in any language.

    >>> new, old = topic("You may use emojis again."), topic("Never use emojis.")
    >>> new.words == old.words, new.withdraws, old.forbids
    (True, True, True)
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cache

from memtree.language.word_file import WordFiles, lazily
from memtree.text.terms import STOP_WORDS

_DATA = WordFiles("rule_topics")
_any = _DATA.part
SENTENCE = 600  # characters
STEM = 6  # characters compared of a word: most endings come later


@dataclass(frozen=True, slots=True)
class Topic:
    """Topic of a rule. `words`: beginnings of its words, without words that any rule may hold.
    `measures`: its numbers are amounts, not names. `slot`: a property with a single value, such as
    the language of all answers. `condition`: the words of its condition ("when I ask about
    sizes")."""

    words: frozenset[str]
    numbers: tuple[str, ...]
    measures: bool
    forbids: bool
    corrects: bool
    withdraws: bool
    slot: str
    condition: frozenset[str]


# One apostrophe; Arabic without vowel signs, its alefs, final ya and ta marbuta alike.
_ALIKE = str.maketrans("’أإآىة", "'ااايه", "".join(map(chr, range(0x64B, 0x653))) + "ـ")
_UNSPACED_FILLER = _DATA.pattern("filler_unspaced")
_PARTICLE = lazily(lambda: rf"(?<=[가-힣])(?:{_any('particles')})(?![가-힣])")
_KANJI = lazily(r"[\u3400-\u9fff\u30a0-\u30ff]+")
_RUN = lazily(r"[\u3040-\u30ff\u3400-\u9fff]+|[^\W\u3040-\u30ff\u3400-\u9fff]+")
_NUMBER = lazily(r"\b\d+(?:[.,]\d+)*\b")
_FORBIDS = lazily(lambda: rf"\b(?:{_any('forbids')})\b|{_any('forbids_unspaced')}")
_MEASURES = lazily(
    lambda: (
        rf"\b(?:{_any('measures')})\b.{{0,12}}\d|\d ?(?:{_any('measured_units')})\b"
        rf"|\d\.\d|{_any('measures_alone')}"
    )
)
_CORRECTS = lazily(lambda: rf"\b(?:{_any('corrects')})\b|{_any('corrects_unspaced')}")
_WITHDRAWS = _DATA.pattern("withdraws")
_SLOTS = (
    (
        "language",
        lazily(
            lambda: (
                rf"\b(?:{_any('language_prepositions')})\s?(?:\w+ )?(?:{_any('language_names')})\b"
                rf"|\b(?:{_any('language_adverbs')})\b|{_any('language_unspaced')}"
            )
        ),
    ),
    ("length", lazily(lambda: rf"(?<!\d)\d++ ?(?:{_any('length_units')})")),
    ("address", _DATA.pattern("address")),
)
_WHEN = lazily(lambda: rf"\b(?:{_any('when')}) ([^,.;]{{3,80}})")
_WHERE = lazily(lambda: rf"\b(?:{_any('where')}) ([^,.;]{{2,80}})")


@cache
def _filler() -> frozenset[str]:
    fillers = (_DATA.word_set("filler"), STOP_WORDS)
    return frozenset(word[:STEM] for each in fillers for word in each)


def topic(text: str) -> Topic:
    """Return the topic of a rule, of which the first `SENTENCE` characters are read."""
    lower = comparable(text[:SENTENCE])
    forbids = _FORBIDS.search(lower) is not None
    withdraws = _WITHDRAWS.search(lower) is not None
    slot = next((name for name, pattern in _SLOTS if pattern.search(lower)), "")
    return Topic(
        words=_words(lower),
        numbers=tuple(_NUMBER.findall(lower)),
        measures=_MEASURES.search(lower) is not None,
        forbids=forbids and not withdraws,
        corrects=_CORRECTS.search(lower) is not None,
        withdraws=withdraws,
        slot="" if withdraws else slot,
        condition=_condition(lower, slot),
    )


def withdraws(lower: str) -> bool:
    """Return True if a sentence in comparable form would withdraw an existing rule."""
    if lower.isascii() and not any(marker in lower for marker in _DATA.entries("withdrawal_marks")):
        return False
    return _WITHDRAWS.search(lower) is not None


def comparable(sentence: str) -> str:
    """Write a sentence in the form of the phrases: lower case, one kind of apostrophe, composed
    letters; Arabic without vowel signs, its alefs, final ya and ta marbuta alike."""
    if not sentence.isascii():
        sentence = unicodedata.normalize("NFC", sentence).translate(_ALIKE)
    return sentence.lower()


def _words(lower: str) -> frozenset[str]:
    if not lower.isascii():
        lower = _PARTICLE.sub(" ", _UNSPACED_FILLER.sub(" ", lower))
    kept: set[str] = set()
    for run in _RUN.findall(lower):
        if "\u3040" <= run[0] <= "\u9fff":  # no spaces: words in kana alone are grammar
            for part in _KANJI.findall(run):
                kept.update(part[at : at + 2] for at in range(max(1, len(part) - 1)))
        else:
            kept.add(run[:STEM] if run.isalpha() else "" if run.isdigit() else run)
    return frozenset(kept) - _filler() - {""}


def _condition(lower: str, slot: str) -> frozenset[str]:
    """Return the words of a rule's condition. For the language slot, "in" names the language."""
    words: set[str] = set()
    for pattern in (_WHEN,) if slot == "language" else (_WHEN, _WHERE):
        for match in pattern.finditer(lower):
            words |= _words(match[1])
    return frozenset(words)
