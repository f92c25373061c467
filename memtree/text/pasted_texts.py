r"""Find what a message holds beside its author's prose: delimited blocks, and texts of others.

Blocks (`blocks`) are markup elements, fenced code, and text that this program inserts itself.
Unclosed blocks of this program and of clients reach to the end of the text: recalled text must
never be taken for the user's words.

In a line of prose (`inline`), code, quotations, actions of a role and image addresses are not its
author's words either. A name may stand in quotation marks or backticks ("I prefer `pnpm`", 'my dog
is called "Rex"'), so single words of code are kept, and quotations of a few words that make no
statement.

Documents of others (`documents`) have a title, and names for the places in them. A message without
signs of such a text has none: its author's words are left alone.

    >>> text = "What does it say of patents?\n\n" + "Apache License Version 2.0\n" * 9 + (
    ...     "Permission to distribute, without warranties.\n\n3. Grant of Patent License. Each")
    >>> [document] = documents(text)
    >>> document.title, document.place(text, len(text) - 1)
    ('Apache-2.0 licence', 'Apache-2.0 licence, section 3')
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from memtree.language.word_file import WordFile
from memtree.text import memory_lines
from memtree.text.document_names import PATH_LINE, DocumentName, document_name
from memtree.text.spans import Span, blanked, merged

_OWN_VOICE = WordFile("all", "own_voice")

LONGEST_WORD = 40  # characters of code that may be a name
QUOTED_WORDS = 5  # a longer quotation is somebody's sentence
_TICKS = re.compile(r"`+")
_NAME = re.compile(r"[\w.@/+#:-]+")
_IMAGE = re.compile(r"!\[[^\]\n]{0,100}\]\([^)\n]{0,500}\)")
_ACTION = re.compile(r"(?<![*\w])\*(?=[^\s*])([^*\n]{1,600})(?<=\S)\*(?![*\w])")
# Begins with one set, so that the engine skips other characters.
_MARK = re.compile(
    r"[\"“”„«»‹›「」『』'‘’‚](?:(?<=[^'‘’‚])"
    r"|(?<![^\s(\[].)(?<=['‘‚])(?=\w)|(?<=[^\s]['’])(?!\w))"
)
_CLOSES = {
    '"': '"', "“": "”\"“", "„": "“”\"", "«": "»", "»": "«", "‹": "›", "›": "‹",
    "「": "」", "『": "』", "'": "'’", "‘": "’'", "‚": "‘’",
}  # fmt: skip
SPEAKS = _OWN_VOICE.pattern(
    "speaks",
    re.IGNORECASE,
    shaped=lambda words: rf"\b(?:{words})\b|[\u4e00-\u9fff\u3040-\u30ff]{{4}}",
)
_BEFORE = ("", ".", "!", "?", ":", "：", "。", "！", "？")  # a sentence begins behind them
_WORD = re.compile(r"[^\W_][\w'’-]*")
_SMALL = _OWN_VOICE.words("small")


def inline(text: str) -> list[Span]:
    """Return the spans in one paragraph; they may overlap."""
    spans = [Span(*match.span()) for match in _IMAGE.finditer(text)] if "![" in text else []
    if "`" in text:
        spans += _code(text)
    if "*" in text:
        spans += _actions(text)
    return [*spans, *_quotations(text)]


def _code(text: str) -> Iterator[Span]:
    """Yield code spans, from a run of backticks to the next run of the same length."""
    runs = [match.span() for match in _TICKS.finditer(text)]
    later: dict[int, int] = {}
    partner = [-1] * len(runs)
    for at in range(len(runs) - 1, -1, -1):
        size = runs[at][1] - runs[at][0]
        partner[at] = later.get(size, -1)
        later[size] = at
    at = 0
    while at < len(runs):
        close = partner[at]
        if close < 0:
            at += 1
            continue
        inside = text[runs[at][1] : runs[close][0]].strip()
        if len(inside) > LONGEST_WORD or not _NAME.fullmatch(inside):
            yield Span(runs[at][0], runs[close][1])
        at = close + 1


def _actions(text: str) -> Iterator[Span]:
    """Yield actions such as *walks over to the bar*; one or two words are mere emphasis."""
    for match in _ACTION.finditer(text):
        words = match[1].count(" ") + 1
        if words > 3 or (words > 1 and not text[: match.start()].strip()):
            yield Span(*match.span())


def _quotations(text: str) -> Iterator[Span]:
    """Yield quotations that make a statement; an unclosed one only if it opens the paragraph or a
    sentence."""
    closing, start = "", 0
    for match in _MARK.finditer(text):
        mark, at = match.group(), match.start()
        if closing:
            if mark in closing and (mark not in "\"'“" or _ends(text, at)):
                if _says(text[start + 1 : at]):
                    yield Span(start, at + 1)
                closing = ""
        elif mark in _CLOSES and _begins(text, at):
            closing, start = _CLOSES[mark], at
    if (
        closing
        and text[:start].rstrip()[-1:] in _BEFORE
        and text[start] not in "'‘‚"
        and _says(text[start + 1 :])
    ):
        yield Span(start, len(text))


def _begins(text: str, at: int) -> bool:
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    apart = not before.isalnum() or text[at] in "「『" or (text[at] == "“" and not before.isascii())
    return apart and (bool(after.strip()) or text[at] in "«‹")


def _ends(text: str, at: int) -> bool:
    return bool(text[at - 1 : at].strip()) and not text[at + 1 : at + 2].isalnum()


def _says(quoted: str) -> bool:
    """Return True if a quotation is a statement, not the name or title of something."""
    if len(quoted) > 200:
        return True
    words = _WORD.findall(quoted)
    if len(words) > 1 and all(word[0].isupper() or word.lower() in _SMALL for word in words):
        return len(words) > QUOTED_WORDS + 2
    return len(words) > QUOTED_WORDS or bool(SPEAKS.search(quoted))


_DATA = WordFile("all", "client_messages")

# Tags that agents put around the user's own words: the tags are removed, the words stay.
WRAPPERS = _DATA.words("wrappers")
# These reach to the end of the text if they are not closed.
OPEN_ENDED = _DATA.words("open_ended")
_TAG = re.compile(r"<(/?)([A-Za-z][\w.:-]{0,60})((?:\s[^<>]{0,2000})?)>")
_FENCE = re.compile(r"^[ \t]{0,8}(?:[-*>][ \t]){0,2}(`{3,}|~{3,})(.*)$", re.MULTILINE)
_TRIPLE = re.compile(r'"{3}|\'{3}')
_HEADINGS = (memory_lines.HEADING, memory_lines.USER_HEADING, memory_lines.DOCUMENTS_HEADING)
_NOTES = (memory_lines.NOTE, memory_lines.BOTH_NOTE, memory_lines.DOCUMENTS_NOTE)
_OURS = re.compile(rf"^(?:{'|'.join(map(re.escape, _HEADINGS))})[ \t]*$", re.MULTILINE)
_NUMBERED = re.compile(r"\d{1,3}\. ")


def blocks(text: str) -> list[Span]:
    """Return the merged spans of blocks. Each step reads what the earlier steps left, so a tag in
    code is no tag, and a quote in a client's block is no quote."""
    spans: list[Span] = []
    for step in (_known_elements, _own_lists, _fences, _triples, _elements):
        left = blanked(text, spans) if spans else text
        spans = merged([*spans, *step(left)])
    return spans


def injected(text: str) -> list[Span]:
    """Return the merged spans that this program and clients inserted."""
    return merged([*_known_elements(text), *_own_lists(text)])


def _known_elements(text: str) -> Iterator[Span]:
    return _elements(text, known=True)


def _elements(text: str, *, known: bool = False) -> Iterator[Span]:
    """Yield markup elements with their content, and the tags that have no counterpart. `known`:
    only elements that reach to the end of the text if they are not closed."""
    if "<" not in text:
        return
    opened: list[tuple[str, Span]] = []
    waiting: dict[str, int] = {}
    for match in _TAG.finditer(text):
        name, tag = match[2].lower(), Span(*match.span())
        if known and name not in OPEN_ENDED:
            continue
        yield tag
        if name in WRAPPERS or match[3].endswith("/"):
            continue
        if not match[1]:
            opened.append((name, tag))
            waiting[name] = waiting.get(name, 0) + 1
        elif waiting.get(name):
            while True:  # drops elements opened inside and never closed
                inner, begin = opened.pop()
                waiting[inner] -= 1
                if inner == name:
                    break
            yield Span(begin.start, tag.end)
    for name, tag in opened:
        if name in OPEN_ENDED:
            yield Span(tag.start, len(text))


def _fences(text: str) -> Iterator[Span]:
    """Yield fenced code; without a closing fence it reaches to the end of the text."""
    fence, start = "", 0
    for match in _FENCE.finditer(text):
        mark, rest = match[1], match[2]
        if fence:
            if mark[0] == fence[0] and len(mark) >= len(fence) and not rest.strip():
                yield Span(start, match.end())
                fence = ""
        elif mark in rest:  # opened and closed on one line
            continue
        else:
            fence, start = mark, match.start(1)
    if fence:
        yield Span(start, len(text))


def _triples(text: str) -> Iterator[Span]:
    """Yield text between triple quotes, anywhere in a line."""
    opening: re.Match[str] | None = None
    for match in _TRIPLE.finditer(text):
        if opening is None:
            opening = match
        elif match.group() == opening.group():
            yield Span(opening.start(), match.end())
            opening = None
    if opening and not text[text.rfind("\n", 0, opening.start()) + 1 : opening.start()].strip():
        yield Span(opening.start(), len(text))


def _own_lists(text: str) -> Iterator[Span]:
    """Yield lists of saved memories, with their heading and the note that follows."""
    for match in _OURS.finditer(text):
        end = match.end()
        while end < len(text):
            stop = text.find("\n", end + 1)
            line = text[end + 1 : stop if stop >= 0 else len(text)]
            if not (_NUMBERED.match(line) or line.startswith(_NOTES)):
                break
            end = stop if stop >= 0 else len(text)
        yield Span(match.start(), end)


LEAST = 300  # characters of a document
LONG = 1_500  # characters behind a first line that make it the title of an article
MOST = 200  # documents in a message
_BEGINNINGS, _FRONT = 12, 6_000  # paragraphs, and their characters, where a document may begin
_REACH = 20_000  # characters above a place that are searched for its heading
_HEADING_CHARS = 30  # characters of a heading in a name

_OPENING_FENCE = re.compile(
    r"^[ \t]{0,4}(?P<mark>`{3,}|~{3,})(?P<info>[^\n`]{0,200})$", re.MULTILINE
)
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
    for match in _OPENING_FENCE.finditer(text):
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
