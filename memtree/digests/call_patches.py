"""Read edits written as a patch: `*** Update File:`, SEARCH/REPLACE blocks, unified diffs.

>>> text = "a.py\\n<<<<<<< SEARCH\\nx = 1\\n=======\\nx = 2\\n>>>>>>> REPLACE"
>>> [(action.text, text[action.new.start : action.new.end]) for action in patched(Field(text))]
[('a.py', 'x = 2')]
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memtree.digests.call_fields import CREATED, DELETED, EDITED, WRITTEN, Action, Field, Span

SHOWN = 60  # characters shown of a line; lines that fit are preferred
LONGEST_LINE = 300  # characters of a line that names the file of a block
LOOKED_AT = 400  # lines of an edit that are read
_PATCH = re.compile(
    r"\*(?<![^\n].)\*(?:\* (Update|Add|Delete) File: ([^\n]{1,300})$"
    r"|(Update|Add|Delete): `([^`\n]{1,300})`\*\*\n{1,3}```diff$)",  # in a log for readers
    re.MULTILINE,
)
# Each pattern begins with a character, not with `^`, and then looks back for the line's beginning,
# so the engine skips all text without that character.
_SEARCH = re.compile(r"[<-](?<![^\n].)[<-]{4,8} ?(SEARCH|ORIGINAL)\b[^\n]*")
_DIVIDER = re.compile(r"=(?<![^\n].)={4,8} *$", re.MULTILINE)
_REPLACE = re.compile(r"[>+](?<![^\n].)[>+]{4,8} ?(?:REPLACE|UPDATED)\b[^\n]*")
_DIFF = re.compile(r"^--- ([^\n\t]{1,300})[^\n]*\n\+\+\+ ([^\n\t]{1,300})", re.MULTILINE)
_PATH = re.compile(r"[\w./\\@~+()\[\]$ -]{0,200}[\w)\]]")
# A path among other words has a folder or an ending.
_NAMED = re.compile(
    r"(?<![^\s:=`\"'(])(?!//|[\w.+-]{1,20}://)"
    r"[\w./\\@~+()\[\]$-]{0,200}[./\\][\w()\[\]$-]{0,60}\w(?![\w/])"
)
_FENCE = re.compile(r"`(?<![^\n].)``[^\n]{0,200}")
_SIDES = re.compile(r"^[ab]/")


def is_patch(text: str) -> bool:
    """Return True if a text holds an edit in one of these forms."""
    if ("*** " in text or "`**\n" in text) and _PATCH.search(text):
        return True
    if ("SEARCH" in text or "ORIGINAL" in text) and _SEARCH.search(text):
        return True
    return "\n+++ " in text and bool(_DIFF.search(text))


def patched(field: Field, path: Field | None = None) -> Iterator[Action]:
    """Yield the edits of a text. `path`: the file of blocks that name none."""
    text = field.text
    yield from _begun(field, text)
    yield from _blocks(field, text, path)
    yield from _diffs(field, text)


def _begun(field: Field, text: str) -> Iterator[Action]:
    marks = list(_PATCH.finditer(text)) if "*** " in text or "`**\n" in text else []
    for mark, following in zip(marks, [*marks[1:], None], strict=False):
        verb = 1 if mark[1] else 3
        kind = {"Update": EDITED, "Add": CREATED, "Delete": DELETED}[mark[verb]]
        name = mark[verb + 1].rstrip()
        end = following.start() if following else len(text)
        new = None if kind == DELETED else _added(field, text, mark.end(), end)
        yield Action(
            kind,
            name.lstrip(),
            field.span(mark.start(verb + 1), mark.start(verb + 1) + len(name)),
            new,
        )


def _added(field: Field, text: str, start: int, end: int) -> Span | None:
    """Return the most informative of the lines that a patch adds."""
    spans = []
    for at, line in _lines(text, start, end):
        if line.startswith("+") and not line.startswith("+++"):
            spans.append((at + 1, line[1:]))
    return best(field, spans)


def _blocks(field: Field, text: str, path: Field | None) -> Iterator[Action]:
    at = 0
    named: tuple[str, Span] | None = None
    while "SEARCH" in text or "ORIGINAL" in text:
        begun = _SEARCH.search(text, at)
        divider = _DIVIDER.search(text, begun.end()) if begun else None
        ended = _REPLACE.search(text, divider.end()) if divider else None
        if not (begun and divider and ended):
            return
        above = _path_above(field, text, at, begun.start())
        beside = _path_in(text, begun.end(1), begun.end())
        if above is None and beside is not None:
            above = text[slice(*beside)], field.span(*beside)
        named = above or named
        if path is not None:
            named = path.text, path.span()
        at = ended.end()
        if named is None:
            continue
        old, new = (begun.end(), divider.start()), (divider.end(), ended.start())
        line, removes = changed(field, field, old, new)
        kind = CREATED if not text[old[0] : old[1]].strip() else EDITED
        yield Action(kind, named[0], named[1], line, removes)


def _path_above(field: Field, text: str, least: int, at: int) -> tuple[str, Span] | None:
    """Return the path that stands in the three lines above a block."""
    for _ in range(3):
        end = at - 1
        if end < least:
            return None
        at = max(least, text.rfind("\n", least, end) + 1)
        if (path := _path_in(text, at, end)) is not None:
            return text[slice(*path)], field.span(*path)
    return None


def _path_in(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Return the place of the path that a line names: alone, in backticks, as the line's last word
    (`File: a.py`), or behind the language of a fence (```` ```python a.py ````)."""
    if end - start > LONGEST_LINE:
        return None
    line = text[start:end]
    name = line.strip().strip("*`#: ")
    words = line.split()
    fence = line.lstrip().startswith("```")  # its only word is a language, as in ```Python
    alone = _PATH.fullmatch(name) and ("." in name or "/" in name or name[:1].isupper())
    if (
        alone
        and not fence
        and (" " not in name or (name.count(" ") == 1 and "/" in name.split()[0]))
    ):
        at = start + line.index(name)
        return at, at + len(name)
    named = list(_NAMED.finditer(line))
    if not named:
        return None
    low, high = named[-1].span()
    quoted = line[low - 1 : low] == "`" == line[high : high + 1]
    last = high >= len(line.rstrip("*`: \r")) and (len(words) < 4 or line.rstrip().endswith(":"))
    if quoted or last or fence:
        return start + low, start + high
    return None


def whole_files(field: Field) -> Iterator[Action]:
    """Yield the files whose new contents a text gives in fenced blocks: a line above a block, or
    the block's first line, names the file."""
    text = field.text
    marks = list(_FENCE.finditer(text))
    least = 0
    for begun, ended in zip(marks[::2], marks[1::2], strict=False):
        path = _path_in(text, begun.start(), begun.end())
        named = (text[slice(*path)], field.span(*path)) if path else None
        named = named or _path_above(field, text, least, begun.start())
        if named is not None:
            yield Action(WRITTEN, *named, first_line(field, begun.end(), ended.start()))
        least = ended.end()


def _diffs(field: Field, text: str) -> Iterator[Action]:
    marks = list(_DIFF.finditer(text)) if "\n+++ " in text else []
    for mark, following in zip(marks, [*marks[1:], None], strict=False):
        old, new = mark[1].strip(), mark[2].strip()
        gone = new == "/dev/null"
        name, group = (old, 1) if gone else (new, 2)
        side = _SIDES.match(name)
        start = mark.start(group) + (side.end() if side else 0)
        end = mark.start(group) + len(name)
        kind = DELETED if gone else CREATED if old == "/dev/null" else EDITED
        last = following.start() if following else len(text)
        yield Action(
            kind, text[start:end], field.span(start, end), _added(field, text, mark.end(), last)
        )


def changed(
    old: Field,
    new: Field,
    before: tuple[int, int] | None = None,
    after: tuple[int, int] | None = None,
) -> tuple[Span | None, bool]:
    """Return the most informative line of the new text, and False; if nothing is new, a line that
    the edit removes, and True."""
    olds = list(_lines(old.text, *(before or (0, len(old.text)))))
    news = list(_lines(new.text, *(after or (0, len(new.text)))))
    known = {line.strip() for _, line in olds}
    line = best(new, [(at, text) for at, text in news if text.strip() not in known])
    if line is not None:
        return line, False
    kept = {line.strip() for _, line in news}
    gone = best(old, [(at, text) for at, text in olds if text.strip() not in kept])
    return (gone, True) if gone is not None else (best(new, news), False)


def first_line(field: Field, start: int = 0, end: int | None = None) -> Span | None:
    """Return the first line of a text that has words."""
    return best(field, _lines(field.text, start, len(field.text) if end is None else end))


def best(field: Field, lines: Sequence[tuple[int, str]] | Iterator[tuple[int, str]]) -> Span | None:
    """Return the first line with words that fits `SHOWN` characters, else the first with words."""
    chosen: tuple[int, str] | None = None
    for at, line in lines:
        words = sum(map(str.isalnum, line[: 3 * SHOWN]))
        if words >= 4 and len(line.strip()) <= SHOWN:
            chosen = at, line
            break
        chosen = chosen or ((at, line) if words > 1 else None)
    if chosen is None:
        return None
    at, line = chosen
    start = at + len(line) - len(line.lstrip())
    return field.span(start, start + min(len(line.strip()), 2 * SHOWN))


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    """Yield the first 400 lines of a part of a text, with their starts."""
    for _ in range(LOOKED_AT):
        if start >= end:
            return
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        yield start, text[start:stop]
        start = stop + 1
