"""Which standing rules hold at the end of a conversation: the ledger of rules.

What this file does not do: find rules in messages (`text/standing_rules.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MOST = 2_000  # rules looked at, the newest


@dataclass(frozen=True, slots=True)
class RuleText:
    """Characters [start, end) of the view of message `message`, which are `text`."""

    message: int
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class CurrentRule:
    """A rule that stands. `replaces`: the message of the newest rule that it corrects or withdraws
    (None: of none); `repeats`: the messages that said the same before, oldest first."""

    rule: RuleText
    replaces: int | None = None
    repeats: tuple[int, ...] = ()


def current_rules(rules: Sequence[RuleText]) -> list[CurrentRule]:
    """The rules that stand, newest first, of all that were found, oldest first. Repeats stand once,
    as the newest; what was corrected or withdrawn is left out. Takes time linear in `rules`."""
    kept: dict[str, CurrentRule] = {}
    for rule in rules[-MOST:]:
        key = " ".join(rule.text.lower().split())
        before = kept.pop(key, None)
        repeats = (*before.repeats, before.rule.message) if before else ()
        kept[key] = CurrentRule(rule, repeats=repeats)
    return list(reversed(kept.values()))
