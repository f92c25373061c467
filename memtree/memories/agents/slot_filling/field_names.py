"""The names of schema fields as people say them: `favoriteColor`, "favourite colour".

>>> spoken("favouriteColours")
'favorite color'
>>> topics(spoken("userName"))
('name', 'title')
"""

from __future__ import annotations

import re
from functools import cache

from memtree.language.word_file import WordFile

_DATA = WordFile("en", "memory_field_names")

_BORDER = re.compile(
    r"(?<=[a-z0-9ß-öø-ÿ])(?=[A-ZÀ-ÖØ-Þ])|(?<=[A-ZÀ-ÖØ-Þ])(?=[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ])"
)
_WORD = re.compile(r"[^\W_]+")
READ = 200  # characters of a name
_MEANINGLESS = _DATA.words("meaningless")
_BRITISH = _DATA.table("british")
_KEPT = _DATA.words("kept")


def words(name: str) -> list[str]:
    """The words of an identifier or a phrase, in lower case. Linear."""
    return _WORD.findall(_BORDER.sub(" ", name[:READ].replace("'s ", " ")).lower())


def spoken(name: str) -> str:
    """One spelling for a field's name and what people call it; "" where it says nothing."""
    spelled = [_BRITISH.get(word, word) for word in words(name)]
    kept = [word for word in spelled if word not in _MEANINGLESS] or spelled
    return " ".join(singular(word) for word in kept)


def singular(word: str) -> str:
    """A crude singular: both sides of a comparison get the same."""
    if word in _KEPT or len(word) < 4:
        return {"kids": "kid"}.get(word, word)
    if word in ("children", "child"):
        return "child"
    if word == "people":
        return "person"
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith(("sses", "shes", "ches", "xes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


@cache
def _topics_by_phrase() -> dict[str, tuple[str, ...]]:
    file = WordFile("en", "memory_topics")
    by_phrase: dict[str, tuple[str, ...]] = {}
    for topic in file.names():
        for name in dict.fromkeys(map(spoken, file.entries(topic))):
            by_phrase[name] = (*by_phrase.get(name, ()), topic)
    return by_phrase


def topics(phrase: str) -> tuple[str, ...]:
    """Return what a spoken name is about; () where that is not known."""
    return _topics_by_phrase().get(phrase, ())
