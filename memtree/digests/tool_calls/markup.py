"""Read calls that clients write in tags: an element whose children are arguments
(`<edit_file><path>a.py</path>...`), or one that names its file in an attribute.

    >>> [(a.kind, a.text) for a in tagged("<read_file><path>a.py</path></read_file>", 0)]
    [(4, 'a.py')]
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from memtree.digests.tool_calls.calls import acted, acts
from memtree.digests.tool_calls.event import Action
from memtree.digests.tool_calls.fields import Field, Group, folded
from memtree.language.word_file import WordFile

_DATA = WordFile("all", "tool_calls")

MAX_CALLS = 100  # calls read in one message
MAX_UNCLOSED = 12  # names of elements without an end; each costs a search of the rest
_FENCE = re.compile(r"`(?<![^\n].)``")
_ELEMENT = re.compile(r"<([A-Za-z][\w.:-]{0,60})(=[\w.-]{1,60})?((?:\s[^<>]{1,400})?)>")
_ATTRIBUTE = re.compile(r"([\w:-]{1,40})=(?:\"([^\"]{1,300})\"|'([^']{1,300})')")
_NOT_TAGS = _DATA.words("not_tags")
_ARGUMENTS = _DATA.words(
    *("paths", "targets", "commands", "contents", "olds", "news", "patches", "places", "wraps")
)
_PATHS = _DATA.words("paths")
_CONTENTS = _DATA.words("contents")
_ALONE = _DATA.words("paths", "commands")
_BLANK = re.compile(r"\s{0,80}")
_CDATA = re.compile(r"\s{0,80}<!\[CDATA\[(.*?)\]\]>", re.DOTALL)


def tagged(text: str, start: int) -> Iterator[Action]:
    """Yield the actions of calls in tags; the text begins at character `start` of the view."""
    return _Reader(text, start).actions()


def fences(text: str) -> list[int]:
    """Return the places of the lines that begin or end fenced code."""
    return [match.start() for match in _FENCE.finditer(text)] if "```" in text else []


def _path_key(attributes: str) -> re.Match[str] | None:
    """Return the attribute that names a file."""
    said = _ATTRIBUTE.finditer(attributes)
    return next((match for match in said if folded(match[1]) in _PATHS), None)


class _Reader:
    """Collects consecutive arguments under one opening tag: they are one call's."""

    def __init__(self, text: str, start: int) -> None:
        self._text = text
        self._start = start
        self._name = ""
        self._group: Group = {}
        self._unclosed: set[str] = set()
        self._fences: list[int] | None = None

    def actions(self) -> Iterator[Action]:
        at = calls = 0
        while calls < MAX_CALLS and (match := _ELEMENT.search(self._text, at)):
            at = match.end()
            key = self._argument(match)
            if not key and self._is_leaf(match):
                continue  # an argument of no interest
            if not key:
                flushed = self._flushed()
                calls += bool(flushed)
                yield from flushed
                at = self._opened(match)
                continue
            wraps = key not in _CONTENTS and self._begins_with_argument(match.end())
            if wraps or (end := self._end(match)) < 0:
                continue
            if key in self._group:
                named = {} if key in _ALONE else self._group
                yield from self._flushed()
                calls += 1
                self._group = {path: named[path] for path in named if path in _PATHS}
            self._group[key] = self._value(match.end(), end)
            at = end
        yield from self._flushed()

    def _argument(self, match: re.Match[str]) -> str:
        """Return the argument that an element holds, "" for an element that opens a call."""
        name, named, attributes = match.groups()
        if name.rpartition(":")[2] == "parameter":
            said = _ATTRIBUTE.search(attributes)
            return folded(named[1:] if named else said[2] or said[3] if said else "")
        key = folded(name)
        if named or key in _NOT_TAGS or key not in _ARGUMENTS:
            return ""
        return "" if attributes and (key in _ALONE or _path_key(attributes)) else key

    def _is_leaf(self, match: re.Match[str]) -> bool:
        """Return True for an element without attributes that holds text only."""
        following = self._text.find("<", match.end())
        return not (match[2] or match[3]) and self._text.startswith(f"</{match[1]}>", following)

    def _end(self, match: re.Match[str]) -> int:
        """Return where an element's closing tag begins, -1 if it has none."""
        close = f"</{match[1]}>"
        if close in self._unclosed or len(self._unclosed) >= MAX_UNCLOSED:
            return -1
        end = self._text.find(close, match.end())
        if end < 0:
            self._unclosed.add(close)
        return end

    def _begins_with_argument(self, at: int) -> bool:
        """Return True if the text of an element begins with an argument's element."""
        inner = _ELEMENT.match(self._text, _BLANK.match(self._text, at).end())  # type: ignore[union-attr]
        return inner is not None and self._argument(inner) != ""

    def _value(self, low: int, high: int) -> Field:
        if (quoted := _CDATA.match(self._text, low, high)) is not None:
            low, high = quoted.span(1)
        while low < high and self._text[low] in "\r\n":
            low += 1
        return Field(self._text[low:high].rstrip("\r\n"), self._start + low)

    def _opened(self, match: re.Match[str]) -> int:
        """Begin a call. Return where the text goes on: behind an element whose attributes name a
        file and whose text is the file's new contents."""
        name, named, attributes = match.groups()
        self._name = named[1:] if named else name
        if name.rpartition(":")[2] == "invoke" and (said := _ATTRIBUTE.search(attributes)):
            self._name = said[2] or said[3]
        said = _path_key(attributes)
        of_file = said is not None and folded(said[1]) == "filepath"
        if said is None or not (acts(name) or of_file or self._is_file(match)):
            return match.end()
        group = 2 if said[2] else 3
        low, high = match.start(3) + said.start(group), match.start(3) + said.end(group)
        self._group["path"] = Field(self._text[low:high], self._start + low)
        if attributes.endswith("/") or self._begins_with_argument(match.end()):
            return match.end()
        end = self._end(match)
        if end < 0:
            return match.end()
        self._group["content"] = self._value(match.end(), end)
        return end

    def _is_file(self, match: re.Match[str]) -> bool:
        """Return True for a `<file>` outside of fenced code."""
        if match[1] != "file":
            return False
        if self._fences is None:
            self._fences = fences(self._text)
        return bisect_left(self._fences, match.start()) % 2 == 0

    def _flushed(self) -> list[Action]:
        group, self._group = self._group, {}
        return acted(self._name, [group]) if group else []
