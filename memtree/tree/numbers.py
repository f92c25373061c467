"""Numbers, names and other anchors that a summary has and its text does not.

Forms may differ: 1,000 and 1000, 12k and 12,000, "three" and 3, 2023-05-08 and 8 May 2023, and
a path or a name may be given in part.
What this file does not do: say what a number means (`faithfulness.py` compares clauses).

    >>> list(invented_numbers("3 of 12k rows", "three of the 12,500 rows"))
    ['a number is new: 12']
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from memtree.language.day_names import ENGLISH_NAMES
from memtree.language.word_file import WordFiles
from memtree.text.anchors import weigh
from memtree.text.normal_form import nfkc

_DATA = WordFiles("numbers")

_NUMBER = re.compile(r"\d+(?:[.,:/'-]\d+)*")
_SCALED = re.compile(r"(?<!\d)(\d{1,12}(?:[.,]\d{1,12})?) ?([kKM])(?!\w)")


# Italian "due", Dutch "tien" and the like are words of other languages.
_WORDS = WordFiles("numbers", without=("it", "nl", "pt")).table("cardinals", "ordinals", "counts")
_CJK_DIGITS = {digit: str(at) for at, digit in enumerate("〇一二三四五六七八九十")}
_MONTHS = {name[:3].lower(): str(at) for at, name in enumerate(ENGLISH_NAMES, 1)}
_LETTERED = re.compile(r"[^\W\d_]+")
_COUNTED = re.compile(r"(?<![\w.,:/-])(\d+(?:[.,]\d+)*)[ -]([^\W\d_]{4,})")


def invented_numbers(draft: str, text: str) -> Iterator[str]:
    """Numbers that the text does not have, or has for another thing ("4 files in 7 folders")."""
    draft, text = plain(draft), plain(text)
    known = set(_values(text))
    words = set(_LETTERED.findall(text.lower()))
    known |= {_WORDS[word] for word in words if word in _WORDS}
    known |= {_MONTHS[word[:3]] for word in words if word[:3] in _MONTHS}
    known |= {_CJK_DIGITS[char] for char in text if char in _CJK_DIGITS}
    for match in _NUMBER.finditer(draft):
        number = match.group()
        if not _known(number, draft[match.end() : match.end() + 3], known):
            yield f"a number is new: {number}"
    counted = _counted(text)
    for thing, values in _counted(draft).items():
        if thing in counted and not values & counted[thing] and values <= known:
            yield f"a number counts another thing: {min(values)} {thing}"


def _known(number: str, rest: str, known: set[str]) -> bool:
    if _value(number) in known:
        return True
    if (match := _SCALED.match(number + rest)) and _scaled(*match.groups()) in known:
        return True
    if number.count(".") == 1 and not re.search(r"[,:/'-]", number):
        # 3.5 is one number, but a version or a section may be cut short: 3.5 of 3.5.1
        return any(value.startswith(number + ".") for value in known)
    parts = re.split(r"[.,:/'-]", number)
    return len(parts) > 1 and all(_value(part) in known for part in parts)


def _values(text: str) -> Iterator[str]:
    for match in _NUMBER.finditer(text):
        yield _value(match.group())
        parts = re.split(r"[,:/'-]", match.group())
        if len(parts) > 1 and not re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", match.group()):
            yield from map(_value, parts)
        if match.group().count(".") > 1:
            yield from map(_value, match.group().split("."))
    for match in _SCALED.finditer(text):
        yield _scaled(match.group(1), match.group(2))


def _value(number: str) -> str:
    """One form for 1,000 and 1000, for 05 and 5, for 2.50 and 2.5."""
    if re.fullmatch(r"\d{1,3}(?:[,'.]\d{3})+", number) and not re.fullmatch(r"0[.,]\d+", number):
        number = re.sub(r"[,'.]", "", number)
    elif re.fullmatch(r"\d{1,3}(?:,\d{3})+\.\d+", number):
        number = number.replace(",", "")
    elif re.fullmatch(r"\d+,\d+", number):
        number = number.replace(",", ".")
    if re.fullmatch(r"\d+\.\d*0", number):
        number = number.rstrip("0").rstrip(".")
    return number.lstrip("0") or "0" if number.isdigit() else number


def _scaled(number: str, unit: str) -> str:
    value = float(number.replace(",", "."))
    return str(round(value * (1_000 if unit in "kK" else 1_000_000)))


def _counted(text: str) -> dict[str, set[str]]:
    """Return the numbers that stand before each word."""
    counted: dict[str, set[str]] = {}
    for match in _COUNTED.finditer(text):
        counted.setdefault(match.group(2).lower().rstrip("s"), set()).add(_value(match.group(1)))
    return counted


_PARTS = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


_ADDRESS = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+")  # of mail
_QUOTED_END = re.compile(r"([.!?])[\"'”»)]+\s")


def invented_anchors(draft: str, text: str, names: bool = True) -> Iterator[str]:
    """Anchors (paths, identifiers, dates, names) of the summary that the text does not have.

    `names`: look for proper nouns too. Not of use where every noun is written with a capital.
    """
    draft, text = plain(draft), plain(text).lower()
    words = {word.removesuffix("'s") for word in _PARTS.findall(text.replace("’", "'"))}
    for anchor in _ADDRESS.findall(draft):
        if anchor.lower() not in text:
            yield anchor
    draft = _QUOTED_END.sub(r"\1 ", draft)  # or a sentence's first word passes for a name
    for anchor in weigh(draft, prose=names):
        low = anchor.lower().replace("’", "'").rstrip(".,;:!?")
        if low in text or low.isdigit():  # digits alone are judged as numbers
            continue
        if _plain_words(low):
            if not _in_text(low, words):
                yield anchor
        elif not _several(low, words):
            yield anchor


def _plain_words(low: str) -> bool:
    return all(part.replace("'", "").isalpha() for part in low.split())


def _in_text(name: str, words: set[str]) -> bool:
    """Return True if the text has every word of a name, in whatever form: "Swedish" of "Sweden"."""
    for part in name.split():
        part = part.removesuffix("'s")
        stem = part[: max(4, len(part) - 3)]
        if part in _DATA.word_set("capitals") or part in words or len(part) < 3:
            continue
        if not any(
            word.startswith(stem) or (part.startswith(word) and len(word) > 3) for word in words
        ):
            return False
    return True


def _several(anchor: str, words: set[str]) -> bool:
    """Worded dates and amounts ("8 May 2023") are known when every word of them is."""
    return " " in anchor and all(
        part in words or part in _DATA.word_set("capitals") or part.isdigit()
        for part in _PARTS.findall(anchor)
    )


def plain(text: str) -> str:
    """Compatibility forms and foreign digits as the usual ones."""
    text = nfkc(text)
    if text.isascii():
        return text
    return "".join(
        str(unicodedata.digit(char)) if char.isdigit() and not char.isascii() else char
        for char in text
    )
