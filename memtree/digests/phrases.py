"""Shorten sentences to whole phrases of a few tokens.

A phrase is a sentence, or its beginning up to the end of a clause; if none is short enough, its
beginning up to a further detail ("for ...", "with ..."). If no phrase fits, the sentence's files,
identifiers and names are listed. Sentences are chosen in `headlines.py`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memtree.digests.clauses import SOURCE_LINE
from memtree.language import borders
from memtree.language.word_file import WordFiles, lazily
from memtree.text import tokens

_DATA = WordFiles("phrases")
_any = _DATA.part
_LEAST = 3  # words of a phrase
_WORD = re.compile(r"\w+")
_BYTES = 4.1  # approximate UTF-8 bytes per o200k token
_POLITE = lazily(
    lambda: (
        r"(?:/\w+ (?=\w+ \w+ \w)|step \d+[:.]? |\d+(?:\.\d+)+ |\d+[.)] )?"
        rf"(?:(?:{_any('fillers')})\b[,!.]? )*(?:{_any('requests')})?"
    ),
    re.IGNORECASE,
)
# Stands before a detail that may be left out.
_DETAIL = lazily(lambda: rf" (?=(?:{_any('detail')})\b)", re.IGNORECASE)
_COMMA = re.compile(r", |，")
ASIDE = re.compile(r" ?(?<!\\)\([^()]{0,200}(?<!\\)\)")  # no formula between "\(" and "\)"
_OPEN = lazily(lambda: rf"(?:^|[\s,])(?:{_any('open')})$", re.IGNORECASE)
_OPEN_REACH = 10  # characters: the longest of these words, what stands before it, a line break
_CONDITION = lazily(lambda: rf"(?:{_any('condition')})\b", re.IGNORECASE)
# A place or time before the main clause, and a place or time alone
_OPENING = _DATA.pattern("opening", re.IGNORECASE)
_ADVERBIAL = _DATA.pattern("adverbial", re.IGNORECASE)
_LINKED = _DATA.pattern("linked", re.IGNORECASE)
# "understand how my belief", "torn between saving money"
_OPEN_CLAUSE = _DATA.pattern("open_clause", re.IGNORECASE)
_FINITE = _DATA.pattern("finite", re.IGNORECASE)
_UNSAID = _DATA.pattern("unsaid", re.IGNORECASE)
# None of it matches white space; it begins with one set, so that the engine skips other characters.
_CODE = re.compile(r"[=(){}<>\[\];\\_/.](?:(?<=[^_/.])|(?<=\w[_/.])(?=\w))")
# Requests and actions that do not name their object.
_HOLLOW = _DATA.pattern("hollow", re.IGNORECASE)
_SOURCE = re.compile(
    r"(?:return|raise|import|from|def|class|const|let|var|await|yield) .*[(){}=\"']"
)
_TELLING, _TELLING_ASCII = re.compile(r"[^\W\d_]{2,}"), re.compile(r"[A-Za-z]{2,}")
_MARKS = " ,;:.-–—*_|>#\\，。；：、"


def whole(text: str, cap: int) -> tuple[str, float]:
    """Return a whole phrase of the text within `cap` tokens, or "", and the loss: 0 for none, 1 for
    a detail within the clause."""
    bare = _bare(text)
    if fits(bare, cap):
        return bare, 0.0
    short = ASIDE.sub("", bare) if "(" in bare else bare
    if short != bare and fits(short, cap):
        return short, 0.2
    ends = borders.clause_ends(short[: 8 * cap])
    main, lost = short, 0.3
    comma = _COMMA.search(short)
    if comma and (_CONDITION.match(short) or _OPENING.match(short)):  # the consequence says more
        main, lost = _bare(short[comma.end() :]), 0.4
        if len(borders.units(main)) < _LEAST:
            main = short
        elif fits(main, cap):
            return main, lost
        elif phrase := _until(main, borders.clause_ends(main[: 8 * cap]), cap):
            return phrase, lost
    phrase = _bare(_until(short, ends, cap))
    if _enough(phrase):
        return phrase, lost
    for rest in (main, short):
        details = [match.start() for match in _DETAIL.finditer(rest[: 8 * cap])]
        if phrase := _until(rest, details, cap):
            return phrase, 1.5
    if not short.isascii() and borders.UNSPACED.search(short):
        return _until(short, borders.ends(short[:200]), cap), 1.7
    return "", 0.0


def listed(names: Sequence[str], cap: int) -> str:
    """Join as many of the names as fit."""
    line = ""
    for name in filter(str.strip, dict.fromkeys(names)):
        longer = f"{line}, {name}" if line else name
        if len(name) < 100 and tokens.count(longer) <= cap:
            line = longer
    return line


def readable(phrase: str) -> bool:
    """Return True for words rather than code or data."""
    if not (phrase[0].isalnum() or phrase[0] in "\"'“„«「/~") or phrase.startswith('"""'):
        return False
    plain = phrase.isascii()
    if not plain and not _TELLING.sub("", phrase).isascii():
        return False
    if _SOURCE.match(phrase):
        return False
    words = (_TELLING_ASCII if plain else _TELLING).findall(phrase)
    if plain and _CODE.search(phrase):
        parts = phrase.split()
        if 5 * sum(map(bool, map(_CODE.search, parts))) > 2 * len(parts):
            return False
    if sum(map(len, words)) + phrase.count(" ") < 0.7 * len(phrase):
        return False
    return (len(words) > 1 or not plain) and (phrase[-1] in ".!?" or not SOURCE_LINE.match(phrase))


def is_hollow(phrase: str) -> bool:
    """Return True for a request or statement that does not name its object, or ends before it."""
    return bool(_HOLLOW.match(phrase) or _UNSAID.match(phrase))


def leans(phrase: str) -> bool:
    """Return True for a condition, a place or time alone, or the rest of another phrase."""
    return bool(_CONDITION.match(phrase) or _LINKED.match(phrase) or _ADVERBIAL.match(phrase))


def _enough(phrase: str) -> bool:
    """Return True if a phrase has enough words to be understood."""
    if not phrase.isascii() and borders.UNSPACED.search(phrase):
        return len(phrase) >= 2 * _LEAST
    return len(phrase.split()) >= _LEAST


def _until(text: str, ends: Sequence[int], cap: int) -> str:
    """Return the longest beginning of the text that ends at one of `ends` and fits `cap` tokens."""
    for end in sorted({end for end in ends if end < len(text)}, reverse=True):
        if end > 8 * cap:
            continue
        phrase = text[:end].strip(_MARKS)
        if phrase.count("(") != phrase.count(")") or phrase.count('"') % 2:
            continue
        if _is_open(phrase):
            continue
        if not _enough(phrase) or _OPEN.search(phrase, max(0, len(phrase) - _OPEN_REACH)):
            continue
        if fits(phrase, cap):
            return phrase
    return ""


def is_verbless(phrase: str) -> bool:
    """Return True for a few words that hold none of the commonest verbs."""
    return len(phrase.split()) < 7 and not _FINITE.search(phrase)


def _is_open(phrase: str) -> bool:
    """Return True for a cut phrase that ends before its last clause's verb or before the second
    item of a pair."""
    match = _OPEN_CLAUSE.search(phrase)
    return match is not None and not _FINITE.search(match[1])


def _bare(text: str) -> str:
    """Strip a polite beginning, and the marks around the text."""
    match = _POLITE.match(text)
    if match and match.end() < len(text) - 8:
        text = text[match.end() :]
    text = text.strip(_MARKS)
    return text[:-4].rstrip(_MARKS) if text.endswith((" but", " and")) else text


def repeats(phrase: str, other: str) -> bool:
    """Return True if more than half of a phrase's words occur in the other phrase."""
    words = set(_WORD.findall(phrase.lower()))
    return 2 * len(words & set(_WORD.findall(other.lower()))) > len(words)


def fits(text: str, cap: int) -> bool:
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    if size <= cap:
        return True
    return size < cap * 3 * _BYTES and tokens.count(text) <= cap
