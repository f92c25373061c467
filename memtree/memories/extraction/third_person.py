"""A sentence in the first person, told of the user: "I'm allergic to nuts" -> "User is allergic to
nuts". Only where each "I" is followed by a verb that is known; else the words stay as they are.

    >>> told_of_user("I don't eat meat because my wife is vegan")
    "User doesn't eat meat because the user's wife is vegan"
    >>> told_of_user("My wife Ingrid and I adopted our greyhound Pickle")
    "User's wife is Ingrid; they adopted their greyhound Pickle"
    >>> told_of_user("I blorped and I zorb") is None
    True
"""

from __future__ import annotations

import re
from functools import cache

from memtree.language.word_file import WordFile
from memtree.text.statements.grammar import WITH_MINE

_DATA = WordFile("en", "memory_third_person")

_BASES = _DATA.words("bases")
_SAME = _DATA.words("same")
_ADVERBS = _DATA.words("adverbs")
_GIVEN = _DATA.table("given")
_JOINED = _DATA.table("joined")
_OWNED = _DATA.table("owned")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|[^\w\s]|\S")
# "I live here and work there": whether "work" is a verb needs a reader.
_LOOSE = re.compile(r"\b(?:and|but|or|then) (?:\w+ly )?([a-z]+)\b")
# ... unless what follows makes it one: "I live here and work as a cook".
_JOINT = frozenset("and but or".split())
_MAKES_VERB = _DATA.pattern("makes_verb")
_ONLY_VERBS = _DATA.words("only_verbs")
_SUBJECTS = _DATA.pattern("subjects")
_FOREIGN = _DATA.pattern("foreign")
_OTHERS = re.compile(r"\b(?:we|us|our|ours|you|your|i'd|let's|lets)\b")

_MINE = re.compile(r"\b(?:i|i'm|i've|i'll|my)\b")
_ME = re.compile(r"\b(?:me|im|mine)\b")
_ENGLISH = _DATA.pattern("english")
_NOT_BOTH = re.compile(r"\b(?:i|i'm|i've|i'd|you|your|let's)\b", re.IGNORECASE)
_THEIRS = _DATA.table("theirs")


@cache
def _boths() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(sorted(_THEIRS, reverse=True))})\b", re.IGNORECASE)


def told_of_user(sentence: str) -> str | None:
    """None where it is not in the first person singular, or cannot be told safely."""
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
