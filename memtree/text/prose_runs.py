r"""Tell the lines of programs from prose, and part a message into runs of prose.

Lines of programs are code, logs, traces, tables and data. Messages and paragraphs that programs
write in the user's name (an agent's first message, notes about files, summaries of earlier
conversations; some of it says "I") are recognised by their beginnings, as found in the clients of
`docs/clients.md`, including aider and the Qwen and Gemini command lines. Other lines are judged one
by one, by form. A line between two such lines of a paragraph counts as one.

A run is what stands between two breaks: a line, a paragraph that was wrapped, an item of a list.
Some runs show that they belong to a document. Its marks are told by form alone, in any language: an
address ("Hi Sam,") or a signature, lines that begin with a time or a name and colon, headings,
titles, text between rules. What is asked about a text plays no part.

    >>> [run.short for run in runs("Sum it up.\n\nHi Sam,\n\nI moved.\n\nYours\nEve".split("\n"))]
    [False, True, False, True, True]
"""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from memtree.language.word_file import WordFile, WordFiles, lazily

_CLIENT_DATA = WordFiles("client_messages")


# The program wrote the whole message.
_MESSAGE = lazily(lambda: rf"\s{{0,20}}(?:{_CLIENT_DATA.part('messages')})")
# The program wrote a paragraph within the message.
_PARAGRAPH = lazily(lambda: rf"\s{{0,20}}(?:{_CLIENT_DATA.part('paragraphs')})")


def is_by_client(text: str) -> bool:
    """Return True if a message of the user was written by a program."""
    return _MESSAGE.match(text) is not None


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

READ_OF_LINE = 400  # characters of a line from which its form is read
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
_TITLE_LINE = re.compile(r"#{1,6}\s|[=\-*_~]{3,}$|[A-Z][A-Z /&-]{3,40}:?$")
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
    if not any(map(str.isalpha, read[:READ_OF_LINE])):
        return LineKind.MADE if _SIGNS.fullmatch(read) else LineKind.MARK
    if (
        _QUOTED.match(read)
        or _TITLE_LINE.match(read[:READ_OF_LINE])
        or _PLACE.match(read[:READ_OF_LINE])
    ):
        return LineKind.MARK
    bullet = BULLET.match(line)
    if bullet:
        read = line[bullet.end() :].strip()
    return LineKind.MADE if _is_made(read, line, bool(bullet)) else LineKind.PROSE


def _is_made(read: str, line: str, bulleted: bool) -> bool:
    head = read[:READ_OF_LINE]
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
    # Long text without spaces, such as base64; unspaced scripts are not ASCII.
    if len(head) > 80 and head.isascii() and 30 * head.count(" ") < len(head):
        return True
    return _is_signs(head)


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
        and all(_FILE_NAME.match(name[-READ_OF_LINE:]) for name in names)
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


WRAPPED = 50  # characters of a line that may have been wrapped
_part = WordFiles("own_voice").part
_OWN = lazily(
    lambda: (
        rf"\b(?:{_part('own')}|{_part('joins')})\b"
        rf"|{_part('own_unspaced')}|{_part('joins_unspaced')}"
    )
)
TELLS = lazily(lambda: rf"\b(?:{_part('tells')})\b|{_part('tells_unspaced')}")
READ = 400  # characters of a line whose form is read
_SHORT, _TITLE = 45, 80  # characters of a line of a signature; of an address or title
_DENSE = 3  # letters that say as much as one letter of a script without spaces
_ENDS = re.compile(r"[.!?…:;。！？：；)\]\"”»」’*_]\s*$")
_STAMP = re.compile(
    r"\W{0,3}(?:\d{1,4}[-/]\d{1,2}(?:[-/]\d{1,4})?\b|\d{1,2}\.\d{1,2}\.(?:\d{2,4}\b)?|\d{1,2}:\d\d\b"
    r"|\d{4}年)"
)
_FIELD = re.compile(r"\W{0,4}(?P<label>[^\W\d_][^\n:：?？!。]{0,40}?)\W{0,3}[:：](?=\s*\S)(?!//)")
_NAMES = 3  # words of a name before a colon
_ADDRESS = re.compile(r"[^?!:;。？！]{1,60}[,，、،]$|[^.?!:;。？！]{1,60}[!！]$")
_MADE_OF = re.compile(r"[-*_=~#.·•—–+<> ]{3,}$")
_RULE = 3  # equal signs at both ends of a line
_DIGIT = re.compile(r"\d")
_CAPITALS = re.compile(r"[A-Z][A-Z /&-]{3,40}:?$")
_HEADING = re.compile(r"#{1,6}\s|\*\*[^*\n]{1,80}\*\*:?$|[-*]{2} $|--\s*$")


@dataclass(frozen=True, slots=True)
class Run:
    """A run of the lines [first, end). `start`: column of its words on its first line. `mark`: it
    shows that a document stands here. `short`: it looks like an address, a title or a signature.
    `item`: of a list. `opens`: it begins a paragraph. `border`:
    a text with marks of its own around it, such as code or a quotation, stands before it."""

    first: int
    end: int
    start: int
    mark: bool
    short: bool
    item: bool
    opens: bool
    border: bool


def runs(lines: Sequence[str], delimited: frozenset[int] = frozenset()) -> list[Run]:
    """Part lines into runs. `delimited`: blank lines in place of a text with marks around it."""
    line_kinds = kinds(lines)
    rules = _rules(lines, line_kinds)
    ruled = range(rules[0], rules[-1] + 1) if rules else ()
    parted: list[Run] = []
    border = note = False
    opens = True
    for at, (line, kind) in enumerate(zip(lines, line_kinds, strict=True)):
        read = line.strip()
        note = bool(read) and (note or _PARAGRAPH.match(line[:READ_OF_LINE]) is not None)
        if kind is not LineKind.PROSE or at in delimited or at in ruled or note:
            made = kind is LineKind.MADE or at in delimited or at in ruled or note
            border = border or made or read[:1] in (">", "＞")
            opens = True
            if kind is LineKind.MARK and not made and _is_document(read):
                parted.append(Run(at, at + 1, 0, True, False, False, True, border))
            continue
        bullet = BULLET.match(line)
        if parted and not opens and not bullet and _goes_on(lines[at - 1], line):
            parted[-1] = replace(parted[-1], end=at + 1)
            continue
        start = bullet.end() if bullet else 0
        mark = _is_marked(line)
        parted.append(Run(at, at + 1, start, mark, False, bool(bullet), opens, border))
        border = opens = False
    return _before(_shortened(lines, parted), rules)


def _is_document(read: str) -> bool:
    """Return True if a line that is no prose belongs to a document: a heading, a number, a time."""
    letters = any(map(str.isalpha, read))
    return (
        bool(_HEADING.match(read) or _CAPITALS.match(read))
        if letters
        else bool(_DIGIT.search(read))
    )


def _goes_on(before: str, line: str) -> bool:
    """Return True if a line goes on where the line before it was wrapped."""
    return len(before) >= WRAPPED and not _ENDS.search(before[-8:]) and line[:1] not in " \t"


def _is_marked(line: str) -> bool:
    read = line.strip()[:READ]
    if _STAMP.match(read) or _HEADING.match(read):
        return True
    field = _FIELD.match(read)
    return bool(field and _is_name(field["label"]) and not is_about_self(field["label"]))


def _is_name(label: str) -> bool:
    """Return True for a word, or a few that all begin with a capital letter, as names do."""
    words = label.split()
    capital = all(word[0].isalpha() and not word[0].islower() for word in words)
    return len(words) == 1 or (len(words) <= _NAMES and capital)


def _before(parted: list[Run], rules: Sequence[int]) -> list[Run]:
    """Leave out what stands behind a single rule of signs, if no document stands before it."""
    if len(rules) != 1:
        return parted
    before = [run for run in parted if run.first < rules[0]]
    letter = any(run.mark for run in before) or any(run.short for run in before[1:])
    return parted if letter else before


def _shortened(lines: Sequence[str], parted: list[Run]) -> list[Run]:
    """Note addresses, titles and signatures: short lines, most of which no mark ends."""
    noted: list[Run] = []
    for at, run in enumerate(parted):
        read = lines[run.first].strip()
        following = parted[at + 1] if at + 1 < len(parted) else None
        if run.end == run.first + 1 and not run.item and len(parted) > 1:
            apart = run.opens and (following is None or following.opens)
            size = len(read) if read.isascii() or " " in read else _DENSE * len(read)
            title = size <= _TITLE and not read[:1].islower()
            beside = following is not None and following.border
            short = title if apart else size <= _SHORT
            address = run.opens and size <= _TITLE and bool(_ADDRESS.match(read))
            bare = short and not _ENDS.search(read[-8:])
            run = replace(run, short=not beside and (address or bare))
        noted.append(run)
    return noted


def is_about_self(head: str) -> bool:
    """Return True if words before a colon show that what follows is their author's own."""
    lower = lowered(head)
    return bool(_OWN.search(lower)) and not TELLS.search(lower)


def lowered(text: str) -> str:
    return text.replace("İ", "i").lower().replace("’", "'")


def _rules(lines: Sequence[str], line_kinds: Sequence[LineKind]) -> list[int]:
    """Return the lines that are rules of signs."""
    return [
        at
        for at, (line, kind) in enumerate(zip(lines, line_kinds, strict=True))
        if kind is not LineKind.BLANK and _is_rule(line.strip()[:READ])
    ]


def _is_rule(read: str) -> bool:
    """Return True for a line of signs, or of words between the same signs: "=== PAGE ==="."""
    ends = read[:1] in "-=*_~#+<>" and read[:_RULE] == read[-_RULE:] == _RULE * read[:1]
    return bool(read) and (ends or _MADE_OF.match(read) is not None)
