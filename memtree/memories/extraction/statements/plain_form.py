"""An English sentence in the form that the patterns of statements know: "I" is who speaks, also
where it is "my wife Ingrid and I" or "we", and nothing is denied.

    >>> plain("me and my partner jo don't have a car")
    'i have a car'
    >>> plain("my flat doesn't have a balcony")
    'my flat has a balcony'
"""

from __future__ import annotations

import re

from memtree.memories.extraction.statements.people import AROUND, KIN
from memtree.text.lazy_patterns import lazily

_RELATIVE = rf"(?P<who>(?:my|our) (?P<kin>(?:[\w'-]+ ){{0,2}}?(?:{KIN}|{AROUND})))"
_NAMED = r"(?:,? (?P<name>(?!and\b|or\b)[^\W\d_][\w'-]*),?)?"
# Group `name` is the relative's.
WITH_MINE = lazily(
    rf"(?:both )?{_RELATIVE}{_NAMED} and i (?=\w)|(?:me|i) and (?P<who2>my (?P<kin2>"
    rf"(?:[\w'-]+ ){{0,2}}?(?:{KIN}|{AROUND})))(?:,? (?P<name2>(?!(?:have|are|were|live|both|do"
    r"|don't|just|also|never|got|went|met|work|moved|like|love|hate|own|share|can|can't|will|would"
    r"|bought|adopted|is|was|had|always|usually)\b)[^\W\d_][\w'-]*))? (?=\w)",
    re.IGNORECASE,
)
_MINE_BOTH = lazily(
    rf"{_RELATIVE}{_NAMED} and (?:my|our) (?:[\w'-]+ ){{0,2}}?(?:{KIN}|{AROUND})"
    r"(?:,? (?!are\b|have\b|both\b|live\b)[^\W\d_][\w'-]*,?)? (?=are\b|have\b|both\b|live\b)"
)
_WE = lazily(
    r"(?:we|(?:at (?:work|home|our \w+),? )?(?:everyone|everybody|all of us|no ?one|nobody)"
    r"(?: (?:at|in|on) (?:work|home|(?:my|our) \w+))? (?=is\b|uses?\b|eats?\b|speaks?\b|drinks?\b))"
    r" ?(?P<be>'re\b|are\b|is\b)?(?P<have>'ve\b)?"
)
_SHARE = re.compile(r"^(?:neither|none|both|one|two|some|all) of (?=(?:my|our)\b)")
_SINGULAR = re.compile(r"^(use|eat|speak|drink)s\b")  # "nobody eats pork"
_MORE = r"(?:(?:really|actually|currently|still|also|personally|just|ever|even|at all) )*"
_OWN = r"((?:my|our) (?:[\w'-]+ ){1,3}?)"
_DENIED = (
    (re.compile(r"i(?:'ve| have)? never had (?=\w)"), "i have "),
    (re.compile(r"i(?: haven't| have not| havent)(?= got\b)"), "i have"),
    (re.compile(rf"i (?:don't|dont|do not|can't|cannot|no longer|never) {_MORE}(?=\w)"), "i "),
    (re.compile(rf"(i(?:'m|m| am)) {_MORE}(?:not|no longer|never) {_MORE}(?=\w)"), r"\1 "),
    (re.compile(rf"{_OWN}(?:doesn't|does not|doesnt) have\b"), r"\1has"),
    (re.compile(rf"{_OWN}(?:isn't|is not|isnt)\b"), r"\1is"),
    (re.compile(rf"{_OWN}(?:aren't|are not|arent)\b"), r"\1are"),
)


def plain(lower: str) -> str:
    """Return the sentence, in lower case, as one about "i" that denies nothing. The rest of its
    words stay as they are."""
    lower = _SHARE.sub("", lower, count=1)
    joint = WITH_MINE.match(lower) or _MINE_BOTH.match(lower)
    if joint:
        lower = f"we {lower[joint.end() :]}"
    we = _WE.match(lower)
    if we:
        be = "am" if we["be"] else ""
        have = "have" if we["have"] else ""
        rest = _SINGULAR.sub(r"\1", lower[we.end() :].strip())
        lower = " ".join(filter(None, ("i", be, have, rest)))
    for pattern, affirmed in _DENIED:
        if match := pattern.match(lower):
            return match.expand(affirmed) + lower[match.end() :]
    return lower
