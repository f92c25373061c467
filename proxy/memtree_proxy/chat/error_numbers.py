"""Read the numbers of an upstream's error: which is the limit, and which the counted prompt.

Fields of JSON go by their names. A number of a text goes by the words between it and the number
before, and by those behind it; a code, a date, a size in bytes, or an answer's length is no limit.

    >>> numbers = Numbers()
    >>> numbers.take_text("n_keep: 10247 >= n_ctx: 4096, error 2013")
    >>> numbers.limits, numbers.counts
    ([4096], [10247])
"""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass, field
from functools import cache
from pkgutil import get_data

from memtree.language.word_file import Sections, in_order, lazily, parsed

LEAST_LIMIT = 256
MOST_NUMBERS = 64  # of a text
_BEFORE, _AFTER = 64, 40  # characters around a number that tell its role
# A prompt that the upstream counts as less than one part in this many of our count is another text.
_COUNT_PART = 8
# What another tokenizer may count, as shares of our count
_NEAR = (0.75, 2.0)

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_NUMBER = re.compile(
    r"(?<![\w.#/-])(?<!\d:)"
    r"(\d{1,3}(?:[,._']\d{3})+|\d{3,10}|\d{1,3}(?=\s?[km](?![a-z])))(?:\.0+)?"
    r"(?:\s?([km])(?![a-z]))?(?=tokens|(?![\w])(?![-/:.]\d))",
    re.ASCII | re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[.!?;]\s|[。！？；\n]")


@cache
def words() -> Sections:
    """Return the sections of `overflow_words.txt`."""
    return parsed((get_data(__package__, "overflow_words.txt") or b"").decode())


def pattern(section: str) -> re.Pattern[str]:
    return lazily(lambda: in_order(words()[section]), re.IGNORECASE)


_COUNTS = ("counted_as_larger", "counted_as_sent", "counted")
_ROLES = {
    role: pattern(role)
    for role in ("unit", "error_code", "excess_tokens", "answer", *_COUNTS[:2], "limit", "counted")
}
_OF_THE_INPUT = pattern("of_the_input")
_LIMIT_FIELD, _COUNT_FIELD = pattern("limit_field"), pattern("count_field")


@dataclass(slots=True)
class Numbers:
    """Tokens that an error names, the most telling first. `answers`: for the answer. `excess`: by
    how much the prompt is too long. `others`: numbers whose words say nothing."""

    limits: list[int] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    others: list[int] = field(default_factory=list)
    excess: int = 0

    def take_field(self, name: str, value: object) -> bool:
        """Add a field of JSON; returns False if it is no number that is known by its name."""
        number = str(value)
        if isinstance(value, bool | float) or not (number.isdecimal() and len(number) <= 10):
            return False
        name = _CAMEL.sub("_", name).lower()
        for numbers, names in ((self.limits, _LIMIT_FIELD), (self.counts, _COUNT_FIELD)):
            if names.fullmatch(name):
                numbers.append(int(number))
                return True
        return False

    def take_text(self, text: str, codes: Container[str] = ()) -> None:
        """Add the numbers of a text, except those that are `codes`."""
        end, text = 0, text.replace("@", " ")
        for match, _ in zip(_NUMBER.finditer(text), range(MOST_NUMBERS), strict=False):
            before = text[max(end, match.start() - _BEFORE) : match.start()]
            after = text[match.end() : match.end() + _AFTER]
            end = match.end()
            if match[1] not in codes:
                number = int(re.sub(r"[,._']", "", match[1]))
                number *= {"k": 1_000, "m": 1_000_000}.get((match[2] or "").lower(), 1)
                self._take(number, _CLAUSE_END.split(before)[-1], after)

    def _take(self, number: int, before: str, after: str) -> None:
        words = f"{before}@{after}"
        role = next((role for role, pattern in _ROLES.items() if pattern.search(words)), "")
        if role in _COUNTS:
            at = 0 if _OF_THE_INPUT.match(after) else len(self.counts)
            self.counts.insert(at, number)
        elif role == "answer":
            self.answers.append(number)
        elif role == "excess_tokens":
            self.excess = self.excess or number
        elif not role:
            self.others.append(number)
        elif (
            role == "limit"
            and number >= LEAST_LIMIT
            and not (after.strip() in (")", ").", "）") and self._may_be_code(number))
        ):
            self.limits.append(number)

    def _may_be_code(self, number: int) -> bool:
        """Return True if a number in brackets at the end may be the error's code: nothing is
        counted, and it is no round number, as windows are."""
        return not self.counts and number % 256 not in (0, 1, 255) and number % 500 != 0

    def pair(self, sent: int) -> tuple[int, int] | None:
        """Return (limit, counted) by size alone, for words that are not read: a number that may be
        the prompt's, and one below it. `sent`: tokens of the prompt by our count."""
        numbers = [*self.limits, *self.counts, *self.others]
        least, most = (share * sent for share in _NEAR)
        counted = max((number for number in numbers if least <= number <= most), default=0)
        limit = max((each for each in numbers if LEAST_LIMIT <= each < counted), default=0)
        return (limit, counted) if limit else None

    @property
    def exceed(self) -> bool:
        """Return True if more was counted than the limit."""
        return bool(self.counts and self.limits) and self.counts[0] > self.limits[0]

    @property
    def answer_alone(self) -> bool:
        """Return True if the answer would not fit without a prompt."""
        return bool(self.answers and self.limits) and self.answers[0] >= self.limits[0]

    def limit(self, sent: int) -> tuple[int | None, int | None]:
        """Return the limit and the counted tokens of the prompt, None if unknown. `sent`: tokens by
        our count."""
        counted = next((count for count in self.counts if count * _COUNT_PART >= sent), None)
        most = (counted or sent) + sum(self.answers[:1])
        limits = [limit for limit in self.limits if limit >= LEAST_LIMIT]
        limit = next((limit for limit in limits if limit < most), limits[0] if limits else None)
        if limit is None and 0 < self.excess < (counted or sent) - LEAST_LIMIT:
            return (counted or sent) - self.excess, counted or sent
        return limit, counted
