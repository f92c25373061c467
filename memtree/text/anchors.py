"""Find anchors by rule: the words of a text that a summary must not lose or invent.

Anchors are error names, paths, dates, identifiers, options, amounts, versions, quoted titles and
proper nouns. Every anchor is a substring of the text. Secrets are not masked here: callers pass
masked text. Roles play no part.

    >>> anchors("In src/app.py parse_row raises KeyError since 2024-03-01, 12 % of rows.")
    ('KeyError', 'src/app.py', '2024-03-01', '12 %', 'parse_row')
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache

from memtree.language.word_file import WordFiles, lazily
from memtree.text.terms import STOP_WORDS, chat_words, common_words

_DATA = WordFiles("anchors")
_any = _DATA.part

LEAF_ANCHORS = 12
REACH = 6_000  # characters that are read; a leaf is rarely longer

_TOKEN = re.compile(r"[A-Za-z0-9_./\\@~$€£%:+#-]{2,}")
_ERROR = re.compile(r"(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Fault|Panic)|E[A-Z]{4,}|SIG[A-Z]{3,}")
_PATH = lazily(
    lambda: (
        rf"(?:[\w.@~+\\:/-]*[/\\])?[\w.@+-]*\w\.(?:{_any('file_endings')})(?::\d+)?"
        r"|(?:~|\.{1,2}|[A-Z]:)?(?:[/\\][\w.@+-]+){2,}[/\\]?"
        r"|(?:[\w.@+-]+/){2,}[\w.@+-]*"
        r"|[\w.@-]*[a-z][\w.@-]*/"
    )
)
_URL = re.compile(r"[a-z]{2,6}://[\w.-]+\.[\w.:/~%+#@-]+")
_HUMPS = re.compile(r"[a-z]+[0-9]*(?:[A-Z][a-z0-9]*)+|(?:[A-Z][a-z0-9]+){2,}")
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
# Tokens that begin with a digit or a sign, or mix digits and letters. The first group to match
# wins.
_MIXED = re.compile(
    r"(?P<date>\d{4}[-/]\d\d?[-/]\d\d?(?:T[\d:.+Z-]+)?|\d{1,2}[./]\d{1,2}[./]\d{4})"
    r"|(?P<amount>[$€£]\d[\d,.]*[kKMB]?|\d[\d,.]*%)"
    r"|(?P<option>--?[a-z][\w-]{2,})"
    r"|(?P<version>v?\d+(?:\.\d+){2,}[\w.+-]*|v\d+(?:\.\d+)*)"
    r"|(?P<ident>[A-Z]{2,}-\d+)"
    r"|(?P<commit>(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40})"
    r"|(?P<special>#\d+|[A-Z]+\d[\w-]*)"
    r"|(?P<number>\d{1,3}(?:,\d{3})+|\d{3,7}|\d+\.\d+)"
)
_RANK = {
    "error": 6.0, "path": 5.0, "date": 4.5, "amount": 3.6, "unit": 3.4, "title": 3.2,
    "option": 3.2, "ident": 3.0, "name": 3.0, "version": 2.8, "url": 2.4, "commit": 2.0,
    "dotted": 1.8, "special": 1.4, "number": 1.4,
}  # fmt: skip

_DATE = lazily(
    lambda: (
        rf"(?:\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? )?(?:{_any('months')})\b"
        r"(?:[ -]\d{1,2}(?:st|nd|rd|th)?\b)?(?:[,-]? ?\d{4}\b)?"
    )
)
_DATE_CJK = re.compile(
    r"[0-9]{2,4}[年년](?: ?\d{1,2}[月월](?: ?\d{1,2}[日일])?)?|[0-9]{1,2}[月월] ?\d{1,2}[日일]"
)
_SIGNS, _QUOTES = "$€£¥", '"“«'  # without these the next pattern, and that of titles, cannot match
_MONEY = re.compile(r"[$€£¥][0-9][\d,.]*\d")
# A number without a unit matches, too, as a whole: else each of its digits would be tried again.
_UNIT = lazily(
    lambda: (
        rf"[0-9][\d,.]*+( ?(?:{_any('units')})| (?:{_any('unit_words')})s?\b| people\b"
        rf"|{_any('units_unspaced')})?"
    )
)
_HEADING = re.compile(r"#+ .*|[ \t]*(?:[-*] |\d+\. )?\*\*[^*\n]+\*\*")  # a heading of one line
_LETTERS = re.compile(r"[JFMASOND][a-z]{2,8}")
_NOT_BEFORE = frozenset("_/.-*#([<`")
_CAPITAL = "A-ZÀ-ÖØ-ÞĀЁА-ЯΑ-Ω"
_SMALL = "a-zß-öø-ÿāčćēěğīłńōřśşšťūůýžżёа-яά-ώ"
_NAME = re.compile(
    rf"[{_CAPITAL}][{_SMALL}]+(?:['’][{_CAPITAL}]?[{_SMALL}]+)?"
    rf"(?:(?: of | de | van | von | )[{_CAPITAL}][{_SMALL}]+)*"
)
_APOSTROPHE = re.compile("['’]")
_TITLE = re.compile(r"[\"“«]([A-ZÀ-ÞА-Я][^\"“”»\n]{2,40})[\"”»]")
_TITLE_CJK = re.compile(r"[「『《]([^」』》\n]{2,24})[」』》]")
_KATAKANA = re.compile(r"[ァ-ヴー]{3,}(?:・[ァ-ヴー]+)*")


@cache
def _starters() -> frozenset[str]:
    """Return words that are capitalised at the beginning of a sentence, not as names."""
    return STOP_WORDS | chat_words() | _DATA.word_set("sentence_starts")


def anchors(text: str, limit: int = LEAF_ANCHORS) -> tuple[str, ...]:
    """Return up to `limit` anchors, the most important first."""
    return top(weigh(text), limit)


def top(weights: Mapping[str, float], limit: int) -> tuple[str, ...]:
    """Return the heaviest words; equal weights keep their order. A part of a kept word is left
    out."""
    kept: list[str] = []
    for word in sorted(weights, key=weights.__getitem__, reverse=True):
        if len(kept) == limit:
            break
        if not any(word in other for other in kept):
            kept.append(word)
    return tuple(kept)


def weigh(text: str, prose: bool = True) -> dict[str, float]:
    """Weigh anchors by importance. `prose`: include names, titles, worded dates and amounts."""
    text = text[:REACH]
    counts = Counter(_TOKEN.findall(text))
    weights: dict[str, float] = {}
    for word, kind in [*_tokens(counts), *(_phrases(text) if prose else ())]:
        # More than three occurrences say little more.
        weight = _RANK[kind] + 0.3 * min(counts[word], 4)
        if weight > weights.get(word, 0.0):
            weights[word] = weight
    return weights


def _tokens(counts: Iterable[str]) -> Iterator[tuple[str, str]]:
    noise = _DATA.word_set("noise")
    for token in counts:
        if token.isalpha() and (token.islower() or token.istitle()):
            continue  # plain words: most of any prose
        word = token.rstrip(":.,#+-\\") if token[0] in "-.#" else token.strip(":.,#+-\\")
        word = word.removeprefix("self.").removeprefix("this.")
        named = 2 < len(word) <= 100 and word not in noise
        kind = token_kind(word) if named else None
        if kind and (kind != "number" or token[-1] != ":"):  # "1561:" numbers a source line
            yield word, kind


@lru_cache(maxsize=1 << 16)  # code repeats its words
def token_kind(word: str) -> str | None:
    """Return the class of a token that is no plain word. Cheap tests choose the pattern to try."""
    if (word[0].isupper() and _ERROR.fullmatch(word)) or word.endswith(("Error", "Exception")):
        return "error"
    if "/" in word or "\\" in word:
        return "path" if _PATH.fullmatch(word) else "url" if _URL.fullmatch(word) else None
    if word.isalpha():
        if word.isupper():
            return None if word.lower() in common_words() else "special"
        return "ident" if _HUMPS.fullmatch(word) else None
    if "." in word and _PATH.fullmatch(word):
        return "path"
    if word.isidentifier():
        if "_" in word:
            return "ident" if word[0] != "_" and word[-1] != "_" else "special"
        if _HUMPS.fullmatch(word):
            return "ident"
    elif "." in word and _DOTTED.fullmatch(word):
        return "dotted"
    match = _MIXED.fullmatch(word)
    return match.lastgroup if match else None


def _phrases(text: str) -> Iterator[tuple[str, str]]:
    if not _DATA.word_set("month_names").isdisjoint(_LETTERS.findall(text)):
        for match in _DATE.finditer(text):
            # "May" alone is a verb, "March" a walk.
            if match.group()[-1].isdigit() or match.group()[0].isdigit():
                yield match.group(), "date"
    for match in _UNIT.finditer(text):
        if match[1]:
            yield match.group(), "unit"
    if any(map(text.__contains__, _SIGNS)):
        for match in _MONEY.finditer(text):
            yield match.group(), "amount"
    if any(map(text.__contains__, _QUOTES)):
        for match in _TITLE.finditer(text):
            yield match.group(1).rstrip(".,!? "), "title"
    for name in _names(text):
        yield name, "name"
    if not text.isascii():
        for pattern, kind in ((_DATE_CJK, "date"), (_TITLE_CJK, "title"), (_KATAKANA, "name")):
            for match in pattern.finditer(text):
                yield match.group(match.lastindex or 0), kind


def _names(text: str) -> Iterator[str]:
    """Yield capitalised runs; a run that begins a sentence counts only if it also occurs
    elsewhere."""
    if "**" in text or "# " in text:
        text = "\n".join(map(_untitled, text.split("\n")))
    sure: dict[str, None] = {}
    starts: Counter[str] = Counter()
    for match in _NAME.finditer(text):
        at = match.start()
        before = text[max(0, at - 2) : at]
        if before[-1:] in _NOT_BEFORE:
            continue
        name = match.group()
        first, _, rest = name.partition(" ")
        if first.lower().replace("'", "").replace("’", "") in _starters():
            name = rest
        name = name.removesuffix("'s").removesuffix("’s")
        if len(name) < 3 or name.lower() in common_words() or name.lower() in _starters():
            continue
        if ("'" in name or "’" in name) and _APOSTROPHE.split(name.lower(), 1)[0] in _starters():
            continue  # "They've", "Can't"
        if (before[-1:] == " " and before[0] not in ".!?:…\n*#>-•") or (name == rest and rest):
            sure[name] = None
        else:
            starts[name] += 1
    yield from sure
    for name, count in starts.items():
        if name not in sure and count > 2 and name.lower() not in text:
            yield name


def _untitled(line: str) -> str:
    """Strip the title at a line's beginning, since its words are capitalised anyway."""
    if (line[:1] == "#" or "**" in line) and (title := _HEADING.match(line)):
        return f".{line[title.end() :]}"
    return line
