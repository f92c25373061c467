"""What extraction is made of: passages go in, clauses with scores come out."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SourcePassage:
    """One passage of a leaf. `kind`: text, code, call or result."""

    role: str
    text: str
    kind: str


@dataclass(slots=True)
class Clause:
    """One line of text. `outcome`: it says how something ended (an error, a change, a decision);
    `brief`: the same where room is scarce."""

    speaker: str
    text: str
    score: float
    outcome: bool = False
    verbatim: bool = False
    brief: str = ""
