"""Tell summary lines specific to their range from lines that could stand anywhere, and recognise
boilerplate: lines that recur in every session and say nothing of this one.

This file does not choose a better line (`headlines.py`) or leave lines out.

    >>> particular("Vanessa: Who knows"), particular("Vanessa: My rabbit bit the vet")
    (False, True)

Boilerplate is commands, prompts, banners and frames, of forms in a fixed list. A summary's body may
hold them if there is nothing else, its headline never. This file does not recognise small talk
(`clauses.py`).

    >>> [is_boilerplate(line) for line in ("/undo", "continue", "Undo the last commit")]
    [True, True, False]
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from memtree.language.borders import UNSPACED
from memtree.language.word_file import WordFiles, alternation, lazily
from memtree.text.terms import common_words, is_common

_DATA = WordFiles("boilerplate")

# A time in front of a statement; alone on its line it is boilerplate.
_STAMP = re.compile(
    r"(?:\[[^\]\n]{0,24}\d{1,2}[:.]\d\d[^\]\n]{0,32}\]|\[\d{1,4}[-./]\d{1,2}[-./]\d{1,4}[^\]\n]{0,20}\]"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d[\d:.,Z+]*|\d\d:\d\d:\d\d(?:[.,]\d{1,6})?"
    r"|\d{1,4}[./-]\d{1,2}[./-]\d{1,4},? \d{1,2}:\d\d(?::\d\d)?(?: ?[aApP][mM])?)"
    r"(?: ?[-–|:])? ?(?=\S|$)"
)
_NAME = re.compile(
    r"(?:[A-ZÀ-ÖØ-ÞА-ЯЁ][\w'’.-]{0,24}(?: [A-ZÀ-ÖØ-ÞА-ЯЁ][\w'’.-]{0,24}){0,2}"
    r"|[\u3041-\u9fff\uac00-\ud7a3]{1,8})[:：] ?(?=\S)"
)
_FORMS = lazily(
    # /undo, /add path
    lambda: rf"/[a-z][\w-]*(?: \S+){{0,3}}$|(?:{_DATA.part('forms')})",
    re.IGNORECASE,
)


def is_boilerplate(line: str) -> bool:
    """Return True if a tidied line is boilerplate."""
    if len(line) < 24 and line.lower().strip(' .!?。！“”"') in _DATA.word_set("alone"):
        return True
    return _may_be(line) and bool(_FORMS.match(line))


def _may_be(line: str) -> bool:
    first = line.partition(" ")[0].lower().rstrip(",!.:")
    return (
        first in _DATA.word_set("first")
        or not line[:1].isalpha()
        or line[-3:] in ("? y", "? n")
        or "tokens truncated…" in line[:80]
        or " v" in line[:32]
        or " chat started at " in line[:80]
    )


def without_stamp(line: str) -> str:
    """Return the line without the time in front of it."""
    if line and (line[0] in "[(" or line[0].isdigit()) and (match := _STAMP.match(line)):
        return line[match.end() :]
    return line


def speaker_of(line: str) -> str:
    """Return the speaker's name at the start of a line ("Ann" of "Ann: hello"), or ""."""
    match = _NAME.match(line)
    return match.group().rstrip(": ：") if match else ""


_PIECE = re.compile(r"; | -> | \(|\)")
_WORD = re.compile(r"[^\W_][^\W]*(?:['’][^\W_]+)*")
# The numbers or count of an output's lines say nothing about its content.
_LINES = re.compile(r"\blines? [0-9]+(?:-[0-9]+)?\b|\b[0-9]{1,9} (?:more )?lines?\b")
_GENITIVE = ("'s", "’s")
ERRORS = ("Error", "Exception")
# Common words of scripts without spaces, the longest first: they are removed from a run.
_UNSPACED_WORDS = lazily(lambda: alternation(filter(UNSPACED.search, common_words())))


def particular(text: str, anchors: Sequence[str] = (), siblings: Sequence[str] = ()) -> bool:
    """Return True if a summary line holds a number, a name, an identifier or a content word that
    few of its siblings hold.

    `text`: the line without its range; `anchors`: those of the same summary; `siblings`: the lines
    beside it, without it. The speaker's name does not count.
    """
    own_words = set(telling_words(text, anchors))
    if not own_words or not siblings:
        return bool(own_words)
    allowed = 1 + len(siblings) // 6
    others = [line.lower() for line in siblings]
    return any(sum(word in other for other in others) <= allowed for word in own_words)


def telling_words(text: str, anchors: Iterable[str] = ()) -> Iterator[str]:
    """Yield the words that may distinguish a line from others, in lower case and in order."""
    names = {word.lower() for anchor in anchors for word in _WORD.findall(anchor)}
    if "line" in text:
        text = _LINES.sub(" ", text)
    for piece in _PIECE.split(text):
        said, speaker = piece, speaker_of(piece) if ":" in piece or "：" in piece else ""
        if speaker and not speaker.endswith(ERRORS):
            said = piece[len(speaker) + 1 :]
        for number, token in enumerate(_WORD.findall(said)):
            word = token[:-2] if token[-2:] in _GENITIVE else token
            if _tells(word, names, first=number == 0):
                yield word.lower()


def _tells(word: str, names: set[str], first: bool) -> bool:
    if is_common(word):
        return False
    if not word.isascii() and UNSPACED.search(word):
        return max(map(len, _UNSPACED_WORDS.split(word))) > 1
    if len(word) > 2 or word.lower() in names:
        return True
    return any(map(str.isdigit, word)) or (not first and len(word) > 1 and word[0].isupper())
