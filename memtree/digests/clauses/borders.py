"""Where a text can be cut so that what stays is whole: after a clause, after a word.

Chinese and Japanese are written without spaces. There a word ends at punctuation, where the script
changes, after particles, and around the commonest function words: no dictionary is needed.
What this file does not do: say which piece is worth keeping.

    >>> units("田中さんはプロジェクトを辞めます")
    ['田中さんは', 'プロジェクトを', '辞めます']
    >>> list(clauses("we keep SQLite, because the installers must work offline"))
    ['we keep SQLite', 'because the installers must work offline']
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_HAN = "\u3400-\u9fff\uf900-\ufaff"
_HIRAGANA = "\u3041-\u309f"
_KATAKANA = "\u30a1-\u30ff"
UNSPACED = re.compile(f"[{_HAN}{_HIRAGANA}{_KATAKANA}]")
_STOPS = "，。；：！？、…」』）】》〉"
# One pass, one match a unit: a run of one script, with the particles and marks behind it.
_FUNCTION = (
    "因为|所以|但是|不过|而且|并且|如果|虽然|然后|以及|或者|还是|已经|应该|可以|需要|不要|不能|没有"
    "|我们|你们|他们|她们|这个|那个|这些|那些|什么|怎么|为什么|关于|根据|通过|由于|为了|之后|之前|现在|今天"
    "|明天|昨天"
)
_UNIT = re.compile(
    rf"(?:{_FUNCTION})[{_STOPS}]*"
    rf"|[{_KATAKANA}]+[{_HIRAGANA}]*+[{_STOPS}]*"
    rf"|[{_HAN}](?:(?!{_FUNCTION})(?!(?<=[的了着过吗呢吧])(?![解地确]))[{_HAN}])*+"
    rf"[{_HIRAGANA}]*+[{_STOPS}]*"
    rf"|[{_HIRAGANA}]+[{_STOPS}]*"
    rf"|[^\s{_HAN}{_HIRAGANA}{_KATAKANA}]+"
)
_SPACED = re.compile(r"\S+")


def _no_ordinal(end: str = "") -> str:
    return "".join(
        rf"(?<!\b(?:{words}) {digits}\.{end})"
        for words in ("am|ab|im", "dem|den|der|vom|zum|bis")
        for digits in (r"\d", r"\d\d")
    )


ORDINAL = _no_ordinal()  # no sentence ends behind a German one, as in "ab dem 3. September"
# After a mark, and before words that begin a clause; the text has single spaces.
_CLAUSE = re.compile(
    r"(?<=[,;!?]) (?!\d{4}\b)| (?:[-–—]|->) |(?<=[，；！？。])|(?<=[\u3041-\u309f]、)"
    rf"|(?<=[.…]){ORDINAL} (?=[^a-z\s])|(?<=[a-z]{{3}}\.) "
    r"|(?<!obody)(?<!othing) "
    r"(?=(?:because|so that|which|whereas|although|though|unless|until|while|but|after|before"
    r"|when|if|(?:and|so) (?:i|we|you|he|she|it|they|the|then|also|that)"
    r"|weil|damit|sondern|aber|parce que|mais|porque|pero|потому|чтобы|который|но)\b)",
    re.IGNORECASE,
)
# The same in ASCII, where each begins with a space: then the engine skips all other characters.
# Four characters that are white space elsewhere are none to it.
_CLAUSE_ASCII = re.compile(
    r" (?:(?<=[,;!?] )(?!\d{4}\b)|(?:-|->) "
    rf"|(?<=[.] ){_no_ordinal(' ')}(?=[^a-z\s\x1c-\x1f])"
    r"|(?<=[a-z]{3}\. )"
    r"|(?<!obody )(?<!othing )"
    r"(?=(?:because|so that|which|whereas|although|though|unless|until|while|but|after|before"
    r"|when|if|(?:and|so) (?:i|we|you|he|she|it|they|the|then|also|that)"
    r"|weil|damit|sondern|aber|parce que|mais|porque|pero)\b))",
    re.IGNORECASE | re.ASCII,
)


def units(text: str) -> list[str]:
    """Words without the space between them; of unspaced scripts phrases of a few characters."""
    if text.isascii():
        return text.split()
    if not UNSPACED.search(text):
        return _SPACED.findall(text)
    return _UNIT.findall(text)


def ends(text: str) -> list[int]:
    """Characters of the text up to the end of each unit."""
    pattern = _UNIT if not text.isascii() and UNSPACED.search(text) else _SPACED
    return [match.end() for match in pattern.finditer(text)]


def clause_ends(text: str) -> list[int]:
    """Characters of the text up to the end of each clause but the last."""
    pattern = _CLAUSE_ASCII if text.isascii() else _CLAUSE
    return [match.start() for match in pattern.finditer(text)]


def clauses(text: str) -> Iterator[str]:
    """The text's clauses in order, without the marks between them."""
    for piece in (_CLAUSE_ASCII if text.isascii() else _CLAUSE).split(text):
        bare = piece.strip(" ,;:.!?，；：。！？、-–—")
        if bare:
            yield bare
