"""Write a parent's line for talk between people: their topics in a few words each.

This file does not write the headline of a leaf of talk (`headlines.py`), or topics (`topics.py`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from memtree.digests.clauses.boilerplate import speaker_of
from memtree.digests.clauses.clauses import merit
from memtree.digests.clauses.particular import ERRORS, telling_words
from memtree.digests.clauses.phrases import fits, is_hollow, leans, repeats
from memtree.digests.topics import HEADLINE, SummaryText, topic
from memtree.language import borders

_TOPIC = 6  # tokens of a topic
# Beginnings that refer to an earlier statement.
_SPEAKS = re.compile(r"(?:must(?:'ve)?|it|you|they|this|that|those|there|in)\b", re.IGNORECASE)


def are_talk(children: Sequence[SummaryText]) -> bool:
    """Return True if at least a third of the children name a speaker, and the names recur."""
    lines = {child.headline: child for child in children}  # repeated lines are list items
    names = [speaker_of(child.body) or speaker_of(line) for line, child in lines.items()]
    often = Counter(name for name in names if name and not name.endswith(ERRORS))
    return 3 * often.total() >= len(children) and len(often) < min(4, often.total())


def talked(children: Sequence[SummaryText]) -> str:
    """Return the topics of a talk in order, in a few words each; the lines below name the
    speakers."""
    topics = [(at, topic(child, _TOPIC)) for at, child in enumerate(children)]

    def tells(text: str) -> float:
        words = {word for word in telling_words(text) if not word.isdigit()}
        size = 0.5 * min(len(borders.units(text)), 4)
        leaning = 2.0 if leans(text) or is_hollow(text) else float(bool(_SPEAKS.match(text)))
        return 1.5 * min(len(words), 3) + size + 0.3 * merit(text) - leaning

    chosen: list[tuple[int, str]] = []
    for at, text in sorted(topics, key=lambda pair: -tells(pair[1]) if pair[1] else 0.0):
        line = "; ".join(said for _, said in sorted([*chosen, (at, text)]))
        if not text or (chosen and len(borders.units(text)) < 2):
            continue  # a single word says little
        if not any(repeats(text, said) for _, said in chosen) and fits(line, HEADLINE):
            chosen.append((at, text))
    return "; ".join(said for _, said in sorted(chosen))
