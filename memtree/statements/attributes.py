"""Read what a sentence says of a person that they have one of at a time.

That is a home, an employer, a diet, an editor. The first person and the form of notes are read into
the same.

    >>> attributes("I don't live in Graz any more.")
    (Attribute(what='home', value='Graz', denied=True, ended=True, language='en'),)
    >>> [attributes(text)[0].value for text in ("Ich wohne in Linz", "Nutzer wohnt in Linz")]
    ['Linz', 'Linz']
    >>> changed("User uses MySQL", "User said: I use Postgres").differs
    'postgres -> mysql'
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from itertools import islice
from posixpath import commonprefix
from typing import NamedTuple

from memtree.language.word_file import WordFile, WordFiles, languages_with
from memtree.statements import memory_gate
from memtree.statements.calendar_dates import DateKind, dates
from memtree.statements.grammar import UNSPACED, is_unspaced

FILE = "statement_attributes"
READ, SENTENCES = 400, 4  # characters of a text that are read, and sentences of it
KINDS = (
    "home", "employer", "job", "partner", "diet", "name", "tongue", "allergy", "health", "car",
    "phone", "laptop", "uses", "favourite", "prefers", "several",
)  # fmt: skip
# How an attribute is called, where that is not the name of its section.
_NAMES = {"tongue": "language", "car": "owns:car", "phone": "owns:phone", "laptop": "owns:laptop"}
_NAMED = ("home", "employer", "name", "uses")
_SEVERAL = ("several", "allergy", "health")  # of these a person may have more than one
_ALL = WordFile("all", FILE)


def _whole(words: str) -> str:
    """Return a pattern of whole words, or of parts where a script has no spaces."""
    return rf"(?<![^\W\u3040-\u30ff\u3400-\u9fff])(?:{words})(?![^\W\u3040-\u30ff\u3400-\u9fff])"


_TOOLS, _CHOICES = _ALL.by_word("tools"), _ALL.by_word("choices")
_ADJECTIVE_LAST = ("es", "fr", "it", "pt")
_GONE, _SWITCHED = (
    WordFiles(FILE, without=("all",)).pattern(section, re.IGNORECASE, _whole)
    for section in ("gone", "switched")
)
_SAID = re.compile(r"^User said: |\s*\(said [0-9-]{10}\)\s*$")
_SENTENCE_END = re.compile(r"(?<=[\w)»\"'])[.!;](?:\s+|$)|[。！；\n]")
_CLAUSE_END = re.compile(r"[,;:(（，、]|\s[–-]\s")
_WORD = re.compile(r"\w+(?:['+#-]+\w+)*[+#]*")
_ARTICLES, _SUBJECTS = _ALL.words("articles"), _ALL.words("subjects")
_ALSO = _ALL.pattern("also", re.IGNORECASE, _whole)
_MOST_WORDS = 5  # of a value
_REPLACED = ("owns", "partner", "allergy", "uses", "home", "employer", "health")
_SHORT, _LEAST, _SHARE = 3, 4, 0.75  # letters, and the part of the shorter word, that forms share


class Attribute(NamedTuple):
    """`what`: home, employer, job, partner, diet, name, language (the first one), `owns:car`,
    `uses:` with a kind of tool, `prefers:` with what is chosen, `allergy:` with the substance,
    health, `habit:` with what is done, several. `value`: its words as they stand. `denied`: it is
    not so; `ended`: it is so no more. `language`: whose patterns read it."""

    what: str
    value: str
    denied: bool = False
    ended: bool = False
    language: str = ""


class Change(NamedTuple):
    """`differs`: "old -> new", "" where nothing of one attribute changed. `apart`: the texts tell
    two things of which people have several."""

    differs: str = ""
    apart: bool = False


@lru_cache(maxsize=4_096)
def attributes(text: str) -> tuple[Attribute, ...]:
    """Return the attributes of the user that a text tells: of the writer, or of "User". Linear; of
    a long text only the beginning is read."""
    plain = _SAID.sub("", text[:READ]).replace("’", "'").replace("n't", " not")
    sentences = (" ".join(each.split()) for each in _SENTENCE_END.split(plain))
    read = map(_attribute, islice(filter(None, sentences), SENTENCES))
    return tuple(each for each in read if each)


def changed(new: str, old: str) -> Change:
    """Tell whether a text gives another value to an attribute that an older one tells."""
    apart = False
    olds = attributes(old) if tells_change(new) else ()
    for one in attributes(new) if olds else ():
        for other in olds:
            kind = one.what.partition(":")[0]
            if not _same_thing(kind, one, other):
                continue
            same = _alike(one.value, other.value)
            away, was_away = one.denied or one.ended, other.denied or other.ended
            if same and away != was_away:
                sides = (one.value, f"not {one.value}")
                return Change(f"{sides[was_away]} -> {sides[away]}")
            if same or away or was_away or not _comparable(kind, one, other):
                continue
            if kind not in _SEVERAL:
                return Change(f"{other.value} -> {one.value}")
            apart = set(_words(one.value)).isdisjoint(_words(old)) and (
                set(_words(other.value)).isdisjoint(_words(new))
            )
    differs = next(filter(None, (_replaced(new, other) for other in olds)), "")
    return Change(differs, apart and not differs)


def tells_change(text: str) -> bool:
    """Return True if a text tells an attribute, or of something of the user's that it is over or
    replaced."""
    head = text[:READ]
    return bool(attributes(text) or _GONE.search(head) or _SWITCHED.search(head))


def _replaced(new: str, old: Attribute) -> str:
    """Tell what a text changes that names the older value as over, or another tool of its kind."""
    kind, _, subject = old.what.partition(":")
    text = new[:READ]
    if kind not in _REPLACED or old.denied or old.ended or not memory_gate.is_own(text.lower()):
        return ""
    words = _WORD.findall(text.lower())
    if kind == "uses" and _SWITCHED.search(text):
        tools = [word for word in words if _TOOLS.get(word) == subject]
        if tools and not _alike(tools[0], old.value):
            return f"{old.value} -> {tools[0]}"
    named = [word for word in _words(old.value) if len(word) > _SHORT or is_unspaced(word)]
    if _GONE.search(text) and any(word in text.lower() for word in named):
        return f"{old.value} -> not {old.value}"
    return ""


def _same_thing(kind: str, one: Attribute, other: Attribute) -> bool:
    if kind == "habit" and other.what.startswith("habit:"):
        return _alike(one.what.partition(":")[2], other.what.partition(":")[2])
    return one.what == other.what or (kind == "allergy" and other.what.startswith("allergy:"))


def _comparable(kind: str, one: Attribute, other: Attribute) -> bool:
    """Return True if two values may be told apart: names, or words of one language."""
    if one.language == other.language:
        return True
    return kind in _NAMED and is_unspaced(one.value) == is_unspaced(other.value)


def _alike(one: str, other: str) -> bool:
    """Return True if the words of one value are in the other, in some form: all, or of more than
    two the half."""
    ours, theirs = _words(one), _words(other)
    less, more = sorted((ours, theirs), key=len)
    shared = sum(any(_forms(word, each) for each in more) for word in less)
    return shared == len(less) or 2 * shared >= len(less) > 2


def _words(value: str) -> list[str]:
    return [word for word in _WORD.findall(value.lower()) if word not in _ARTICLES]


def _forms(one: str, other: str) -> bool:
    """Teacher, teachers; Вена, Вене; but not Bern, Berlin."""
    least = min(len(one), len(other))
    shared = len(commonprefix((one, other)))
    if shared == least:
        return len(one) == len(other) or least >= _SHORT
    return shared >= max(_LEAST, _SHARE * least)


def _attribute(sentence: str) -> Attribute | None:
    unspaced = is_unspaced(sentence)
    clause = _CLAUSE_END.split(sentence, maxsplit=1)[0]
    for language in languages_with(FILE):
        if language == "all" or (language in UNSPACED) != unspaced:
            continue
        grammar = _grammar(language)
        rest, ended = grammar.ended.subn("", clause)
        rest, denied = grammar.denied.subn("", rest)
        rest = " ".join(rest.split())
        if not grammar.any_kind.match(rest):
            continue
        for section, pattern in grammar.kinds.items():
            if (match := pattern.match(rest)) and (made := _made(section, match, grammar)):
                return made._replace(denied=denied > 0, ended=ended > 0, language=language)
    return _habit(sentence)


def _made(section: str, match: re.Match[str], grammar: _Grammar) -> Attribute | None:
    *subject, value = (group for group in match.groups() if group is not None)
    value = grammar.stop.split(value, maxsplit=1)[0].strip(" .,!?'\"«»“”")
    head, _, rest = value.partition(" ")
    value = rest if head.lower() in _ARTICLES else value
    words = _words(value)[:_MOST_WORDS]
    if not words:
        return None
    if section == "uses":
        return _of_kind("uses", words, _TOOLS)
    if section == "favourite":
        return Attribute(f"prefers:{subject[0].lower()}", value)
    if section == "prefers":
        return _preference(value, words, grammar)
    shown = " ".join(value.split()[:_MOST_WORDS])
    if section == "allergy":
        return Attribute(f"allergy:{words[0]}", shown)
    return Attribute(_NAMES.get(section, section), shown)


def _preference(value: str, words: list[str], grammar: _Grammar) -> Attribute | None:
    """Tell the kind: a known one, one of a pair, or what the words about it stand for."""
    chosen, *others = grammar.over.split(value, maxsplit=1)
    known = _of_kind("prefers", _words(chosen), _CHOICES)
    if known or (len(words) == 1 and not others):
        return known
    if others:
        pair = sorted(" ".join(_words(part)[:_MOST_WORDS]) for part in (chosen, *others))
        return Attribute(f"prefers:{' | '.join(pair)}", chosen.strip())
    if grammar.adjective_last:
        return Attribute(f"prefers:{words[0]}", " ".join(words[1:]))
    return Attribute(f"prefers:{words[-1]}", " ".join(words[:-1]))


def _of_kind(what: str, words: Iterable[str], kinds: Mapping[str, str]) -> Attribute | None:
    known = [word for word in words if word in kinds]
    if not known:
        return None
    kind = kinds[known[0]]
    return Attribute(f"{what}:{kind}", " ".join(word for word in known if kinds[word] == kind))


def _habit(sentence: str) -> Attribute | None:
    """Read something done on a weekday."""
    for day in () if _ALSO.search(sentence) else dates(sentence):
        if day.kind is DateKind.RECURRING:
            rest = f"{sentence[: day.start]} {sentence[day.end :]}"
            what = [word for word in _words(rest) if word not in _SUBJECTS][:_MOST_WORDS]
            when = sentence[day.start : day.end]
            return Attribute(f"habit:{' '.join(what)}", when) if what else None
    return None


class _Grammar(NamedTuple):
    denied: re.Pattern[str]
    ended: re.Pattern[str]
    stop: re.Pattern[str]
    over: re.Pattern[str]
    any_kind: re.Pattern[str]  # to see at once that it is none of the kinds
    kinds: dict[str, re.Pattern[str]]
    adjective_last: bool


@cache
def _grammar(language: str) -> _Grammar:
    file = WordFile(language, FILE)
    spaced = language not in UNSPACED

    def words(section: str) -> re.Pattern[str]:
        part = file.part(section)
        return re.compile(rf"(?<!\w)(?:{part})(?:(?<=')|(?!\w))" if spaced else part, re.IGNORECASE)

    def kind(section: str) -> re.Pattern[str]:
        behind = r"\b\s*@" if spaced else "@"
        entries = (each if "@" in each else each + behind for each in file.entries(section))
        return re.compile("|".join(map(_with_places, entries)), re.IGNORECASE)

    kinds = {name: kind(name) for name in KINDS if name in file.names()}
    whole = re.compile("|".join(each.pattern for each in kinds.values()), re.IGNORECASE)
    last = language in _ADJECTIVE_LAST
    return _Grammar(
        words("denied"), words("ended"), words("stop"), words("over"), whole, kinds, last
    )


def _with_places(entry: str) -> str:
    value = "(.{1,60})" if entry.endswith("@") else "([^は]{1,40}?)"  # no other's: 弟は
    return entry.replace("#", r"(\S{1,30})").replace("@", value)
