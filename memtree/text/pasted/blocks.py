"""Find delimited blocks: markup elements, fenced code, and text that this program inserts itself.

Unclosed blocks of this program and of clients reach to the end of the text: recalled text must
never be taken for the user's words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memtree.language.word_file import WordFile
from memtree.text import memory_lines
from memtree.text.spans import Span, blanked, merged

_DATA = WordFile("all", "client_messages")

# Tags that agents put around the user's own words: the tags are removed, the words stay.
WRAPPERS = _DATA.words("wrappers")
# These reach to the end of the text if they are not closed.
OPEN_ENDED = _DATA.words("open_ended")
_TAG = re.compile(r"<(/?)([A-Za-z][\w.:-]{0,60})((?:\s[^<>]{0,2000})?)>")
_FENCE = re.compile(r"^[ \t]{0,8}(?:[-*>][ \t]){0,2}(`{3,}|~{3,})(.*)$", re.MULTILINE)
_TRIPLE = re.compile(r'"{3}|\'{3}')
_HEADINGS = (memory_lines.HEADING, memory_lines.USER_HEADING, memory_lines.DOCUMENTS_HEADING)
_NOTES = (memory_lines.NOTE, memory_lines.BOTH_NOTE, memory_lines.DOCUMENTS_NOTE)
_OURS = re.compile(rf"^(?:{'|'.join(map(re.escape, _HEADINGS))})[ \t]*$", re.MULTILINE)
_NUMBERED = re.compile(r"\d{1,3}\. ")


def blocks(text: str) -> list[Span]:
    """Return the merged spans of blocks. Each step reads what the earlier steps left, so a tag in
    code is no tag, and a quote in a client's block is no quote."""
    spans: list[Span] = []
    for step in (_known_elements, _own_lists, _fences, _triples, _elements):
        left = blanked(text, spans) if spans else text
        spans = merged([*spans, *step(left)])
    return spans


def injected(text: str) -> list[Span]:
    """Return the merged spans that this program and clients inserted."""
    return merged([*_known_elements(text), *_own_lists(text)])


def _known_elements(text: str) -> Iterator[Span]:
    return _elements(text, known=True)


def _elements(text: str, *, known: bool = False) -> Iterator[Span]:
    """Yield markup elements with their content, and the tags that have no counterpart. `known`:
    only elements that reach to the end of the text if they are not closed."""
    if "<" not in text:
        return
    opened: list[tuple[str, Span]] = []
    waiting: dict[str, int] = {}
    for match in _TAG.finditer(text):
        name, tag = match[2].lower(), Span(*match.span())
        if known and name not in OPEN_ENDED:
            continue
        yield tag
        if name in WRAPPERS or match[3].endswith("/"):
            continue
        if not match[1]:
            opened.append((name, tag))
            waiting[name] = waiting.get(name, 0) + 1
        elif waiting.get(name):
            while True:  # drops elements opened inside and never closed
                inner, begin = opened.pop()
                waiting[inner] -= 1
                if inner == name:
                    break
            yield Span(begin.start, tag.end)
    for name, tag in opened:
        if name in OPEN_ENDED:
            yield Span(tag.start, len(text))


def _fences(text: str) -> Iterator[Span]:
    """Yield fenced code; without a closing fence it reaches to the end of the text."""
    fence, start = "", 0
    for match in _FENCE.finditer(text):
        mark, rest = match[1], match[2]
        if fence:
            if mark[0] == fence[0] and len(mark) >= len(fence) and not rest.strip():
                yield Span(start, match.end())
                fence = ""
        elif mark in rest:  # opened and closed on one line
            continue
        else:
            fence, start = mark, match.start(1)
    if fence:
        yield Span(start, len(text))


def _triples(text: str) -> Iterator[Span]:
    """Yield text between triple quotes, anywhere in a line."""
    opening: re.Match[str] | None = None
    for match in _TRIPLE.finditer(text):
        if opening is None:
            opening = match
        elif match.group() == opening.group():
            yield Span(opening.start(), match.end())
            opening = None
    if opening and not text[text.rfind("\n", 0, opening.start()) + 1 : opening.start()].strip():
        yield Span(opening.start(), len(text))


def _own_lists(text: str) -> Iterator[Span]:
    """Yield lists of saved memories, with their heading and the note that follows."""
    for match in _OURS.finditer(text):
        end = match.end()
        while end < len(text):
            stop = text.find("\n", end + 1)
            line = text[end + 1 : stop if stop >= 0 else len(text)]
            if not (_NUMBERED.match(line) or line.startswith(_NOTES)):
                break
            end = stop if stop >= 0 else len(text)
        yield Span(match.start(), end)
