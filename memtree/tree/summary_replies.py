"""Parse what a model answered: drafts of summaries, whatever it put around them.

The answer that `summary_prompts.py` asks for is one JSON object. Read as well: reasoning before it,
code fences and prose around it, a list or a mapping by id, half of it (entries that are complete
are kept), and `Headline: ... Body: ...` in lines where there is no JSON at all. Drafts are judged
in `summary_check.py`.

    >>> read('Sure!\\n[{"id": 1, "headline": "A", "body": "B."}, {"id": 2, "hea', ["1", "2"])
    {'1': Draft(headline='A', body='B.')}
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from memtree.text.thoughts import without_thoughts

REACH = 100_000  # characters of an answer that are read; eight parts take about 6,000
DEPTH = 6  # lists and objects around a part; the form asked for has two
TRIES = 200  # openings of an object that are tried: each may read to the end


@dataclass(frozen=True, slots=True)
class Draft:
    """A summary as the model wrote it, not judged yet."""

    headline: str
    body: str


_decoder = json.JSONDecoder(strict=False)  # a raw line break inside of a string


def read(text: str, ids: Collection[str], finished: bool = True) -> dict[str, Draft]:
    """The drafts for those of `ids` that the answer holds complete; the first one of each id.

    `finished`: the model stopped by itself. If not, the last of plain lines may be cut off.
    """
    text = without_thoughts(text[:REACH])
    drafts: dict[str, Draft] = {}
    for id_, draft in _parts(text, ids):
        drafts.setdefault(id_, draft)
    return drafts or _lines(text, ids, finished)


def _parts(text: str, ids: Collection[str]) -> Iterator[tuple[str, Draft]]:
    at = -1
    for _ in range(TRIES):
        at = text.find("{", at + 1)
        if at < 0:
            return
        try:
            value, end = _decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            continue  # prose, or cut off: what lies inside may be complete
        yield from _inside(value, ids, len(ids) == 1, DEPTH)
        at = end - 1


def _inside(
    value: Any, ids: Collection[str], alone: bool, depth: int
) -> Iterator[tuple[str, Draft]]:
    """Drafts in a decoded value, which may be a part, a list of parts, or parts by id."""
    if not depth:
        return
    if isinstance(value, list):
        for entry in value:
            yield from _inside(entry, ids, alone and len(value) == 1, depth - 1)
    elif isinstance(value, dict):
        headline, body = value.get("headline"), value.get("body")
        if isinstance(headline, str) and isinstance(body, str):
            known = next(iter(ids)) if alone else _id(value.get("id"), ids)
            if known is not None:
                yield known, Draft(headline, body)
            return
        for key, entry in value.items():
            if isinstance(entry, dict) and "id" not in entry and _id(key, ids) is not None:
                entry = {**entry, "id": key}
            if isinstance(entry, list | dict):
                yield from _inside(entry, ids, alone, depth - 1)


def _id(value: Any, ids: Collection[str]) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    name = re.sub(r"^\s*(?:part|id)?[\s:#_-]*", "", str(value), flags=re.IGNORECASE).strip()
    return str(value) if str(value) in ids else name if name in ids else None


_FIELD = re.compile(r"[\s>*#_-]*(part|headline|body)\b[\s*_]*[:#]?[\s*_]*(.*)", re.IGNORECASE)


def _lines(text: str, ids: Collection[str], finished: bool) -> dict[str, Draft]:
    """`Part 1`, `Headline: ...`, `Body: ...`, each at the start of a line."""
    drafts: dict[str, Draft] = {}
    id_ = next(iter(ids)) if len(ids) == 1 else None
    headline, last = "", None
    for line in text.splitlines():
        match = _FIELD.match(line)
        name = match.group(1).lower() if match else ""
        rest = match.group(2).strip() if match else ""
        if name == "part":
            id_, headline = _id(rest.rstrip(".:*"), ids), ""
        elif name == "headline":
            headline = rest
        elif name == "body" and headline and rest and id_ is not None and id_ not in drafts:
            drafts[id_] = Draft(headline, rest)
            last = id_
    if last is not None and not finished:
        del drafts[last]
    return drafts


LONG = 8_000  # characters: no summary; it will be refused as it is
_FENCE = re.compile(r"```\w*")
_PREFIX = re.compile(
    r"(?:\*\*|__)?(?:summary|headline|title|body)(?:\*\*|__)?\s*:\s*(?:\*\*|__)?\s*",
    re.IGNORECASE,
)
_BULLET = re.compile(r"(?:[-*•]|#++)\s+")
_QUOTES = {'"': '"', "'": "'", "“": "”", "«": "»", "「": "」", "*": "*", "`": "`"}


def mended(draft: Draft) -> Draft:
    """The draft without harmless extras: fences, a prefix, outer quotes, line breaks."""
    return Draft(_trimmed(draft.headline), _trimmed(draft.body))


def _trimmed(text: str) -> str:
    if len(text) > LONG:
        return text
    text = " ".join(text.split())
    start, end = 0, len(text)
    before = (0, 0)
    while before != (start, end):  # quotes around a prefix around quotes
        before = (start, end)
        if match := _FENCE.match(text, start, end):
            start = match.end()
        if text.endswith("```", start, end):
            end -= 3
        while start < end and text[start] == " ":
            start += 1
        while start < end and text[end - 1] == " ":
            end -= 1
        for begins in (_BULLET, _PREFIX):
            if match := begins.match(text, start, end):
                start = match.end()
        if end - start > 2 and _quoted(text, start, end):
            start, end = start + 1, end - 1
    return text[start:end]


def _quoted(text: str, start: int, end: int) -> bool:
    """Return True if the first and the last mark are a pair: no other one stands between them."""
    first, last = text[start], text[end - 1]
    return _QUOTES.get(first) == last and all(
        text.find(mark, start + 1, end - 1) < 0 for mark in (first, last)
    )
