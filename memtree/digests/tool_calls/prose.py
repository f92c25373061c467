"""Read calls and edits that clients write in prose: tags (`<path>a.py</path>`), JSON, a fenced
command, SEARCH/REPLACE blocks, diffs, and lines that report applied edits.

    >>> [(a.kind, a.text) for a in written("> Applied edit to a.py", 0)]
    [(2, 'a.py')]
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memtree.digests.tool_calls import programs, shell
from memtree.digests.tool_calls.event import COMMITTED, CREATED, EDITED, READ, UNDONE, Action
from memtree.digests.tool_calls.fields import Field, Span
from memtree.digests.tool_calls.markup import tagged
from memtree.digests.tool_calls.objects import listed
from memtree.digests.tool_calls.patches import is_patch, patched

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
    b"</",
    b"<\\/",
    b"SEARCH",
    b"ORIGINAL",
    b"+++ ",
    b"*** ",
    b"Applied edit",
    b"Commit ",
    b"Removed: ",
    b"Reverted ",
    b'{\\"',
    b"{\\n",
    b"{ ",
)
_CALLED = re.compile(
    rb"<<<<<<< SEARCH|\*\*\* Begin Patch|<path>|<command>|<parameter|Applied edit to |\\n\+\+\+ "
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
    if language not in ("", "bash", "sh", "shell", "console", "zsh"):
        return
    block = text[begin:end]
    words = block.partition("\n")[0].split()
    if not words:
        return
    if not (language or programs.purpose(words) or words[0] in _SHELL_WORDS):
        return
    yield from shell.commands(Field(block, start + begin))
