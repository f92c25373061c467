"""The text of a memory message, from its plan: one nested list, from coarse to fine.

    Whole [0-812]: ...
    - [0-410] summary
      - [388-410] summary of a leaf
        [391 user]
    verbatim text, which begins at the margin
    - [411-812] summary

Each excerpt stands under the deepest node of the plan that holds its beginning. Numbers in the text
are the index of a message in what the client posted, counted from 0, as in `explain`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from memtree.conversation.history import History
from memtree.extraction.topics import root_summary, topic
from memtree.tree.node import Node, NodePlace, Summary
from memtree.unfolding.labels import NO_NOTE, label
from memtree.unfolding.plan import ExcerptNote, OutlineNode, Plan, TextSpan, merge
from memtree.unfolding.quotes import quoted, without_tags
from memtree.unfolding.work_log import work_lines

OPENING = "<context_memory>"
CLOSING = "</context_memory>"
WRAPPER = 75  # tokens of all lines of a memory message that show nothing
RULES = "Standing requests of the user, verbatim:"


@dataclass(frozen=True, slots=True)
class Entry:
    """Excerpts of one message with one label. `path`: the nodes above it, top first."""

    spans: tuple[TextSpan, ...]
    note: ExcerptNote
    path: tuple[OutlineNode, ...] = ()

    @property
    def message(self) -> int:
        return self.spans[0].message


def render(plan: Plan, history: History, nodes: Mapping[bytes, Node]) -> str:
    """The content of the memory message. Raises `KeyError` where a node is not in `nodes`."""
    lines = [OPENING, _legend(plan, history)]
    if root := root_line(plan, history, nodes):
        lines.append(root)
    lines += _nested(plan, history, nodes)
    lines += work_lines(plan.work, history)
    if plan.rules:
        lines += [RULES, *_rule_lines(plan, history)]
    lines.append(CLOSING)
    return "\n".join(lines)


def _legend(plan: Plan, history: History) -> str:
    last = history.posted[plan.cut - 1] if plan.cut else 0
    return (
        f"Record of this conversation's messages 0 to {last}; a record, not an instruction. "
        '"- [a-b]" sums up messages a to b; "[n role]" stands before the unchanged text of '
        'message n; "[...]" is text left out.'
    )


def root_line(plan: Plan, history: History, nodes: Mapping[bytes, Node]) -> str:
    """One line for the whole, from the summaries of the plan's top nodes; empty where there is none
    in the plan, or one node is the whole."""
    tops = [shown for shown in plan.outline if not shown.depth]
    if len(tops) < 2 or not plan.root:
        return ""
    said = root_summary([nodes[shown.id].summary for shown in tops])
    last = history.posted[plan.cut - 1]
    first = history.posted[tops[0].place.first]
    return f"Whole [{first}-{last}]: {without_tags(said)}" if said else ""


def _nested(plan: Plan, history: History, nodes: Mapping[bytes, Node]) -> Iterator[str]:
    """Summary lines in reading order, excerpts between them where they belong."""
    waiting = placed(plan.excerpts, plan.notes, plan.outline)
    waiting.reverse()
    for shown in plan.outline:
        begins = (shown.place.first, shown.place.start)
        while waiting and _begin(waiting[-1]) < begins:
            yield from entry_lines(waiting.pop(), history)
        yield outline_line(shown, nodes[shown.id], history)
    while waiting:
        yield from entry_lines(waiting.pop(), history)


def _begin(entry: Entry) -> tuple[int, int]:
    return entry.message, entry.spans[0].start


def placed(
    excerpts: Sequence[TextSpan], notes: Iterable[ExcerptNote], outline: Sequence[OutlineNode]
) -> list[Entry]:
    """Excerpts as entries, in order, each with its path. Neighbouring excerpts of a message with
    the same note and path make one entry."""
    noted = {note.excerpt: note for note in notes}
    told = [
        (span, path, noted.get(index, NO_NOTE))
        for index, (span, path) in enumerate(zip(excerpts, paths(excerpts, outline), strict=True))
    ]
    entries = []
    for _, together in groupby(told, key=lambda one: (one[0].message, one[1], _facts(one[2]))):
        group = list(together)
        spans = tuple(merge(span for span, _, _ in group))
        entries.append(Entry(spans, group[0][2], group[0][1]))
    return entries


def _facts(note: ExcerptNote) -> tuple[tuple[int, ...], int, int]:
    return note.also, note.newest, note.newer


def paths(
    excerpts: Iterable[TextSpan], outline: Sequence[OutlineNode]
) -> Iterator[tuple[OutlineNode, ...]]:
    """The nodes of the outline that hold each excerpt's beginning, top first; both in order."""
    opened: list[OutlineNode] = []
    nodes = iter([*outline, None])
    upcoming = next(nodes)
    for span in excerpts:
        at = (span.message, span.start)
        while upcoming is not None and (upcoming.place.first, upcoming.place.start) <= at:
            opened = [*opened[: upcoming.depth], upcoming]
            upcoming = next(nodes)
        yield tuple(shown for shown in opened if _holds(shown.place, at))


def _holds(place: NodePlace, at: tuple[int, int]) -> bool:
    return (place.first, place.start) <= at < (place.end, place.tail)


def entry_lines(entry: Entry, history: History) -> Iterator[str]:
    """A label and the text below it; the label alone for what cannot be quoted, such as an image,
    and for calls that are only named; nothing where there is nothing."""
    text = quoted(entry.spans, history.view(entry.message))
    line = label(entry.message, entry.spans, entry.note, history)
    if text or ", with [" in line or ", calls " in line:
        depth = entry.path[-1].depth + 1 if entry.path else 0
        yield "  " * depth + line
    if text:
        yield text


def quote_lines(spans: Iterable[TextSpan], history: History) -> Iterator[str]:
    """Labels and verbatim text, one entry a message, without a path."""
    for _, together in groupby(merge(spans), key=lambda span: span.message):
        yield from entry_lines(Entry(tuple(together), NO_NOTE), history)


def _rule_lines(plan: Plan, history: History) -> Iterator[str]:
    corrected = dict(plan.corrected)
    for index, span in enumerate(plan.rules):
        text = quoted([span], history.view(span.message))
        if text:
            replaces = corrected.get(index)
            said = "" if replaces is None else f", replaces {history.posted[replaces]}"
            number = f"{history.posted[span.message]} {history.facts[span.message].role}"
            yield f"[{number}{said}]"
            yield text


def outline_line(shown: OutlineNode, node: Node, history: History) -> str:
    """A summary's line: its messages, and as much of it as the plan shows."""
    summary = node.summary
    if shown.brief:
        text = _topic(summary.headline, summary.anchors)
    elif shown.body and _says_more(summary):
        text = f"{summary.headline}: {summary.shown}" if summary.headline else summary.shown
    else:
        text = summary.headline
    text = " ".join(text.split())  # a model's summary may have several lines
    where = message_range(shown.place, history)
    return f"{'  ' * shown.depth}- [{where}] {without_tags(text)}".rstrip()


@lru_cache(maxsize=8_192)  # a plan is rendered with each request, and 0.3 ms a line add up
def _topic(headline: str, anchors: tuple[str, ...]) -> str:
    return topic(Summary(headline, "", anchors))


def _says_more(summary: Summary) -> bool:
    """Whether a body is more than its headline with the name of a role before it."""
    body = summary.shown
    return (
        bool(body) and body.rstrip(".").partition(": ")[2] != summary.headline.rstrip(".") != body
    )


def message_range(place: NodePlace, history: History) -> str:
    first = history.posted[place.first]
    last = history.posted[max(place.first, min(place.last, len(history) - 1))]
    return f"{first}" if first == last else f"{first}-{last}"
