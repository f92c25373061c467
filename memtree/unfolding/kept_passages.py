"""Find the passages that must stay in every memory message.

    pins               places that a person chose on the page of a tree
    <keep>...</keep>   in the user's own words (`memtree/text/own_words.py`)
    patterns           literal parts of lines, and globs over the paths of files that results show
    tools              results of the tools with these names

Patterns and tools are named by a request. Passages get room in that order, each kind newest first,
before anything else of the memory message is chosen. Their room is decided in
`memtree/context/kept_parts.py`.

A pinned place names a string of a posted message and characters of it, as an excerpt in `explain`
does. It is stored without text, and verified by the hash of its text.

    >>> places = read_places(written([PinnedPlace(3, "content", 0, 5, "ab" * 32)]))
    >>> places[0].message, places[0].end
    (3, 5)
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from hashlib import sha256
from itertools import islice

import msgspec
from msgspec.structs import replace

from memtree.digests.call_results import refused
from memtree.digests.tool_calls import shown_files
from memtree.history.chat_history import History
from memtree.history.keep_options import MARKS_ALONE, KeepOptions
from memtree.text import tokens
from memtree.unfolding.excerpt_choice import LABEL
from memtree.unfolding.memory_plan import FoldWindow, KeptSpans, TextSpan, merge
from memtree.unfolding.memory_text import kept_lines

MOST_PINNED = 20  # for one conversation


class PinnedPlace(msgspec.Struct, frozen=True, array_like=True):
    """Code points [start, end) of the string at `part` of posted message `message`; `sha256`: of
    this text in UTF-8, in hex."""

    message: int
    part: str
    start: int
    end: int
    sha256: str


_encoder = msgspec.json.Encoder()
_places = msgspec.json.Decoder(tuple[PinnedPlace, ...])


def written(places: Iterable[PinnedPlace]) -> str:
    """Encode places for the store; "" for none."""
    listed = list(places)
    return _encoder.encode(listed).decode() if listed else ""


def read_places(stored: str) -> tuple[PinnedPlace, ...]:
    """Decode stored places. Returns none if they cannot be decoded: a later version may store
    another form."""
    try:
        return _places.decode(stored) if stored else ()
    except msgspec.MsgspecError:
        return ()


def pinned_spans(history: History, places: Iterable[PinnedPlace]) -> Iterator[TextSpan]:
    """Yield the spans of the places whose text is still in the history, newest first."""
    for place in sorted(places, key=lambda each: (each.message, each.start), reverse=True):
        index = bisect_left(history.posted, place.message)
        if history.posted[index : index + 1] != (place.message,):
            continue
        message, view = history.messages[index], history.view(index)
        text = (message.string_at(place.part) or "")[place.start : place.end]
        if sha256(text.encode("utf-8", "surrogatepass")).hexdigest() != place.sha256:
            continue
        at, end = _found(text, view.text)
        if at >= 0:
            yield TextSpan(index, at, end)


def _found(text: str, view: str) -> tuple[int, int]:
    """Return the (start, end) of a text in a view, whose arguments of calls are JSON; start is -1
    if the text is not there."""
    spelled = msgspec.json.encode(text).decode()[1:-1]
    for form in (text, spelled):
        if form and (at := view.find(form)) >= 0:
            return at, at + len(form)
    return -1, -1


MOST = 500  # passages of each kind, the newest
LONGEST_PATH = 1_000  # characters
SAME_NAME = 50  # files with the same name that a path is compared with
LEAST_CUT = 60  # tokens; a shorter part of a passage is not worth its label


@dataclass(frozen=True, slots=True)
class KeptPassage:
    span: TextSpan
    tokens: int


def matches(path: str, globs: Iterable[str]) -> bool:
    """Return True if a path, or its end from some folder's name on, matches a glob; `*` also
    matches slashes.

    >>> matches("/home/me/app/src/core/a.py", ["src/*.py"]), matches("resrc/a.py", ["src/*.py"])
    (True, False)
    """
    if len(path) > LONGEST_PATH:
        return False
    whole = "/" + path.replace("\\", "/").lstrip("/")
    return any(fnmatchcase(whole, "*/" + glob.removeprefix("./").lstrip("/")) for glob in globs)


def kept_passages(
    history: History, options: KeepOptions = MARKS_ALONE, pins: Iterable[PinnedPlace] = ()
) -> list[KeptPassage]:
    """Find the passages of a history that must stay, in the order in which they get room. Without
    options only messages with marks and pins are read. Takes linear time."""
    passages = [_passage(history, span) for span in pinned_spans(history, pins)]
    passages += islice(_marked(history), MOST)
    if options.line_parts:
        passages += islice(_lines(history, options.line_parts), MOST)
    if options.globs or options.tools:
        files, named = _results(history, options)
        passages += [*files[:MOST], *named[:MOST]]
    return passages


def _marked(history: History) -> Iterator[KeptPassage]:
    for message in range(len(history) - 1, -1, -1):
        if (keeps := history.facts[message].keeps) and history.asks(message):
            for start, end in reversed(keeps):
                yield _passage(history, TextSpan(message, start, end))


def _passage(history: History, span: TextSpan) -> KeptPassage:
    return KeptPassage(span, tokens.count(history.view(span.message).text[span.start : span.end]))


def _lines(history: History, parts: Sequence[str]) -> Iterator[KeptPassage]:
    """Yield the lines that contain one of these parts; of equal lines only the newest. Arguments of
    calls do not count as lines."""
    known: set[str] = set()
    for message in range(len(history) - 1, -1, -1):
        view = history.view(message)
        for segment in reversed(view.segments):
            if segment.kind != "text":
                continue
            spans = {
                span
                for part in parts
                for span in _with(part, view.text, segment.start, segment.end)
            }
            for start, end in sorted(spans, reverse=True):
                line = view.text[start:end].strip()
                if line not in known:
                    known.add(line)
                    yield KeptPassage(TextSpan(message, start, end), tokens.count(line))


def _with(part: str, text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the lines of text[start:end] that contain a part."""
    at = text.find(part, start, end)
    while at >= 0:
        first = max(start, text.rfind("\n", start, at) + 1)
        last = text.find("\n", at, end)
        last = end if last < 0 else last
        yield first, last
        at = text.find(part, last, end)


def _results(history: History, options: KeepOptions) -> tuple[list[KeptPassage], list[KeptPassage]]:
    """Find the newest result that shows each file, and the results of the tools, newest first."""
    files: list[KeptPassage] = []
    named: list[KeptPassage] = []
    seen = _SeenFiles()
    for first, message, call in _newest_answers(history):
        size = history.facts[message].tokens
        if history.facts[first].calls[call][1] in options.tools:
            named.append(KeptPassage(_whole(history, message), size))
        if not options.globs:
            continue
        made = history.messages[first].calls[call]
        paths = (path for path in shown_files(made.name, made.arguments) if path not in seen)
        shown = {path for path in paths if matches(path, options.globs)}
        if shown and refused(history.view(message).text) is None:
            seen.update(shown)
            files.append(KeptPassage(_whole(history, message), size))
    return files, named


def _whole(history: History, message: int) -> TextSpan:
    return TextSpan(message, 0, len(history.view(message).text))


def _newest_answers(history: History) -> Iterator[tuple[int, int, int]]:
    """Yield (message that calls, message that answers, index of the call), newest first. Takes
    linear time, however many calls one message makes."""
    ends = (*history.rounds[1:], len(history))
    for first, end in zip(reversed(history.rounds), reversed(ends), strict=True):
        calls = history.facts[first].calls
        if not calls or end == first + 1:
            continue
        places = {id_: at for at, (id_, _) in reversed(list(enumerate(calls))) if id_}
        places |= {name: at for at, (id_, name) in enumerate(calls) if not id_}
        for message in range(end - 1, first, -1):
            answers = history.facts[message].answers
            order = message - first - 1  # results without ids are in the order of their calls
            call = places.get(answers, len(calls)) if answers else order
            if call < len(calls):
                yield first, message, call


class _SeenFiles:
    """Set of file paths; a path that is the end of another one, from some folder's name on, counts
    as the same file."""

    def __init__(self) -> None:
        self._by_name: defaultdict[str, list[str]] = defaultdict(list)

    def update(self, paths: Iterable[str]) -> None:
        for path in paths:
            self._by_name[path.rpartition("/")[2]].append(f"/{path.lstrip('./')}")

    def __contains__(self, path: str) -> bool:
        own = f"/{path.lstrip('./')}"
        known = self._by_name.get(path.rpartition("/")[2], ())[-SAME_NAME:]
        return any(each.endswith(own) or own.endswith(each) for each in known)


def fitted(
    history: History, passages: Iterable[KeptPassage], window: FoldWindow, room: int
) -> KeptSpans:
    """Choose as many of the folded passages as fit into `room` tokens of the memory message with
    all lines around them. The first that does not fit is shortened; the messages of the others are
    named."""
    folded = [each for each in passages if window.folds(each.span.message)]
    if not folded:
        return KeptSpans()
    around = _size(_as_spans((), (each.span.message for each in folded), -1), history)
    taken, left_out, cut = _taken(history, folded, room - around)
    while True:
        kept = _as_spans(taken, left_out, cut)
        size = _size(kept, history)
        over = size - room
        if over <= 0:
            return replace(kept, tokens=size)
        if not taken:
            return KeptSpans()
        last = taken.pop()
        shorter = last.tokens - over - 1
        if last.span.message == cut and shorter >= LEAST_CUT:
            taken.append(_shortened(history, last.span, shorter))
            continue
        cut = -1
        while over > 0:
            left_out.append(last.span.message)
            over -= last.tokens + LABEL
            last = taken.pop() if taken and over > 0 else last


def _size(kept: KeptSpans, history: History) -> int:
    return tokens.count("".join(f"{line}\n" for line in kept_lines(kept, history)))


def _taken(
    history: History, folded: Sequence[KeptPassage], room: int
) -> tuple[list[KeptPassage], list[int], int]:
    """Return the passages that fit by their own size, the messages of those that do not, and the
    message of the passage that is shortened, -1 for none."""
    taken: list[KeptPassage] = []
    left_out: list[int] = []
    shown: dict[int, list[TextSpan]] = {}
    cut = -1
    for each in folded:
        span = each.span
        inside = shown.setdefault(span.message, [])
        if any(outer.start <= span.start and span.end <= outer.end for outer in inside):
            continue
        if each.tokens + LABEL <= room:
            taken.append(each)
        elif cut < 0 and room >= LEAST_CUT + LABEL:
            cut = span.message
            taken.append(_shortened(history, span, room - LABEL))
        else:
            left_out.append(span.message)
            continue
        room -= taken[-1].tokens + LABEL
        inside.append(taken[-1].span)
    return taken, left_out, cut


def _shortened(history: History, span: TextSpan, most: int) -> KeptPassage:
    beginning = tokens.prefix(history.view(span.message).text[span.start : span.end], most)
    return KeptPassage(TextSpan(span.message, span.start, span.start + len(beginning)), most)


def _as_spans(taken: Iterable[KeptPassage], left_out: Iterable[int], cut: int) -> KeptSpans:
    spans = tuple(merge(each.span for each in taken))
    return KeptSpans(spans, tuple(sorted(set(left_out))), cut)
