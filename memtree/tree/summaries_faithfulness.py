"""Claims of a summary against its text: what is denied, and who said what.

A rule applies only where the summary keeps a clause of the text (they share most of their words)
and says something else in it. What the summary puts in other words is not judged.
What this file does not do: numbers and names (`numbers.py`); form and language (`check.py`).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from memtree.digests.clause import LABEL
from memtree.language.borders import DENIALS, denies
from memtree.language.word_file import WordFiles, lazily

_DATA = WordFiles("claims")
_any = _DATA.part

USER, ASSISTANT = "user", "assistant"


@dataclass(frozen=True, slots=True)
class Statement:
    """A clause, by whom (user, assistant, tool; empty: not known).

    `stems`: of its content words; `denied`: those of them next to a "not". `denies`: it holds a
    denial; `hedged`: a denial or a word that may come to the same ("failed to", "avoid").
    """

    speaker: str
    text: str
    stems: frozenset[str]
    denied: frozenset[str]
    denies: bool
    hedged: bool


_BORDER = lazily(
    lambda: (
        r"(?<=[.!?…])[\"')\]”’]*\s+|(?<=[。！？；，、])|[;\n]\s*"
        rf"|,\s+(?=(?:{_any('after_commas')})\b)"
        rf"|(?<!\s)\s+(?:{_any('joints')})\s+"
        rf"|\s[—–-]\s|(?=\b{LABEL})"
    )
)
_STEM = lazily(r"[぀-ヿ㐀-鿿가-힯]{2,}|[^\W\d_]{3,}|[^\W_]*\d[^\W_]*")
_DENSE = lazily("[぀-ヿ㐀-鿿가-힯]+")
_HEDGES = lazily(lambda: rf"\b(?:{_any('hedges')})\b|{_any('hedges_unspaced')}", re.IGNORECASE)
_ROLE = lazily(r"\b(?:user|assistant)\b")
_LABEL = lazily(rf"^\s*(?:[\"'(]*)({LABEL})", re.IGNORECASE)
_SUBJECT = lazily(
    lambda: (
        r"^\s*(?:(?:then|later|and|so|also|finally|first|next|but),? )?(?:the )?(user"
        r"|assistant)(?:['’]s \w+|(?: also| then| now| later| explicitly)? "
        rf"(?:{_any('subject_verbs')}))\b"
    ),
    re.IGNORECASE,
)


def statements(pieces: Iterable[tuple[str, str]]) -> list[Statement]:
    """Clauses of (speaker, text) pieces. A label ("user: ") or a subject ("The user wants") in the
    text itself says who speaks, up to the next label."""
    clauses = []
    for speaker, text in pieces:
        for clause in _BORDER.split(text):
            if not clause or not clause.strip():
                continue
            if match := _LABEL.match(clause):
                speaker = match[1].lower().rstrip(": ").partition(" ")[0]
                clause = clause[match.end() :]
            subject = _SUBJECT.match(clause)
            who = subject.group(1).lower() if subject else speaker
            stems = frozenset(_stems(clause))
            denied = denies(clause)
            hedged = denied or bool(_HEDGES.search(clause))
            clauses.append(
                Statement(who, clause, stems, frozenset(_denied(clause)), denied, hedged)
            )
    return clauses


def _stems(text: str) -> Iterator[str]:
    return (stem for _, stem in _content_words(text.lower()))


def _content_words(text: str) -> Iterator[tuple[int, str]]:
    """(start, stem): the first letters of a word, each two letters of a dense script."""
    for match in _STEM.finditer(text):
        word, start = match.group(), match.start()
        if _DENSE.match(word):
            yield from ((start + at, word[at : at + 2]) for at in range(len(word) - 1))
        elif word not in _DATA.word_set("stop_words"):
            yield start, word[:5]


def _denied(clause: str) -> Iterator[str]:
    """The content word after each denial, or before one at the end ("weiß ich nicht")."""
    clause = clause.lower()
    content = list(_content_words(clause))
    starts = [start for start, _ in content]
    for match in DENIALS.finditer(clause):
        after = bisect_left(starts, match.end())
        # Nothing after it: the last one that begins before it.
        at = after if after < len(starts) else bisect_left(starts, match.start()) - 1
        yield content[at][1] if at >= 0 else ""


def negations(draft: Sequence[Statement], text: Sequence[Statement]) -> Iterator[str]:
    """Clauses that the summary keeps, but with a "not" lost or added."""
    # A question neither says nor denies.
    stated = [
        clause for clause in (*text, *_pairs(text)) if clause.text.rstrip()[-1:] not in ("?", "？")
    ]
    for claim in draft:
        near = [(_kept(claim, clause), clause) for clause in stated] if len(claim.stems) > 2 else []
        closest = max((kept for kept, _ in near), default=0.0)
        if closest < 0.75:
            continue
        # Only what the summary keeps more than half of: the rest may hold what is denied.
        same = [
            clause
            for kept, clause in near
            if kept >= closest - 0.15 and 2 * _kept(clause, claim) > 1
        ]
        if same and not claim.hedged and all(clause.denied & claim.stems for clause in same):
            yield f"a denial is lost: {claim.text.strip()}"
        # Another clause of the text may deny it: look at all clauses about the same thing.
        elif any(claim.denied & clause.stems for clause in same) and not any(
            clause.hedged for kept, clause in near if kept >= 0.5
        ):
            yield f"a denial is new: {claim.text.strip()}"


def speakers(draft: Sequence[Statement], text: Sequence[Statement]) -> Iterator[str]:
    """Clauses that the summary gives to one speaker and only the other one said."""
    roles = {clause.speaker for clause in text}
    text = [*text, *_pairs(text)]
    for claim in draft:
        if claim.speaker not in (USER, ASSISTANT) or len(claim.stems) < 3 or "" in roles:
            continue
        if len(set(_ROLE.findall(claim.text.lower()))) > 1:
            continue  # "the assistant recommended Hyperion, which the user had read"
        theirs = ASSISTANT if claim.speaker == USER else USER
        by_own = [clause for clause in text if clause.speaker == claim.speaker]
        # What a tool printed is left out: the assistant reports it.
        by_other = [clause for clause in text if clause.speaker == theirs]
        own = max((_kept(claim, clause) for clause in by_own), default=0)
        other = max((_kept(claim, clause) for clause in by_other), default=0)
        own_words = frozenset().union(*(clause.stems for clause in by_own))
        sure = (other >= 0.75 and own < other - 0.4) or (other >= 0.6 and own < 0.2)
        if sure and len(claim.stems & own_words) < 0.6 * len(claim.stems):
            yield f"said by the {theirs}: {claim.text.strip()}"


def _pairs(text: Sequence[Statement]) -> Iterator[Statement]:
    """Neighbouring clauses of one speaker, joined: a summary makes one sentence of two."""
    for first, second in pairwise(text):
        if first.speaker == second.speaker:
            yield Statement(
                first.speaker,
                f"{first.text} {second.text}",
                first.stems | second.stems,
                first.denied | second.denied,
                first.denies or second.denies,
                first.hedged or second.hedged,
            )


def _kept(clause: Statement, other: Statement) -> float:
    """The share of a summary's clause that the other clause holds."""
    return len(clause.stems & other.stems) / len(clause.stems) if clause.stems else 0.0


def loops(text: str) -> str:
    """Return what a text says over and over; empty where nothing repeats."""
    if match := re.search(r"([^\s=_*#.-])\1{11,}", text):
        return match.group()[:12]
    words = re.findall(r"\w+", text.lower())
    for size, often in ((3, 6), (5, 4)):
        grams = Counter(zip(*(words[at:] for at in range(size)), strict=False))
        gram, times = grams.most_common(1)[0] if grams else ((), 0)
        if times >= often:
            return " ".join(gram)
    same = sum(word == other for word, other in pairwise(words))
    return "the same words" if len(words) > 12 and same > len(words) / 3 else ""
