"""Find the standing rules among the sentences of a user, and read the topic of each rule.

A standing rule says how every later answer should be. A sentence outside code and quotations is
scored by the phrases found in it (`rule_score`): markers of a habit ("always", "from now on",
"whenever I ask"), orders and duties ("use", "you must not"), properties of work and answers
("commits", "your replies"), and evidence against a rule: a single task, the past, a question, a
statement about others. Rules are pinned, so precision comes before recall.

    >>> text = "Thanks! Always include units when I ask about sizes. Now, the list."
    >>> [text[start:end] for start, end in standing_rules(text)]
    ['Always include units when I ask about sizes.']

The topic of a rule is its words, its numbers, and if it forbids, corrects or withdraws something.
Two rules are compared by these alone, in any language; which of them still hold, `unfolding.pins`
decides.

    >>> new, old = topic("You may use emojis again."), topic("Never use emojis.")
    >>> new.words == old.words, new.withdraws, old.forbids
    (True, True, True)
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice
from typing import NamedTuple

from memtree.language import borders
from memtree.language.word_file import WordFiles, lazily
from memtree.text import rule_score
from memtree.text.rule_score import RULE
from memtree.text.spans import Span
from memtree.text.terms import STOP_WORDS

_TOPICS = WordFiles("rule_topics")
_topic_words = _TOPICS.part
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
_UNSPACED_FILLER = _TOPICS.pattern("filler_unspaced")
_PARTICLE = lazily(lambda: rf"(?<=[가-힣])(?:{_topic_words('particles')})(?![가-힣])")
_KANJI = lazily(r"[\u3400-\u9fff\u30a0-\u30ff]+")
_RUN = lazily(r"[\u3040-\u30ff\u3400-\u9fff]+|[^\W\u3040-\u30ff\u3400-\u9fff]+")
_NUMBER = lazily(r"\b\d+(?:[.,]\d+)*\b")
_FORBIDS = lazily(lambda: rf"\b(?:{_topic_words('forbids')})\b|{_topic_words('forbids_unspaced')}")
_MEASURES = lazily(
    lambda: (
        rf"\b(?:{_topic_words('measures')})\b.{{0,12}}\d|\d ?(?:{_topic_words('measured_units')})\b"
        rf"|\d\.\d|{_topic_words('measures_alone')}"
    )
)
_CORRECTS = lazily(
    lambda: rf"\b(?:{_topic_words('corrects')})\b|{_topic_words('corrects_unspaced')}"
)
_WITHDRAWS = _TOPICS.pattern("withdraws")
_SLOTS = (
    (
        "language",
        lazily(
            lambda: (
                rf"\b(?:{_topic_words('language_prepositions')})\s?(?:\w+ )?"
                rf"(?:{_topic_words('language_names')})\b"
                rf"|\b(?:{_topic_words('language_adverbs')})\b|{_topic_words('language_unspaced')}"
            )
        ),
    ),
    ("length", lazily(lambda: rf"(?<!\d)\d++ ?(?:{_topic_words('length_units')})")),
    ("address", _TOPICS.pattern("address")),
)
_WHEN = lazily(lambda: rf"\b(?:{_topic_words('when')}) ([^,.;]{{3,80}})")
_WHERE = lazily(lambda: rf"\b(?:{_topic_words('where')}) ([^,.;]{{2,80}})")


@cache
def _filler() -> frozenset[str]:
    fillers = (_TOPICS.word_set("filler"), STOP_WORDS)
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
    if lower.isascii() and not any(
        marker in lower for marker in _TOPICS.entries("withdrawal_marks")
    ):
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


_DATA = WordFiles("rule_marks")
_any = _DATA.part

MAX_RULE = 600  # characters; a longer "sentence" is pasted text
UNDER_HEADING = 2  # added to the score of a list item below "Rules:"
HEADINGS = 20  # headings read in one message
BURIED = 2  # subtracted in the middle of a long text, which is mostly pasted
LONG, BEGINNING, END = 5_000, 2_500, 1_500  # characters of a long text, and of its author's parts

_FENCE = re.compile(r"```[\s\S]*?(?:```|\Z)|~~~[\s\S]*?(?:~~~|\Z)")
_BLOCK = re.compile(r"(?:\A|\n)(?:[ ]{4,}|\t|[ ]{0,3}>|[ ]{0,3}#{4,})[^\n]*")
_BLOCK_BEGINNINGS = ("    ", "\t", ">", "####")
_NO_BREAK = re.compile(r"[^\n]+")
_LOG = re.compile(
    r"^\W{0,3}(?:\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d"
    r"|(?:DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|TRACE)\b|at \S+\()"
)
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)]|#{1,3})\s+|\s+")
_LETTER = re.compile(r"[^\W\d_]")
_QUOTES = '"“”„«»「『‹'
_QUOTING = re.compile(f"[`{_QUOTES}]")
_QUESTION_MARKS = ("?", "？")  # each match of `_TAG` ends with one
_QUOTED = re.compile(
    r"[\"“„«「『][^\s\"”»」』“„«「『]++(?:\s[^\s\"”»」』“„«「『]++){2,}+[\"”»」』“]"
    r"|`[^\s`]++(?:[ ][^\s`]++)++`"
)
# "..., ok?" asks for consent, not for an answer.
_TAG = lazily(
    lambda: (
        rf",? ?\b(?:{_any('consents')}) ?\?\Z"
        rf"|[,，]?(?:{_any('consents_unspaced')})[?？]\Z|(?<=[.!。！])[^.!?。！？]{{0,3}}[?？]\Z"
    )
)
_HEADING = lazily(
    lambda: (
        r"^[ ]{0,3}(?:#{1,3} |\*\*)?[^\n.?!:]{0,60}?"
        rf"(?:\b(?:{_any('headings')})\b|{_any('headings_unspaced')})"
        r"[^\n.?!:]{0,40}(?::\**|：|(?<=\*)\*|)[ ]*$"
    ),
    re.IGNORECASE | re.MULTILINE,
)
_LISTED = re.compile(r"\n?(?:[ ]{0,3}(?:[-*+•]|\d{1,3}[.)]) [^\n]*+(?:\n|\Z)\n?)++")


@cache
def _ascii_headings() -> tuple[str, ...]:
    """Return the ASCII headings: a cheap test of an ASCII text before the pattern."""
    return tuple(word for word in _DATA.entries("headings") if word.isascii())


class ReadSentence(NamedTuple):
    """Reading of a sentence by itself, without its context: its score, and its text in comparable
    form without quotations."""

    score: int
    comparable: str


NO_RULE = ReadSentence(-100, "?")


def standing_rules(
    text: str,
    read: Callable[[str], ReadSentence] | None = None,
    *,
    withdrawals: bool = False,
    others: Sequence[Span] = (),
) -> tuple[tuple[int, int], ...]:
    """Return (start, end) in characters of every standing rule in a user's message, in order.
    `others`: spans that the message only quotes (`own_words.others_words`); they hold no
    rules.

    `read`: `read_sentence` or a cache of it. `withdrawals`: include sentences that may withdraw a
    rule ("you may use emojis again"), for callers that know the earlier rules."""
    read = read or read_sentence
    plain = _without_code(text)
    listed = _under_headings(plain)
    plain = _veiled(plain, others)
    return tuple(
        (start, end)
        for start, end in _sentences(plain)
        if _is_rule(read(plain[start:end]), _bonus(start, end, listed, len(plain)), withdrawals)
    )


def read_sentence(sentence: str) -> ReadSentence:
    if len(sentence) > MAX_RULE or _LOG.match(sentence):
        return NO_RULE
    if _QUOTING.search(sentence):
        sentence = _QUOTED.sub("x", sentence)
    lower = comparable(sentence)
    if lower.endswith(_QUESTION_MARKS):
        lower = _TAG.sub(".", lower)
    return ReadSentence(rule_score.score(lower), lower)


def warm_up() -> Iterator[None]:
    """Prepare in small steps what is otherwise prepared at the first sentence of a language."""
    yield from rule_score.warm_up()


def _without_code(text: str) -> str:
    """Blank code; a pattern is tried only if the text holds one of its beginnings."""
    if "```" in text or "~~~" in text:
        text = _FENCE.sub(_blank, text)
    if any(beginning in text for beginning in _BLOCK_BEGINNINGS):
        text = _BLOCK.sub(_blank, text)
    return text


def _veiled(plain: str, others: Sequence[Span]) -> str:
    """Replace others' letters by `x`, so that sentences keep their places."""
    pieces: list[str] = []
    at = 0
    for start, end in others:
        pieces += (plain[at:start], _LETTER.sub("x", plain[start:end]))
        at = max(at, end)
    return "".join((*pieces, plain[at:]))


def _under_headings(plain: str) -> list[tuple[int, int]]:
    """Return the spans of list items that follow a heading such as "Rules:"."""
    if plain.isascii():
        lower = plain.lower()
        if not any(word in lower for word in _ascii_headings()):
            return []
    headings = islice(_HEADING.finditer(plain), HEADINGS)
    matches = (_LISTED.match(plain, heading.end() + 1) for heading in headings)
    return [items.span() for items in matches if items]


def _bonus(start: int, end: int, listed: Sequence[tuple[int, int]], size: int) -> int:
    if any(low <= start < high for low, high in listed):
        return UNDER_HEADING
    if size > LONG and start > BEGINNING and end < size - END:
        return -BURIED
    return 0


def _sentences(plain: str) -> Iterator[tuple[int, int]]:
    typed = (borders.small_stops(plain, *span) for span in borders.sentences(plain))
    for start, end in chain.from_iterable(typed):
        item = _ITEM.match(plain, start, end)
        start = item.end() if item else start
        while end > start and plain[end - 1].isspace():
            end -= 1
        while start < end and plain[start] in "'‘*_( ":
            start += 1
        if start < end and plain[start] not in _QUOTES:
            yield start, end


def _is_rule(sentence: ReadSentence, bonus: int, withdrawals: bool) -> bool:
    if sentence.score + bonus >= RULE:
        return True
    lower = sentence.comparable
    return withdrawals and not lower.endswith("?") and withdraws(lower)


def _blank(match: re.Match[str]) -> str:
    """Return spaces in place of code, so that positions stay; line breaks are kept."""
    return _NO_BREAK.sub(_spaces, match.group())


def _spaces(match: re.Match[str]) -> str:
    return " " * len(match.group())
