"""The words of a text: contractions and compounds taken apart, phrases put into what they mean."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

from memtree.language.word_file import WordFile
from memtree.memories.relation import foreign, lexicon, quantities
from memtree.memories.relation.lexicon import synonyms
from memtree.text.normal_form import nfc

_RAW = re.compile(
    r"[0-9]{1,3}(?:,[0-9]{3}){1,6}(?:\.[0-9]{1,9})?(?![\w,])"
    r"|\w+(?:['._:/@+&#-]+\w+)*[%°+#]*|[$€£¥%°]|[<>≤≥≠]=?|!=|[,;:&/()–—-]|[.!?。！？]"
)
_QUOTES = str.maketrans({"’": "'", "‘": "'", "`": "'", "“": '"', "”": '"'})
_INNER = re.compile(r"['._:/@+&#-]")


class Word(NamedTuple):
    lower: str
    surface: str
    capital: bool = False


def words_of(text: str) -> list[Word]:
    """All words and signs, in order; phrases are left."""
    return list(_words(nfc(text).translate(_QUOTES)))


def _words(text: str) -> Iterator[Word]:
    for match in _RAW.finditer(text):
        raw, at = match.group(), match.end()
        lower = raw.lower()
        if raw[0] in "<>≤≥≠" or raw == "!=":
            yield Word(f"={raw}", raw)
            continue
        if raw in "-–" and text[at : at + 1].isdigit() and text[at - 2 : at - 1] in ("", " ", "("):
            yield Word("minus", raw)
            continue
        capital = raw[0].isupper()
        if foreign.UNSPACED.search(raw):
            for kind, piece in foreign.unspaced_words(raw):
                yield Word({"user": "user", "no": "not", "nothing": "of"}.get(kind, piece), piece)
        elif not _INNER.search(raw) and raw[0] not in "0123456789" and raw[-1] not in "%°":
            for each in lexicon.CONTRACTIONS.get(lower, lower).split():
                yield Word(each, raw, capital)
        else:
            yield from _compound(raw, lower, capital)


def _compound(raw: str, lower: str, capital: bool) -> Iterator[Word]:
    if lower in lexicon.CONTRACTIONS:
        for each in lexicon.CONTRACTIONS[lower].split():
            yield Word(each, raw, capital)
        return
    if "'" in lower:
        for ending, meant in lexicon.ENDINGS.items():
            if lower.endswith(ending):
                yield Word(lower[: -len(ending)], raw, capital)
                yield Word(meant, raw)
                return
        head, _, tail = lower.rpartition("'")
        if tail == "s":
            yield Word(head, raw[:-2], capital)
            yield Word("'s", "")
            return
        for piece in raw.split("'"):
            yield Word(piece.lower(), piece, piece[:1].isupper())
        return
    if glued := quantities.glued(lower):
        yield from (Word(part, raw) for part in glued)
        return
    head, slash, unit = lower.partition("/")
    if slash and head.isalpha() and unit in lexicon.PER:
        yield Word(head, raw[: len(head)], capital)
        yield Word("per", "/")
        yield Word(unit, raw[len(head) + 1 :])
        return
    pieces = re.split("[-/&]", raw)
    wordy = [piece.isalpha() for piece in pieces]
    splits = all(wordy) or (pieces[0].isdigit() and all(wordy[1:]))
    if len(pieces) > 1 and splits and lower not in synonyms():
        for piece in pieces:
            yield Word(piece.lower(), piece, piece[0].isupper())
    else:
        yield Word(lower.strip("+") if raw[0].isdigit() else lower, raw, capital)


def with_phrases(words: list[Word]) -> list[Word]:
    """Phrases put into the words that they stand for; the longest that fits."""
    known = _phrases()
    made: list[Word] = []
    at = 0
    while at < len(words):
        for size, meant in known.get(words[at].lower, ()):
            if [word.lower for word in words[at : at + size[0]]] == size[1] and (
                meant[-1:] != ["*"] or (at + size[0] < len(words) and words[at + size[0]].capital)
            ):
                surface = " ".join(word.surface for word in words[at : at + size[0]])
                made += [Word(each, surface, False) for each in meant if each != "*"]
                at += size[0]
                break
        else:
            made.append(words[at])
            at += 1
    return made


@cache
def _phrases() -> Mapping[str, list[tuple[tuple[int, list[str]], list[str]]]]:
    phrases: dict[str, list[tuple[tuple[int, list[str]], list[str]]]] = {}
    for line in WordFile("en", "memory_phrases").entries("phrases"):
        phrase, _, meant = line.partition(" = ")
        words = phrase.split()
        phrases.setdefault(words[0], []).append(((len(words), words), meant.split()))
    for each in phrases.values():
        each.sort(key=lambda entry: -entry[0][0])
    return phrases
