"""Clauses with scores, which extraction makes of passages."""

from __future__ import annotations

from dataclasses import dataclass

from memtree.text.spans import Span


@dataclass(frozen=True, slots=True)
class SourcePassage:
    """One passage of a leaf. `kind`: text, code, call or result. `others`: spans of a user's text
    that are not the user's own words, found on the whole message; None: not looked for yet.
    `message`: the whole message, which the passage begins at `start` and, where `ends`, ends;
    empty where the passage is all that is known of it."""

    role: str
    text: str
    kind: str
    others: tuple[Span, ...] | None = None
    message: str = ""
    start: int = 0
    ends: bool = True


@dataclass(slots=True)
class Clause:
    """One line of text. `outcome`: it says how something ended (an error, a change, a decision);
    `brief`: the same where room is scarce; `work`: it tells work of an agent (`work_clauses.py`);
    `quoted`: it holds a request of somebody else in quotation marks, so it is whole or not there,
    and in no headline."""

    speaker: str
    text: str
    score: float
    outcome: bool = False
    verbatim: bool = False
    brief: str = ""
    quoted: bool = False
    work: bool = False
