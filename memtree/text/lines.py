"""Find lines written by or for a program: code, logs, traces, tables, data.

Messages and paragraphs that programs write in the user's name (an agent's first message, notes
about files, summaries of earlier conversations; some of it says "I") are recognised by their
beginnings, as found in the clients of `docs/clients.md`, including aider and the Qwen and Gemini
command lines. Other lines are judged one by one, by form. A line between two such lines of a
paragraph counts as one.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence

from memtree.language.word_file import WordFile, WordFiles, lazily

_CLIENT_DATA = WordFiles("client_messages")


# The program wrote the whole message.
_MESSAGE = lazily(lambda: rf"\s{{0,20}}(?:{_CLIENT_DATA.part('messages')})")
# The program wrote a paragraph within the message.
_PARAGRAPH = lazily(lambda: rf"\s{{0,20}}(?:{_CLIENT_DATA.part('paragraphs')})")


def is_by_client(text: str) -> bool:
    """Return True if a message of the user was written by a program."""
    return _MESSAGE.match(text) is not None


def begins_note(line: str) -> bool:
    """Return True if a line begins a paragraph that a program wrote."""
    return _PARAGRAPH.match(line[:READ]) is not None


_PROMPT = "#### "


def without_prompts(text: str) -> str:
    """Blank the mark that some clients' records put before each line of the user's."""
    lines = text.split("\n") if text.startswith(_PROMPT) else []
    if not lines or not all(line.startswith(_PROMPT) or not line.strip(" #") for line in lines):
        return text
    blank = "\N{NO-BREAK SPACE}" * len(_PROMPT)  # four spaces would be the mark of code
    return "\n".join(
        blank + line[len(_PROMPT) :] if line.startswith(_PROMPT) else line for line in lines
    )


_DATA = WordFile("all", "own_voice")

READ = 400  # characters of a line from which its form is read
_MADE = WordFile("all", "made_lines").pattern("lines")
_ENDING = re.compile(r"(?:[{};]|\)[,;:]|[\[({,]|=>|\\|->)$")
_CODE_SIGN = re.compile(r"[=(){}\[\]<>|]|\w\.\w+\(|::|->|&&")
_SIGNS = re.compile(r"[{}\[\]()]+[,;]?|[$%#]")  # of code, and of a terminal that waits
# The rest of the paragraph is what a command printed.
_COMMAND = re.compile(r"\s{0,4}(?:[\w.@~:/-]{0,60}[$%]|PS [A-Z]:[^>\n]{0,60}>|>>>)\s\S")
_PLACE = re.compile(
    r"(?:[-*•]\s|\d+[.)]\s)?(?:(?:https?://|www\.)\S++[\s,;]*+)++$"
    r"|[^\s/\\]*+[/\\]\S++$"
)
_HEADING = re.compile(r"#{1,6}\s|[=\-*_~]{3,}$|[A-Z][A-Z /&-]{3,40}:?$")
_FILE_NAME = re.compile(
    r"[^\n/]{0,150}\.(?:docx?|odt|pdf|txt|md|csv|xlsx?|pptx?|zip|png|jpe?g|gif|mp[34]|html?|json"
    r"|ya?ml|eml|py|js|ts)$",
    re.IGNORECASE,
)
_REFERENCE = re.compile(r"(?=\D*\d)[\w#.:/-]{8,}+[),;]?")
_DIFF = re.compile(r"\s{0,4}(?:@@ |diff --git )")  # the rest of the paragraph belongs to the diff
_QUOTED = re.compile(r"[>＞]|&gt;")
BULLET = re.compile(r"[ \t]{0,12}(?:(?:[-*•+–]|\(?\d{1,3}[.)]|[a-z]\))[ \t]+(?:\[[ xX]?\][ \t]+)?)")
_SPEECH = _DATA.pattern("speech", shaped=r"(?:{})\b".format)


class LineKind(enum.Enum):
    BLANK = "blank"
    PROSE = "prose"
    MADE = "made"  # by a program, or for one
    MARK = "mark"  # headings, rules, quoted lines, bare addresses: left out, no sign of a paste


def kind(line: str) -> LineKind:
    """Tell the kind of one line by itself."""
    read = line.strip()
    if not read:
        return LineKind.BLANK
    if not any(map(str.isalpha, read[:READ])):
        return LineKind.MADE if _SIGNS.fullmatch(read) else LineKind.MARK
    if _QUOTED.match(read) or _HEADING.match(read[:READ]) or _PLACE.match(read[:READ]):
        return LineKind.MARK
    bullet = BULLET.match(line)
    if bullet:
        read = line[bullet.end() :].strip()
    return LineKind.MADE if _is_made(read, line, bool(bullet)) else LineKind.PROSE


def _is_made(read: str, line: str, bulleted: bool) -> bool:
    head = read[:READ]
    if _MADE.match(head):
        return not (_SPEECH.match(head) and read[-1:] in ".?!")
    if _ENDING.search(read[-8:]) and (
        _CODE_SIGN.search(head) or " " not in head or line[:4] in ("    ", "\t")
    ):
        return True
    if line.startswith(("    ", "\t")) and not bulleted and not _SPEECH.match(head):
        return True
    if line.count("\t") > 2:
        return True
    return _is_dense(head) or _is_signs(head)


def _is_dense(read: str) -> bool:
    """Return True for long text without spaces, such as base64; not for unspaced scripts."""
    return len(read) > 80 and read.isascii() and 30 * read.count(" ") < len(read)


def _is_signs(read: str) -> bool:
    """Return True if a line is mostly signs. Long numbers and identifiers that a user's sentence
    may hold, such as an order number, do not count."""
    if not _has_more_signs(read):  # nearly always, without reading the words
        return False
    if read[-1] in ".!?" or _SPEECH.match(read):
        read = " ".join(word for word in read.split() if not _REFERENCE.fullmatch(word))
    return _has_more_signs(read)


def _has_more_signs(read: str) -> bool:
    letters = sum(map(str.isalpha, read)) + read.count(" ")
    return len(read) > 20 and 10 * letters < 6 * len(read)


def kinds(lines: Sequence[str]) -> list[LineKind]:
    """Tell the kinds of consecutive lines, including tables without rules, and lines between lines
    of programs."""
    known = {line: kind(line) for line in set(lines)}
    line_kinds = [known[line] for line in lines]
    start = 0
    for at in range(len(line_kinds) + 1):
        if at == len(line_kinds) or line_kinds[at] is LineKind.BLANK:
            _paragraph(lines, line_kinds, start, at)
            start = at + 1
    return line_kinds


def _paragraph(lines: Sequence[str], line_kinds: list[LineKind], start: int, end: int) -> None:
    made = [at for at in range(start, end) if line_kinds[at] is LineKind.MADE]
    if any(_DIFF.match(lines[at]) or _COMMAND.match(lines[at]) for at in made):
        made.append(end - 1)
    if len(made) > 1:
        columns = _cells(lines[made[0]]) if made[0] > start else None
        headed = columns is not None and columns == _cells(lines[made[0] - 1])  # their names
        for at in range(made[0] - headed, made[-1] + 1):
            line_kinds[at] = LineKind.MADE
    elif not made and _is_listing([line.strip() for line in lines[start:end]]):
        line_kinds[start:end] = [LineKind.MADE] * (end - start)
    elif not made and end - start > 2:
        cells = [None, *map(_cells, lines[start:end]), None]
        for at, own in enumerate(cells[1:-1], start=start):
            beside = own in (cells[at - start], cells[at - start + 2])
            if own and beside and line_kinds[at] is LineKind.PROSE:
                line_kinds[at] = LineKind.MADE


def _is_listing(names: Sequence[str]) -> bool:
    """Return True if all are file names, at least one of them without a space."""
    return (
        len(names) > 1
        and all(_FILE_NAME.match(name[-READ:]) for name in names)
        and any(" " not in BULLET.sub("", name) for name in names)
    )


def _cells(line: str) -> tuple[str, int] | None:
    """Return the cell separator of a line, and its count."""
    read = line.strip()
    for sign, least in (("\t", 2), (";", 2), (", ", 3), (",", 2)):
        count = read.count(sign)
        if count >= least and read[-1] not in ".!?" and len(read.split()) <= 3 * (count + 1):
            return sign, count
    return None
