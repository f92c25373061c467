"""Extract memories of one message by rules, and tell them of the user in the third person.

What the message states of the user (`statements.user_statements`) becomes memories. Precision comes
before recall: what no rule knows is left out, with the reason.

    >>> extraction = extract("Hi! I'm allergic to nuts. What can I bake?")
    >>> [(memory.text, memory.category) for memory in extraction.candidates]
    [('User is allergic to nuts', 'fact')]

The stored text is the sentence, told of the user where that can be done word by word: "I'm allergic
to nuts" -> "User is allergic to nuts". Only where each "I" is followed by a verb that is known;
else the words stay as they are.

    >>> told_of_user("I don't eat meat because my wife is vegan")
    "User doesn't eat meat because the user's wife is vegan"
    >>> told_of_user("My wife Ingrid and I adopted our greyhound Pickle")
    "User's wife is Ingrid; they adopted their greyhound Pickle"
    >>> told_of_user("I blorped and I zorb") is None
    True
    >>> told_abroad("Ich bin blind und wohne in Graz"), told_abroad("Me llamo Lucía")
    ('Nutzer ist blind und wohnt in Graz', 'El usuario se llama Lucía')
    >>> predicates("User lives in Graz and works as a nurse").clauses
    (('', 'lives in Graz'), (' and ', 'works as a nurse'))

Every reader of messages, by rules or by a model, returns its memories as `Candidate`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache, partial
from typing import NamedTuple

from memtree.language.languages import language_of
from memtree.language.word_file import WordFile, languages_with
from memtree.statements.calendar_dates import with_day
from memtree.statements.grammar import UNSPACED, WITH_MINE, Skip, SkipReason, is_unspaced
from memtree.statements.memory_gate import LONGEST
from memtree.statements.user_statements import WISH, Statement, read_statements
from memtree.text.normal_form import canonical

_FILE = "memory_third_person"
_NAMES = WordFile("all", "memory_first_person")
_SUBJECT, _ANY_CASE = _NAMES.pattern("user"), _NAMES.pattern("user_within", re.IGNORECASE)
_PERSONS = WordFile("en", _FILE)

_BASES = _PERSONS.words("bases")
_SAME = _PERSONS.words("same")
_ADVERBS = _PERSONS.words("adverbs")
_GIVEN = _PERSONS.table("given")
_JOINED = _PERSONS.table("joined")
_OWNED = _PERSONS.table("owned")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|[^\w\s]|\S")
# "I live here and work there": whether "work" is a verb needs a reader.
_LOOSE = re.compile(r"\b(?:and|but|or|then) (?:\w+ly )?([a-z]+)\b")
# ... unless what follows makes it one: "I live here and work as a cook".
_JOINT = frozenset("and but or".split())
_MAKES_VERB = _PERSONS.pattern("makes_verb")
_ONLY_VERBS = _PERSONS.words("only_verbs")
_SUBJECTS = _PERSONS.pattern("subjects")
_FOREIGN = _PERSONS.pattern("foreign")
_OTHERS = re.compile(r"\b(?:we|us|our|ours|you|your|i'd|let's|lets)\b")

_MINE = re.compile(r"\b(?:i|i'm|i've|i'll|my)\b")
_ME = re.compile(r"\b(?:me|im|mine)\b")
_ENGLISH = _PERSONS.pattern("english")
_NOT_BOTH = re.compile(r"\b(?:i|i'm|i've|i'd|you|your|let's)\b", re.IGNORECASE)
_THEIRS = _PERSONS.table("theirs")


@cache
def _boths() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(sorted(_THEIRS, reverse=True))})\b", re.IGNORECASE)


def told_of_user(sentence: str) -> str | None:
    """Tell a sentence of the user; None where it is not in the first person singular, or cannot be
    told safely."""
    plain = sentence.replace("’", "'")
    lower = plain.lower()
    if len(lower) != len(plain) or not _is_english(lower):
        return None
    if both := WITH_MINE.match(plain):
        return _told_of_both(both, plain[both.end() :])
    if _OTHERS.search(lower):
        return None
    joined = {match.start(1): _is_verb(lower, match) for match in _LOOSE.finditer(lower)}
    if any(verb is None for verb in joined.values()):
        return None
    made: list[str] = []
    at, waits, changed = 0, False, False
    for match in _WORD.finditer(plain):
        word = lower[match.start() : match.end()]
        made.append(plain[at : match.start()])
        at = match.end()
        new: str | None = match.group()
        if word == "i":
            if waits:
                return None
            new, waits, changed = "the user", True, True
        elif word in _JOINED:
            new, changed = f"the user {_JOINED[word]}", True
        elif word in _OWNED:
            new, changed = _OWNED[word], True
        elif joined.get(match.start()):
            new = _verb(word, match.group())
        elif waits and word not in _ADVERBS:
            new, waits = _verb(word, match.group()), False
        if new is None:
            return None
        made.append(new)
    if waits or not changed:
        return None
    retold = "".join(made) + plain[at:]
    return retold.replace("the user", "User", 1) if retold.startswith("the user") else retold


def _is_english(lower: str) -> bool:
    """Return False where "im", "me" or "i" may be a word of another language."""
    if lower.startswith("me ") and not lower.startswith("me and "):
        return False
    surely = _MINE.search(lower) or not _ME.search(lower) or _ENGLISH.search(lower)
    return bool(surely) and not _FOREIGN.search(lower)


def _told_of_both(both: re.Match[str], rest: str) -> str | None:
    """Tell a sentence of the user and of somebody close to them: "they" needs no other verb."""
    if _NOT_BOTH.search(rest):
        return None
    rest = _boths().sub(lambda word: _THEIRS[word[0].lower()], rest)
    kin, name = both["kin"] or both["kin2"], both["name"] or both["name2"]
    if name and name[0].isupper() and not kin.endswith("s"):
        return f"User's {kin} is {name}; they {rest}"
    return f"User and the user's {kin} {name + ' ' if name else ''}{rest}"


def _is_verb(lower: str, match: re.Match[str]) -> bool | None:
    """Return True if the word behind "and" is a verb of the same "I"; None where nobody can
    tell."""
    word = match[1]
    if word not in _BASES and word not in _GIVEN:
        return False
    if not lower.startswith(("i ", "i'm ", "i've ")) or _SUBJECTS.search(lower, 0, match.start()):
        return None
    return True if word in _ONLY_VERBS or _MAKES_VERB.match(lower, match.end(1)) else None


def _verb(word: str, surface: str) -> str | None:
    if word in _GIVEN:
        return _GIVEN[word]
    if word in _SAME or (word.endswith("ed") and len(word) > 4 and word not in ("need", "feed")):
        return surface
    if word not in _BASES:
        return None
    if word == "go" or word.endswith(("s", "sh", "ch", "x", "z")):
        return f"{word}es"
    return f"{word[:-1]}ies" if word.endswith("y") and word[-2] not in "aeiou" else f"{word}s"


def told_abroad(sentence: str) -> str | None:
    """Like `told_of_user`, in the other languages that have a grammar for it; None where none of
    them, or more than one, can tell the sentence."""
    plain = sentence[:1].lower() + sentence[1:].replace("’", "'")
    readings = {
        language: made
        for language in languages_with(_FILE)
        if language != "en" and (language in UNSPACED) == is_unspaced(plain)
        if (made := _told_in(_telling(language), plain)) is not None
    }
    if len(readings) > 1:
        return readings.get(language_of(plain)) or None
    return next(iter(readings.values()), None) or None


def told_of(name: str, text: str, sentence: str) -> str:
    """Return a memory of the user as one of somebody else: with the name in the place of "User", or
    with the sentence as it was said.

    >>> told_of("Ben", "Nutzer hat zwei Katzen", "Ich habe zwei Katzen")
    'Ben hat zwei Katzen'
    >>> told_of("Eva", "Al usuario le gusta el mar", "Me gusta el mar")
    'Eva said: Me gusta el mar'
    """
    if subject := _SUBJECT.match(text):
        return f"{name}{text[subject.end() :]}"
    return f"{name} said: {sentence if _ANY_CASE.search(text) else text}"


class Predicates(NamedTuple):
    """Clauses of a memory about its `subject`, "User " or "User's dog ", each behind its joint, ""
    for the first. No clauses: it is not known where they begin."""

    subject: str = ""
    clauses: tuple[tuple[str, str], ...] = ()


def predicates(text: str) -> Predicates:
    """Part a memory told of the user before each verb that has the same subject. Linear."""
    parted = map(partial(_parted, text), _clause_shapes())
    return max(parted, key=lambda each: len(each.clauses))


def joined(text: str) -> list[str]:
    """Part a text at each word or sign that may join two things that it says, in whatever
    language."""
    return _any_joint().split(text)


class _ClauseShape(NamedTuple):
    """`verb`: one of the third person; `clause`: a joint behind which one stands."""

    verb: re.Pattern[str]
    clause: re.Pattern[str]


_SUBJECT_CHARS = 60
_LAST_WORD = re.compile(r"[^\W\d_]+$")
_STRICT = re.compile(r"(?:the )?user\b", re.IGNORECASE)
# Between a subject and its verb: "ne", "no", "se".
_BETWEEN = r"(?:(?:ne|no|non|não|не|ya|já|se|si) |n'|s')?"


def _parted(text: str, shape: _ClauseShape) -> Predicates:
    first = shape.verb.search(text, 0, _SUBJECT_CHARS)
    subject = text[: first.start()] if first else ""
    named = _STRICT.match(subject) or _ANY_CASE.search(subject)
    if first is None or not named or len(joined(subject)) > 1:
        return Predicates()
    clauses, joint, start = list[tuple[str, str]](), "", first.start()
    for match in shape.clause.finditer(text, first.end()):
        clauses.append((joint, text[start : match.start()]))
        joint, start = match.group(), match.end()
    return Predicates(subject, (*clauses, (joint, text[start:])))


def _joints(language: str) -> str:
    part = WordFile(language, _FILE).part("joints")
    return rf"[，；](?:{part})?" if language in UNSPACED else rf",? (?:{part}) "


@cache
def _any_joint() -> re.Pattern[str]:
    joints = "|".join(map(_joints, _joining()))
    return re.compile(rf"{joints}|[.;!] |[。、]|\n", re.IGNORECASE)


def _joining() -> list[str]:
    return [each for each in languages_with(_FILE) if "joints" in WordFile(each, _FILE).names()]


@cache
def _clause_shapes() -> tuple[_ClauseShape, ...]:
    return tuple(map(_clause_shape, _joining()))


def _clause_shape(language: str) -> _ClauseShape:
    file, joints = WordFile(language, _FILE), rf"(?:{_joints(language)}|[,;] )"
    if language in UNSPACED:
        first = verb = file.part("predicates")
    elif language == "en":
        bases = {word: _verb(word, word) or "" for word in _BASES}
        sure = {*_GIVEN.values(), "are", *(bases.get(word, "has") for word in _ONLY_VERBS)}
        surely, most = _either(sure), _either({*bases.values(), *_SAME})
        adverbs = rf"(?:{_either(_ADVERBS)} )*"
        first = rf"\b{adverbs}(?:{surely}|{most})\b"
        verb = rf"{adverbs}(?:{surely}\b|{most}(?={file.part('makes_verb')}))"
    else:
        ends = filter(None, map(_LAST_WORD.search, file.entries("openings")))
        forms = {end[0] for end in ends if end[0].islower() and not _ANY_CASE.search(end[0])}
        verb = rf"{_BETWEEN}{_either({*forms, *file.table('verbs').values()})}\b"
        first = rf"\b{verb}"
    return _ClauseShape(
        re.compile(first, re.IGNORECASE), re.compile(rf"{joints}(?={verb})", re.IGNORECASE)
    )


def _either(words: Collection[str]) -> str:
    return f"(?:{'|'.join(sorted(words))})"


class _Telling(NamedTuple):
    openings: tuple[tuple[re.Pattern[str], str], ...]
    own: re.Pattern[str]
    words: re.Pattern[str] | None
    joint_verb: re.Pattern[str] | None
    forms: Mapping[str, str]


@cache
def _telling(language: str) -> _Telling:
    file = WordFile(language, _FILE)
    spaced = r"\b" if language not in UNSPACED else ""
    names = file.names()
    verbs, words = (
        file.table(name) if name in names else dict[str, str]() for name in ("verbs", "words")
    )
    verb = rf"(?P<v>{'|'.join(sorted(verbs, reverse=True))})\b"
    openings = []
    for line in file.entries("openings"):
        opening, _, beginning = line.partition(" = ")
        whole = opening.replace("@", verb) + ("" if opening.endswith((" ", ")")) else spaced)
        openings.append((re.compile(whole, re.IGNORECASE), beginning))
    joints = file.part("joints") if "joints" in names else ""
    again = file.part("again") if "again" in names else ""
    return _Telling(
        tuple(openings),
        re.compile(rf"{spaced}(?:{file.part('own')}){spaced}", re.IGNORECASE),
        re.compile(rf"{spaced}(?:{'|'.join(words)}){spaced}", re.IGNORECASE) if words else None,
        re.compile(rf"\b(?P<joint>(?:{joints}) )(?:{again})?{verb}") if verbs else None,
        {**verbs, **words},
    )


def _told_in(telling: _Telling, sentence: str) -> str | None:
    """Tell a sentence in one language; None if it is not of that language, "" if it cannot be
    told."""
    for opening, beginning in telling.openings:
        match = opening.match(sentence)
        if match is None:
            continue
        rest = sentence[match.end() :]
        if telling.joint_verb:
            rest = telling.joint_verb.sub(
                lambda verb: verb["joint"] + telling.forms[verb["v"]], rest
            )
        if "@" in beginning:
            beginning = beginning.replace("@", telling.forms[match["v"].lower()])
        made = match.expand(beginning) + rest
        if telling.words:
            made = telling.words.sub(lambda word: telling.forms[word[0].lower()], made)
        return "" if telling.own.search(made) else made[:1].upper() + made[1:]
    return None


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
    """The candidates found in a message, and the texts left out, both in its order."""

    candidates: tuple[Candidate, ...] = ()
    skipped: tuple[Skip, ...] = ()


MOST = 8
SKIPS = 100  # that are told of one message

# Whose words they are has to be said where nothing else tells it.
_FIRST_PERSON = _NAMES.pattern("first_person", re.IGNORECASE)
_SAID = re.compile(r"(?:User said|Nutzer sagte): (?P<words>.*?)(?P<day> \(said [0-9-]{10}\))?")
_SPEAKER = _NAMES.pattern("speaker", re.IGNORECASE)


def extract(
    text: str, said: date | None = None, *, most: int = MOST, fiction: bool = False
) -> Extraction:
    """Extract what of a message is worth remembering, and what was left out. `said`: the day it was
    said. `fiction`: an earlier message, of whomever, was a role-play (`fiction.is_role_play`)."""
    read = read_statements(text, said, fiction=fiction)
    candidates: dict[str, Candidate] = {}
    skipped = list(read.skipped)
    for statement in read.statements:
        candidate = _candidate(text, statement, said)
        key = canonical(candidate.text)
        if key in candidates or len(candidates) >= most:
            reason = SkipReason.DUPLICATE if key in candidates else SkipReason.CAP
            skipped.append(Skip(statement.start, statement.end, reason))
        else:
            candidates[key] = candidate
    skipped.sort(key=lambda skip: skip.start)
    return Extraction(tuple(candidates.values()), tuple(skipped[:SKIPS]))


def retold(text: str) -> str:
    """Return a stored memory as it would be told today: of "User said: ..." what can be told of the
    user, with the day on which it was said.

    >>> retold("User said: I'm blind"), retold("Nutzer sagte: Ich bin blind (said 2026-01-31)")
    ('User is blind', 'Nutzer ist blind (said 2026-01-31)')
    """
    if not (said := _SAID.fullmatch(text)):
        return text
    words, day = said["words"], said["day"] or ""
    retelling = told_of_user(words) or told_abroad(words)
    return retelling + day if retelling and len(retelling) <= LONGEST else text


def _candidate(text: str, stated: Statement, said: date | None) -> Candidate:
    words = " ".join(text[stated.start : stated.end].split()).rstrip(" ,;:-–—")
    words = (words[0].upper() + words[1:]).rstrip(".!。！")
    statement = told_of_user(words) if stated.english else None
    if statement is None and not (stated.what == WISH and is_unspaced(words)):
        statement = told_abroad(words)
    if statement is None or len(statement) > LONGEST:
        person = _SPEAKER if stated.what == WISH else _FIRST_PERSON  # an order speaks for itself
        mine = not stated.english or person.search(words)
        statement = f"User said: {words}" if mine else words
    dated = statement if stated.what == WISH else with_day(statement, said, stated.days)
    return Candidate(dated, stated.category, stated.start, stated.end)
