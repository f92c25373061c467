"""One form for the inflections of an English word, narrower than the stem that searches use.

A search may confuse a plan with a plane; a rule that drops a memory may not.

    >>> [base_form(word) for word in ("plans", "planes", "hoping", "hopping", "studies", "visited")]
    ['plan', 'plane', 'hope', 'hop', 'study', 'visit']
"""

from __future__ import annotations

import re

_VOWELS = re.compile("[aeiouy]+")
_SHORT = re.compile("[^aeiou]*[aeiou][^aeiouwxy]")  # one vowel, one consonant: hop, lik, us
_SIBILANT = ("sses", "shes", "ches", "xes", "zes")
_SOFT = ("rg", "nc", "rs", "lv", "rv", "dg", "ns", "rc", "th")  # charg-ing is of charge
_IE = frozenset(
    "movies cookies calories selfies zombies hoodies brownies rookies pies ties lies".split()
)
_KEPT = frozenset("news always gas lens series species chaos".split())
_DERIVED = ("ion", "ment", "ness")


def base_form(word: str) -> str:
    """The form of a lower-case ASCII word."""
    if word in _KEPT:
        return word
    if word in _IE:
        word = word.removesuffix("s")
    elif len(word) > 4 and word.endswith(("ies", "ied")):
        word = word[:-3] + "y"
    elif word.endswith(_SIBILANT):
        word = word[:-2]
    elif len(word) > 3 and word[-1] == "s" and word[-2] not in "suia'":
        word = word[:-1]
    else:
        for ending in ("ing", "ed"):
            rest = word[: -len(ending)]
            if word.endswith(ending) and len(rest) >= 2 and _VOWELS.search(rest):
                word = _verb(rest)
                break
    for ending in _DERIVED:
        if word.endswith(ending) and len(word) - len(ending) >= 5:
            word = word[: -len(ending)]
            break
    if word[-1:] == "e" and len(_VOWELS.findall(word[:-1])) > 1:
        word = word[:-1]
    return word


def _verb(rest: str) -> str:
    """Return the verb before -ing or -ed."""
    if len(rest) > 3 and rest[-1] == rest[-2] and rest[-1] not in "lsz":
        return rest[:-1]
    if _SHORT.fullmatch(rest) or (rest.endswith(_SOFT) and len(_VOWELS.findall(rest)) == 1):
        return rest + "e"
    return rest
