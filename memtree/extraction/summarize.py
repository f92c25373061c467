"""Summaries without a model: the most telling clauses of a text, in its own language.

A leaf's summary comes from its passages, a node's from its children's summaries alone.
Deterministic, so version 0 of any summary can be computed again from the posted text.
What this file does not do: judge clauses (`clauses.py`) or find anchors (`anchors.py`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memtree.extraction.clauses import Clause, SourcePassage, clip, merit, spoken
from memtree.extraction.tool_results import answer, call, code, results
from memtree.text import secrets, tokens
from memtree.text.anchors import LEAF_ANCHORS, anchors, top, weigh
from memtree.text.standing_rules import standing_rules

__all__ = ["Extract", "SourcePassage", "anchors", "leaf_summary", "node_summary"]

HEADLINE, LEAF_BODY = 18, 75  # tokens, DESIGN section 6
NODE_BODY = (120, 160, 200, 300)  # levels 1, 2, 3, and above
NODE_ANCHORS = (16, 20, 24)
EMPTY = "(empty)"
BYTES = 4.1  # UTF-8 bytes a token of o200k, a first guess that one count corrects

_ASK = re.compile(
    r"(?:(?:ok(?:ay)?|so|now|well|and|but|also|please|hi|hey|thanks|great|\w+:)[,!.]? )*"
    r"(?:(?:can|could|would|will) you (?:please |help me (?:to )?)?"
    r"|i(?:'d| would) like (?:you )?to |i want (?:you )?to |i need (?:you )?to "
    r"|i'm (?:trying|planning|working|hoping|looking) (?:to|on) "
    r"|help me (?:to )?|please )?",
    re.IGNORECASE,
)
_SPEAKER = re.compile(r"(user|assistant|tool): ")
_PIECE = re.compile(
    r"; |(?<=[.!?…。！？]) ?(?=(?:user|assistant|tool): )"
    r"|(?<=[.!?…]) (?=[^a-z\s])|(?<=[。！？])(?=.)"
)
_DANGLING = re.compile(r"(?:;|(?<=[.!?…])) (?:(?:user|assistant|tool)\b:? ?)?[^;.!?]{0,16}$")
_WORD = re.compile(r"\w{3,}|[^\x00-\x7f]{2}")


@dataclass(frozen=True, slots=True)
class Extract:
    """Headline and body are single lines within their caps; anchors come the best first."""

    headline: str
    body: str
    anchors: tuple[str, ...]


def leaf_summary(sources: Sequence[SourcePassage]) -> Extract:
    """Headline (<= 18 tokens), body (<= 75 tokens) and up to 12 anchors of consecutive passages."""
    masked = _masked(sources)
    clauses = _clauses(masked)
    if not clauses:
        return Extract(EMPTY, "", ())
    return _extract(clauses, _headline(clauses), LEAF_BODY, top(_weights(masked), LEAF_ANCHORS))


def node_summary(children: Sequence[Extract], level: int) -> Extract:
    """The summary of a node of `level` (1: just above the leaves), from its children's alone."""
    known = [child for child in children if child.headline != EMPTY]
    if not known:
        return Extract(EMPTY, "", ())
    cap = NODE_BODY[min(max(level, 1), len(NODE_BODY)) - 1]
    limit = NODE_ANCHORS[min(max(level, 1), len(NODE_ANCHORS)) - 1]
    shared = _shared(known)
    clauses = _children(known, shared, cap)
    return _extract(clauses, _node_headline(known, shared), cap, _merged(known, shared, limit))


def _masked(sources: Sequence[SourcePassage]) -> Sequence[SourcePassage]:
    if not secrets.find("\n".join(source.text for source in sources)):
        return sources  # nearly always: one look at the whole leaf
    return [
        SourcePassage(source.role, secrets.mask(source.text), source.kind) for source in sources
    ]


def _clauses(sources: Sequence[SourcePassage]) -> list[Clause]:
    """The clauses of consecutive passages, in order; none repeats another."""
    clauses: list[Clause] = []
    calls: list[Clause] = []
    asked = False
    # People who talk: short turns of text alone. Both say things about themselves.
    chat = len(sources) > 2 and all(
        source.kind == "text" and len(source.text) < 500 for source in sources
    )
    for source in sources:
        if source.kind == "call":
            calls.append(call(source))
            clauses.append(calls[-1])
        elif source.kind == "result" or source.role in ("tool", "function"):
            ends = list(results(source.text))
            if calls and ends:
                answer(calls.pop(0), ends.pop(0))
            clauses += ends
        elif source.kind == "code":
            clauses += code(source.role, source.text, clauses)
        else:
            said = spoken(source, chat)
            if source.role == "user" and said and not asked and not chat:
                asked = True
                best = max(said[:4], key=lambda clause: clause.score)
                best.score += 1.5  # the ask that the rest answers
            clauses += said
    return _distinct(clauses)


def _distinct(clauses: Sequence[Clause]) -> list[Clause]:
    kept: dict[str, Clause] = {}
    for clause in clauses:
        key = clause.text[:50].lower()
        if key not in kept:
            kept[key] = clause
        elif clause.score > kept[key].score:
            kept[key].score = clause.score
    return [clause for clause in kept.values() if clause.text]


def _extract(clauses: Sequence[Clause], headline: str, cap: int, kept: tuple[str, ...]) -> Extract:
    room = cap * BYTES
    body = _joined(_chosen(clauses, room))
    size = tokens.count(body)
    if tokens.count(headline) > HEADLINE:
        headline = _cut(headline, HEADLINE)
    for _ in range(3):  # dense text has fewer bytes a token: less of it, and the best of it
        if size > cap:
            room = _size(body) * 0.96 * cap / size
            body = _joined(_chosen(clauses, room))
            size = tokens.count(body)
    if size > cap:
        body = _cut(body, cap)
    return Extract(headline or EMPTY, body, kept)


def _chosen(clauses: Sequence[Clause], room: float) -> list[Clause]:
    """The best clauses that fit `room` bytes, in their order; none says again what another said."""
    kept: list[tuple[int, Clause]] = []
    said: list[set[str]] = []
    for index, clause in sorted(enumerate(clauses), key=lambda pair: -pair[1].score):
        if kept and (room < 40 or clause.score < -0.5):
            break
        size = _size(clause.text) + 4
        if size > room and kept and (clause.verbatim or room < 70):
            continue  # a rule is whole or not there
        words = set(_WORD.findall(clause.text.lower()))
        if any(len(words & other) > 0.65 * len(words) for other in said):
            continue
        if size > room:
            clause = Clause(clause.speaker, _shorter(clause.text, room), clause.score)
            size = _size(clause.text) + 4
        kept.append((index, clause))
        said.append(words)
        room -= size
    return [clause for _, clause in sorted(kept, key=lambda pair: pair[0])]


def _joined(chosen: Sequence[Clause]) -> str:
    pieces: list[str] = []
    speaker = ""
    for clause in chosen:
        if pieces:
            pieces.append(" " if pieces[-1][-1:] in ".!?…。！？" else "; ")
        if clause.speaker != speaker:
            speaker = clause.speaker
            pieces.append(f"{speaker}: " if speaker else "")
        pieces.append(clause.text)
    return "".join(pieces).strip()


def _headline(clauses: Sequence[Clause]) -> str:
    """Thing and outcome: the user's best clause and how it ended, else the best clause of all."""
    best = max(clauses, key=lambda clause: clause.score)
    asks = [clause for clause in clauses if clause.speaker == "user" and clause.score > 2.0]
    if not asks or best.verbatim:
        return _short(best.text, HEADLINE)
    ask = max(asks, key=lambda clause: clause.score)
    after = clauses[clauses.index(ask) + 1 :]
    ends = [clause for clause in after if clause.outcome and clause.speaker != "user"]
    thing = _short(ask.text, HEADLINE)
    if not ends:
        return thing if ask.score + 1.0 >= best.score else _short(best.text, HEADLINE)
    end = max(ends, key=lambda clause: clause.score)
    if _size(thing) > 52:
        thing = _short(ask.text, 10)
    return f"{thing} -> {_short(end.text, max(5, HEADLINE - 1 - round(_size(thing) / BYTES)))}"


def _node_headline(children: Sequence[Extract], shared: Counter[str]) -> str:
    """The best child's headline, and the beginning of the next best where there is room."""
    ranked = sorted(
        (child.headline for child in children),
        key=lambda line: (
            -(merit(line) + _centrality(line, shared) + (0.5 if " -> " in line else 0.0))
        ),
    )
    first = _short(ranked[0], HEADLINE)
    room = HEADLINE - 1 - round(_size(first) / BYTES)
    others = [line for line in ranked[1:] if line[:20] != first[:20]]
    return f"{first}; {_short(others[0], room)}" if others and room >= 6 else first


def _children(children: Sequence[Extract], shared: Counter[str], cap: int) -> list[Clause]:
    """Clauses of the children's bodies. Each child's best stands first, so none goes unheard."""
    clauses: list[Clause] = []
    longest = max(70, round(cap * BYTES * 1.6 / len(children)))
    for child in children:
        own = list(_pieces(child.body or child.headline, longest))
        for clause in own:
            clause.score += min(_centrality(clause.text, shared), 1.2)
        if own:
            max(own, key=lambda clause: clause.score).score += 2.0
        clauses += own
    return clauses


def _pieces(body: str, longest: int) -> Iterator[Clause]:
    speaker = ""
    for piece in _PIECE.split(body):
        if match := _SPEAKER.match(piece):
            speaker = match.group(1)
            piece = piece[match.end() :]
        if not piece:
            continue
        rule = speaker == "user" and bool(standing_rules(piece))
        score = merit(piece) + (1.4 if speaker == "user" else 0.0) + (6.0 if rule else 0.0)
        yield Clause(speaker, piece if rule else clip(piece, longest), score, verbatim=rule)


def _weights(sources: Sequence[SourcePassage]) -> dict[str, float]:
    """Anchors of a leaf: what the user wrote weighs most, what stands in code least."""
    parts: dict[float, list[str]] = {}
    for source in sources:
        share = (
            0.65
            if source.kind == "code"
            else 0.8
            if source.kind == "result"
            else 1.5
            if source.role == "user"
            else 1.0
        )
        parts.setdefault(share, []).append(source.text)
    total: dict[str, float] = {}
    for share, texts in sorted(parts.items(), reverse=True):
        for word, weight in weigh("\n".join(texts), prose=share > 0.9).items():
            total[word] = max(share * weight, total.get(word, 0.0) + 0.5)
    return total


def _shared(children: Sequence[Extract]) -> Counter[str]:
    return Counter(word for child in children for word in child.anchors)


def _merged(children: Sequence[Extract], shared: Counter[str], limit: int) -> tuple[str, ...]:
    """Anchors of many children first, then each child's first, second ..."""
    place: dict[str, float] = {}
    for child in children:
        for index, word in enumerate(child.anchors):
            place[word] = min(place.get(word, 99.0), float(index))
    return top({word: 2.0 * min(shared[word], 4) - at for word, at in place.items()}, limit)


def _centrality(text: str, shared: Counter[str]) -> float:
    return sum(0.4 for word, count in shared.items() if count > 1 and word in text)


def _short(text: str, cap: int) -> str:
    """A clause for a headline, without its polite beginning."""
    bare = (
        text[match.end() :] if (match := _ASK.match(text)) and match.end() < len(text) - 8 else text
    )
    return _shorter(bare, cap * BYTES)


def _shorter(text: str, room: float) -> str:
    size = _size(text)
    return text if size <= room else clip(text, max(1, int(len(text) * room / size)))


def _cut(text: str, cap: int) -> str:
    """At most `cap` tokens for certain, cut between words where the language has them."""
    cut = False
    while tokens.count(text) > cap:
        cut = True
        inside = tokens.prefix(text, cap)
        text = clip(text, min(len(inside), len(text) - 1)) if len(inside) > 4 else inside
    return _DANGLING.sub("", text) if cut else text


def _size(text: str) -> int:
    """UTF-8 bytes; tokens follow bytes more evenly than characters across scripts."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
