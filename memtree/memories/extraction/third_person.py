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

from memtree.memories.extraction.statements.plain_form import WITH_MINE

_BASES = frozenset(
    """
    live work study speak own drive play use run code program develop write deploy host prefer like
    love
    enjoy hate dislike adore detest loathe favor favour avoid teach coach volunteer commute rent
    smoke vape
    meditate practise practice train collect grow sing paint knit crochet brew bake cook swim cycle
    jog climb
    surf ski hike camp fish garden hunt manage lead freelance report eat drink take wear suffer
    struggle
    identify sleep wake get go attend belong follow weigh translate earn make want need plan hope
    intend aim
    aspire dream tend find keep know think mean come call pay sell buy read watch listen walk stay
    travel
    start stop finish visit see feel help look try spend save learn believe leave meet say tell ask
    bring draw dance sew ride fly listen tend lift skate sail row box juggle type stream blog vote
    wish owe share support miss mind trust respect fear lack carry spell pronounce
    """.split()
)
_SAME = frozenset(
    """
    can could will would must should might may was had did went got came became bought brought
    built chose
    drove ate fell felt found gave grew kept knew left lost made met moved paid quit ran read said
    saw sold
    spent spoke studied taught thought told took understood won wrote began broke lived can't
    cannot couldn't
    won't wouldn't mustn't shouldn't didn't wasn't hadn't never
    """.split()
)
_ADVERBS = frozenset(
    """
    also usually always never mostly mainly only often sometimes generally normally actually
    currently really
    still both all typically regularly primarily rarely no longer already exclusively officially
    strictly
    recently now just finally definitely absolutely personally strongly honestly much
    """.split()
)
_GIVEN = {
    "am": "is",
    "have": "has",
    "do": "does",
    "don't": "doesn't",
    "dont": "doesn't",
    "haven't": "hasn't",
}
_JOINED = {"i'm": "is", "im": "is", "i've": "has", "i'll": "will"}
_OWNED = {"my": "the user's", "mine": "the user's", "me": "the user", "myself": "themselves"}
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|[^\w\s]|\S")
# "I live here and work there": whether "work" is a verb needs a reader.
_LOOSE = re.compile(r"\b(?:and|but|or|then) (?:\w+ly )?([a-z]+)\b")
# ... unless what follows makes it one: "I live here and work as a cook".
_JOINT = frozenset("and but or".split())
_MAKES_VERB = re.compile(r" (?:as|at|in|for|with|from|on|to|a|an|the|my|our|two|three|\d+|not)\b")
_ONLY_VERBS = frozenset(
    "live have am prefer own eat enjoy hate teach need want avoid don't".split()
)
_SUBJECTS = re.compile(r"\b(?:he|she|they|it|we|who|that|which|because|when|while|if|my|our)\b")
_FOREIGN = re.compile(
    r"\b(?:ich|und|der|das|ist|nicht|mit|je|j'\w+|le|les|une?|est|pas|el|los|una|con|por|que"
    r"|gustan?|encantan?|eu|não|um|uma|il|gli|miei|mie|mio|mia|che|di|ho|sono|ik|het|een|niet|mijn"
    r"|soy|tengo)\b"
)
_OTHERS = re.compile(r"\b(?:we|us|our|ours|you|your|i'd|let's|lets)\b")

_MINE = re.compile(r"\b(?:i|i'm|i've|i'll|my)\b")
_ME = re.compile(r"\b(?:me|im|mine)\b")
_ENGLISH = re.compile(
    r"\b(?:the|to|of|and|with|call|tell|give|send|show|answer|write|always|never|when|don't)\b"
)
_NOT_BOTH = re.compile(r"\b(?:i|i'm|i've|i'd|you|your|let's)\b", re.IGNORECASE)
_THEIRS = {
    "we": "they", "we're": "they're", "we've": "they've", "our": "their", "ours": "theirs",
    "us": "them", "ourselves": "themselves", "my": "the user's", "me": "the user",
}  # fmt: skip
_BOTHS = re.compile(rf"\b(?:{'|'.join(sorted(_THEIRS, reverse=True))})\b", re.IGNORECASE)


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
    told = "".join(made) + plain[at:]
    return told.replace("the user", "User", 1) if told.startswith("the user") else told


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
    rest = _BOTHS.sub(lambda word: _THEIRS[word[0].lower()], rest)
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
