"""Read the arguments of a tool call by name, each with its place in the source text.

A call's arguments are JSON, or tags in prose (`<path>a.py</path>`). Nested objects become groups
that inherit the scalars around them, so that `{"path": "a", "edits": [{"old": ..., "new": ...}]}`
is one group with a path, an old and a new text. Names are compared in lower case and without
separators: `filePath`, `file_path` and `file-path` are the same.

    >>> [{key: field.text for key, field in group.items()} for group in groups('{"filePath":"a"}')]
    [{'filepath': 'a'}]
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

CREATED, WRITTEN, EDITED, DELETED, READ, UNDONE, COMMITTED, RAN = range(8)
CHANGES = (CREATED, WRITTEN, EDITED, DELETED, UNDONE)
TEST, BUILD, INSTALL, RUN, CHANGE = range(1, 6)  # purposes of commands, the most informative first


@dataclass(frozen=True, slots=True)
class Action:
    """Action that a message requests or reports.

    `name`: place of its path, command or commit, the `text`; None for an edit whose file only its
    result names. `new`: a line of the new text, or of the removed text. `command`: a command's
    purpose, 0 for other actions. `piped`: the exit code of its line is that of another command: of
    a pager, or of one that ran later. `confirmed`: the text itself says that it was done. `folder`:
    absolute folder to which a command changes first. `shell`: it is part of a command line, which
    may do other things too.
    """

    kind: int
    text: str
    name: Span | None
    new: Span | None = None
    removes: bool = False
    command: int = 0
    piped: bool = False
    confirmed: bool = False
    folder: str = ""
    shell: bool = False


def clean_path(text: str) -> str:
    """Return a path without quotes and without `./` before it.

    >>> clean_path(" `./src/app.py`"), clean_path("src/")
    ('src/app.py', 'src')
    """
    return text.strip().strip("'\"`").replace("\\", "/").removeprefix("./").rstrip("/")


MAX_TOKENS = 20_000  # of one call's arguments; the rest is not read
MAX_DEPTH = 24
_JSON = re.compile(r'"((?:[^"\\]++|\\.)*+)"?|[{}\[\],:]|[^\s{}\[\]:,"]++', re.DOTALL)
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", re.DOTALL
)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_SEPARATORS = str.maketrans("", "", "_- .")
_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "/bin/bash", "/bin/sh", "/bin/zsh"})


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Characters [start, end) of a message's view; `escaped`: True if they are escaped as in
    JSON."""

    start: int
    end: int
    escaped: bool = False


@dataclass(frozen=True)  # without slots: the map of escapes is a cached property
class Field:
    """A value whose source text `raw` begins at character `start` of the view. `whole`: its parts
    have no places of their own, as in a list of words that makes a command."""

    raw: str
    start: int = 0
    escaped: bool = False
    whole: str | None = None

    @cached_property
    def text(self) -> str:
        if self.whole is not None:
            return self.whole
        return unescaped(self.raw) if self.escaped and "\\" in self.raw else self.raw

    @cached_property
    def _jumps(self) -> tuple[list[int], list[int]]:
        """Starts of the runs between escapes, in the text and in its source text."""
        read, spelled = [0], [0]
        removed = 0
        for match in _ESCAPE.finditer(self.raw):
            removed += len(match[0]) - 1
            read.append(match.end() - removed)
            spelled.append(match.end())
        return read, spelled

    def span(self, start: int = 0, end: int | None = None) -> Span:
        """Return the place in the view of characters [start, end) of the text."""
        last = len(self.text) if end is None else end
        if self.whole is not None:
            return Span(self.start, self.start + len(self.raw), escaped=True)
        if not self.escaped or "\\" not in self.raw:
            return Span(self.start + start, self.start + last, self.escaped)
        return Span(self.start + self._spelled(start), self.start + self._spelled(last), True)

    def _spelled(self, offset: int) -> int:
        read, spelled = self._jumps
        at = bisect_right(read, offset) - 1
        place = spelled[at] + offset - read[at]
        return min(place, spelled[at + 1]) if at + 1 < len(spelled) else place


Group = dict[str, Field]


def unescaped(raw: str) -> str:
    """Decode the escapes of a JSON string; a broken escape stands for its last character."""
    return _ESCAPE.sub(_character, raw)


def _character(match: re.Match[str]) -> str:
    escape = match[0]
    if len(escape) == 12:
        high, low = int(escape[2:6], 16), int(escape[8:], 16)
        return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
    if len(escape) == 6:
        return chr(int(escape[2:], 16))
    return _ESCAPED.get(escape[1], escape[1])


def folded(name: str) -> str:
    """Return a name in lower case without separators."""
    return name.translate(_SEPARATORS).lower()


def groups(arguments: str, start: int = 0) -> list[Group]:
    """Return the groups of arguments in a JSON object or a list of objects; for other text, one
    group with the field `input`."""
    if not arguments.lstrip().startswith(("{", "[{")):
        return [{"input": Field(arguments, start)}] if arguments.strip() else []
    return list(_flattened(_tree(arguments, start), {}, 0))


@dataclass(slots=True)
class _Object:
    """JSON object or list that is being read."""

    named: bool
    key: str
    items: list[tuple[str, _Object | Field]]


def _tree(text: str, start: int) -> _Object:
    root = _Object(False, "", [])
    opened = [root]
    key = ""
    for count, match in enumerate(_JSON.finditer(text)):
        token, inner = match[0], opened[-1]
        if count > MAX_TOKENS:
            break
        if token in ("{", "["):
            child = _Object(token == "{", key, [])
            inner.items.append((key, child))
            if len(opened) < MAX_DEPTH:
                opened.append(child)
            key = ""
        elif token in ("}", "]"):
            if len(opened) > 1:
                opened.pop()
            key = ""
        elif token == ",":
            key = ""
        elif token == ":":
            continue
        elif inner.named and not key and token[0] == '"':
            key = folded(unescaped(match[1]))
        else:
            quoted = token[0] == '"'
            at = start + (match.start(1) if quoted else match.start())
            field = Field(match[1] if quoted else token, at, escaped=quoted)
            if quoted or token != "null":
                inner.items.append((key, field))
    return root


def _flattened(node: _Object, around: Group, depth: int) -> Iterator[Group]:
    own = dict(around)
    nested: list[_Object] = []
    listed: list[tuple[str, list[Field]]] = []
    for key, item in node.items:
        if isinstance(item, Field):
            if node.named:
                own[key] = item
        elif (
            item.items
            and all(isinstance(field, Field) for _, field in item.items)
            and not item.named
        ):
            listed.append((key, [field for _, field in item.items if isinstance(field, Field)]))
        else:
            nested.append(item)
    several: list[Group] = []
    for key, fields in listed:
        if key.endswith("s") and len(fields) > 0:
            several += [{key.removesuffix("s"): field} for field in fields]
        else:
            own[key] = _joined(fields)
    if node.named and (own or not nested):
        yield own
    for group in several:
        yield {**own, **group}
    if depth < MAX_DEPTH:
        for child in nested:
            yield from _flattened(child, own, depth + 1)


def _joined(fields: list[Field]) -> Field:
    """Join a list of words to a command; for `bash -lc "..."` return the inner command, for
    `apply_patch "..."` the patch."""
    if len(fields) > 2 and fields[0].text in _SHELLS and fields[1].text.startswith("-"):
        return fields[2]
    if len(fields) == 2 and "*** Begin Patch" in fields[1].raw:
        return fields[1]
    first, last = fields[0], fields[-1]
    length = last.start + len(last.raw) - first.start
    words = " ".join(field.text for field in fields)
    return fields[0] if len(fields) == 1 else Field(" " * length, first.start, True, words)
