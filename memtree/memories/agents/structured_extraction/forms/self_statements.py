"""Forms in which people speak of themselves in English without the name of a field: "I live in
Graz"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memtree.memories.agents.structured_extraction.claims import (
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
from memtree.memories.agents.structured_extraction.forms.lexicon import (
    CONDITIONS,
    COUNTRIES,
    DIETS,
    INSTRUMENTS,
    LANGUAGES,
    MARITAL,
    NO_NAMES,
    PROFESSIONS,
)
from memtree.memories.agents.structured_extraction.statements import Statement
from memtree.memories.agents.structured_extraction.values import value_end
from memtree.text.lazy_patterns import lazily

_SO = (
    r"(?:(?:now|currently|also|still|just|actually|really|mostly|mainly|usually|recently"
    r"|always) ){0,2}"
)
_AM = rf"(?:i'm|i am|im) {_SO}"
_CALLED = lazily(
    r"(?:I[’']m|I am|Im|i[’']?m|i am|[Mm]y name is|[Mm]y name[’']s|[Tt]his is|I[’']m called"
    r"|i[’']m called|I am called) "
    r"(?P<name>[A-ZÀ-Þ][\w’'-]*[\wà-ÿ](?: [A-ZÀ-Þ][\w’'-]*\.?){0,2})(?=[,.;!)]|$| and| from"
    r"| here| - | \()"
)
_NICK = lazily(
    r"(?:please |you can |(?:my )?(?:friends|everyone|people"
    r"|everybody) )?calls? me (?P<name>\w[\w'-]+)$"
    r"|(?:i go by|i'd like to be called|i prefer to be called) (?P<other>\w[\w'-]+)$"
)
_AGE = lazily(
    rf"(?:{_AM}|i (?:just |recently )?turned )(?:an? )?(?P<age>\d{{1,3}})(?:[ -]?(?:years?"
    rf"|yrs?)[ -]?old| ?y/?o)?(?P<rest>\b.*)"
)
_LIVE = lazily(
    rf"(?:i|we) {_SO}(?:live|reside) (?:in|near)? ?(?=\S)|{_AM}(?:living|based|located"
    rf"|residing) in |(?:i|we)(?:'ve)? {_SO}moved to "
)
_FROM = lazily(
    rf"{_AM}(?:originally )?from |i {_SO}(?:come from|grew up in|was born in|am originally from) "
)
_WORK_AS = lazily(
    rf"i {_SO}work(?:ed)? (?:(?P<at>at|for) (?P<firm>[^,]{{1,60}}?) )?as (?!\w+ as\b|much\b"
    rf"|hard\b|usual)"
    rf"(?:an? |the )?|{_AM}working as (?:an? )?"
)
_A = lazily(rf"{_AM}(?:an? |the )(?P<what>[\w /&+-]{{2,60}})")
_WORK_AT = lazily(rf"(?:i {_SO}work|{_AM}(?:working|employed)) (?:at|for|by) ")
_AT = lazily(r" (?:at|for|with) ")
_LANGS = lazily(r"(?:i|we) (?:also |can |fluently |natively )*speak ")
_LIKES = lazily(
    rf"(?:i|we) (?:(?:really|also|absolutely|totally|do|just|quite) ){{0,2}}(?:like|love"
    rf"|enjoy|adore) |{_AM}(?:into|fond of|a (?:big |huge )?fan of) "
)
_DISLIKES = lazily(
    r"(?:i|we) (?:(?:really|also|absolutely|totally) ){0,2}(?:dislike|hate|can't stand"
    r"|cannot stand|detest|loathe|don't like|do not like|don't enjoy) "
)
_HOBBY = lazily(r"[\w-]+ing\b")
_AT_HAND = lazily(
    r"(?:it|this|that|these|those|them|you|your|him|her|how|what|when|where|the (?:idea|way"
    r"|new|first|second|last|one|other|design|answer|sound|look|fact|code)|to |being|having"
    r"|seeing|hearing|all|every|a |an |my|our|working with|talking|using this|his|their|its"
    r"|so|both|neither|either)\b"
)
_ALLERGIC = lazily(
    rf"{_AM}(?:severely |very |mildly |highly |deathly )?allergic to |(?:i"
    rf"|we) (?:also )?have (?:an? )?(?:severe |mild |bad )?allerg(?:y|ies) to "
)
_ALLERGY = lazily(
    r"i (?:also )?have (?:an? )?(?:severe |mild |bad )?(?P<what>[\w-]+(?: [\w-]+)?) allergy$"
)
_DIET = lazily(
    rf"(?:{_AM}|i've been |i have been |i eat |i follow )(?:(?:an?|strictly|strict"
    rf"|mostly) ){{0,2}}(?P<diet>[\w-]+)(?: diet)?(?: (?:since|for) .*)?$"
)
_BORN = lazily(
    r"i was born (?:on |in )(?=\S)|(?:my birthday is|my birthday's|my date of birth is"
    r"|my birth date is) (?:on )?"
)
_YEAR = lazily(r"i was born in (?P<year>(?:19|20)\d\d)$")
_MARITAL = lazily(rf"(?:{_AM}|we're |we are )(?:happily |recently |newly )?(?P<what>[a-z]+)$")
_WEIGH = lazily(r"i (?:currently |now )?weigh (?P<what>(?:about )?\d[\w., ]*)$")
_TALL = lazily(rf"{_AM}(?P<what>\d[\d.]*\s?[a-z]+)(?: tall)?$")
_CM = lazily(r"(?:1\d\d|2[01]\d) ?cm")
_CODE = lazily(
    r"i (?:mostly |mainly |usually |primarily |also )?(?:code|program|develop"
    r"|write code) (?:mostly |mainly |usually )?in "
)
_YEARS = lazily(r"i(?:'ve| have) (?:got )?(?P<what>\d{1,2} years?) of (?:[\w-]+ ){0,3}experience")
_DRIVE = lazily(r"i (?:currently |now )?drive an? ")
_STUDY = lazily(rf"(?:i {_SO}study|i studied|{_AM}studying|i majored in|{_AM}majoring in) ")
_TEAM = lazily(
    r"there are (?P<what>\w+ (?:people|of us|engineers|developers)) (?:on|in) (?:my|our) team"
    r"|(?:my|our) team is (?P<two>\w+ (?:people|persons|engineers|developers))(?: strong)?$"
    r"|(?:we're|we are) a team of (?P<three>\w+)(?: (?:people|engineers|developers))?$"
)


_JOINTS = lazily(r", (?:and )?| and | & ")
_LITTLE = lazily(
    r"(?:a (?:little |tiny )?bit of |a little |some |basic |fluent |conversational |the |an? )+"
)
_LISTS = (
    (lazily(rf"{_AM}learning "), "@target_language", LANGUAGES),
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


def _listed(said: Statement, start: int, end: int, known: frozenset[str]) -> tuple[str, ...]:
    """The items of a list, if all of them are known words; "a bit of" before them says nothing."""
    found: list[str] = []
    at = start
    for joint in [*_JOINTS.finditer(said.lower, start, end), None]:
        stop = joint.start() if joint else end
        skip = _LITTLE.match(said.lower, at, stop)
        first = skip.end() if skip else at
        if said.lower[first:stop] not in known:
            return ()
        found.append(said.text[first:stop])
        at = joint.end() if joint else end
    return tuple(found)


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


_PLACE_STOP = lazily(
    r" (?:with|and|since|for|now|but|because|where|on|near|until|at|by|when|which|to|as|from"
    r"|last|this|next|back|recently|already|again|ago|a few|two|three|almost|about|in \d"
    r"|in (?:january|february|march|april|may|june|july|august|september|october|november"
    r"|december)|these|currently|right|if|though|while|so|most|in (?:a|an|the|my|our))\b"
    r"|,(?! [a-zà-ÿ .'-]{2,30}$)|[.;(]| - "
)


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
