"""Find the parts of a line of prose that are not its author's words: code, quotations, actions of a
role, image addresses.

A name may stand in quotation marks or backticks ("I prefer `pnpm`", 'my dog is called "Rex"'), so
single words of code are kept, and quotations of a few words that make no statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memtree.language.word_file import WordFile
from memtree.text.spans import Span

_DATA = WordFile("all", "own_voice")

LONGEST_WORD = 40  # characters of code that may be a name
QUOTED_WORDS = 5  # a longer quotation is somebody's sentence
_TICKS = re.compile(r"`+")
_NAME = re.compile(r"[\w.@/+#:-]+")
_IMAGE = re.compile(r"!\[[^\]\n]{0,100}\]\([^)\n]{0,500}\)")
_ACTION = re.compile(r"(?<![*\w])\*(?=[^\s*])([^*\n]{1,600})(?<=\S)\*(?![*\w])")
_MARK = re.compile(r"[\"“”„«»‹›「」『』]|(?<![^\s(\[])['‘‚](?=\w)|(?<=[^\s])['’](?!\w)")
_CLOSES = {
    '"': '"', "“": "”\"“", "„": "“”\"", "«": "»", "»": "«", "‹": "›", "›": "‹",
    "「": "」", "『": "』", "'": "'’", "‘": "’'", "‚": "‘’",
}  # fmt: skip
_SPEAKS = _DATA.pattern(
    "speaks",
    re.IGNORECASE,
    shaped=lambda words: rf"\b(?:{words})\b|[\u4e00-\u9fff\u3040-\u30ff]{{4}}",
)
_WORD = re.compile(r"[^\W_][\w'’-]*")
_SMALL = _DATA.words("small")


def inline(text: str) -> list[Span]:
    """Return the spans in one paragraph; they may overlap."""
    spans = [Span(*match.span()) for match in _IMAGE.finditer(text)] if "![" in text else []
    if "`" in text:
        spans += _code(text)
    if "*" in text:
        spans += _actions(text)
    return [*spans, *_quotations(text)]


def _code(text: str) -> Iterator[Span]:
    """Yield code spans, from a run of backticks to the next run of the same length."""
    runs = [match.span() for match in _TICKS.finditer(text)]
    later: dict[int, int] = {}
    partner = [-1] * len(runs)
    for at in range(len(runs) - 1, -1, -1):
        size = runs[at][1] - runs[at][0]
        partner[at] = later.get(size, -1)
        later[size] = at
    at = 0
    while at < len(runs):
        close = partner[at]
        if close < 0:
            at += 1
            continue
        inside = text[runs[at][1] : runs[close][0]].strip()
        if len(inside) > LONGEST_WORD or not _NAME.fullmatch(inside):
            yield Span(runs[at][0], runs[close][1])
        at = close + 1


def _actions(text: str) -> Iterator[Span]:
    """Yield actions such as *walks over to the bar*; one or two words are mere emphasis."""
    for match in _ACTION.finditer(text):
        words = match[1].count(" ") + 1
        if words > 3 or (words > 1 and not text[: match.start()].strip()):
            yield Span(*match.span())


def _quotations(text: str) -> Iterator[Span]:
    """Yield quotations that make a statement; an unclosed one only if it opens the paragraph."""
    closing, start = "", 0
    for match in _MARK.finditer(text):
        mark, at = match.group(), match.start()
        if closing:
            if mark in closing and (mark not in "\"'“" or _ends(text, at)):
                if _says(text[start + 1 : at]):
                    yield Span(start, at + 1)
                closing = ""
        elif mark in _CLOSES and _begins(text, at):
            closing, start = _CLOSES[mark], at
    if (
        closing
        and not text[:start].strip()
        and text[start] not in "'‘‚"
        and _says(text[start + 1 :])
    ):
        yield Span(start, len(text))


def _begins(text: str, at: int) -> bool:
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    return not before.isalnum() and (bool(after.strip()) or text[at] in "«‹")


def _ends(text: str, at: int) -> bool:
    return bool(text[at - 1 : at].strip()) and not text[at + 1 : at + 2].isalnum()


def _says(quoted: str) -> bool:
    """Return True if a quotation is a statement, not the name or title of something."""
    if len(quoted) > 200:
        return True
    words = _WORD.findall(quoted)
    if len(words) > 1 and all(word[0].isupper() or word.lower() in _SMALL for word in words):
        return len(words) > QUOTED_WORDS + 2
    return len(words) > QUOTED_WORDS or bool(_SPEAKS.search(quoted))
