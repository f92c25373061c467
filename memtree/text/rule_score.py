"""Score how much a user's sentence looks like a standing rule, by the phrases found in it.

No phrase makes a rule alone: "use" requests a single thing, "always" marks a habit, and together
they request a habit. A rule has a score of at least `RULE`. Every language has its own phrases but
the same weights, which were fitted on sentences written by hand (`benchmarks/memories/rules.py`).

The sentences are found, and code and quotations left out, in `rule_sentences`.

A sentence in a non-Latin script is scored in the languages of that script; a sentence in Latin
letters in the languages whose marker words it has. The best score counts. The phrases are data:
`standing_rules.txt` of each language, and `all/rule_shapes.txt`, shapes in which each language puts
its own words for "always", "please", "can you".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cache

from memtree.language.word_file import (
    Sections,
    by_language,
    grouped,
    in_order,
    languages_with,
    lazily,
    sections,
)

_PHRASE_FILE = "standing_rules"
_SCRIPTS = {  # in order of the tests, since Japanese also uses Chinese characters
    "kana": re.compile("[\u3040-\u30ff]"),
    "hangul": re.compile("[\uac00-\ud7a3]"),
    "han": re.compile("[\u3400-\u9fff]"),
    "cyrillic": re.compile("[\u0400-\u04ff]"),
    "arabic": re.compile("[\u0600-\u06ff]"),
    "devanagari": re.compile("[\u0900-\u097f]"),
}
_SLOT = re.compile(r"\{([a-z_]+)\}")
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_BEGINNING, _BEGINNING_OF_OTHERS = 4, 6  # words: in English, and elsewhere


def score(lower: str) -> int:
    """Return the best score of a lower-case sentence over the languages that it may be in."""
    candidates = _candidates(lower)
    return max(_scorer(language).score(lower) for language in candidates) if candidates else 0


def parts(lower: str) -> list[dict[str, int]]:
    return [_scorer(language).parts(lower) for language in _candidates(lower)]


def warm_up() -> Iterator[None]:
    """Compile the phrases, one pattern per step (at most 30 ms each)."""
    _telling()
    for language in languages_with(_PHRASE_FILE):
        for pattern in _scorer(language).patterns():
            yield
            pattern.search("")


def phrases(language: str) -> Phrases:
    """Read the phrases of a language. Raises `FileNotFoundError` if it has none."""
    entries = sections(language, _PHRASE_FILE)
    words = {name: entries.get(name, ()) for name in ("first", "anywhere")}
    patterns = {
        field.name: in_order((*entries.get(field.name, ()), *_shapes(field.name, entries)))
        for field in fields(Phrases)
        if field.name not in words
    }
    return Phrases(**words, **patterns)  # type: ignore[arg-type]


def _shapes(name: str, entries: Sections) -> Iterator[str]:
    """Yield the shared patterns of a section for which a language has the words."""
    for shape in sections("all", "rule_shapes").get(name, ()):
        if set(_SLOT.findall(shape)) <= {"start", *entries}:
            yield _SLOT.sub(lambda slot: in_order(entries.get(slot[1], (slot[0],))), shape)


def _candidates(lower: str) -> Sequence[str]:
    if not lower.isascii():
        for script, letters in _SCRIPTS.items():
            if letters.search(lower):
                return [one for one in _of_script(script) if _scorer(one).marked(lower)]
    words = _WORD.findall(lower)
    first, anywhere = _telling()
    bits = 0
    for word in words[:_BEGINNING]:
        bits |= first.get(word, 0)
    for word in words[_BEGINNING:_BEGINNING_OF_OTHERS]:
        bits |= first.get(word, 0) & ~1
    for word in anywhere.keys() & words:
        bits |= anywhere[word]
    if bits and not _english_alone().isdisjoint(words):
        bits &= 1  # the first of the Latin languages
    return [one for at, one in enumerate(_of_script("latin")) if bits >> at & 1] if bits else ()


@cache
def _of_script(script: str) -> tuple[str, ...]:
    scripts = sections("all", "languages")
    if script in scripts:
        return scripts[script]
    others = {language for name in _SCRIPTS for language in scripts[name]}
    return tuple(language for language in languages_with(_PHRASE_FILE) if language not in others)


@cache
def _telling() -> tuple[dict[str, int], dict[str, int]]:
    """Map the words that begin a rule, and other words of rules, to their languages as bits."""
    first: dict[str, int] = {}
    anywhere: dict[str, int] = {}
    for words, section in ((first, "first"), (anywhere, "anywhere")):
        entries = by_language(_PHRASE_FILE, section)
        for at, language in enumerate(_of_script("latin")):
            for word in " ".join(entries.get(language, ())).split():
                words[word] = words.get(word, 0) | 1 << at
    return first, anywhere


@cache
def _english_alone() -> frozenset[str]:
    return frozenset(sections("en", _PHRASE_FILE)["english_alone"])


@cache
def _scorer(language: str) -> Scorer:
    return Scorer(phrases(language))


RULE = 4
LENGTHY = 160  # characters; a longer sentence says more than a rule


@dataclass(frozen=True, slots=True)
class Phrases:
    """Phrases that mark a rule in one language: patterns for lower-case text, "" if there are none.

    `lead` is removed from the beginning first, and the patterns are searched in the rest; `{start}`
    in them stands for the beginning of a clause. A sentence is read only if one of its first four
    to six words is in `first`, or any of its words is in `anywhere`. For languages without spaces
    the pattern `marks` is searched instead.
    """

    first: tuple[str, ...] = ()
    anywhere: tuple[str, ...] = ()
    marks: str = ""
    lead: str = ""
    joint: str = ""  # words that join clauses: and
    standing: str = ""  # from now on, always, never, by default
    frame: str = ""  # whenever I ask, before you commit
    lasting: str = ""  # a rule by itself, unless it is told of somebody: in every answer, for good
    subject: str = ""  # begins a clause that tells of somebody: I will, my brother, the shop opens
    scope: str = ""  # in this project
    order: str = ""  # begins a clause: how to do things (use, answer, keep)
    task: str = ""  # begins a clause: may be a single task (fix, run, explain)
    duty: str = ""  # you must
    forbid: str = ""  # do not use, avoid, stop saying, no ...
    wish: str = ""  # I want you to
    norm: str = ""  # names should be ...
    habit: str = ""  # we use, tests go into
    style: str = ""  # properties of answers and code: tone, emojis, names, language, length
    work: str = ""  # objects of the work: code, branches, folders
    every: str = ""  # all ..., every ..., only
    contrast: str = ""  # instead of
    tell: str = ""  # a forbidden way of answering: suggest, mention
    fixed: str = ""  # a rule by itself: be concise, call me
    nearly: str = ""  # a rule with any other phrase: stick to, prefer
    polite: str = ""  # a rule in polite words, also in a question: can you always, no tables please
    definite: str = ""  # an object at hand: use the, run this
    once: str = ""  # this time, for now, the second
    against: str = ""  # about somebody else, reported, hypothetical, a proverb
    asks: str = ""  # a question without a question mark


WEIGHTS = {
    "standing": 2, "frame": 2, "lasting": 5, "scope": 2, "order": 2, "task": 1,
    "duty": 2, "forbid": 3, "wish": 2, "norm": 3, "habit": 1, "style": 2, "work": 1, "every": 1,
    "contrast": 1, "tell": 2, "fixed": 4, "nearly": 3, "definite": -2, "once": -2, "asks": -6,
}  # fmt: skip
_REQUESTS = frozenset(
    ("lasting", "order", "task", "duty", "forbid", "wish", "norm", "habit", "fixed", "nearly")
)
_HABITS = frozenset(("standing", "frame", "lasting"))
_BORDERS = ",:;.!–—،、，"  # of clauses
# One more thing: ... By the way, ...
_HEAD = re.compile(
    r"(?:[^\s,:;.!?]+ ){0,3}[^\s,:;.!?]+ ?: |(?:[^\s,:;.!?]+ )?[^\s,:;.!?]+, |p\.? ?s\.?:? "
)
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

    __slots__ = (
        "_against", "_lasting", "_lead", "_marks", "_others", "_polite", "_requests", "_so",
        "_subject",
    )  # fmt: skip

    def __init__(self, phrases: Phrases) -> None:
        joint = rf"|\b(?:{phrases.joint}) " if phrases.joint else ""
        # A clause begins at the sentence's start, after a comma, and after "from now on".
        standing = rf"|(?:^|[,:;–—،] ?)(?:{phrases.standing})[,،]? " if phrases.standing else ""
        start = rf"(?:^|[,:;–—،、] ?|\. {standing}{joint})"
        joined = rf"(?:{phrases.joint})"
        after = rf"{joined}[，、]?" if phrases.marks else rf"[,;–—] ?{joined} "
        # The longest pattern of a language begins four shapes with it.
        no_subject = rf"^(?!\W*(?:{phrases.subject}))"
        self._so = _compiled(rf".*{after}" if phrases.joint else "", start)
        self._marks = _compiled(phrases.marks, start)
        self._lead = _compiled(phrases.lead, start)
        self._polite = _compiled(phrases.polite, start)
        self._against = _compiled(phrases.against, start)
        self._lasting = _compiled(phrases.lasting, start)
        self._subject = _compiled(rf"\W*(?:{phrases.subject})" if phrases.subject else "", start)
        patterns = [
            (field.name, WEIGHTS[field.name], pattern)
            for field in fields(phrases)
            if field.name in WEIGHTS
            and (
                pattern := _compiled(
                    _with_shared(field.name, getattr(phrases, field.name)), start, no_subject
                )
            )
        ]
        self._requests = [each for each in patterns if each[0] in _REQUESTS]
        self._others = [each for each in patterns if each[0] not in _REQUESTS]

    def patterns(self) -> Iterator[re.Pattern[str]]:
        """Yield all patterns; each is compiled at its first use."""
        single = (self._marks, self._lead, self._polite, self._so, self._against)
        yield from filter(None, (*single, self._lasting, self._subject))
        yield from (pattern for *_, pattern in (*self._requests, *self._others))

    def marked(self, lower: str) -> bool:
        """Return True if a sentence holds a marker; a sentence without markers is no rule."""
        return self._marks is None or self._marks.search(lower) is not None

    def parts(self, lower: str) -> dict[str, int]:
        """Return the classes of phrases in a lower-case sentence, with their weights; none if it
        has no request, or has evidence against a rule."""
        classes = self._parts(lower)
        head = _HEAD.match(lower) if sum(classes.values()) < RULE else None
        if head is None or (self._subject and self._subject.match(lower, 0, head.end())):
            return classes
        later = self._parts(lower[head.end() :])
        return later if sum(later.values()) >= RULE else classes

    def _parts(self, lower: str) -> dict[str, int]:
        bare = lower
        if self._lead is not None and (lead := self._lead.match(lower)):
            bare = lower[lead.end() :]
        if lower.rstrip("\"'”’)*_ ").endswith(_QUESTION):
            return self._asked(lower, bare)
        classes = _found(self._requests, bare)
        asking = bool(classes)
        if "lasting" in classes and self._tells(bare):
            del classes["lasting"]
        if not classes or (self._against is not None and self._against.search(bare)):
            if asking and self._so is not None and (so := self._so.match(bare)):
                return self._parts(bare[so.end() :])  # I have little time, so always be brief
            return self._asked(lower, bare)
        classes |= _found(self._others, bare)
        if "asks" in classes:
            return {}
        if classes.keys() & _HABITS:  # may have an object at hand: always show the command
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

    def _tells(self, bare: str) -> bool:
        """Return True if each marker of a lasting request stands in a clause that tells of
        somebody: from now on I will eat less."""
        if self._lasting is None or self._subject is None:
            return False
        for mark in self._lasting.finditer(bare):
            at, end = mark.span()
            while at < end and not bare[at].isalnum():
                at += 1
            begin = 1 + max(bare.rfind(border, 0, at) for border in _BORDERS)
            if at - begin > len(" and "):
                where = (begin, at)
            else:  # what the clause holds follows, or stands before: ..., always
                where = (end if len(bare) - end > 2 else 0, len(bare))
            if not self._subject.match(bare, *where):
                return False
        return True

    def _asked(self, lower: str, bare: str) -> dict[str, int]:
        """Return the classes of a question that politely requests a habit: can you always ..."""
        if self._polite is None or not any(map(self._polite.search, {lower, bare})):
            return {}
        return {"polite": RULE}

    def score(self, lower: str) -> int:
        return sum(self.parts(lower).values())


def _found(patterns: Sequence[_Pattern], lower: str) -> dict[str, int]:
    return {name: weight for name, weight, pattern in patterns if pattern.search(lower)}


def _with_shared(name: str, source: str) -> str:
    shared = {"work": _WORK, "style": _STYLE, "definite": _FILE}.get(name, "")
    return "|".join(part for part in (source, shared) if part)


def _compiled(source: str, start: str, *beginnings: str) -> re.Pattern[str] | None:
    """Return a pattern, compiled at its first use: most languages see a few sentences in a history,
    and few of their patterns are used."""
    if not source:
        return None
    return lazily(lambda: grouped(source, *beginnings).replace("{start}", start))
