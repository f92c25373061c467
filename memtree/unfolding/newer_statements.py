"""Mark excerpts that contradict an older excerpt on the matter of the question.

Users change their mind and correct their numbers. If two quoted messages of the user share many of
the question's words in neighbouring clauses, but differ in a number or a negation, the later one is
marked: a reader of both then knows which is newer, and that there is another.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest
from math import log1p

from memtree.language import borders
from memtree.language.borders import denies
from memtree.ranking.ranked_history import RankedHistory
from memtree.text import terms
from memtree.unfolding.excerpts_excerpt_choice import ExcerptChoice

SHARE = 0.4  # of the weight of all quoted terms of the question, the share that both must contain
BEST = 100  # ranks within which statements are compared
MOST = 2  # marks in an answer; a general topic would give many
CLAUSES = 4  # of a message, that are compared
REACH = 4_000  # characters of an excerpt that are read
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_NUMBER = re.compile(r"\d(?:[\d.,:]*\d)?")


@dataclass(frozen=True, slots=True)
class _Statement:
    """A clause. `wanted`: terms of the question in it and in its neighbours; `numbers`: in it, or
    in the clause after it."""

    message: int
    wanted: frozenset[int]
    numbers: frozenset[str]
    negated: bool

    def differs(self, other: _Statement) -> bool:
        numbers = self.numbers - other.numbers and other.numbers - self.numbers
        return self.negated != other.negated or bool(numbers)


def with_earlier(choices: Sequence[ExcerptChoice], ranked: RankedHistory) -> list[ExcerptChoice]:
    """Return the choices; of two that differ, the later one names the message of the other."""
    history, query = ranked.history, frozenset(ranked.query)
    said: dict[int, list[_Statement]] = {}
    for choice in choices:
        message = choice.span.message
        if 0 < choice.rank <= BEST and history.facts[message].role == "user":
            text = history.view(message).text[choice.span.start : choice.span.end]
            said.setdefault(message, []).extend(statements(message, text[:REACH], query))
    weights = _weights(said)
    enough = SHARE * sum(weights.values())

    def weight(wanted: frozenset[int]) -> float:
        return sum(weights[term] for term in wanted)

    telling: list[_Statement] = []  # in message order
    pairs: list[tuple[float, int, int]] = []
    for message in sorted(said):
        mine = [each for each in said[message] if weight(each.wanted) >= enough]
        mine = nlargest(CLAUSES, mine, key=lambda each: weight(each.wanted))
        shared = (
            (weight(each.wanted & other.wanted), message, other.message)
            for each in mine
            for other in telling
            if each.differs(other)
        )
        pairs.append(max(shared, default=(-1.0, message, -1)))
        telling += mine
    best = nlargest(MOST, pairs)
    earlier = {message: older for shares, message, older in best if shares >= enough}
    return [replace(choice, earlier=earlier.get(choice.span.message, -1)) for choice in choices]


def _weights(said: Mapping[int, Sequence[_Statement]]) -> dict[int, float]:
    """Return the weight of each term: the fewer of these messages contain it, the higher."""
    held = (frozenset().union(*(each.wanted for each in group)) for group in said.values())
    counts = Counter(term for wanted in held for term in wanted)
    return {term: log1p(len(said) / count) for term, count in counts.items()}


def statements(message: int, text: str, query: frozenset[int]) -> Iterator[_Statement]:
    """Yield the clauses of a text that contain terms of the question; code is left out."""
    for sentence in borders.split(_FENCE.sub("\n", text)):
        clauses = list(borders.clauses(" ".join(sentence.split())))
        own = [query.intersection(terms.terms(clause)) for clause in clauses]
        for at, clause in enumerate(clauses):
            wanted = frozenset().union(*own[max(0, at - 1) : at + 2])
            if wanted:
                following = clauses[at + 1] if at + 1 < len(clauses) else ""
                numbers = frozenset(_NUMBER.findall(clause) or _NUMBER.findall(following))
                yield _Statement(message, wanted, numbers, bool(own[at]) and denies(clause))
