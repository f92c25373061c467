"""Find texts of others, and drafts, that a message hands over to be read.

Examples are "Translate this:", "here is the mail from my landlord:", a forwarded mail, a letter, a
talk between two people. The beginning of such a text is told by the line before it or by its first
lines. Its end cannot be told, so it reaches to the end of the message, except for a last paragraph
with a request about it. Losing a remark behind a letter costs less than taking the letter's "I" for
the user.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from memtree.language.word_file import WordFiles, lazily

_DATA = WordFiles("pasted_texts")
_any = _DATA.part
READ = 400  # characters of a line
LEAST_ABOVE = 200  # characters before "summarise the above" that make a text
HEADINGS = 4  # headings of a document
LONG = 1_500  # characters of such a document

# The line ends with a colon or the text follows behind it.
_LABEL = lazily(
    lambda: (
        rf"(?:^|[.!?]\s|\b)(?:{_handed()})\b[^.!?\n:]{{0,80}}:"
        rf"|\b(?:{_any('texts')})\b[^.!?\n:]{{0,60}}:\s*$"
        rf"|^(?:{_any('texts')}|{_any('labels')})\s*:"
        rf"|\b(?:{_any('said')})\b[^.!?\n:]{{0,40}}:\s*$"
    )
)
# Followed by a colon or the line's end: "please proofread this", "can you shorten my essay?"
_TASK = lazily(
    lambda: (
        rf"\b(?:{_any('verbs')})\b(?:[^.!?\n:]{{0,80}}?(?::|\s[-–—]\s)"
        rf"|[^.!?\n:]{{0,60}}\b(?:(?:{_any('these')})|my (?:[\w-]+ )?(?:{_nouns()}))\b"
        r"[^.!?\n:]{0,60}[.!?]?$)"
    )
)
# A program's prompt: a text, then the question about it.
_GIVEN = lazily(lambda: rf"#{{0,4}} ?\**(?:{_any('given')})\**\s?:")
_ASKED = lazily(lambda: rf"#{{0,4}} ?\**(?:{_any('asked')})\**\s?:")
# Files, and agents' remarks about them.
_FILE = _DATA.pattern("file")
_ABOVE = lazily(
    lambda: (
        rf"\b(?:{_any('verbs')})\b[^.!?\n]{{0,60}}"
        rf"\b(?:this (?:{_nouns()})|{_any('above')})\b"
    )
)
_DONE_WITH = lazily(
    lambda: rf"(?:{_any('polite')})?\b[^.!?\n]{{0,60}}?\b(?:{_any('verbs')}|{_any('reply')})\b"
)
_MAIL = lazily(
    lambda: (
        rf"(?:-{{3,}}|_{{3,}})\s?(?:{_any('forwarded')})|{_any('forwarding')}"
        rf"|(?:{_any('on_day')})\s.{{5,100}}\s(?:{_any('wrote')})\b.{{0,80}}:$"
    )
)
_HEADER = lazily(lambda: rf"\*{{0,2}}(?:{_any('mail_fields')})\*{{0,2}}\s?:\s?\S")
_MAIL_HEADER = lazily(lambda: rf"\*{{0,2}}(?:{_any('mail_first_fields')})\b")
# "I copied this from https://...": the text follows without any mark.
_COPIED = lazily(lambda: rf"\b(?:{_any('copied')})\b[^\n]{{0,60}}\bhttps?://")
# Nobody addresses an assistant in this way.
_TO_MACHINES = lazily(
    lambda: (
        rf"(?:\W{{0,4}}\w++){{0,3}}?\W{{0,4}}\b(?:{_any('to')})"
        r" (?:(?:all|any|alle|the|les|los|gli|die|tous|todos) ){0,2}(?:ai |ki-?)?"
        rf"(?:{_any('machines')})\s?:|(?:ai |ki-)?(?:{_any('machines_alone')})\s?:"
    )
)
_LETTER = lazily(
    lambda: (
        rf"(?:{_any('dear')})\s(?!(?:{_any('assistants')})\b)[^.?\n:;]{{1,50}}[,!]?$"
        r"|to whom it may concern"
    )
)
_ABOUT_SELF = lazily(lambda: rf"\b(?:{_any('about_self')})\b")
_STAMP = r"(?:[\[(]?\d[\d/.,:\s\-]{2,24}(?:[AaPp]\.?[Mm]\.?)?[\])]?\s?[-–]?\s?)?"
_SPEAKER = lazily(
    rf"{_STAMP}(?:\*{{2}}|[-*]\s)?(?P<name>[A-ZÀ-Þ@][\w.'’-]{{0,24}}(?: [A-ZÀ-Þ][\w.'’-]{{0,24}})?"
    rf"|user|assistant|human|system|ai|bot|me|you)(?:\s?\([^)\n]{{1,20}}\))?\*{{0,2}}\s?[:>]"
    rf"\*{{0,2}}\s+\S"
)
_ROLES = frozenset("user assistant human ai bot me you q a interviewer".split())
_HEADING = lazily(r"#{1,4}\s\S")


def _handed() -> str:
    return (
        rf"(?:{_any('handed')})\b[^.!?\n:]{{0,40}}\b(?:{_nouns()})"
        rf"|(?:{_any('following')})(?:{_nouns()})"
    )


def _nouns() -> str:
    return f"{_any('texts')}|{_any('nouns')}"


def handed_over(lines: Sequence[str]) -> tuple[int, int, int]:
    """Return (line, column, end): the start of a text of others and the line before which it ends;
    `line` is the number of lines if there is none. `column`: the end of a label on that line."""
    reads = [_read(line) for line in lines]
    if given := _given(reads):
        return given
    begin, column = _beginning(lines, reads)
    last = _last_paragraph(reads)
    question = next(filter(None, reads[last:]), "")
    above = begin >= last and sum(map(len, lines[:last])) >= LEAST_ABOVE and _ABOVE.search(question)
    if above:
        return 0, 0, last
    if begin == len(lines):
        return begin, 0, begin
    # A request behind a mail is the user's only if none stood before it.
    before = begin > 0 and _begins_text(reads, begin)
    done = last > begin + 1 and not before and bool(_DONE_WITH.match(question))
    return begin, column, last if done else len(lines)


def _read(line: str) -> str:
    """Return a line's beginning in lower case, with its length unchanged: patterns that ignore case
    take three to seven times as long."""
    return line.strip()[:READ].replace("İ", "i").lower()


def _given(reads: Sequence[str]) -> tuple[int, int, int] | None:
    """Find the text that a program hands over with a question."""
    first = next((at for at, read in enumerate(reads) if _GIVEN.match(read)), None)
    if first is None:
        return None
    line = next((at for at in range(len(reads) - 1, first, -1) if _ASKED.match(reads[at])), None)
    return None if line is None else (first, 0, line)


def _beginning(lines: Sequence[str], reads: Sequence[str]) -> tuple[int, int]:
    headings = 0
    size = sum(map(len, lines))
    first_heading = len(lines)
    plain = {""}  # lines that begin no text, wherever they stand
    for at, read in enumerate(reads):
        if read in plain:
            continue
        if _begins_text(reads, at):
            return at, 0
        if _COPIED.search(read):
            return at + 1, 0
        column = _label(read, follows=True)
        label = column is not None
        if column == 0 and not any(reads[at + 1 : at + 4]):
            column = _label(read, follows=False)
        if column is not None:
            indent = len(lines[at]) - len(lines[at].lstrip())
            return (at, indent + column) if column else (at + 1, 0)
        if _HEADING.match(read):
            headings += 1
            first_heading = min(first_heading, at)
            if headings >= HEADINGS and size >= LONG:
                return first_heading, 0
        elif not label and not _HEADER.match(read):
            plain.add(read)
    return len(lines), 0


def _begins_text(reads: Sequence[str], at: int) -> bool:
    """Return True if the line begins a recognisable file, mail, letter or note to machines."""
    patterns = (_FILE, _MAIL, _LETTER, _TO_MACHINES)
    return any(pattern.match(reads[at]) for pattern in patterns) or _is_mail(reads, at)


def _label(read: str, *, follows: bool) -> int | None:
    """Return the column where others' text begins in a line; 0 if behind the line, None if
    nowhere."""
    for pattern in (_LABEL, _TASK):
        match = pattern.search(read)
        if match is None or _ABOUT_SELF.search(read[: match.end()]):
            continue
        parted = match.group().rstrip()[-1:] in ":-–—"
        if parted and read[match.end() :].strip() and read[match.end()] != "/":
            return match.end()
        if follows and not read[match.end() :].strip():
            return 0
    return None


def _is_mail(reads: Sequence[str], at: int) -> bool:
    """Return True if a mail's headers begin here: two of them within three lines."""
    if not _HEADER.match(reads[at]):
        return False
    heads = [read for read in reads[at : at + 3] if _HEADER.match(read)]
    return len(heads) > 1 and any(_MAIL_HEADER.match(head) for head in heads)


def _last_paragraph(reads: Sequence[str]) -> int:
    """Return the first line of the last paragraph; 0 if there is only one."""
    at = len(reads)
    while at and not reads[at - 1]:
        at -= 1
    while at and reads[at - 1]:
        at -= 1
    return at


def transcript(lines: Sequence[str]) -> tuple[int, int] | None:
    """Return (first, end) of the lines of a talk between people, or with a model."""
    said = [(at, match["name"].lower()) for at, line in enumerate(lines) if (match := _said(line))]
    names = Counter(name for _, name in said)
    roles = sum(count for name, count in names.items() if name in _ROLES)
    talks = len(names) > 1 and len(said) > 2 and max(names.values()) > 1
    if not talks and not (roles > 1 and len(names) > 1):
        return None
    end = said[-1][0] + 1
    while end < len(lines) and lines[end].strip():
        end += 1
    return said[0][0], end


def _said(line: str) -> re.Match[str] | None:
    return _SPEAKER.match(line.strip()[:READ])
