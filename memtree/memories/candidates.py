"""Candidates that an extraction finds in one message, and what it left out and why."""

from __future__ import annotations

from dataclasses import dataclass

from memtree.statements.skip_reasons import Skip


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory to be. `text` is what is stored; `start`, `end` are where it stands in the message,
    in characters. `expires` is a unix time. Every name, number and negation of `text` stands in
    the source."""

    text: str
    category: str  # fact, preference, schedule, general
    start: int
    end: int
    expires: float | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Extraction:
    """Both in the order of the message."""

    candidates: tuple[Candidate, ...] = ()
    skipped: tuple[Skip, ...] = ()
