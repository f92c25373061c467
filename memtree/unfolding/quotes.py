r"""Quote the pieces of a message that a span shows, and of a call's JSON only its texts.

A span is split at the ends of posted strings, around blocks that clients rewrite with each request,
and around what could be mistaken for lines of ours (`text/own_lines.py`). Code fences around
the pieces are closed, and omitted text is marked. The arguments of a call are quoted decoded,
string by string.

The texts of a call's JSON are such as a thought or the content of a written file, without the
fields and switches around them. Of an edit only the new text is shown, since it repeats most of the
old one. A call of the API has a label with its main argument. If a client writes calls into prose,
the object ends its message and contains a thought beside a path or a command. Any other JSON is
quoted whole. Calls are named in `labels.py`; their effects are read in `digests/tool_calls.py`.

    >>> call = 'Running: make\n{"command": "make", "thought": "Build it again.", "hidden": false}'
    >>> left = list(around_texts(call, 14, len(call), call[:14]))
    >>> [call[low:high] for low, high in left]
    ['{"command": "make", "thought": "', '", "hidden": false}']
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise

from memtree.history.chat_history import History
from memtree.history.message import Message, Segment, View
from memtree.history.view_pieces import PostedSpan
from memtree.text.own_lines import GAP, cut_spans
from memtree.unfolding.labels import ARGUMENT, main_argument, shown_line, tells_all
from memtree.unfolding.memory_plan import TextSpan

LONGEST = 40_000  # characters of a message that is examined
BEFORE = 2_000  # characters before an object that are searched for its values
LEAST = 8  # characters of a text that is worth showing
_STRING = re.compile(r'"((?:[^"\\]|\\.)*+)"(?P<key>\s{0,9}:)?')
_OLD = frozenset("old_str old_string old_text oldtext oldstring old_content search find".split())
_NEW = re.compile(
    r'"(?:new_(?:str|string|text|content)|new(?:Text|String)|replace(?:ment)?)"\s{0,9}:\s{0,9}"[^"]'
)
_THOUGHT = re.compile(r'"(?:thoughts?|reasoning|explanation)"\s{0,9}:', re.IGNORECASE)
_CALLS = re.compile(r'"(?:command|cmd|path|file_?path|code|tool|action)"\s{0,9}:', re.IGNORECASE)


def left_out(message: Message) -> list[tuple[int, int]]:
    """Return the spans of an assistant's posted text that quotations leave out, in order."""
    text = message.text
    if message.role != "assistant" or '"' not in text or len(text) > LONGEST:
        return []
    spans: list[tuple[int, int]] = []
    at = 0 if text.startswith('{"') else text.find('\n{"') + 1
    if at or text.startswith('{"'):
        end = message.segment_at(at).end
        if _is_call(text[at:end]):
            spans += around_texts(text, at, end, text[max(0, at - BEFORE) : at])
    for segment in message.segments:
        if segment.kind == "call" and text.startswith("{", segment.start):
            argument = main_argument(text[segment.start : segment.end])
            if argument:
                spans += around_texts(text, segment.start, segment.end, argument)
    return spans


def without_left_out(message: Message) -> str:
    """Return the posted text with parts that quotations leave out replaced by as many blanks."""
    kept, done = [], 0
    for start, end in left_out(message):
        kept += [message.text[done:start], " " * (end - start)]
        done = end
    return "".join([*kept, message.text[done:]])


def _is_call(text: str) -> bool:
    if not (text.rstrip().endswith("}") and _THOUGHT.search(text) and _CALLS.search(text)):
        return False
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def around_texts(text: str, start: int, end: int, known: str) -> Iterator[tuple[int, int]]:
    """Yield the spans around the texts of a JSON object, text[start:end). `known`: text that the
    reader has seen; a value that occurs there is left out, too."""
    at, name = start, ""
    edits = _NEW.search(text, start, end) is not None
    for match in _STRING.finditer(text, start, end):
        if match["key"] is not None:
            name = match[1].lower()
        elif not (edits and name in _OLD) and _is_text(match[1], known):
            yield at, match.start(1)
            at = match.end(1)
    yield at, end


def _is_text(value: str, known: str) -> bool:
    if len(value) <= LEAST or not (" " in value or "\\n" in value):
        return False
    if value in known or value.replace('\\"', '"') in known:
        return False
    return len(value) > ARGUMENT or shown_line(value, ARGUMENT) != known


_LINE = re.compile(r"[^\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]+")
_FENCE = re.compile(r"^[ \t]{0,3}(```|~~~)", re.MULTILINE)
# Code that begins where a quotation ends; a line with a path may precede its fence.
_CODE = re.compile(
    r"\s*+(?:(?P<path>[^\s`]{1,120})\n)?[ \t]{0,3}(?P<fence>```|~~~)(?P<info>[^\n`]{0,120})\n"
)
_PATH = re.compile(r"[\w./\\-]{0,60}[./][\w./\\-]{1,60}")


@dataclass(frozen=True, slots=True)
class Quote:
    """A verbatim piece of the rendered text: code points [start, end) of the string at `part` (such
    as `content[0]` or, decoded, `tool_calls[0].function.arguments.text`) of the posted message with
    this index; `text` is that piece."""

    span: TextSpan
    posted: int
    part: str
    start: int
    end: int
    text: str


def quotes(spans: Iterable[TextSpan], history: History, *, names: bool = False) -> list[Quote]:
    """Return the posted place of each verbatim piece that `quoted` shows. `names`: the spans are
    names, which are shown even if they are arguments of a call."""
    pieces = []
    for span in spans:
        posted = history.posted[span.message]
        for run, start, end in _shown(span, history.view(span.message), names=names):
            for low, high, text in run.posted(start, end):
                pieces.append(Quote(span, posted, run.part, low, high, text))
    return pieces


def first_piece(span: TextSpan, history: History) -> tuple[str, int, int]:
    """Return the place of a span's first piece, quoted or not: part, start and end as in `Quote`.
    ("", 0, 0) if none of it was posted verbatim."""
    view = history.view(span.message)
    for run in _runs(span, view):
        start, end, _ = next(run.posted(run.start, run.end))
        return run.part, start, end
    for start, end in view.posted(span.start, span.end):  # between the strings of a call
        segment = view.message.segment_at(start)
        return segment.part, start - segment.start, end - segment.start
    return "", 0, 0


def quoted(spans: Sequence[TextSpan], view: View, *, marks: bool = True) -> str:
    """Return the text of spans of one message, in order. `[...]` marks text of the message left out
    between them and, with `marks`, after the last one. Empty if none of them can be quoted."""
    pieces = list(_pieces(spans, view))
    if not pieces:
        return ""
    left_out = [(earlier.end, other.start) for earlier, other in pairwise(spans)]
    left_out.append((spans[-1].end, len(view.text)))
    text = pieces[0][1]
    for (span, piece), (before, _) in zip(pieces[1:], pieces, strict=False):
        start, end = left_out[before]
        seam = gap(view.text[start:end]) if span != before else GAP
        text += f"\n{seam}\n{piece}"
    start, end = left_out[pieces[-1][0]]
    if marks and is_left_out(view, start, end):
        text += f"\n{gap(view.text[start:end])}"
    return text


def is_left_out(view: View, start: int, end: int) -> bool:
    """Return True if characters [start, end) of a view contain text that could be quoted."""
    # Line by line, since what is left out may be megabytes, and its first line mostly tells.
    return start < end and any(
        line.text[low:high].strip()
        for run in _runs(TextSpan(0, start, end), view, left_out(view.message), labelled=False)
        for line in _lines(run)
        for low, high in _between(_cuts(line), line.start, line.end)
    )


def gap(text: str) -> str:
    """Return the mark for omitted text; code is named with its size.

    >>> gap("and so on"), gap("\\nsrc/a.py\\n```python\\nx = 1\\ny = 2\\n```\\n")
    ('[...]', '[... 2 lines of code, src/a.py]')
    """
    code = _CODE.match(text)
    if code is None:
        return GAP
    closed = text.find("\n" + code["fence"], code.end() - 1)
    lines = text.count("\n", code.end(), closed if closed >= 0 else len(text)) + 1
    named = _PATH.fullmatch(code["path"] or "") or _PATH.search(code["info"])
    name = f", {shown_line(named[0], 60)}" if named else ""
    return f"[... {lines} lines of code{name}]"


@dataclass(frozen=True, slots=True)
class _Run:
    """Characters [start, end) of a posted text that a span covers. `part`: the string they are in,
    which begins at `base` of the text. `left_out`: spans that quotations leave out of it. `places`:
    set if the text is a view's; where its characters were posted, counted as `base` is."""

    text: str
    part: str
    base: int
    start: int
    end: int
    left_out: Sequence[tuple[int, int]] = ()
    places: Sequence[PostedSpan] = ()

    def posted(self, start: int, end: int) -> Iterator[tuple[int, int, str]]:
        """Yield the places in the string, and the texts, of the pieces that were posted of
        text[start:end]."""
        if not self.places:
            yield start - self.base, end - self.base, self.text[start:end]
            return
        first = max(0, bisect_right(self.places, start, key=lambda place: place.view) - 1)
        for index in range(first, len(self.places)):
            place = self.places[index]
            if place.view >= end:
                break
            low, high = max(start, place.view), min(end, place.view + place.end - place.start)
            if low < high:
                moved = place.start - place.view - self.base
                yield low + moved, high + moved, self.text[low:high]


def _runs(
    span: TextSpan,
    view: View,
    left_out: Sequence[tuple[int, int]] = (),
    *,
    labelled: bool = True,
) -> Iterator[_Run]:
    """Yield the runs of a span: of the message's text, and of each string in the arguments of a
    call, decoded. `left_out`: as in `_Run`, for the text of the message. `labelled`: include
    arguments that the label of their call tells."""
    message = view.message
    for run in view.quotable(span.start, span.end):
        segment, (_, start, end) = run.segment, run.spans[0]
        if not labelled and _is_told(message, segment):
            continue
        if len(run.spans) > 1:
            yield _Run(view.text, segment.part, segment.start, run.start, run.end, (), run.spans)
            continue
        values = message.argument_values(segment)
        if not values:
            yield _Run(message.text, segment.part, segment.start, start, end, left_out)
        low, high = start - segment.start, end - segment.start
        first = bisect_right(values, low, key=lambda value: value.end)
        for index in range(first, len(values)):  # `islice` would step over all earlier ones
            value = values[index]
            if value.start >= high:
                break
            if not value.text:
                continue
            at = segment.start + value.start
            around = bisect_right(left_out, at, key=lambda each: each[0]) - 1
            if around < 0 or left_out[around][1] <= at:
                part = segment.part + value.path
                yield _Run(value.text, part, 0, *value.decoded(low, high))


def _is_told(message: Message, segment: Segment) -> bool:
    if segment.kind != "call" or message.text[segment.start] != "{":
        return False
    return tells_all(message.text[segment.start : segment.end])


def _shown(span: TextSpan, view: View, *, names: bool = False) -> Iterator[tuple[_Run, int, int]]:
    """Yield the pieces of a span as characters [start, end) of a run's text, without blank ones and
    arguments of a call that its label already shows."""
    calls = () if names else left_out(view.message)
    for run in _runs(span, view, calls, labelled=names):
        for low, high in _between(_cuts(run), run.start, run.end):
            if run.text[low:high].strip():
                yield run, low, high


def _lines(run: _Run) -> Iterator[_Run]:
    """Yield a run's lines, without blank ones at its beginning."""
    blank = run.end - run.start - len(run.text[run.start : run.end].lstrip())
    for line in _LINE.finditer(run.text, run.start + blank, run.end):
        yield replace(run, start=line.start(), end=line.end())


def _between(cuts: Iterable[tuple[int, int]], start: int, end: int) -> Iterator[tuple[int, int]]:
    for low, high in cuts:
        yield start, low
        start = high
    yield start, end


def _cuts(run: _Run) -> Iterator[tuple[int, int]]:
    """Yield the spans that a quotation leaves out of a run, in order: characters by which a line
    could be mistaken for one of ours, and the JSON around the texts of a call in prose."""
    done = run.start
    first = max(0, bisect_right(run.left_out, run.start, key=lambda each: each[0]) - 1)
    last = bisect_left(run.left_out, run.end, key=lambda each: each[0])
    around = ((max(run.start, low), min(run.end, high)) for low, high in run.left_out[first:last])
    for low, high in sorted(chain(around, cut_spans(run.text, run.start, run.end))):
        if high > max(low, done):
            yield max(low, done), high
            done = high


def cut_lines(spans: Iterable[TextSpan], history: History) -> int:
    """Return how many characters the quotations of these spans leave out, so that no line can be
    mistaken for one of ours."""
    return sum(
        1
        for span in spans
        for run in _runs(span, history.view(span.message))
        for _ in cut_spans(run.text, run.start, run.end)
    )


def _pieces(spans: Sequence[TextSpan], view: View) -> Iterator[tuple[int, str]]:
    """Yield the shown pieces, each with the index of its span. If a single character is left out,
    the text continues after it."""
    calls = left_out(view.message)
    fences: dict[str, list[tuple[int, str]]] = {}
    for at, span in enumerate(spans):
        for run in _runs(span, view, calls, labelled=False):
            marks = _fences(run, fences)
            first = start = run.start
            kept = []
            for low, high in chain(_cuts(run), [(run.end, run.end)]):
                kept.append(run.text[start:low])
                start = high
                if high - low == 1:
                    continue
                piece = "".join(kept)  # up to one of our tags, or the end
                if piece.strip():
                    opened, left_open = _open_fence(marks, first), _open_fence(marks, low)
                    yield at, _fenced(piece, opened, left_open)
                kept, first = [], high


def _fences(run: _Run, known: dict[str, list[tuple[int, str]]]) -> list[tuple[int, str]]:
    """Return the fences of a run's text with their places; `known`: those of other texts. All
    parts of a message outside of calls have one text."""
    if run.text not in known:
        fenced = "```" in run.text or "~~~" in run.text
        matches = _FENCE.finditer(run.text) if fenced else ()
        known[run.text] = [(match.start(1), match[1]) for match in matches]
    return known[run.text]


def _open_fence(fences: Sequence[tuple[int, str]], at: int) -> str:
    """Return the marker of the fence that is open at a character; "" if none is."""
    before = bisect_left(fences, (at, ""))
    return fences[before - 1][1] if before % 2 else ""


def _fenced(piece: str, opened: str, left_open: str) -> str:
    """Close and reopen code fences around the piece, outside of the verbatim text."""
    head = f"{opened}\n" if opened else ""
    tail = ("" if piece.endswith("\n") else "\n") + left_open if left_open else ""
    return head + piece + tail
