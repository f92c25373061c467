"""Read calls and edits that clients write in prose.

They stand in tags (`<path>a.py</path>`), JSON, a fenced command, SEARCH/REPLACE blocks, diffs, and
lines that report applied edits.

    >>> [(a.kind, a.text) for a in written("> Applied edit to a.py", 0)]
    [(2, 'a.py')]

JSON in prose is a call (`{"name": "edit", "arguments": {...}}`), a list of such objects, or
arguments alone.

    >>> text = 'Action Input: {"path": "a.py", "old": "x = 1", "new": "x = 2"}'
    >>> [(a.kind, a.text) for a in listed(text, 0)]
    [(2, 'a.py')]

In tags a call is an element whose children are arguments (`<edit_file><path>a.py</path>...`), or
one that names its file in an attribute.

    >>> [(a.kind, a.text) for a in tagged("<read_file><path>a.py</path></read_file>", 0)]
    [(4, 'a.py')]
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cache, partial
from typing import Any

from memtree.digests import shell
from memtree.digests.call_fields import (
    COMMITTED,
    CREATED,
    DELETED,
    EDITED,
    READ,
    UNDONE,
    WRITTEN,
    Action,
    Field,
    Group,
    Span,
    folded,
    groups,
)
from memtree.digests.call_patches import is_patch, patched
from memtree.digests.tool_calls import PLACES, acted, acts
from memtree.language.word_file import WordFile

_DATA = WordFile("all", "tool_calls")

MAX_UNCLOSED = 12  # names of elements without an end; each costs a search of the rest
_MARKUP_FENCE = re.compile(r"`(?<![^\n].)``")
_ELEMENT = re.compile(r"<([A-Za-z][\w.:-]{0,60})(=[\w.-]{1,60})?((?:\s[^<>]{1,400})?)>")
_ATTRIBUTE = re.compile(r"([\w:-]{1,40})=(?:\"([^\"]{1,300})\"|'([^']{1,300})')")
_NOT_TAGS = _DATA.words("not_tags")
_TAG_ARGUMENTS = _DATA.words(
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
    return [match.start() for match in _MARKUP_FENCE.finditer(text)] if "```" in text else []


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
        if named or key in _NOT_TAGS or key not in _TAG_ARGUMENTS:
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


MAX_CALLS = 100  # calls read in one message
MAX_BROKEN = 12  # objects without an end; each may cost reading the rest
# An object or a list of objects at the beginning of a line, behind a tag, `word: ` or `word(`. The
# pattern begins with a character and then looks back, so the engine skips all other text.
_BEGIN = re.compile(
    r"[{\[](?:(?<![^\n>\]].)|(?<=\w: .)|(?<=[>\]] .)|(?<=\w\(.))"
    r"(?:(?<=\{)\s{0,80}\"|(?<=\[)\s{0,80}\{)"
)
_NEXT = re.compile(r"\s{0,80},\s{0,80}(?=\{)")
_ACTION = re.compile(r"^Action: {0,4}([\w.-]{1,60}) *\n", re.MULTILINE)
_NAMES = ("name", "tool", "tool_name", "action", "function")
_ARGUMENTS = ("arguments", "args", "parameters", "params", "input", "action_input", "tool_input")
_CHANGES = (CREATED, WRITTEN, EDITED, DELETED)


def listed(text: str, start: int, *, fenced: bool = False) -> list[Action]:
    """Return the actions of calls in a text that begins at character `start` of the view.
    `fenced`: an object in fenced code may be a call without a name; otherwise it must tell an
    edit, since it may be an example of data."""
    actions: list[Action] = []
    marks = fences(text)
    for held, low, high in _objects(text):
        arguments = _with_strings_read(held, groups(text[low:high], start + low))
        name = _name(held)
        if fenced or (name and _has_arguments(held)) or bisect_left(marks, low) % 2 == 0:
            actions += acted(name or _action_above(text, low), arguments)
            continue
        arguments = [group for group in arguments if not PLACES & group.keys()]
        actions += [action for action in acted(name, arguments) if action.kind in _CHANGES]
    return actions


def _objects(text: str) -> Iterator[tuple[dict[str, Any], int, int]]:
    """Yield the objects of a text with their (start, end)."""
    decoder = json.JSONDecoder(strict=False)  # models write line breaks into strings
    at = calls = broken = 0
    while calls < MAX_CALLS and broken < MAX_BROKEN and (match := _BEGIN.search(text, at)):
        low = text.index("{", match.start())
        while calls < MAX_CALLS:
            try:
                held, at = decoder.raw_decode(text, low)
            except (ValueError, RecursionError):
                at, broken = low + 1, broken + 1
                break
            yield held, low, at
            calls += 1
            following = _NEXT.match(text, at) if text[match.start()] == "[" else None
            if following is None:
                break
            low = following.end()


def _name(held: dict[str, Any]) -> str:
    """Return the name of the call that an object makes, "" if it gives none."""
    said = next((held[key] for key in _NAMES if held.get(key)), "")
    if isinstance(said, dict):
        said = said.get("name")
    return said if isinstance(said, str) else ""


def _with_strings_read(held: dict[str, Any], outer: list[Group]) -> list[Group]:
    """Return an object's groups of arguments, those given as a JSON string as its own groups. A
    name other than `arguments` must be the object's own: elsewhere it may hold a file's text."""
    names = ["arguments", *(folded(key) for key in _ARGUMENTS if isinstance(held.get(key), str))]
    read: dict[int, list[Group]] = {}  # by its string, which several groups may inherit
    for group in outer:
        field = next((group[name] for name in names if name in group), None)
        if field is None or not field.text.lstrip().startswith("{"):
            read[id(group)] = [group]
        elif id(field) not in read:
            place = cache(partial(_within, field))
            inner = groups(field.text)
            read[id(field)] = [{key: place(each) for key, each in one.items()} for one in inner]
    return [group for each in read.values() for group in each]


def _within(outer: Field, inner: Field) -> Field:
    """Return a field of JSON in a string as a field of the text around it."""
    span = outer.span(inner.start, inner.start + len(inner.raw))
    low, high = span.start - outer.start, span.end - outer.start
    return Field(outer.raw[low:high], span.start, True, inner.text)


def _has_arguments(held: dict[str, Any]) -> bool:
    inner = held.get("function")
    held = inner if isinstance(inner, dict) else held
    return any(isinstance(held.get(key), dict | str) for key in _ARGUMENTS)


def _action_above(text: str, at: int) -> str:
    """Return the name in a line `Action: name` just above an object."""
    matches = list(_ACTION.finditer(text, max(0, at - 200), at))
    return matches[-1][1] if matches else ""


_FENCE = re.compile(r"`(?<![^\n].)``[\w-]*\n")
_SAID = re.compile(
    r"(?:Applied edit to (?P<edited>[^\n]{1,200})"
    r"|Created (?:new )?file:? ?(?P<created>[\w./-]{1,200})"
    r"|Commit (?P<commit>[0-9a-f]{6,40} [^\n]{1,200})"
    r"|(?P<undone>(?:Removed:|Reverted)(?: commit)? [0-9a-f]{6,40}[^\n]{0,200}))"
)
_MARKS = ("Applied edit to ", "Commit ", "Removed: ", "Reverted ", "Created ")
_SEEN = (
    *(b"```", b"</", b"<\\/", b"SEARCH", b"ORIGINAL", b"+++ ", b"*** ", b'{\\"', b"{\\n", b"{ "),
    *(b"Applied edit", b"Commit ", b"Removed: ", b"Reverted "),
)
_CALLED = (
    b"<<<<<<< SEARCH",
    b"*** Begin Patch",
    b"<path>",
    b"<command>",
    b"<parameter",
    b"Applied edit to ",
    b"\\n+++ ",
)
_SHELL_WORDS = frozenset({"cat", "cd", "echo", "sed", "create", "rm", "edit", "insert"})
_COMMITTED = re.compile(
    r"I committed the changes with git hash (?P<commit>[0-9a-f]{6,40}[^\n]{0,200})"
    r"|(?P<undone>I did `git reset[^`\n]{0,80}` to undo your last edits)"
)
_APPLIED = re.compile(r"I committed the changes with git hash|I updated the files\.")
_SAID_BY_CLIENT = re.compile(rb"I committed the changes with git hash|to undo your last edits")


def may_tell(raw: bytes) -> bool:
    """Return False if a posted message certainly holds none of these forms."""
    return any(mark in raw for mark in _SEEN)


def calls_in_text(raw: bytes) -> bool:
    """Return True if a posted message certainly holds a call or an edit in its text."""
    return any(mark in raw for mark in _CALLED)


def may_be_said(raw: bytes) -> bool:
    """Return False if a posted user message certainly reports no commit or undone edit."""
    return _SAID_BY_CLIENT.search(raw) is not None


def said(text: str) -> Iterator[Action]:
    """Yield the commits and undone edits that a client reports in the user's place."""
    for match in _COMMITTED.finditer(text):
        kind = match.lastgroup or ""
        code = COMMITTED if kind == "commit" else UNDONE
        yield Action(code, match[kind], Span(*match.span(kind)), confirmed=True)


def is_applied(text: str) -> bool:
    """Return True if a client reports, in the user's place, that it wrote the files which the
    message before gives."""
    return _APPLIED.match(text) is not None


def ends_fenced(raw: bytes) -> bool:
    """Return True if a posted message ends with a fenced block."""
    return b"```" in raw[-24:]


def written(text: str, start: int, *, fences: bool = True) -> list[Action]:
    """Return the actions that assistant prose requests or reports; it begins at character `start`
    of the message's view. `fences`: True if the client runs a fenced command at its end."""
    reports = list(reported(text, start))
    calls = list(tagged(text, start)) if "</" in text else []
    if any(action.kind != READ for action in calls):
        return [*calls, *reports]
    if is_patch(text):  # before JSON, since the lines of its blocks may be JSON
        return [*calls, *patched(Field(text, start)), *reports]
    calls += listed(text, start, fenced=fences)
    if not calls and fences:
        calls = list(fenced(text, start))
    return [*calls, *reports]


def _lines_said(text: str) -> Iterator[re.Match[str]]:
    for mark in _MARKS:
        at = text.find(mark)
        while at >= 0:
            before = text[max(0, at - 5) : at].rpartition("\n")[2]
            match = _SAID.match(text, at)
            if match and len(before) < 5 and not before.strip("> \t"):
                yield match
            at = text.find(mark, at + len(mark))


def reported(text: str, start: int = 0) -> Iterator[Action]:
    """Yield the actions that lines of the client report."""
    for match in sorted(_lines_said(text), key=lambda match: match.start()):
        kind = match.lastgroup or ""
        said = match[kind].rstrip().rstrip(".")
        low = start + match.start(kind)
        code = {"edited": EDITED, "created": CREATED, "commit": COMMITTED, "undone": UNDONE}[kind]
        yield Action(code, said, Span(low, low + len(said)), confirmed=True)


def fenced(text: str, start: int) -> Iterator[Action]:
    """Yield the actions of a message's only fenced block, if an agent runs it as a command."""
    marks = list(_FENCE.finditer(text))[:3]
    if len(marks) != 1:
        return
    begin = marks[0].end()
    end = text.find("\n```", begin - 1)
    if end < 0 or text[end + 4 :].strip():
        return
    language = marks[0][0].strip("`\n")
    if language and not ("sh" in language or language == "console"):
        return
    block = text[begin:end]
    words = block.partition("\n")[0].split()
    if not words:
        return
    if not (language or shell.program_purpose(words) or words[0] in _SHELL_WORDS):
        return
    yield from shell.commands(Field(block, start + begin))
