"""Find texts of others in a message, and name places in them.

    >>> text = "What does it say of patents?\\n\\n" + "Apache License Version 2.0\\n" * 9 + (
    ...     "Permission to distribute, without warranties.\\n\\n3. Grant of Patent License. Each")
    >>> [document] = documents(text)
    >>> document.title, document.place(text, len(text) - 1)
    ('Apache-2.0 licence', 'Apache-2.0 licence, section 3')

A message without signs of such a text has none: its author's words are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from memtree.text.pasted_document_names import PATH_LINE, DocumentName, document_name

LEAST = 300  # characters of a document
LONG = 1_500  # characters behind a first line that make it the title of an article
MOST = 200  # documents in a message
_BEGINNINGS, _FRONT = 12, 6_000  # paragraphs, and their characters, where a document may begin
_REACH = 20_000  # characters above a place that are searched for its heading
_HEADING_CHARS = 30  # characters of a heading in a name

_FENCE = re.compile(r"^[ \t]{0,4}(?P<mark>`{3,}|~{3,})(?P<info>[^\n`]{0,200})$", re.MULTILINE)
_OPENED = re.compile(
    r"^[ \t]{0,4}(?:(?P<tag><(?:file|document|file_content|source_file|path)\b[^\n]{0,300})"
    r"|(?P<file>(?:file|path|contents? of|={2,}>?|-{3,}|\*{2,3}) ?:?[ \t]{0,4}[\"'`]?"
    r"[^\s\"'`]{0,250}[/.][^\s\"'`]{1,100}[^\n]{0,40}))$",
    re.MULTILINE | re.IGNORECASE,
)
_PARAGRAPH = re.compile(r"(?:\A|\n[ \t]*\n)(?=[^\n]*\S)")
_SECTION = re.compile(
    r"^[ \t]{0,8}(?:#{1,6}[ \t]+(?P<title>[^\n]{1,120}?)[ \t#]*"
    r"|(?:section|article|chapter|part|§|artikel|kapitel)[ \t]{1,3}"
    r"(?P<named>[\dIVXLC]{1,6}(?:\.\d{1,3}){0,3})\b[^\n]{0,100}"
    r"|(?P<number>\d{1,3}(?:\.\d{1,3}){0,3})[.)]?[ \t]{1,4}[A-ZÄÖÜ][^\n]{2,400}"
    r"|(?P<under>[^\s=~-][^\n]{1,100})\n[=~-]{3,}[ \t]*)$",
    re.MULTILINE | re.IGNORECASE,
)
_HANDS_OVER = ":：?？"  # ends of a remark before a text of others
_DIGITS = re.compile(r"\d+")
_FILE_OF_DIFF = re.compile(
    r"^(?:\+\+\+ (?:b/)?|\*\*\* (?:Update|Add) File: )(\S{1,200})", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class PastedDocument:
    """Document at `text[start:end]` of a message. `lined`: its places are line numbers."""

    start: int
    end: int
    title: str
    lined: bool = False

    def place(self, text: str, offset: int) -> str:
        """Return the title with the section or line of an offset, if these are known. `text`: the
        message that holds the document."""
        if self.lined:
            line = text.count("\n", self.start, max(self.start, offset)) + 1
            return f"{self.title}, line {line}" if line > 1 else self.title
        section = self._section(text, offset)
        return f"{self.title}, {section}" if section else self.title

    def _section(self, text: str, offset: int) -> str:
        line = text.find("\n", offset)
        end = min(self.end, len(text) if line < 0 else line)
        window = text[max(self.start, offset - _REACH) : end]
        if self.title.startswith("diff"):
            files = _FILE_OF_DIFF.findall(window)
            return "" if not files or files[-1] in self.title else files[-1]
        headings = list(_SECTION.finditer(window))
        if not headings:
            return ""
        last = headings[-1]
        if number := last["named"] or last["number"]:
            return f"section {number}"
        heading = (last["title"] or last["under"] or "").strip(" *_`:")
        if not heading or heading in self.title:
            return ""
        short = heading[:_HEADING_CHARS].rpartition(" ")[0] if len(heading) > _HEADING_CHARS else ""
        return f"“{f'{short} …' if short else heading}”"


def documents(text: str) -> tuple[PastedDocument, ...]:
    """Return the texts of others in a message, in order and without overlaps."""
    if len(text) < LEAST or text.count("\n") < 2:
        return ()
    whole = next(_whole(text), None)
    parts = list(islice(_fenced(text), MOST)) or list(islice(_headed(text), MOST))
    if whole and (not parts or (not whole.lined and whole.start < parts[0].start)):
        return (whole,)  # its content, such as code, is part of it
    return tuple(parts)


def _made(text: str, start: int, end: int, path: str = "") -> PastedDocument | None:
    name = DocumentName(path, lined=True) if path else document_name(text[start:end])
    if end - start < LEAST or name is None or not name.certain:
        return None
    return PastedDocument(start, end, name.title, name.lined)


def _fenced(text: str) -> Iterator[PastedDocument]:
    """Yield blocks between fences, named by the path beside the fence or by their content."""
    opening: re.Match[str] | None = None
    for match in _FENCE.finditer(text):
        if opening is None:
            opening = match
        elif match["mark"].startswith(opening["mark"]) and not match["info"].strip():
            above = text[max(0, opening.start() - 300) : opening.start()].rstrip()
            above = above.rpartition("\n")[2].strip()
            info = opening["info"].strip()
            path = next((m["path"] for line in (above, info) if (m := PATH_LINE.match(line))), "")
            if made := _made(text, opening.end() + 1, match.start(), path):
                yield made
            opening = None


def _headed(text: str) -> Iterator[PastedDocument]:
    """Yield consecutive files, each behind a line or a tag with its path."""
    starts = list(islice(_OPENED.finditer(text), MOST))
    for at, match in enumerate(starts):
        end = starts[at + 1].start() if at + 1 < len(starts) else len(text)
        if made := _made(text, match.start(), end):
            yield made


def _whole(text: str) -> Iterator[PastedDocument]:
    """Yield a text that reaches from the beginning of a paragraph to the end of the message."""
    starts = [match.end() for match in islice(_PARAGRAPH.finditer(text, 0, _FRONT), _BEGINNINGS)]
    for number, start in enumerate(starts):
        name = document_name(text[start:])
        if name is None or not name.certain or len(text) - start < LEAST:
            continue
        above = text[:start].rstrip()
        # A user's own text may begin so: a document has to be long, or handed over.
        handed = number and above[-1:] in _HANDS_OVER
        if name.loose and not handed and (number or len(text) - start < LONG):
            continue
        rest = starts[1] if not number and len(starts) > 1 else 0
        if rest and _is_remark(text[:rest].rstrip(), name, text[rest:]):
            continue  # the first paragraph is a remark on it
        yield PastedDocument(start, len(text), name.title, name.lined)


def _is_remark(first: str, name: DocumentName, rest: str) -> bool:
    """Return True if a first paragraph hands over the rest, or adds nothing to its name."""
    other = document_name(rest)
    if other is None or not other.certain:
        return False
    handed = len(first) < LEAST and first[-1:] in _HANDS_OVER
    return handed or _DIGITS.sub("", name.title) == _DIGITS.sub("", other.title)
