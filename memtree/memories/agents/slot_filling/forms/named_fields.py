"""Fields that are called by their name: "my favorite color is blue", "set my theme to dark"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from memtree.language.word_file import WordFile
from memtree.memories.agents.slot_filling.field_claims import (
    CHOSEN,
    DAYS,
    NAMED,
    NUMERIC,
    TRUTH,
    Claim,
    claim,
)
from memtree.memories.agents.slot_filling.field_names import spoken, topics
from memtree.memories.agents.slot_filling.schema_fields import bare
from memtree.memories.agents.slot_filling.user_statements import Statement
from memtree.memories.agents.slot_filling.values import value_end

_DATA = WordFile("en", "memory_named_fields")

NAME_WORDS = 6
_IS = _DATA.pattern("is")
_MINE = _DATA.pattern("mine")
_IS_MINE = _DATA.pattern("is_mine")
_SET = _DATA.pattern("set")
_AS = _DATA.pattern("as")
_AS_MY = re.compile(r" (?:as|for|to be) (?:my|our|the) ")
_KEEP = _DATA.pattern("keep")
_WISH = _DATA.pattern("wish")
_NUMBER_OF = _DATA.pattern("number_of")
_ENDS = _DATA.pattern("ends")
_WORD = re.compile(r"[\w'-]+[+#]*")
_SPOKEN_OF = re.compile(r"(?:i|we|it|that|this|he|she|they|there|my|our)\b")
_OF_RECORDS = _DATA.words("of_records")
_AIMS = re.compile(r"\b(?:goal|dream|aim|plan|objective|resolution|wish)$")
_ENDS_ON = _DATA.pattern("ends_on")
_OF_MINE = _DATA.pattern("of_mine")
_UNSURE = _DATA.pattern("unsure")


def named(said: Statement) -> Iterator[Claim]:
    """Claims of a statement in which a field may be called by its name. Linear."""
    lower = said.lower
    yield from _my_is(said)
    match = _IS_MINE.search(lower)
    if match and not _SPOKEN_OF.match(lower):
        name = lower[match.end() : value_end(lower, match.end())]
        if 0 < len(name.split()) <= NAME_WORDS and not _UNSURE.search(lower[: match.start()]):
            yield claim(said, _names(name), 0, match.start(), NAMED)
    if match := _OF_MINE.match(lower):
        yield _at(said, f"{match['of']} {match['name']}", match.end())
    if match := _ENDS_ON.match(lower):
        name = match["name"]
        names = tuple(f"{spoken(name)} {end}" for end in ("expiry", "expiration", "expiry date",
                      "expiration date", "expire", "end", "start", "end date"))  # fmt: skip
        yield claim(said, names, match.end(), value_end(lower, match.end()), NAMED, DAYS)
    if match := _SET.match(lower):
        yield _at(said, match[1], match.end(), wished=True)
    if (match := _AS.match(lower)) and (mine := _AS_MY.search(lower, match.end())):
        end = value_end(lower, mine.end())
        name = lower[mine.end() : end]
        if 0 < len(name.split()) <= NAME_WORDS and not _UNSURE.search(lower):
            yield claim(said, _names(name), match.end(), mine.start(), NAMED, wished=True)
    yield from _chosen(said)
    yield from _counted(said)


def _names(name: str) -> tuple[str, ...]:
    phrase = spoken(name)
    if not phrase:
        return ()
    known = tuple(f"@{topic}" for topic in topics(phrase) if topic not in _OF_RECORDS)
    return (phrase, *known, f"~{bare(phrase)}")


def _at(said: Statement, name: str, start: int, *, wished: bool = False) -> Claim:
    end = value_end(said.lower, start)
    return claim(said, _names(name), start, end, NAMED, wished=wished)


def _my_is(said: Statement) -> Iterator[Claim]:
    lower = said.lower
    mine = _MINE.match(lower)
    if not mine:
        return
    for verb in islice(_IS.finditer(lower, mine.end()), 3):
        name = lower[mine.end() : verb.start()]
        if len(name.split()) > NAME_WORDS:
            return
        if _UNSURE.search(name):
            return
        start = verb.end()
        if _AIMS.search(name) and lower.startswith("to ", start):
            start += len("to ")
        yield _at(said, name, start)


def _chosen(said: Statement) -> Iterator[Claim]:
    """A choice beside a word of its field: "dark mode", "window seats", "answers short"."""
    lower = said.lower
    match = _WISH.match(lower)
    if match and not _UNSURE.search(lower[: match.end()]):
        end = value_end(lower, match.end())
        for start, stop in _objects(lower, match.end(), end):
            spans = [word.span() for word in islice(_WORD.finditer(lower, start, stop), 5)]
            for size in range(2, len(spans) + 1):
                if not _ENDS.match(lower, spans[size - 1][1]):
                    continue
                for cut in range(1, size):
                    name = lower[spans[cut][0] : spans[size - 1][1]]
                    names = (f"~{bare(spoken(name))}", f"~{spoken(name)}")
                    yield claim(said, names, spans[0][0], spans[cut - 1][1], CHOSEN, wished=True)
                whole = spoken(lower[spans[0][0] : spans[size - 1][1]])
                yield claim(
                    said, (f"on:{whole}",), start, spans[size - 1][1], CHOSEN, TRUTH, truth=True
                )
    if match := _KEEP.match(lower):
        spans = [word.span() for word in islice(_WORD.finditer(lower, match.end()), 4)]
        for cut in range(1, len(spans)):
            name = spoken(lower[spans[0][0] : spans[cut - 1][1]])
            end = value_end(lower, spans[cut][0])
            yield claim(said, (f"~{bare(name)}",), spans[cut][0], end, CHOSEN, wished=True)


def _objects(lower: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    at = start
    for joint in islice(re.finditer(r" and |, ", lower[start:end]), 6):
        yield at, start + joint.start()
        at = start + joint.end()
    yield at, end


def _counted(said: Statement) -> Iterator[Claim]:
    match = _NUMBER_OF.match(said.lower)
    if not match:
        return
    whats = [match["what"]]
    if " " in match["what"]:
        whats += [match["what"].rsplit(" ", 1)[0], match["what"].split(" ")[0]]
    for what in dict.fromkeys(whats):
        end = match.start("what") + len(what)
        if not _ENDS.match(said.lower, end):
            continue
        thing = spoken(what)
        names: tuple[str, ...] = (
            f"number {thing}", f"{thing} count", f"{thing} number", f"count {thing}",
            f"how many {thing}", f"total {thing}", thing,
        )  # fmt: skip
        if thing == "kid":
            names += ("number child", "child count", "child")
        if match["owner"] == "team":
            names = ("@team_size", "team size")
        if thing == "year experience":
            names = ("@experience", *names)
        yield claim(said, names, match.start("value"), end, NAMED, NUMERIC)
        return
