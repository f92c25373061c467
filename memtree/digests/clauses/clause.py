"""Scored clauses, extracted from passages."""

from __future__ import annotations

from dataclasses import dataclass

from memtree.text.spans import Span


@dataclass(frozen=True, slots=True)
class SourcePassage:
    """Passage of a leaf. `kind`: text, code, call or result. `others`: spans of a user's text
    that are not the user's own words, found on the whole message; None if not searched yet.
    `message`: the whole message, or "" if only the passage is known; the passage begins at `start`
    of it. `ends`: True if the message ends with the passage."""

    role: str
    text: str
    kind: str
    others: tuple[Span, ...] | None = None
    message: str = ""
    start: int = 0
    ends: bool = True


@dataclass(slots=True)
class Clause:
    """Line of text. `outcome`: it reports how something ended (an error, a change, a decision);
    `brief`: a shorter text for where room is scarce; `work`: it reports work of an agent
    (`work_clauses.py`); `quoted`: it quotes somebody else's request, so it is never cut and never
    in a headline."""

    speaker: str
    text: str
    score: float
    outcome: bool = False
    verbatim: bool = False
    brief: str = ""
    quoted: bool = False
    work: bool = False
