"""Tell summary lines specific to their range from lines that could stand anywhere.

This file does not choose a better line (`headlines.py`) or leave lines out.

    >>> particular("Vanessa: Who knows"), particular("Vanessa: My rabbit bit the vet")
    (False, True)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from memtree.digests.clauses.boilerplate import speaker_of
from memtree.language.borders import UNSPACED
from memtree.language.lists import alternation
from memtree.language.word_file import lazily
from memtree.text.words.common_words import common_words, is_common

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
