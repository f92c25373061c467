"""Forms in which people speak of themselves in German, Spanish, French, Italian, Portuguese and
Dutch."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memtree.memories.agents.structured_extraction.claims import (
    MEANT,
    NAMED,
    NUMERIC,
    TEXTS,
    Claim,
    claim,
)
from memtree.memories.agents.structured_extraction.forms.lexicon import COUNTRIES
from memtree.memories.agents.structured_extraction.statements import Statement
from memtree.memories.agents.structured_extraction.values import value_end

_NAME = re.compile(
    r"(?:ich heiße|ich heisse|mein name ist|me llamo|mi nombre es|je m'appelle|mon nom est"
    r"|mon prénom est|mi chiamo|il mio nome è|me chamo|meu nome é|chamo-me|o meu nome é|ik heet"
    r"|mijn naam is) "
)
_AM = re.compile(r"(?:soy|sono|sou) (?P<name>[A-ZÀ-Þ][\w’'-]+)(?=$|,)", re.IGNORECASE)
_AGE = re.compile(
    r"(?:ich bin (?P<a>\d{1,3})(?: jahre alt)?|tengo (?P<b>\d{1,3}) años|j'ai (?P<c>\d{1,3}) ans"
    r"|ho (?P<d>\d{1,3}) anni|tenho (?P<e>\d{1,3}) anos"
    r"|ik ben (?P<f>\d{1,3})(?: jaar(?: oud)?)?)$"
)
_LIVE = re.compile(
    r"(?:ich (?:wohne|lebe) in|vivo en|resido en|j'habite (?:à|a|au|en)|je vis (?:à|a|au|en)"
    r"|(?:vivo|abito) (?:a|in|ad)|(?:moro|vivo) (?:em|no|na)|ik woon in) "
)
_JOB = re.compile(
    r"(?:ich arbeite als|trabajo (?:como|de)|je travaille comme|lavoro come|trabalho como"
    r"|ik werk als) (?:eine?|una?|une?|um|uma|een)? ?"
)
_FIRM = re.compile(
    r"(?:ich arbeite (?:bei|für)|je travaille chez|lavoro (?:presso|per)|ik werk bij) "
)
_COLOR = re.compile(
    r"(?:meine lieblingsfarbe ist|mi color (?:favorito|preferido) es(?: el)?"
    r"|ma couleur préférée est(?: le)?|il mio colore preferito è(?: il)?"
    r"|(?:a )?minha cor (?:favorita|preferida) é(?: o)?|mijn lievelingskleur is) "
)
_ALLERGIC = re.compile(
    r"(?:ich bin allergisch gegen|soy alérgic[oa] a(?: l[oa]s?|l)?|je suis allergique (?:à la"
    r"|aux?|à)"
    r"|sono allergic[oa] a(?:lle?|i|gli|lla)?|sou alérgic[oa] a[os]?|ik ben allergisch voor) "
)
_SPEAKS = re.compile(r"(?:ich spreche|hablo|je parle|parlo|falo|ik spreek) ")
_STOP = re.compile(r",| (?:und|y|et|e|en|mit|con|avec|com|met|seit|desde|depuis|da|sinds)\b")
_NAMES = (
    (_NAME, ("@name",), False),
    (_LIVE, (), True),
    (_FIRM, ("@employer",), True),
)


def meant_abroad(said: Statement) -> Iterator[Claim]:
    """Claims of a statement in one of these languages. Linear."""
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
        group = match.lastgroup or "a"
        yield claim(said, ("@age",), *match.span(group), MEANT, NUMERIC)
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
            sound = name == "@allergy" or not re.search(r"\b(?:mit|con|avec|com|met|kein)\b", lower)
            if sound:
                yield claim(said, (name,), match.end(), end, MEANT, TEXTS)
