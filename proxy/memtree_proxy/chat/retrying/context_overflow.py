"""Recognise an upstream's error about a prompt that is too long, and read the window size in it.

Providers agree on neither status nor words. Common are a status of 400, 413 or 422 (gateways turn
it into 500), and a sentence about the context, often with the limit and the counted tokens.

    >>> overflow_of(400, b'{"error": {"message": "This model\\'s maximum context length is 8192 '
    ...     b'tokens. However, your messages resulted in 9001 tokens."}}')
    Overflow(limit=8192, counted=9001)
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import NamedTuple

from memtree.budget.packing import MARGIN
from memtree.context.request import CompressRequest

STATUSES = frozenset({400, 413, 422, 500})
# Bytes of an error that are searched: it is a sentence or two, not a page of HTML.
LONGEST = 16 * 1024
# Share of the present size that is tried next if the upstream names no limit
KEPT_SHARE = 0.7
# A retry may have at most this share of the refused size
MOST_RETRIED = 0.9
MOST_RATIO = 4.0  # tokens by the upstream's count over tokens by ours
LEAST_LIMIT = 256
RESERVE_PART = 4  # of a small window, at most one part in this many is kept for the answer

_WORDS = re.compile(
    r"context_?(length|window|size|limit)_?exceeded|maximum prompt length"
    # not as a name, or a part of one: of a tool, a parameter, a module
    r"|(?<![\w'`./-])(?<!\\\")context[_ ]?(length|window|size|limit)s?(?![\w-])"
    r"|prompt is too long|input is too long|request_too_large_for_context"
    r"|too many (input )?tokens|input token count|maximum number of (input )?tokens"
    r"|reduce the length of (the|your) (messages|prompt|input)|max_model_len|max_seq_len"
    r"|exceeds? the (model'?s )?(maximum|available) (context|number of tokens|input)"
    r"|.?inputs?.? tokens \+ .?max_new_tokens|too large for model with",
    re.IGNORECASE,
)
# Errors about the length of the answer use the same words; a smaller prompt does not help there.
_ANSWER = re.compile(
    r"max(imum)?[_ ](completion_|output_|new_)?tokens.{0,40}too (large|high)", re.I
)
# A provider that limits how many tokens it takes in a while, and a server that cannot load a model,
# use them as well: there the same prompt is accepted later, or no prompt is.
_LATER = re.compile(
    r"throttl|rate[ _-]?limit|(please|then) wait|\bper (second|minute|hour|day)"
    r"|\bloading\b|failed to (load|create|allocate)|out of memory",
    re.IGNORECASE,
)
_NUMBER = r"([0-9][0-9,_.]{0,14})"
# An excess ("by 512 tokens") and the code of an error ("(2013)") are no limits.
_LIMITS = (
    rf"n_ctx[^a-z0-9]{{0,4}}{_NUMBER}",
    rf"maximum (?:context|prompt|input|model) (?:length|size|window)(?: of this model)?"
    rf"(?: is|:| of)? {_NUMBER}",
    rf"> ?{_NUMBER} (?:tokens? )?maximum",
    rf"(?:context|window|size|limit)[^.0-9]{{0,40}}\({_NUMBER} tokens\)",
    rf"maximum number of (?:input )?tokens allowed[^0-9]{{0,12}}{_NUMBER}",
    rf"with {_NUMBER} maximum context length",
    rf"(?:context (?:length|window|size)|max_model_len)(?: (?:is|of|only|limit)| ?[:=]){{0,3}}"
    rf" ?{_NUMBER}",
    rf"must be <= ?{_NUMBER}",
    rf"limit(?:ed)? (?:of|is|to) {_NUMBER} tokens",
)
_COUNTED = (
    rf"\({_NUMBER} (?:in the|of) (?:messages|prompt|input|text)",
    rf"(?:prompt|input|messages?) (?:contains?|has|is|are|of|resulted in|too long:?)"
    rf"[^0-9]{{0,20}}{_NUMBER} ?tokens?",
    rf"messages resulted in {_NUMBER}",
    rf"too long: {_NUMBER} tokens",
    rf"token count \({_NUMBER}\)",
    rf"request(?:ed)? (?:contains |has |\()?{_NUMBER} ?(?:input )?tokens",
    rf"given: {_NUMBER}",
)
_LIMIT = [re.compile(pattern, re.IGNORECASE) for pattern in _LIMITS]
_COUNT = [re.compile(pattern, re.IGNORECASE) for pattern in _COUNTED]


class Overflow(NamedTuple):
    """Tokens as the upstream counts them; None: it does not say."""

    limit: int | None
    counted: int | None


def overflow_of(status: int, body: bytes) -> Overflow | None:
    """Read an error about a prompt that is too long; None if it is about something else. `body`:
    decoded; its beginning is enough."""
    if status not in STATUSES:
        return None
    text = body[:LONGEST].decode("utf-8", "replace")
    if not _WORDS.search(text) or _ANSWER.search(text) or _LATER.search(text):
        return None
    return Overflow(_first(_LIMIT, text), _first(_COUNT, text))


def named_window(overflow: Overflow, sent: int, reserve: int) -> int | None:
    """Return the window that the error names, in our tokens; None if it names none, or one into
    which the refused prompt would fit. `sent`: tokens that were sent, system messages and tools
    included; `reserve`: kept free for the answer."""
    if not overflow.limit:
        return None
    # The upstream's tokenizer may count more tokens for the same text.
    ratio = min(MOST_RATIO, max(1.0, (overflow.counted or sent) / max(1, sent)))
    room = int(overflow.limit / ratio)
    fits = room * (1 - MARGIN) - min(reserve, room // RESERVE_PART) >= MOST_RETRIED * sent
    return None if fits else room


def smaller_window(sent: int, reserve: int) -> int:
    """Return the window to try if the error names none; arguments as in `named_window`."""
    return int((KEPT_SHARE * sent + reserve) / (1 - MARGIN)) + 1


def narrowed(ask: CompressRequest, window: int | None) -> CompressRequest:
    """Return the request for a learned window. The reserve for the answer is limited, too, since
    its default is made for large windows."""
    if window is None or window >= ask.window:
        return ask
    return replace(ask, window=window, reserve=min(ask.reserve, window // RESERVE_PART))


def _first(patterns: list[re.Pattern[str]], text: str) -> int | None:
    for pattern in patterns:
        for match in pattern.finditer(text):
            digits = re.sub(r"[,_.]", "", match[1])
            if digits and LEAST_LIMIT <= int(digits) < 10**10:
                return int(digits)
    return None
