"""Finding: the result of checking one part of the server, in a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "warning", "problem"]


@dataclass(frozen=True, slots=True)
class Finding:
    """Result of checking one part. `level`: a `problem` is a configured part that does not work."""

    part: str
    level: Level
    text: str


def judged(part: str, sound: bool, text: str) -> Finding:
    return Finding(part, "ok" if sound else "problem", text)
