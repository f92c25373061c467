"""An English sentence in the form that the patterns of statements know: "I" is who speaks, also
where it is "my wife Ingrid and I" or "we", and nothing is denied.

    >>> plain("me and my partner jo don't have a car")
    'i have a car'
    >>> plain("my flat doesn't have a balcony")
    'my flat has a balcony'
"""

from __future__ import annotations

import re

from memtree.language.word_file import WordFile

_DATA = WordFile("en", "memory_plain_form")

# Group `name` is the relative's.
WITH_MINE = _DATA.pattern("with_mine", re.IGNORECASE)
_MINE_BOTH = _DATA.pattern("mine_both")
_WE = _DATA.pattern("we")
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
