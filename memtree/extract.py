"""Summaries without a model: the most telling sentences of a text, in its own language.

Structure says most of what matters: what the user asked and ruled, error lines, decisions and
reasons, names, numbers and identifiers are kept; source lines and the chatter of tools are not.
Deterministic, so version 0 of any summary can be computed again from the posted text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from memtree import secrets, tokens
from memtree.anchors import anchors

__all__ = ["Extract", "Source", "anchors", "leaf_summary", "node_summary"]

HEADLINE, LEAF_BODY = 18, 75
NODE_BODY = (120, 160, 200, 300)  # levels 1, 2, 3, and above
NODE_ANCHORS = (16, 20, 24)
SENTENCE = 220  # characters of one sentence that are kept
LINES = 60  # lines of a tool's output that are looked at, half from each end
EMPTY = "(empty)"

_SPLIT = re.compile(r"(?<=[.!?…])[\"')\]]*\s+(?=\S)|(?<=[。！？])|\n+")
_NOISE = re.compile(r"[`*_#>|=~]{2,}|^\s*(?:[-*+#>|]+|\d+[.)])\s+|[\u2500-\u259f⋮█│]+")
_SPACE = re.compile(r"\s+")
_ERROR = re.compile(
    r"\b(?:[A-Z]\w*(?:Error|Exception)|error|failed|failure|fatal|panic|"
    r"traceback|exit code [1-9])\b",
    re.IGNORECASE,
)
_TROUBLE = ("error", "exception", "fail", "fatal", "panic", "traceback", "exit code")
_DECISION = frozenset(
    """decided decide decision because instead switch switched switching fixed fix cause caused
    causes agreed chose turns reverted rolled replaced renamed moved done works remains todo
    open""".split()
)
_RULE = frozenset("always never must don't dont not only prefer now".split())
_FILLER = re.compile(
    r"(?:thanks|thank you|great|ok(?:ay)?|sure|hello|hi|hey|wow|cool|nice|awesome|yes|yeah|"
    r"no problem|absolutely|certainly|of course|here(?:'s| is)|let me|i'll|let's)\b",
    re.IGNORECASE,
)
_FACT = re.compile(r"\d|[A-Za-z]_[A-Za-z]|[a-z][A-Z]|`|/\w+\.|(?<=[a-z,] )[A-Z][a-z]")
_OUTCOME = re.compile(r"exit code \d+|\b\d+ (?:passed|failed|errors?|warnings?)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Source:
    """One passage of a leaf. `kind`: text, code, call or result."""

    role: str
    text: str
    kind: str


@dataclass(frozen=True, slots=True)
class Extract:
    headline: str
    body: str
    anchors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Sentence:
    order: int
    speaker: str
    text: str
    score: float


def leaf_summary(sources: Sequence[Source]) -> Extract:
    """Headline (<= 18 tokens), body (<= 75) and anchors of consecutive passages."""
    sentences = list(_sentences(sources))
    if not sentences:
        return Extract(EMPTY, "", ())
    found = anchors("\n".join(source.text for source in sources))
    return _extract(sentences, LEAF_BODY, found)


def node_summary(children: Sequence[Extract], level: int) -> Extract:
    """The summary of a node, from those of its children alone."""
    sentences = []
    for index, child in enumerate(children):
        text = child.headline if child.headline != EMPTY else ""
        if text:
            score = 2.0 + _merit(text) - 0.02 * index
            sentences.append(_Sentence(2 * index, "", text, score))
        for extra in _strip_speakers(child.body):
            if extra and extra != text:
                sentences.append(_Sentence(2 * index + 1, "", extra, _merit(extra)))
    if not sentences:
        return Extract(EMPTY, "", ())
    cap = NODE_BODY[min(level, len(NODE_BODY)) - 1]
    limit = NODE_ANCHORS[min(level, len(NODE_ANCHORS)) - 1]
    merged = tuple(dict.fromkeys(_rounds([child.anchors for child in children])))[:limit]
    return _extract(sentences, cap, merged)


def _extract(sentences: Sequence[_Sentence], cap: int, found: tuple[str, ...]) -> Extract:
    best = max(sentences, key=lambda one: (one.score, -one.order))
    headline = _clip(secrets.mask(best.text), HEADLINE)
    kept = _fill(sentences, cap)
    body = _clip(secrets.mask(_joined(kept)), cap)
    masked = tuple(word for word in found if secrets.mask(word) == word)
    return Extract(headline, body, masked)


def _sentences(sources: Sequence[Source]) -> Iterator[_Sentence]:
    order = 0
    seen: set[str] = set()
    asked = False
    for source in sources:
        first = True
        for raw in _lines(source):
            text = _clean(raw)
            key = text[:60].lower()
            if len(text) < 3 or key in seen:
                continue
            seen.add(key)
            score = _base(source) + _merit(text) + (0.4 if first else 0.0)
            if source.role == "user" and source.kind == "text" and not asked:
                score, asked = score + 0.8, True
            first = False
            order += 1
            yield _Sentence(order, source.role, text, score)


def _lines(source: Source) -> Iterable[str]:
    if source.kind == "call":
        return [_call_line(source.text)]
    if source.kind in ("result", "code"):
        lines = [line for line in source.text.splitlines() if line.strip()]
        if len(lines) > LINES:
            lines = lines[: LINES // 2] + lines[-LINES // 2 :]
        telling = [line for line in lines if _ERROR.search(line) or _OUTCOME.search(line)]
        return dict.fromkeys([*lines[:1], *telling[:6], *lines[-1:]])
    return _SPLIT.split(source.text)


def _call_line(text: str) -> str:
    """Name of the tool and its most telling argument."""
    name, _, arguments = text.strip().partition(" ")
    try:
        values = json.loads(arguments)
    except ValueError:
        return f"{name} {arguments[:120]}"
    shown = (
        [str(v) for v in values.values() if isinstance(v, (str, int))]
        if isinstance(values, dict)
        else []
    )
    return f"{name} {_SPACE.sub(' ', ' '.join(shown))[:120]}"


def _base(source: Source) -> float:
    if source.kind == "text":
        return 2.2 if source.role == "user" else 1.2
    return {"call": 0.7, "result": 0.5}.get(source.kind, 0.1)


def _merit(text: str) -> float:
    score = min(1.2, 0.3 * len(_FACT.findall(text[:SENTENCE])))
    lower = text.lower()
    words = lower.split()
    if any(sign in lower for sign in _TROUBLE):
        score += 1.2
    if not _DECISION.isdisjoint(words):
        score += 0.9
    if not _RULE.isdisjoint(words):
        score += 0.6
    if _FILLER.match(text):
        score -= 1.2
    if len(text) < 18 and text.isascii():
        score -= 0.8
    return score


def _fill(sentences: Sequence[_Sentence], cap: int) -> list[_Sentence]:
    room = cap * 4.2
    kept = []
    for one in sorted(sentences, key=lambda one: (-one.score, one.order)):
        size = _weight(one.text) + 2
        if size <= room:
            kept.append(one)
            room -= size
        if room < 24:
            break
    return sorted(kept, key=lambda one: one.order)


def _joined(sentences: Sequence[_Sentence]) -> str:
    pieces, speaker = [], ""
    for one in sentences:
        label = f"{one.speaker}: " if one.speaker and one.speaker != speaker else ""
        speaker = one.speaker
        pieces.append(label + one.text.rstrip(";"))
    return "; ".join(pieces)


def _strip_speakers(body: str) -> Iterator[str]:
    for part in body.split("; "):
        yield re.sub(r"^(?:user|assistant|tool|function): ", "", part)


def _rounds(lists: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """The first of each list, then the second of each ..."""
    for index in range(max((len(one) for one in lists), default=0)):
        for one in lists:
            if index < len(one):
                yield one[index]


def _clean(raw: str) -> str:
    text = _SPACE.sub(" ", _NOISE.sub(" ", raw[: 3 * SENTENCE])).strip(" *_#>|-`")
    if len(text) > SENTENCE:
        text = (
            text[: text.rfind(" ", SENTENCE // 2, SENTENCE)]
            if " " in text[SENTENCE // 2 : SENTENCE]
            else text[:SENTENCE]
        )
    return text


def _clip(text: str, cap: int) -> str:
    """At most `cap` tokens, cut between words where the language has them."""
    if _weight(text) <= 2 * cap or tokens.count(text) <= cap:
        return text
    cut = tokens.prefix(text, cap)
    space = cut.rfind(" ")
    if space > len(cut) // 2:
        cut = cut[:space]
    return cut.rstrip(" ,;:-")


def _weight(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
