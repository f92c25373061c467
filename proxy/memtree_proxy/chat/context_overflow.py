r"""Decide if an upstream's error is about the prompt's length, and which window its text names.

Providers agree on neither status nor words, and some answer 200 with an error as the body. An error
is about length if its code says so, or if one of its sentences has a noun for the prompt's length
and a word for an excess. Pure: takes bytes and numbers, returns a decision.

    >>> overflow_of(400, b'{"error": {"message": "This model\'s maximum context length is 8192 '
    ...     b'tokens. However, your messages resulted in 9001 tokens."}}', 8_800)
    Overflow(limit=8192, counted=9001, explained=True)

Fields of its JSON are read before its words, by their names. A number of a text has a role by the
words between it and the number before, and by those behind it: the limit, what was counted, the
answer's share, an excess, or none (a code, a date, a size in bytes or another unit).

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
from typing import Any, NamedTuple

from memtree.budget.packing import MARGIN
from memtree.language.word_file import Sections, in_order, lazily, parsed
from memtree_proxy.chat import request_fields
from memtree_proxy.dialects import sse
from memtree_proxy.dialects.round_calls import decoded

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


STATUSES = frozenset({400, 413, 422, 424, 429, 500, 502, 503})
# Bytes of an error that are searched: it is a sentence or two, not a page of HTML.
LONGEST = 16 * 1024
_LONGEST_TEXT = 4_000  # characters of its sentences
# Tokens from which a prompt may be the reason of an error that gives none: some models have windows
# of 4,096.
LARGE_PROMPT = 3_500
_UNEXPLAINED = (400, 413)
_STATUS = re.compile(r"[45]\d\d")
# Share of the present size that is tried next if the upstream names no limit
KEPT_SHARE = 0.7
# A retry may have at most this share of the refused size if the upstream does not count that
MOST_RETRIED = 0.9
MOST_RATIO = 4.0  # tokens by the upstream's count over tokens by ours
_MAX_DEPTH = 8  # of an error's JSON

# Fields in which servers repeat what was posted
_ECHOES = frozenset("input inputs request messages prompt tools".split())
_MESSAGES = ("", "message", "msg", "detail", "error")  # fields of words
_IDENTIFIER = re.compile(r"[\w.:/-]+", re.ASCII)
# Names in quotation marks are of tools, parameters and models, but for these
_QUOTED = re.compile(r"(?<![A-Za-z0-9])\\?(['\"`])([\w.:/\[\]-]{1,200})\\?\1")
_PARAMETER = re.compile(
    r"(inputs?|prompt|messages)(?:\[\d+\]\.content\b.*)?|(max_(?:\w+_)?tokens|max_\w+_len|n_ctx)"
)
_MARKUP = re.compile(r"https?://[^\s\"'<>]*|</?[A-Za-z!][^<>]*>")
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|[。！？；\n]")

_LONG_NUMBER = re.compile(r"\d{3}")
_REQUESTED = re.compile(r"\brequested\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
_CODE, _TOO_LONG = pattern("code"), pattern("too_long")
_NOUN, _EXCESS, _BOUND = pattern("noun"), pattern("excess"), pattern("bound")
_OTHER, _ANSWER, _PROMPT = pattern("other"), pattern("answer_length"), pattern("prompt")
_LATER, _RATE, _NAMED = pattern("later"), pattern("rate"), pattern("named")


class Overflow(NamedTuple):
    """Tokens as the upstream counts them; None: it does not say."""

    limit: int | None
    counted: int | None
    explained: bool = True  # False for an error that gives no reason, or none that is read


@dataclass(slots=True)
class _Report:
    """Content of an error. `codes`: its identifiers and unnamed numbers."""

    texts: list[str] = field(default_factory=list)
    codes: set[str] = field(default_factory=set)
    numbers: Numbers = field(default_factory=Numbers)

    def read(self, name: str, value: Any, depth: int = 0) -> None:
        """Add a field of the error's JSON."""
        if depth > _MAX_DEPTH or (name in _ECHOES and not isinstance(value, int)):
            return
        if isinstance(value, dict):
            for key, item in value.items():
                self.read(str(key), item, depth + 1)
        elif isinstance(value, list):
            for item in value:
                self.read(name, item, depth + 1)
        elif (
            isinstance(value, str) and value.lstrip()[:1] == "{" and (inner := decoded(value, dict))
        ):
            self.read(name, inner, depth + 1)
        elif not self.numbers.take_field(name, value):
            text = str(value)
            if name not in _MESSAGES and _IDENTIFIER.fullmatch(text):
                self.codes.add(text)
            else:
                self.texts.append(text)


def overflow_of(status: int, body: bytes, sent: int) -> Overflow | None:
    """Read an error about a prompt that is too long; None if it is about something else. `body`:
    decoded, or an event of a stream; its beginning is enough. `sent`: tokens of the prompt by our
    count; if it is large, an error of status 400 or 413 without a reason counts as one."""
    if status not in STATUSES:
        return None
    report = _report(body[:LONGEST])
    whole = _MARKUP.sub(" ", "\n".join(report.texts)[:_LONGEST_TEXT])
    text = _QUOTED.sub(_unquoted, whole)
    report.numbers.take_text(text, report.codes)
    if _is_about_length(status, text, report):
        return Overflow(*report.numbers.limit(sent))
    if not whole.isascii() and _may_be_about_size(status, text, report.codes):
        pair = report.numbers.pair(sent)  # a language that is not read
        if pair is not None:
            return Overflow(*pair, explained=False)
    if sent >= LARGE_PROMPT and _gives_no_reason(status, whole, report.codes):
        return Overflow(None, None, explained=False)
    return None


def _report(body: bytes) -> _Report:
    payload = sse.data(body) or body
    report = _Report()
    said = decoded(payload, Any)
    if said is None:
        report.texts.append(payload.decode("utf-8", "replace"))
    else:
        report.read("", said)
    return report


def _unquoted(match: re.Match[str]) -> str:
    named = _PARAMETER.fullmatch(match[2])
    return (named[1] or named[2]) if named else ""


def _is_about_length(status: int, text: str, report: _Report) -> bool:
    numbers = report.numbers
    if _RATE.search(text):  # a request over the rate's limit is never accepted
        return numbers.exceed and bool(_REQUESTED.search(text))
    if _LATER.search(text) or numbers.answer_alone:
        return False
    if any(map(_CODE.search, report.codes)) or _CODE.search(text):
        return True
    if status == 429 and not _NAMED.search(text):
        return False
    if numbers.exceed and "token" in text and not _is_about_other(text):
        return True
    return any(map(_says_too_long, _SENTENCE_END.split(text)))


def _is_about_other(text: str) -> bool:
    """Return True if something else is too large, the answer for one."""
    return bool(_OTHER.search(text) or (_ANSWER.search(text) and not _PROMPT.search(text)))


def _says_too_long(sentence: str) -> bool:
    if _is_about_other(sentence):
        return False
    if _TOO_LONG.search(sentence):
        return True
    if not _NOUN.search(sentence):
        return False
    bound = _BOUND.search(sentence) and _LONG_NUMBER.search(sentence)
    return bool(bound or _EXCESS.search(sentence))


def _gives_no_reason(status: int, text: str, codes: set[str]) -> bool:
    """Return True if the error may be about length as well as about anything else. A 413 is about
    a size, in whatever words."""
    if not _may_be_about_size(status, text, codes):
        return False
    return status == 413 or {word.lower() for word in _WORD.findall(text)} <= {*words()["nothing"]}


def _may_be_about_size(status: int, text: str, codes: set[str]) -> bool:
    if status not in _UNEXPLAINED or _LATER.search(text) or _OTHER.search(text):
        return False
    return not any(_STATUS.fullmatch(code) for code in codes - {"400", "413"})


def named_window(overflow: Overflow, sent: int, output: int | None) -> int | None:
    """Return the window that the error names, in our tokens; None if it names none, or one into
    which the refused prompt would fit. `sent`: tokens that were sent, system messages and tools
    included; `output`: the posted limit of the answer."""
    if not overflow.limit:
        return None
    # The upstream's tokenizer may count more tokens for the same text.
    ratio = min(MOST_RATIO, max(1.0, (overflow.counted or sent) / max(1, sent)))
    room = int(overflow.limit / ratio)
    least = 1.0 if overflow.counted else MOST_RETRIED
    fits = room * (1 - MARGIN) - request_fields.answer_reserve(output, room) >= least * sent
    return None if fits else room


def smaller_window(share: float, sent: int, output: int | None) -> int:
    """Return the window in which a prompt has this share of what was `sent`. `output`: as in
    `named_window`."""
    most, part = request_fields.reserve_limits(output)
    prompt, used = share * sent, 1 - MARGIN
    return int(min((prompt + most) / used, prompt / (used - 1 / part))) + 1
