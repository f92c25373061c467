"""How much a sentence of a user looks like a standing rule: a score of the phrases found in it.

No phrase makes a rule alone: "use" asks for one thing, "always" tells a habit. Together they ask
for a habit. A rule has a score of at least `RULE`; every language has its own phrases (the room
`rule_phrases`), all have the same weights, which were found on sentences written by hand
(`benchmarks/rules.py`).

What this file does not do: find sentences, or leave out code and quotations (`standing_rules.py`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields

RULE = 4
LENGTHY = 160  # characters; what is longer tells or asks more than a rule


@dataclass(frozen=True, slots=True)
class Phrases:
    """What tells a rule in one language: patterns for lower-case text, empty where it has none.

    `lead` is taken off the beginning first. Patterns are searched in the rest; `{start}` in them
    stands for the beginning of a clause. `first`: words of which a rule holds one among its first
    five; `anywhere`: others of which it may hold one anywhere. Neither: the sentence is not read.
    Where a language sets no spaces, `marks` is a pattern that is searched instead.
    """

    first: str = ""
    anywhere: str = ""
    marks: str = ""
    lead: str = ""
    joint: str = ""  # words that join clauses: and
    standing: str = ""  # from now on, always, never, by default
    frame: str = ""  # whenever I ask, before you commit
    scope: str = ""  # in this project
    order: str = ""  # at the beginning of a clause: how to do things (use, answer, keep)
    task: str = ""  # at the beginning of a clause: what may be one thing to do (fix, run, explain)
    duty: str = ""  # you must
    forbid: str = ""  # do not use, avoid, stop saying, no ...
    wish: str = ""  # I want you to
    norm: str = ""  # names should be ...
    habit: str = ""  # we use, tests go into
    style: str = ""  # what answers and code are like: tone, emojis, names, language, length
    work: str = ""  # what is worked on: code, branches, folders
    every: str = ""  # all ..., every ..., only
    contrast: str = ""  # instead of
    tell: str = ""  # a forbidden way of answering: suggest, mention
    fixed: str = ""  # a rule by itself: be concise, call me
    nearly: str = ""  # a rule with anything else: stick to, prefer
    polite: str = ""  # a question that asks for a habit: can you always
    definite: str = ""  # an object that is at hand: use the, run this
    once: str = ""  # this time, for now, the second
    against: str = ""  # told of somebody, reported, hypothetical, a proverb
    asks: str = ""  # a question without its mark


WEIGHTS = {
    "standing": 2, "frame": 2, "scope": 2, "order": 2, "task": 1, "duty": 2, "forbid": 3, "wish": 2,
    "norm": 3, "habit": 1, "style": 2, "work": 1, "every": 1, "contrast": 1, "tell": 2,
    "fixed": 4, "nearly": 3, "definite": -2, "once": -2, "against": -6, "asks": -6,
}  # fmt: skip
_ASIDE = ("first", "anywhere", "marks", "lead", "polite", "joint")
_REQUESTS = frozenset(
    ("order", "task", "duty", "forbid", "wish", "norm", "habit", "fixed", "nearly")
)
_HABITS = frozenset(("standing", "frame"))
_QUESTION = ("?", "？", "؟")
# Names and signs of technical things are the same in all languages.
_WORK = (
    r"\b(?:commits?|push\w*|main|master|branch\w*|merge\w*|git|npm|pnpm|yarn|pip|api|sql|json|yaml|"
    r"docker|tests?|code|bugs?|repo\w*|readme|typescript|python|javascript|css|html)\b"
    r"|[\w.-]+/(?:[\w.-]+)?|\b[a-z]+_[a-z_]+\b"
)
_STYLE = r"\b(?:emojis?|emoticons?|markdown|iso(?:[- ]8601)?|camelcase|snake_case|kebab-case)\b"
_FILE = (
    r"\b[\w-]+\.(?:py|js|ts|tsx|jsx|go|rs|java|cpp|c|h|rb|php|css|html|json|ya?ml|toml|"
    r"md|txt|csv|pdf"
    r"|docx?|xlsx?|png|jpe?g|sql|sh)\b"
)


class Scorer:
    """The compiled phrases of one language."""

    __slots__ = ("_lead", "_marks", "_patterns", "_polite")

    def __init__(self, phrases: Phrases) -> None:
        joint = rf"|\b(?:{phrases.joint}) " if phrases.joint else ""
        # A clause begins at the sentence's start, after a comma, and after "from now on".
        standing = rf"|(?:^|[,:;–—،] ?)(?:{phrases.standing})[,،]? " if phrases.standing else ""
        start = rf"(?:^|[,:;–—،、] ?|\. {standing}{joint})"
        self._marks = _compiled(phrases.marks, start)
        self._lead = _compiled(phrases.lead, start)
        self._polite = _compiled(phrases.polite, start)
        self._patterns = [
            (field.name, WEIGHTS[field.name], pattern)
            for field in fields(phrases)
            if field.name not in _ASIDE
            and (
                pattern := _compiled(_with_shared(field.name, getattr(phrases, field.name)), start)
            )
        ]

    def marked(self, lower: str) -> bool:
        """Whether a sentence holds one of the marks, without which it is no rule."""
        return self._marks is None or self._marks.search(lower) is not None

    def parts(self, lower: str) -> dict[str, int]:
        """The classes of phrases found in a sentence in lower case, with their weights."""
        if self._polite is not None and self._polite.search(lower):
            return {"polite": RULE}
        if lower.rstrip("\"'”’)*_ ").endswith(_QUESTION):
            return {}
        if self._lead is not None and (lead := self._lead.match(lower)):
            lower = lower[lead.end() :]
        found = {name: weight for name, weight, pattern in self._patterns if pattern.search(lower)}
        if not found.keys() & _REQUESTS:
            return {}
        if found.keys() & _HABITS:  # may be about a thing at hand: always show the command
            found.pop("definite", None)
            if "task" in found and "order" not in found:
                found["task"] = WEIGHTS["order"]
        elif not found.keys() & (_REQUESTS - {"task"}):
            return {}
        if found and len(lower) > LENGTHY:
            found["lengthy"] = -1 if len(lower) <= 1.6 * LENGTHY else -2
        return found

    def score(self, lower: str) -> int:
        return sum(self.parts(lower).values())


def _with_shared(name: str, source: str) -> str:
    shared = {"work": _WORK, "style": _STYLE, "definite": _FILE}.get(name, "")
    return "|".join(part for part in (source, shared) if part)


def _compiled(source: str, start: str) -> re.Pattern[str] | None:
    return re.compile(source.replace("{start}", start)) if source else None
