"""How much a sentence of a user looks like a standing rule: a score of the phrases found in it.

No phrase makes a rule alone: "use" asks for one thing, "always" tells a habit. Together they ask
for a habit. A rule has a score of at least `RULE`; every language has its own phrases
(`rule_phrases.py` reads them), all have the same weights, which were found on sentences written by
hand (`benchmarks/memories/rules.py`).

What this file does not do: find sentences, or leave out code and quotations (`standing_rules.py`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields

RULE = 4
LENGTHY = 160  # characters; what is longer tells or asks more than a rule


@dataclass(frozen=True, slots=True)
class Phrases:
    """Phrases that tell a rule in one language: patterns for lower-case text, empty where it has
    none.

    `lead` is taken off the beginning first. Patterns are searched in the rest; `{start}` in them
    stands for the beginning of a clause. `first`: words of which a rule holds one among its first
    four to six; `anywhere`: others of which it may hold one anywhere. Without either the sentence
    is not read. Where a language sets no spaces, `marks` is a pattern that is searched instead.
    """

    first: tuple[str, ...] = ()
    anywhere: tuple[str, ...] = ()
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
    "fixed": 4, "nearly": 3, "definite": -2, "once": -2, "asks": -6,
}  # fmt: skip
_REQUESTS = frozenset(
    ("order", "task", "duty", "forbid", "wish", "norm", "habit", "fixed", "nearly")
)
_HABITS = frozenset(("standing", "frame"))
_PREFIXES = (r"\b", "^", "{start}")
# What stands between the bars of a pattern: groups within groups are as deep as phrases have them.
_GROUP = r"\((?:[^()\\\[]|\\.|\[(?:\\.|[^\]\\])*\])*\)"
for _ in range(5):
    _GROUP = rf"\((?:[^()\\\[]|\\.|\[(?:\\.|[^\]\\])*\]|{_GROUP})*\)"
_ALTERNATIVE = re.compile(rf"(?:[^()\\\[|]|\\.|\[(?:\\.|[^\]\\])*\]|{_GROUP})+")
_Pattern = tuple[str, int, re.Pattern[str]]
_QUESTION = ("?", "？", "؟")
# Names and signs of technical things are the same in all languages.
_WORK = (
    r"\b(?:commits?|push\w*|main|master|branch\w*|merge\w*|git|npm|pnpm|yarn|pip|apis?|sql|json|yaml|"
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

    __slots__ = ("_against", "_any_request", "_lead", "_marks", "_others", "_polite", "_requests")

    def __init__(self, phrases: Phrases) -> None:
        joint = rf"|\b(?:{phrases.joint}) " if phrases.joint else ""
        # A clause begins at the sentence's start, after a comma, and after "from now on".
        standing = rf"|(?:^|[,:;–—،] ?)(?:{phrases.standing})[,،]? " if phrases.standing else ""
        start = rf"(?:^|[,:;–—،、] ?|\. {standing}{joint})"
        self._marks = _compiled(phrases.marks, start)
        self._lead = _compiled(phrases.lead, start)
        self._polite = _compiled(phrases.polite, start)
        self._against = _compiled(phrases.against, start)
        patterns = [
            (field.name, WEIGHTS[field.name], pattern)
            for field in fields(phrases)
            if field.name in WEIGHTS
            and (
                pattern := _compiled(_with_shared(field.name, getattr(phrases, field.name)), start)
            )
        ]
        # Most sentences hold no request: one search tells so in half the time of nine.
        self._any_request = _compiled(
            "|".join(filter(None, (getattr(phrases, name) for name in sorted(_REQUESTS)))), start
        )
        self._requests = [each for each in patterns if each[0] in _REQUESTS]
        self._others = [each for each in patterns if each[0] not in _REQUESTS]

    def marked(self, lower: str) -> bool:
        """Return True if a sentence holds one of the marks, without which it is no rule."""
        return self._marks is None or self._marks.search(lower) is not None

    def parts(self, lower: str) -> dict[str, int]:
        """The classes of phrases found in a sentence in lower case, with their weights; none where
        it asks for nothing, or something speaks against a rule."""
        if lower.rstrip("\"'”’)*_ ").endswith(_QUESTION):
            return self._asked(lower)
        bare = lower
        if self._lead is not None and (lead := self._lead.match(lower)):
            bare = lower[lead.end() :]
        asking = self._any_request is not None and self._any_request.search(bare) is not None
        classes = _found(self._requests, bare) if asking else {}
        if not classes or (self._against is not None and self._against.search(bare)):
            return self._asked(lower)
        classes |= _found(self._others, bare)
        if "asks" in classes:
            return {}
        if classes.keys() & _HABITS:  # may be about a thing at hand: always show the command
            classes.pop("definite", None)
            if "once" in classes:  # never on a Friday
                classes["once"] = -1
            if "task" in classes and "order" not in classes:
                classes["task"] = WEIGHTS["order"]
        elif not classes.keys() & (_REQUESTS - {"task"}):
            return {}
        if len(bare) > LENGTHY:
            classes["lengthy"] = -1 if len(bare) <= 1.6 * LENGTHY else -2
        return classes

    def _asked(self, lower: str) -> dict[str, int]:
        """A question is a rule where it politely asks for a habit: can you always ..."""
        polite = self._polite is not None and self._polite.search(lower)
        return {"polite": RULE} if polite else {}

    def score(self, lower: str) -> int:
        return sum(self.parts(lower).values())


def _found(patterns: Sequence[_Pattern], lower: str) -> dict[str, int]:
    return {name: weight for name, weight, pattern in patterns if pattern.search(lower)}


def _with_shared(name: str, source: str) -> str:
    shared = {"work": _WORK, "style": _STYLE, "definite": _FILE}.get(name, "")
    return "|".join(part for part in (source, shared) if part)


def _compiled(source: str, start: str) -> re.Pattern[str] | None:
    return re.compile(grouped(source).replace("{start}", start)) if source else None


def grouped(source: str) -> str:
    """The alternatives of a pattern by how they begin: whether a word or a clause begins here is
    then asked once for all of them, which is most of the time that a search takes.

    >>> grouped(r"\\ba|^b|\\bc|(?:d|e)")
    '\\\\b(?:a|c)|^(?:b)|(?:d|e)'
    """
    groups: dict[str, list[str]] = {}
    for each in _ALTERNATIVE.findall(source):
        prefix = next((candidate for candidate in _PREFIXES if each.startswith(candidate)), "")
        groups.setdefault(prefix, []).append(each[len(prefix) :])
    return "|".join(
        f"{prefix}(?:{'|'.join(rest)})" if prefix else "|".join(rest)
        for prefix, rest in groups.items()
    )
