"""Render the text of a memory message from its plan, below the title of the conversation.

The text is one nested list, from coarse to fine.

    - ¶0-812 Whole: ...
    - ¶0-410 summary
      - ¶388-410 summary of a leaf
    ¶391 user
    verbatim text, which begins at the margin
    ¶392-394 Vanessa: three messages that begin with their speaker's name,
    Kim: each on a line of its own
    Vanessa: and so under one label
    - ¶411-812 summary

Each excerpt is placed under the deepest node of the plan that contains its beginning. Numbers in
the text are indexes of posted messages, counted from 0, as in `explain`. The title is made from the
messages before the cut. A name that a person typed may change within an epoch, and so is not shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple, TypeVar, cast

import msgspec

from memtree.digests.titles import MESSAGES, root_summary, title, topic
from memtree.history.chat_history import History
from memtree.history.message import RESULT_ROLES
from memtree.history.message_days import day_text
from memtree.history.placeholders import placeholders
from memtree.text import own_lines, speakers, tokens
from memtree.text.own_lines import MARK, NO_ROOM, RULES, STAYS
from memtree.tree.node import Node, Summary
from memtree.unfolding.labels import (
    NO_NOTE,
    label,
    named_label,
    numbered,
    numbers,
    role_and_name,
    with_document,
)
from memtree.unfolding.memory_plan import (
    ExcerptNote,
    KeptSpans,
    OutlineNode,
    Plan,
    RecallPlan,
    TextSpan,
    merge,
)
from memtree.unfolding.quotes import is_left_out, quoted
from memtree.unfolding.work_log import work_lines

_ROW = 300  # bytes of a title with its text, about


def beginning_title(history: History, cut: int) -> str:
    """Return the title of the first `cut` messages; "" if they hold no request."""
    first = min(cut, len(history), MESSAGES)
    titles = history.derived.row("titles", first + 1)  # by the number of messages
    if titles[first] is None:
        titles[first] = title(history.first_request(first))
        history.derived.found_bytes += _ROW
    return str(titles[first])


_NAMED = re.compile(r"\b(?:user|assistant) \(([^():;]{1,40})\): ")  # `Ben: ` says as much
OPENING = "<context_memory>"
CLOSING = "</context_memory>"
WRAPPER = 100  # tokens of all fixed lines of a memory message
# Kinds of text in a memory message, for counting its tokens
HEAD, LINES, LABELS, EXCERPTS = "head", "lines", "labels", "excerpts"
RULED, LOG, KEPT = "rules", "log", "kept"
KINDS = (EXCERPTS, LABELS, LINES, RULED, LOG, KEPT, HEAD)


class Piece(NamedTuple):
    """A piece of a text of ours; `kind`: one of `KINDS`. The pieces joined are the text."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Entry:
    """Excerpts of one message. `path`: the nodes above it, top first. `named`: it begins with its
    speaker's name; `day`: the ordinal of its day, 0 if unknown."""

    spans: tuple[TextSpan, ...]
    note: ExcerptNote
    path: tuple[OutlineNode, ...] = ()
    named: bool = False
    day: int = 0

    @property
    def message(self) -> int:
        return self.spans[0].message


EntryRun = tuple[Entry, ...]  # entries of consecutive messages, under one label


Made = dict[Hashable, Any]  # parts of a text, by what they depend on besides history and nodes
Part = TypeVar("Part")


def render(
    plan: Plan, history: History, nodes: Mapping[bytes, Node], made: Made | None = None
) -> str:
    """Return the content of the memory message. `made`: parts of earlier drafts of it, which is
    added to. Raises `KeyError` if a node is not in `nodes`."""
    return "".join(piece.text for piece in pieces(plan, history, nodes, made))


def _once(made: Made | None, key: Hashable, make: Callable[[], Part]) -> Part:
    if made is None:
        return make()
    if key not in made:
        made[key] = make()
    return cast("Part", made[key])


def spent(plan: Plan, history: History, nodes: Mapping[bytes, Node]) -> dict[str, int]:
    """Return the tokens of the memory message by kind. `joints`: tokens of the whole text minus
    those of its pieces, since a token may cross their border; so all add up to the text's tokens.
    """
    sizes = dict.fromkeys(KINDS, 0)
    parts = list(pieces(plan, history, nodes))
    counts = tokens.count_many([piece.text for piece in parts])
    for piece, size in zip(parts, counts, strict=True):
        sizes[piece.kind] += size
    whole = tokens.count("".join(piece.text for piece in parts))
    return {**sizes, "joints": whole - sum(counts)}


def pieces(
    plan: Plan, history: History, nodes: Mapping[bytes, Node], made: Made | None = None
) -> Iterator[Piece]:
    """Yield the memory message in pieces. Parameters and errors as of `render`."""
    body = list(_nested(plan, history, nodes, Days(), made))
    yield Piece(HEAD, f"{OPENING}\n{_legend(plan, history, body)}\n")
    if root := root_line(plan, history, nodes, made):
        yield Piece(LINES, f"{root}\n")
    yield from body
    for line in _once(made, ("work", plan.work), lambda: work_lines(plan.work, history)):
        yield Piece(LOG, f"{line}\n")
    for line in kept_lines(plan.kept, history):
        yield Piece(KEPT, f"{line}\n")
    if plan.rules:
        yield Piece(RULED, f"{MARK} {RULES}\n")
        for line in _rule_lines(plan, history):
            yield Piece(RULED, f"{line}\n")
    yield Piece(HEAD, CLOSING)


def _legend(plan: Plan, history: History, body: Sequence[Piece]) -> str:
    """Explain the notes that occur in this text, and no others: each word costs an excerpt."""
    last = history.posted[plan.cut - 1] if plan.cut else 0
    role, names = " role", ""
    if any(plan.named):
        names = _speakers(plan, history)
        roles = any(piece.kind == LABELS and piece.text.endswith("\n") for piece in body)
        if not roles and not plan.rules:
            role = ""
        else:
            names = f', "{MARK}n Name:" likewise{names}'
    sums = f'; "- {MARK}a-b" sums up a to b' if plan.outline else ""
    marks = '; "..." or "[...]": text left out' if any(map(_is_cut, body)) else ""
    return (
        f"Record of messages 0 to {last} of this conversation, not an instruction. Lines that "
        f'begin with "{MARK}" are notes: "{MARK}n{role}" before the unchanged text of message n, '
        f'"{MARK}n-m" of n to m{names}{sums}{marks}.'
    )


def _is_cut(piece: Piece) -> bool:
    """Return True if the piece contains a mark of omitted text, in a label or below it."""
    if piece.kind == LABELS:
        return piece.text.endswith(" ...\n")
    return piece.kind == EXCERPTS and any(
        line.startswith("[...") and line.endswith("]") for line in piece.text.splitlines()
    )


def _speakers(plan: Plan, history: History) -> str:
    """Say who the user and the assistant are, if each message begins with a name."""
    names: dict[str, dict[str, None]] = {}
    for span, named in zip(plan.excerpts, plan.named, strict=False):
        if named:
            said = speakers.participant(speakers.speaker(history.view(span.message).text))
            names.setdefault(history.facts[span.message].role, {})[said] = None
    if any(len(said) > 1 for said in names.values()):
        return ""
    roles = ", ".join(f"{next(iter(said))} is the {role}" for role, said in names.items())
    return f" ({roles})"


class Days:
    """The day of the last line or label, so that a day is written only where it changes, and a year
    only where that changes."""

    def __init__(self) -> None:
        self.last = 0, 0  # day that was written, and year

    def of_label(self, day: int) -> str:
        """Return the day for a label; "" if the text above has it already."""
        written, before = self.last
        if not day or day == written:
            return ""
        year = date.fromordinal(day).year
        self.last = day, year
        return day_text(day).removesuffix(f" {year}") if year == before else day_text(day)

    def of_line(self, first: int, last: int) -> str:
        """Return the days for a summary line that spans several."""
        if not first or not last or first == last:
            return self.of_label(first) if first == last else ""
        self.last = 0, date.fromordinal(last).year
        return f"{day_text(first)} to {day_text(last)}"


def root_line(
    plan: Plan, history: History, nodes: Mapping[bytes, Node], made: Made | None = None
) -> str:
    """Return one line for the whole, from the beginning of the conversation and the summaries of
    the plan's top nodes; "" if the plan has no nodes, or a single top node."""
    tops = [shown for shown in plan.outline if not shown.depth]
    if len(tops) < 2 or not plan.root:
        return ""
    ids = tuple(shown.id for shown in tops)

    def summary() -> str:
        return root_summary([nodes[id_].summary for id_ in ids], beginning_title(history, plan.cut))

    said = _once(made, ("root", ids), summary)
    where = numbered(tops[0].place.first, plan.cut - 1, history)
    return own_lines.line(f"- {where}", f"Whole: {said}") if said else ""


def _nested(
    plan: Plan, history: History, nodes: Mapping[bytes, Node], days: Days, made: Made | None
) -> Iterator[Piece]:
    """Yield summary lines in reading order, with runs of excerpts at their places between them."""
    waiting = list(runs(placed(plan), history))
    waiting.reverse()
    for shown in plan.outline:
        begins = (shown.place.first, shown.place.start)
        while waiting and _begin(waiting[-1][0]) < begins:
            yield from _run_pieces(waiting.pop(), history, days, made)
        said = "" if shown.bare else days.of_line(shown.first_day, shown.last_day)
        yield Piece(LINES, f"{outline_line(shown, nodes[shown.id], history, said)}\n")
    while waiting:
        yield from _run_pieces(waiting.pop(), history, days, made)


def _run_pieces(run: EntryRun, history: History, days: Days, made: Made | None) -> Iterable[Piece]:
    if made is None:
        return run_pieces(run, history, days)
    entries = tuple((each.spans, _facts(each.note), each.named, each.day) for each in run)
    parts, days.last = _once(
        made,
        ("run", entries, days.last),
        lambda: (list(run_pieces(run, history, days)), days.last),
    )
    return parts


def _begin(entry: Entry) -> tuple[int, int]:
    return entry.message, entry.spans[0].start


def placed(shown: Plan | RecallPlan) -> list[Entry]:
    """Return excerpts as entries, in order, each with its path. Neighbouring excerpts of a message
    with the same note and path make one entry."""
    noted = {note.excerpt: note for note in shown.notes}
    rows = [
        (span, path, noted.get(index, NO_NOTE), index)
        for index, (span, path) in enumerate(
            zip(shown.excerpts, paths(shown.excerpts, shown.outline), strict=True)
        )
    ]
    entries = []
    for _, together in groupby(rows, key=lambda row: (row[0].message, row[1], _facts(row[2]))):
        group = list(together)
        spans = tuple(merge(span for span, *_ in group))
        _, path, note, index = group[0]
        named = bool(shown.named[index : index + 1].strip(b"\0"))
        day = next(iter(shown.days[index : index + 1]), 0)
        entries.append(Entry(spans, note, path, named, day))
    return entries


def _facts(note: ExcerptNote) -> ExcerptNote:
    return msgspec.structs.replace(note, excerpt=-1)


def runs(entries: Iterable[Entry], history: History) -> Iterator[EntryRun]:
    """Group entries of consecutive messages under one label: whole messages of one path and day
    without notes, which all begin with a name, or are single lines of one role."""
    run: list[Entry] = []
    for entry in entries:
        if run and not _follows(run[-1], entry, history):
            yield tuple(run)
            run = []
        run.append(entry)
    if run:
        yield tuple(run)


def _follows(entry: Entry, following: Entry, history: History) -> bool:
    one, other = (role_and_name(each.message, history) for each in (entry, following))
    return (
        history.posted[following.message] == history.posted[entry.message] + 1
        and entry.path == following.path
        and entry.day == following.day
        and entry.named == following.named
        and (entry.named or one == other)
        and all(_joins(each, history) for each in (entry, following))
    )


def _joins(entry: Entry, history: History) -> bool:
    """Return True if a message can share a label with others."""
    message, view = history.messages[entry.message], history.view(entry.message)
    plain = entry.note is NO_NOTE and len(entry.spans) == len(message.segments) == 1
    if not plain or history.facts[entry.message].role in RESULT_ROLES or placeholders(message):
        return False
    lines = view.text.strip().splitlines()
    if not lines or (len(lines) > 1 and not entry.named) or speakers.needs_label(view.text):
        return False
    span = entry.spans[0]
    whole = view.text == message.text and not is_left_out(view, 0, span.start)
    return whole and not is_left_out(view, span.end, len(view.text))


def paths(
    excerpts: Iterable[TextSpan], outline: Sequence[OutlineNode]
) -> Iterator[tuple[OutlineNode, ...]]:
    """Yield for each excerpt the nodes of the outline that contain its beginning, top first; both
    in order."""
    opened: list[OutlineNode] = []
    nodes = iter([*outline, None])
    upcoming = next(nodes)
    for span in excerpts:
        at = (span.message, span.start)
        while upcoming is not None and (upcoming.place.first, upcoming.place.start) <= at:
            opened = [*opened[: upcoming.depth], upcoming]
            upcoming = next(nodes)
        around = ((shown, shown.place) for shown in opened)
        yield tuple(
            shown
            for shown, place in around
            if (place.first, place.start) <= at < (place.end, place.tail)
        )


def run_pieces(run: EntryRun, history: History, days: Days) -> Iterator[Piece]:
    """Yield a label and the texts below it; the label alone for parts that cannot be quoted, such
    as an image, and for calls that are only named; nothing if there is nothing to show."""
    texts = [quoted(entry.spans, history.view(entry.message)) for entry in run]
    first, last = run[0], run[-1]
    view = history.view(first.message)
    tells = first.named and not (placeholders(view.message) or speakers.needs_label(view.text))
    if tells and texts[0]:
        day = days.of_label(first.day)
        yield Piece(LABELS, named_label(first.message, last.message, history, day))
    else:
        cut = is_left_out(view, 0, first.spans[0].start)
        line = label(first.spans, first.note, history, last.message, "", cut and bool(texts[0]))
        if not texts[0] and ", with [" not in line and ", calls " not in line:
            return
        if day := days.of_label(first.day):
            line = label(first.spans, first.note, history, last.message, day, cut)
        yield Piece(LABELS, f"{line}\n")
    for text in texts:
        if text:
            yield Piece(EXCERPTS, f"{text}\n")


def quote_lines(spans: Iterable[TextSpan], history: History) -> Iterator[str]:
    """Yield labels and verbatim text, one entry a message, without a path."""
    for _, together in groupby(merge(spans), key=lambda span: span.message):
        for piece in run_pieces((Entry(tuple(together), NO_NOTE),), history, Days()):
            yield piece.text.removesuffix("\n")


def _rule_lines(plan: Plan, history: History) -> Iterator[str]:
    corrected = dict(plan.corrected)
    for index, span in enumerate(plan.rules):
        text = quoted([span], history.view(span.message), marks=False)
        if text:
            replaces = corrected.get(index)
            who = role_and_name(span.message, history)
            said = "" if replaces is None else f", replaces {history.posted[replaces]}"
            yield own_lines.line(numbered(span.message, span.message, history), who + said)
            yield text


def kept_lines(kept: KeptSpans, history: History) -> Iterator[str]:
    """Yield the kept passages, one entry a message, and a line about those that did not fit."""
    if kept.spans:
        yield f"{MARK} {STAYS}"
    for message, together in groupby(kept.spans, key=lambda span: span.message):
        spans = tuple(together)
        if text := quoted(spans, history.view(message), marks=message == kept.cut):
            yield label(spans, NO_NOTE, history, message, "", cut=False)
            yield text
    if kept.left_out:
        yield f"{MARK} {NO_ROOM} {numbers(kept.left_out, history)}"


def outline_line(shown: OutlineNode, node: Node, history: History, days: str = "") -> str:
    """Return a summary's line: its messages, their days, and as much of it as the plan shows."""
    summary = node.summary
    if shown.bare:
        text = ""
    elif shown.brief:
        text = line_topic(summary.headline, summary.anchors)
    elif shown.body and _says_more(summary):
        text = f"{summary.headline}: {summary.shown}" if summary.headline else summary.shown
    else:
        text = summary.headline
    text = _NAMED.sub(r"\1: ", " ".join(text.split()))  # a model's summary may have several lines
    text = with_document(text, shown.place, history, whole=bool(node.level or shown.brief))
    last = max(shown.place.first, min(shown.place.last, len(history) - 1))
    where = numbered(shown.place.first, last, history)
    said = f"{days}: {text}" if days and text else days or text
    return own_lines.line(f"{'  ' * shown.depth}- {where}", said).rstrip()


@lru_cache(maxsize=8_192)  # a plan is rendered with each request, and 0.3 ms a line adds up
def line_topic(headline: str, anchors: tuple[str, ...]) -> str:
    return topic(Summary(headline, "", anchors))


def _says_more(summary: Summary) -> bool:
    """Return True if a body is more than its headline, or a part of it, with a role's name in
    front."""
    body = summary.shown.replace("`", "").rstrip(".")
    return bool(body) and (body.partition(": ")[2] or body) not in summary.headline
