"""Forms in which people speak of themselves in English without the name of a field: "I live in
Graz"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from memtree.language.lazy_patterns import lazily
from memtree.language.word_file import WordFile
from memtree.memories.agents.slot_filling.field_claims import (
    CHOSEN,
    DAYS,
    LISTED,
    MEANT,
    NAMED,
    NUMERIC,
    TEXTS,
    Claim,
    claim,
)
from memtree.memories.agents.slot_filling.forms.lexicon import (
    CONDITIONS,
    COUNTRIES,
    DIETS,
    INSTRUMENTS,
    LANGUAGES,
    MARITAL,
    NO_NAMES,
    PROFESSIONS,
)
from memtree.memories.agents.slot_filling.user_statements import Statement
from memtree.memories.agents.slot_filling.values import value_end

_DATA = WordFile("en", "memory_self_statements")

_CALLED = _DATA.pattern("called")
_NICK = _DATA.pattern("nick")
_AGE = _DATA.pattern("age")
_LIVE = _DATA.pattern("live")
_FROM = _DATA.pattern("from")
_WORK_AS = _DATA.pattern("work_as")
_A = _DATA.pattern("a")
_WORK_AT = _DATA.pattern("work_at")
_AT = lazily(r" (?:at|for|with) ")
_LANGS = lazily(r"(?:i|we) (?:also |can |fluently |natively )*speak ")
_LIKES = _DATA.pattern("likes")
_DISLIKES = _DATA.pattern("dislikes")
_HOBBY = lazily(r"[\w-]+ing\b")
_AT_HAND = _DATA.pattern("at_hand")
_ALLERGIC = _DATA.pattern("allergic")
_ALLERGY = _DATA.pattern("allergy")
_DIET = _DATA.pattern("diet")
_BORN = _DATA.pattern("born")
_YEAR = lazily(r"i was born in (?P<year>(?:19|20)\d\d)$")
_MARITAL = _DATA.pattern("marital")
_WEIGH = _DATA.pattern("weigh")
_TALL = _DATA.pattern("tall")
_CM = lazily(r"(?:1\d\d|2[01]\d) ?cm")
_CODE = _DATA.pattern("code")
_YEARS = _DATA.pattern("years")
_DRIVE = lazily(r"i (?:currently |now )?drive an? ")
_STUDY = _DATA.pattern("study")
_TEAM = _DATA.pattern("team")


_JOINTS = lazily(r", (?:and )?| and | & ")
_LITTLE = _DATA.pattern("little")
_LEARNING = _DATA.pattern("learning")
_PLAYS = lazily(r"(?:i|we) (?:also |can )*play ")
_LISTS = (
    (_LEARNING, "@target_language", LANGUAGES),
    (lazily(r"(?:i|we) (?:also |can )*play "), "@instrument", INSTRUMENTS),
    (lazily(r"i (?:also )?(?:have|suffer from|was diagnosed with) "), "@condition", CONDITIONS),
)


def meant(said: Statement) -> Iterator[Claim]:
    """Claims of a statement by its form. Linear."""
    yield from _person(said)
    yield from _places(said)
    yield from _work(said)
    yield from _tastes(said)
    yield from _body(said)


def _person(said: Statement) -> Iterator[Claim]:
    text, lower = said.text, said.lower
    if match := _CALLED.match(text):
        parts = match["name"].split()
        known = "name" in match.group()[:12].lower()
        if known or not any(
            part.lower() in NO_NAMES or (part.isupper() and len(part) > 1) for part in parts
        ):
            start, end = match.span("name")
            sure = NAMED if known else MEANT
            yield claim(said, ("@name",), start, end, sure, TEXTS, right=True, listed=False)
            yield claim(
                said, ("@first_name",), start, start + len(parts[0]), sure, TEXTS, right=True
            )
            if len(parts) == 2:
                yield claim(
                    said, ("@last_name",), end - len(parts[1]), end, sure, TEXTS, right=True
                )
    if match := _NICK.match(lower):
        group = "name" if match["name"] else "other"
        if match[group] not in ("back", "when", "if", "later", "crazy", "now", "a", "an", "it"):
            yield claim(said, ("@nickname",), *match.span(group), MEANT, TEXTS, right=True)
    if (match := _AGE.match(lower)) and _ends_age(match["rest"], match.group()):
        yield claim(said, ("@age",), *match.span("age"), MEANT, NUMERIC)
    if match := _BORN.match(lower):
        end = value_end(lower, match.end())
        yield claim(said, ("@birthday",), match.end(), end, MEANT, DAYS, right=True)
    if match := _YEAR.match(lower):
        yield claim(said, ("@birth_year",), *match.span("year"), MEANT, NUMERIC)
    if (match := _MARITAL.match(lower)) and match["what"] in MARITAL:
        yield claim(said, ("@marital",), *match.span("what"), MEANT, TEXTS, right=True)
    if match := _LANGS.match(lower):
        end = value_end(lower, match.end())
        items = _listed(said, match.end(), end, LANGUAGES)
        if items:
            yield claim(said, ("@language",), match.end(), end, MEANT, TEXTS, items=items)
    for pattern, name, items_of in _LISTS:
        if match := pattern.match(lower):
            end = value_end(lower, match.end())
            items = _listed(said, match.end(), end, items_of)
            if items:
                yield claim(said, (name,), match.end(), end, MEANT, TEXTS, items=items)


def _listed(said: Statement, start: int, end: int, known: Set[str]) -> tuple[str, ...]:
    """The items of a list, if all of them are known words; "a bit of" before them says nothing."""
    items: list[str] = []
    at = start
    for joint in [*_JOINTS.finditer(said.lower, start, end), None]:
        stop = joint.start() if joint else end
        skip = _LITTLE.match(said.lower, at, stop)
        first = skip.end() if skip else at
        if said.lower[first:stop] not in known:
            return ()
        items.append(said.text[first:stop])
        at = joint.end() if joint else end
    return tuple(items)


def _ends_age(rest: str, whole: str) -> bool:
    old = "old" in whole or re.search(r"\d ?y/?o\b", whole) is not None
    if old or not rest.strip(" .,!"):
        return True
    if re.fullmatch(r",? (?:btw|by the way|now|already)\W*", rest):
        return True
    return bool(re.match(r"(?: and|,| now)\b", rest)) and not re.match(r"(?: and| now) \d", rest)


def _places(said: Statement) -> Iterator[Claim]:
    lower = said.lower
    for pattern, names in ((_LIVE, ("@city", "@country", "@location")), (_FROM, ("@origin",))):
        match = pattern.match(lower)
        if not match:
            continue
        end = _place_end(lower, match.end())
        place = lower[match.end() : end]
        if not _is_place(said, match.end(), place) or " near " in match.group():
            continue
        if names == ("@origin",):
            yield claim(said, names, match.end(), end, MEANT, TEXTS, right=True, listed=False)
            continue
        yield from _lived(said, match.end(), end)


def _lived(said: Statement, start: int, end: int) -> Iterator[Claim]:
    """Where somebody lives: a town, a country, or both with a comma between."""
    place = said.lower[start:end]
    yield claim(said, ("@location",), start, end, MEANT, TEXTS, right=True, listed=False)
    town, _, land = place.partition(", ")
    if land in COUNTRIES:
        yield claim(said, ("@country",), end - len(land), end, MEANT, TEXTS, right=True)
    if not land and town in COUNTRIES and town not in ("singapore", "monaco", "hong kong"):
        yield claim(said, ("@country",), start, end, MEANT, TEXTS, right=True)
    else:
        yield claim(
            said, ("@city",), start, start + len(town), MEANT, TEXTS, right=True, listed=False
        )


_PLACE_STOP = _DATA.pattern("place_stop")


def _place_end(lower: str, start: int) -> int:
    stop = _PLACE_STOP.search(lower, start)
    return stop.start() if stop else value_end(lower, start)


def _is_place(said: Statement, start: int, place: str) -> bool:
    """Return True if it is written as a name, or by somebody who writes all in small letters."""
    first = place.split(" ", maxsplit=1)[0]
    if not place or len(place.split()) > 5 or not place[0].isalpha():
        return False
    if place in COUNTRIES:
        return True
    if first in ("a", "an", "the", "my", "our", "this", "that", "fear", "peace", "one", "hope"):
        return first == "the" and said.text[start + 4 : start + 5].isupper()
    return said.text[start].isupper() or (said.text == said.lower and len(place.split()) <= 2)


def _work(said: Statement) -> Iterator[Claim]:
    lower = said.lower
    if match := _WORK_AS.match(lower):
        stop = _AT.search(lower, match.end())
        end = min(value_end(lower, match.end()), stop.start() if stop else len(lower))
        end = _before(lower, match.end(), end)
        yield claim(
            said, ("@occupation",), match.end(), end, MEANT, TEXTS, right=True, listed=False
        )
        if match["firm"]:
            yield from _firm(said, *match.span("firm"))
        elif stop:
            yield from _firm(said, stop.end(), _firm_end(lower, stop.end()))
    elif match := _WORK_AT.match(lower):
        yield from _firm(said, match.end(), _firm_end(lower, match.end()))
    if match := _A.match(lower):
        start = match.start("what")
        end = _before(lower, start, value_end(lower, start))
        stop = _AT.search(lower, start)
        end = min(end, stop.start() if stop else end)
        head = lower[start:end].split()
        if head and head[0].endswith("-year-old") and len(head) > 1:
            start += len(head[0]) + 1
            head = head[1:]
        if head and head[-1] in PROFESSIONS and len(head) <= 5:
            yield claim(said, ("@occupation",), start, end, MEANT, TEXTS, right=True, listed=False)
            if stop and " for " not in stop.group() and " with " not in stop.group():
                yield from _firm(said, stop.end(), _firm_end(lower, stop.end()))
    if match := _CODE.match(lower):
        end = value_end(lower, match.end())
        yield claim(said, ("@coding",), match.end(), end, MEANT, TEXTS)
    if match := _YEARS.match(lower):
        yield claim(said, ("@experience",), *match.span("what"), MEANT, NUMERIC)
    if match := _STUDY.match(lower):
        end = _before(lower, match.end(), value_end(lower, match.end()))
        stop = re.search(r" (?:at|in) ", lower[match.end() : end])
        subject = match.end() + stop.start() if stop else end
        if not re.match(
            r"(?:for|hard|a lot|at|in|with|every|abroad|to)\b", lower[match.end() : end]
        ):
            yield claim(said, ("@study",), match.end(), subject, MEANT, TEXTS, listed=False)
        if stop and " at " in stop.group():
            yield from _firm(said, match.end() + stop.end(), end, "@school")
    if match := _TEAM.match(lower):
        yield claim(said, ("@team_size",), *match.span(match.lastgroup or "what"), MEANT, NUMERIC)


def _before(lower: str, start: int, end: int) -> int:
    stop = re.search(
        r",| (?:in|from|and|based|by|on|near|who|with|working|living|specializ\w+)\b",
        lower[start:end],
    )
    return start + stop.start() if stop else end


def _firm_end(lower: str, start: int) -> int:
    stop = re.search(
        r",| (?:as|in|and|since|on|from|where|with|for|near|which|who|doing|but|because|right"
        r"|now|these|full|part)\b| \(",
        lower[start:],
    )
    return min(value_end(lower, start), start + stop.start() if stop else len(lower))


def _firm(said: Statement, start: int, end: int, topic: str = "@employer") -> Iterator[Claim]:
    name = said.text[start:end]
    first = name.lower().split(" ")[0] if name else ""
    if first in (
        "a",
        "an",
        "my",
        "our",
        "this",
        "that",
        "some",
        "home",
        "night",
        "nights",
        "myself",
        "least",
        "it",
        "them",
    ):
        return
    if name and (
        name[0].isupper() or name[0].isdigit() or (first == "the" and name[4:5].isupper())
    ):
        yield claim(said, (topic,), start, end, MEANT, TEXTS, right=True, listed=False)


def _tastes(said: Statement) -> Iterator[Claim]:
    lower = said.lower
    for pattern, name in ((_LIKES, "@likes"), (_DISLIKES, "@dislikes")):
        match = pattern.match(lower)
        if match and not _AT_HAND.match(lower, match.end()):
            end = value_end(lower, match.end())
            if name == "@likes" and _HOBBY.match(lower, match.end()):
                yield claim(said, ("@hobby",), match.end(), end, CHOSEN, LISTED)
            yield claim(said, (name,), match.end(), end, MEANT, LISTED)
    if match := _ALLERGIC.match(lower):
        end = value_end(lower, match.end())
        yield claim(said, ("@allergy",), match.end(), end, NAMED, TEXTS)
    if match := _ALLERGY.match(lower):
        yield claim(said, ("@allergy",), *match.span("what"), MEANT, TEXTS)
    if (match := _DIET.match(lower)) and match["diet"] in DIETS:
        yield claim(said, ("@diet",), *match.span("diet"), MEANT, TEXTS, right=True)
    if match := _DRIVE.match(lower):
        end = value_end(lower, match.end())
        if re.match(r"(?:lot|bit|hard|taxi|bus|truck for)\b", lower[match.end() : end]) is None:
            yield claim(said, ("@car",), match.end(), end, MEANT, TEXTS, right=True, listed=False)


def _body(said: Statement) -> Iterator[Claim]:
    for pattern, name in ((_WEIGH, "@weight"), (_TALL, "@height")):
        match = pattern.match(said.lower)
        if match is None:
            continue
        if name == "@weight" or match.group().endswith("tall") or _CM.fullmatch(match["what"]):
            yield claim(said, (name,), *match.span("what"), MEANT, NUMERIC | TEXTS, right=True)
