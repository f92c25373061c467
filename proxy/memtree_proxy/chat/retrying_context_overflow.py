"""Decide if an upstream's error is about the length of the prompt, and which window it names.

Providers agree on neither status nor words, and some answer 200 with an error as the body. An error
is about length if its code says so, or if one of its sentences has a noun for the prompt's length
and a word for an excess. Fields of its JSON are read before its words. Each number of a text has a
role by the words around it: the limit, what was counted, the answer's share, an excess, or none
(codes, dates, other units). Pure: takes bytes and numbers, returns a decision.

    >>> overflow_of(400, b'{"error": {"message": "This model\\'s maximum context length is 8192 '
    ...     b'tokens. However, your messages resulted in 9001 tokens."}}', 8_800)
    Overflow(limit=8192, counted=9001, explained=True)
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from memtree.budget.packing import MARGIN
from memtree_proxy.chat import fields
from memtree_proxy.chat.error_numbers import Numbers, pattern, words
from memtree_proxy.dialects import sse
from memtree_proxy.dialects.round_calls import decoded

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
    fits = room * (1 - MARGIN) - fields.answer_reserve(output, room) >= least * sent
    return None if fits else room


def smaller_window(share: float, sent: int, output: int | None) -> int:
    """Return the window in which a prompt has this share of what was `sent`. `output`: as in
    `named_window`."""
    most, part = fields.reserve_limits(output)
    prompt, used = share * sent, 1 - MARGIN
    return int(min((prompt + most) / used, prompt / (used - 1 / part))) + 1
