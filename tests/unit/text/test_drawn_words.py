"""Orders and facts of strangers, drawn from grammars of documents and of ways to ask about them,
are never the user's; instructions and facts of one's own are told.

The seeds are fixed. `make fuzz` draws as many more as `DRAWN_WORDS` says; what fails there is named
by language and seed."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterable

import pytest

from memtree.digests.titles import title
from memtree.memories.rule_extraction import extract
from memtree.text.own_words import others_words
from memtree.text.rule_sentences import standing_rules
from memtree.text.spans import Span, outside
from tests import drawn_words as drawn

SEEDS = 30
MORE = int(os.environ.get("DRAWN_WORDS", "0"))  # seeds of a nightly run
PROMOTED, REPORTED = 0.02, 0.05  # shares of what is drawn
OWN, TOLD, FACTS = 0.9, 0.9, 0.2  # shares of instructions judged own, found as rules; of facts
TITLE = 25  # characters of an order by which it is known in a title


def rules(text: str) -> Iterable[tuple[int, int]]:
    return standing_rules(text, others=others_words(text))


def facts(text: str) -> Iterable[tuple[int, int]]:
    return [(fact.start, fact.end) for fact in extract(text).candidates]


def holds(text: str, words: str, spans: Iterable[tuple[int, int]]) -> bool:
    places: list[int] = []
    at = text.find(words)
    while at >= 0:
        places.append(at)
        at = text.find(words, at + 1)
    return any(start < at + len(words) and at < end for at in places for start, end in spans)


def own(text: str) -> Iterable[tuple[int, int]]:
    return outside([Span(0, len(text))], others_words(text))


def titled(text: str) -> Iterable[tuple[int, int]]:
    shown = title(text).rstrip("…")
    at = text.find(shown) if shown else -1
    return [(at, at + len(shown))] if at >= 0 else []


@pytest.mark.parametrize("lang", drawn.LANGUAGES)
def test_words_of_a_stranger_are_not_the_users(lang: str) -> None:
    seeds = [*range(SEEDS), *(random.randrange(1 << 40) for _ in range(MORE))]
    for draw, found, most in (
        (drawn.drawn, rules, PROMOTED),
        (drawn.drawn, titled, PROMOTED),
        (drawn.drawn_fact, facts, PROMOTED),
        (drawn.reported, rules, REPORTED),
        (drawn.reported, facts, REPORTED),
    ):
        failed = [seed for seed in seeds if _is_taken(draw(seed, lang), found)]
        assert len(failed) <= max(1, most * len(seeds)), (draw.__name__, found.__name__, failed)


def _is_taken(message: tuple[str, str], found: Callable[[str], Iterable[tuple[int, int]]]) -> bool:
    text, words = message
    return holds(text, words, found(text))


@pytest.mark.parametrize("lang", drawn.LANGUAGES)
def test_own_words_are_told(lang: str) -> None:
    for messages, found, least in (
        (drawn.OWN[lang], own, OWN),
        (drawn.OWN[lang], rules, TOLD),
        (drawn.OWN_FACTS[lang], facts, FACTS),
    ):
        missed = [words for text, words in messages if not holds(text, words, found(text))]
        assert len(messages) - len(missed) >= least * len(messages), (found.__name__, missed)
