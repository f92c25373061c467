"""Tell sentences that ask, order, forbid or wish from statements of fact, by their words.

This is for sentences of others: a mail's "never call Ann" is quoted, a mail's "Ann moved" is
summarised. A statement taken for a request only loses its place in a headline; a request taken for
a statement reads as an order. So doubtful sentences count as requests. Standing rules, where
precision comes first, are found in `rule_sentences`.

    >>> [asks(text) for text in ("Never call Ann.", "I want you to leave.", "Ann moved in May.")]
    [True, True, False]
    >>> [orders(text) for text in ("Never call Ann.", "Restart the server.", "Ann never calls.")]
    [True, False, False]
"""

from __future__ import annotations

import re
from functools import cache

from memtree.language.word_file import WordFiles, lazily

_DATA = WordFiles("requests")
_any = _DATA.part
READ = 600  # characters of a sentence

_PAUSE = r"^|[,:;.!?–—-]\s|[()\]>\"“„«»]\s?"  # a clause begins after it
_ASKS = lazily(
    lambda: (
        # Grouped by their beginnings, so that the alternatives at a character are tested once.
        rf"[?？؟]\W*$"
        rf"|(?:{_PAUSE}|\b(?:{_any('joints')})\s)(?:(?!(?:{_any('tells')})\b)"
        rf"[^\s,:;]+(?:\s[^\s,:;]+){{0,8}}?\s(?:{_any('always')})\b|(?:{_any('always')})\b"
        # "nothing but fax", "do not": the clause begins with the ban
        rf"|{_any('beginnings')}"
        rf"|(?:{_any('verbs')})\b(?!['’:]|\s(?:{_any('is')})\b))"
        rf"|\b(?:(?:{_any('from_now')})\b|(?:{_any('courtesies')})\b|{_any('asking')})"
        rf"|{_any('asking_alone')}"
    )
)
_ORDERS = lazily(
    lambda: (
        rf"\b(?:{_any('from_now')})\b"
        rf"|(?:{_PAUSE}|\b(?:{_any('order_joints')})\s)(?:(?:(?:{_any('always')})\b|{_any('never')})"
        rf"|(?:{_any('verbs')})\s(?:\w+\s){{0,3}}?(?:{_any('always')})\b)"
        rf"|{_any('orders')}"
    )
)


@cache
def _marks() -> frozenset[str]:
    """Return a word of each order, with the marks that may follow it: a cheap test before the
    pattern."""
    return frozenset(
        word + mark for word in _DATA.word_set("marks") for mark in ("", ",", ":", ".", "!")
    )


def asks(sentence: str) -> bool:
    """Return True if a sentence may ask, order, forbid or wish something."""
    return _ASKS.search(_read(sentence)) is not None


def orders(sentence: str) -> bool:
    """Return True if a sentence orders or forbids something permanently: always, never, from now
    on. Stricter than `asks`, for texts in which single tasks are an everyday subject."""
    read = _read(sentence)
    if _marks().isdisjoint(read.split()) and (
        read.isascii() or not any(mark in read for mark in _DATA.entries("marks_unspaced"))
    ):
        return False
    return _ORDERS.search(read) is not None


def _read(sentence: str) -> str:
    """Return the beginning in lower case: patterns that ignore case take twice as long."""
    return sentence[:READ].lower().replace("’", "'").strip()


_WORD = re.compile(r"[^\W\d_]+", re.UNICODE)
_ACKNOWLEDGING = frozenset(
    """a agreed ahead all alright and awesome best bye cheers continue cool correct do done exactly
    excellent fine for go good got great ha haha hello hey hi hmm i it its job just keep k lgtm
    like lol looks love makes me much nice nope no now of ok okay on perfect please proceed ready
    really right s same sense so sounds splendid sure thank thanks that the then this thx to too
    try u understood very want wonderful works wow yeah yep yes you
    ja nein danke gut weiter genau bitte oui non merci bien sí si gracias vale sim não obrigado
    да нет спасибо хорошо 好 好的 谢谢 是 是的 继续 はい ありがとう 네 감사합니다""".split()
)
_MOST = 8  # words
_SHORT = 120  # characters
_ASKING = re.compile(r"[?？؟\d]")


def is_acknowledgement(text: str) -> bool:
    """Return True if a message asks for nothing: "ok, thanks", "sounds good, go ahead"."""
    if len(text) > _SHORT or _ASKING.search(text):
        return False
    words = _WORD.findall(text.lower())
    return len(words) <= _MOST and all(word in _ACKNOWLEDGING for word in words)
