"""Forms in which people speak of themselves in other languages than English, one data file each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from memtree.language.word_file import WordFiles
from memtree.memories.agents.slot_filling.field_claims import (
    MEANT,
    NAMED,
    NUMERIC,
    TEXTS,
    Claim,
    claim,
)
from memtree.memories.agents.slot_filling.forms.lexicon import COUNTRIES
from memtree.memories.agents.slot_filling.user_statements import Statement
from memtree.memories.agents.slot_filling.values import value_end

_DATA = WordFiles("memory_self_statements", without=("all", "en"))


def _before(behind: str) -> Callable[[str], str]:
    """Return what makes a pattern of alternatives that stand before `behind`."""
    return lambda alternatives: f"(?:{alternatives}){behind}"


def _ages(alternatives: str) -> str:
    numbered = alternatives.replace("{number}", r"(\d{1,3})")
    return f"(?:{numbered})$"


def _jobs(alternatives: str) -> str:
    return f"(?:{alternatives}) (?:{_DATA.part('article')})? ?"


_NAME = _DATA.pattern("name", shaped=_before(" "))
_AM = _DATA.pattern("am", re.IGNORECASE, _before(r" (?P<name>[A-ZÀ-Þ][\w’'-]+)(?=$|,)"))
_AGE = _DATA.pattern("age", shaped=_ages)
_LIVE = _DATA.pattern("live", shaped=_before(" "))
_JOB = _DATA.pattern("work_as", shaped=_jobs)
_FIRM = _DATA.pattern("work_at", shaped=_before(" "))
_COLOR = _DATA.pattern("favorite_color", shaped=_before(" "))
_ALLERGIC = _DATA.pattern("allergic", shaped=_before(" "))
_SPEAKS = _DATA.pattern("speak", shaped=_before(" "))
_STOP = _DATA.pattern("stop", shaped=lambda words: rf",| (?:{words})\b")
_NO_LANGUAGE = _DATA.pattern("not_a_language", shaped=lambda words: rf"\b(?:{words})\b")
_NAMES = (
    (_NAME, ("@name",), False),
    (_LIVE, (), True),
    (_FIRM, ("@employer",), True),
)


def meant_abroad(said: Statement) -> Iterator[Claim]:
    """Yield the claims of a statement in a language other than English. Takes linear time."""
    lower = said.lower
    for pattern, names, place in _NAMES:
        if match := pattern.match(lower):
            stop = _STOP.search(lower, match.end())
            end = min(value_end(lower, match.end()), stop.start() if stop else len(lower))
            if not said.text[match.end() : end][:1].isupper():
                continue
            if place and not names:
                land = lower[match.end() : end] in COUNTRIES
                topic = "@country" if land else "@city"
                for name in (topic, "@location"):
                    yield claim(
                        said, (name,), match.end(), end, MEANT, TEXTS, right=True, listed=False
                    )
            else:
                yield claim(said, names, match.end(), end, NAMED, TEXTS, right=True, listed=False)
    match = _AM.match(said.text)
    if match and match["name"][0].isupper():
        yield claim(said, ("@name",), *match.span("name"), MEANT, TEXTS, right=True, listed=False)
    if match := _AGE.match(lower):
        yield claim(said, ("@age",), *match.span(match.lastindex or 0), MEANT, NUMERIC)
    if match := _JOB.match(lower):
        stop = _STOP.search(lower, match.end())
        end = min(value_end(lower, match.end()), stop.start() if stop else len(lower))
        yield claim(
            said, ("@occupation",), match.end(), end, MEANT, TEXTS, right=True, listed=False
        )
    if match := _COLOR.match(lower):
        end = value_end(lower, match.end())
        yield claim(said, ("favorite color",), match.end(), end, NAMED, TEXTS)
    for pattern, name in ((_ALLERGIC, "@allergy"), (_SPEAKS, "@language")):
        if match := pattern.match(lower):
            end = value_end(lower, match.end())
            sound = name == "@allergy" or not _NO_LANGUAGE.search(lower)
            if sound:
                yield claim(said, (name,), match.end(), end, MEANT, TEXTS)
