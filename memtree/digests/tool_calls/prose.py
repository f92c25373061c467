"""Read calls and edits that clients write in prose: tags (`<path>a.py</path>`), JSON, a fenced
command, SEARCH/REPLACE blocks, diffs, and lines that report applied edits.

    >>> [(a.kind, a.text) for a in written("> Applied edit to a.py", 0)]
    [(2, 'a.py')]
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from memtree.digests.tool_calls import programs, shell
from memtree.digests.tool_calls.calls import acted
from memtree.digests.tool_calls.event import COMMITTED, CREATED, EDITED, UNDONE, Action
from memtree.digests.tool_calls.fields import Field, Group, Span, folded, groups
from memtree.digests.tool_calls.patches import is_patch, patched
from memtree.language.word_file import WordFile

_DATA = WordFile("all", "tool_calls")

MAX_CALLS = 12  # calls read in one message
_TAG = _DATA.pattern(
    "tag_names",
    re.IGNORECASE,
    shaped=r"<(?:parameter(?: name=|=)[\"']?({0})[\"']?|({0}))>".format,
)
_CALL = re.compile(r"<(?:invoke name=[\"']|function=)?([A-Za-z]\w{2,40})[\"']?>")
_JSON_CALL = re.compile(r"\{(?<![^\n>].)\s{0,8}\"")
_FENCE = re.compile(r"`(?<![^\n].)``[\w-]*\n")
_SAID = re.compile(
    r"(?:Applied edit to (?P<edited>[^\n]{1,200})"
    r"|Created (?:new )?file:? ?(?P<created>[\w./-]{1,200})"
    r"|Commit (?P<commit>[0-9a-f]{6,40} [^\n]{1,200})"
    r"|(?P<undone>(?:Removed:|Reverted)(?: commit)? [0-9a-f]{6,40}[^\n]{0,200}))"
)
_MARKS = ("Applied edit to ", "Commit ", "Removed: ", "Reverted ", "Created ")
_SEEN = (
    b"```",
    b"<path>",
    b"<command>",
    b"<parameter",
    b"SEARCH",
    b"+++ ",
    b"*** ",
    b"Applied edit",
    b"Commit ",
    b"Removed: ",
    b"Reverted ",
    b'{\\"',
)
_CALLED = re.compile(
    rb"<<<<<<< SEARCH|\*\*\* Begin Patch|<path>|<command>|<parameter|Applied edit to |\\n\+\+\+ "
)
_SHELL_WORDS = frozenset({"cat", "cd", "echo", "sed", "create", "rm", "edit", "insert"})
_COMMITTED = re.compile(
    r"I committed the changes with git hash (?P<commit>[0-9a-f]{6,40}[^\n]{0,200})"
    r"|(?P<undone>I did `git reset[^`\n]{0,80}` to undo your last edits)"
)
_SAID_BY_CLIENT = re.compile(rb"I committed the changes with git hash|to undo your last edits")


def may_tell(raw: bytes) -> bool:
    """Return False if a posted message certainly holds none of these forms."""
    return any(mark in raw for mark in _SEEN)


def calls_in_text(raw: bytes) -> bool:
    """Return True if a posted message certainly holds a call or an edit in its text."""
    return _CALLED.search(raw) is not None


def may_be_said(raw: bytes) -> bool:
    """Return False if a posted user message certainly reports no commit or undone edit."""
    return _SAID_BY_CLIENT.search(raw) is not None


def said(text: str) -> Iterator[Action]:
    """Yield the commits and undone edits that a client reports in the user's place."""
    for match in _COMMITTED.finditer(text):
        kind = match.lastgroup or ""
        code = COMMITTED if kind == "commit" else UNDONE
        yield Action(code, match[kind], Span(*match.span(kind)), confirmed=True)


def is_block(text: str) -> bool:
    """Return True if a text holds edits that a client has to apply."""
    return is_patch(text)


def ends_fenced(raw: bytes) -> bool:
    """Return True if a posted message ends with a fenced block."""
    return b"```" in raw[-24:]


def written(text: str, start: int, *, fences: bool = True) -> list[Action]:
    """Return the actions that assistant prose requests or reports; it begins at character `start`
    of the message's view. `fences`: True if the client runs a fenced command at its end."""
    reported = list(_told(text, start))
    if any(mark in text for mark in ("<path>", "<command>", "<parameter", "<content>")):
        tagged = list(_tagged(text, start))
        if tagged:
            return [*tagged, *reported]
    requested = list(_asked(text, start))
    if requested:
        return [*requested, *reported]
    whole = Field(text, start)
    if is_patch(text):
        return [*patched(whole), *reported]
    return [*(fenced(text, start) if fences else ()), *reported]


def _lines_said(text: str) -> Iterator[re.Match[str]]:
    for mark in _MARKS:
        at = text.find(mark)
        while at >= 0:
            before = text[max(0, at - 5) : at].rpartition("\n")[2]
            match = _SAID.match(text, at)
            if match and len(before) < 5 and not before.strip("> \t"):
                yield match
            at = text.find(mark, at + len(mark))


def _told(text: str, start: int) -> Iterator[Action]:
    """Yield the actions that lines of the client report."""
    for match in sorted(_lines_said(text), key=lambda match: match.start()):
        kind = match.lastgroup or ""
        said = match[kind].rstrip().rstrip(".")
        low = start + match.start(kind)
        code = {"edited": EDITED, "created": CREATED, "commit": COMMITTED, "undone": UNDONE}[kind]
        yield Action(code, said, Span(low, low + len(said)), confirmed=True)


def _tagged(text: str, start: int) -> Iterator[Action]:
    """Yield calls in tags: consecutive values under one opening tag are a call's arguments."""
    group: Group = {}
    unclosed: set[str] = set()
    name = ""
    at = 0
    calls = 0
    while calls < MAX_CALLS and (match := _TAG.search(text, at)):
        for opened in _CALL.finditer(text, at, match.start()):
            if not _TAG.fullmatch(opened[0]):
                if group:
                    yield from acted(name, [group])
                    calls, group = calls + 1, {}
                name = opened[1]
        key = match[1] or match[2]
        close = "</parameter>" if match[1] else f"</{match[2]}>"
        end = -1 if close in unclosed else text.find(close, match.end())
        at = match.end()
        if end < 0:
            unclosed.add(close)
        if end < 0 or folded(key) == "args":
            continue
        if folded(key) in group and folded(key) in ("path", "command"):
            yield from acted(name, [group])
            calls, group = calls + 1, {}
        low, high = match.end(), end
        while low < high and text[low] in "\n":
            low += 1
        group[folded(key)] = Field(text[low:high].rstrip("\n"), start + low)
        at = end
    if group:
        yield from acted(name, [group])


def _asked(text: str, start: int) -> Iterator[Action]:
    """Yield calls written as JSON objects at the beginning of a line."""
    decoder = json.JSONDecoder()
    at = 0
    for _ in range(MAX_CALLS):
        match = _JSON_CALL.search(text, at)
        if match is None:
            return
        try:
            held, end = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            return
        at = end
        name = held.get("name") or held.get("tool") or held.get("action") or ""
        arguments = groups(text[match.start() : end], start + match.start())
        yield from acted(str(name) if isinstance(name, str) else "", arguments)


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
    if language not in ("", "bash", "sh", "shell", "console", "zsh"):
        return
    block = text[begin:end]
    words = block.partition("\n")[0].split()
    if not words:
        return
    if not (language or programs.purpose(words) or words[0] in _SHELL_WORDS):
        return
    yield from shell.commands(Field(block, start + begin))
