"""Extract the summaries and standing rules of nodes from the messages that they lie in.

A leaf is extracted from its passages, an inner node from its children's summaries. Text alone, no
model, no I/O. What is made anew later (`summaries_of`) equals what growing a tree makes at once.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from zlib import crc32

import msgspec

from memtree.digests import summarize
from memtree.digests.clauses import read_lines
from memtree.digests.line_judgements import ReadLines
from memtree.history.message import Message, View, Volatile
from memtree.text import rule_sentences, speakers, terms
from memtree.text.own_words import others_words
from memtree.text.spans import Span, clipped
from memtree.text.speakers import untagged
from memtree.tree import chunking, node
from memtree.tree.node import SKETCH, SKETCHED, Node, Passage, Summary

NOT_EXTRACTED, NOT_YET = Summary("", ""), Summary("", "", extraction=SKETCHED)
SKETCHES = 30_000  # versions of sketches: a version is stored in 16 bits
RULES_REACH = 20_000  # characters of a user message searched for standing rules


def summarise(children: Sequence[Summary], level: int, lines: ReadLines | None = None) -> Summary:
    """Return version 0 of an inner node's summary, made from its children's; its extraction version
    is the oldest among them. While children have a sketch, it is one, too, made from those that
    have words. `lines`: of the same history."""
    known = [
        summarize.Extract(child.headline, child.body, child.anchors)
        for child in children
        if child.headline or child.extraction != SKETCHED
    ]
    if children and not known:
        return NOT_YET
    made = _summary(summarize.node_summary(known, level, lines))
    if any(child.extraction == SKETCHED for child in children):
        # A plan names the words that it shows by this number.
        number = SKETCH - crc32(f"{made.headline}\n{made.body}".encode()) % SKETCHES
        return msgspec.structs.replace(made, version=number, extraction=SKETCHED)
    oldest = min((child.extraction for child in children), default=made.extraction)
    return msgspec.structs.replace(made, extraction=min(oldest, made.extraction))


class MessageTexts:
    """The views of a history's messages by number, with the standing rules of each and the spans
    that are not the user's own words, found once."""

    def __init__(self, view: Callable[[int], View], lines: ReadLines | None = None) -> None:
        self.view = view
        self.lines = lines or read_lines()
        self._rules: dict[int, tuple[tuple[int, int], ...]] = {}
        self._others: dict[int, tuple[Span, ...]] = {}

    def rules(self, message: int) -> tuple[tuple[int, int], ...]:
        if message not in self._rules:
            view = self.view(message)
            text = view.text[:RULES_REACH]
            # A summary names who speaks; a rule has to be the user's.
            named = others_words(view.own) if speakers.tag(view.own) else ()
            others = clipped(named or self.others(message), 0, len(text))
            self._rules[message] = rule_sentences.standing_rules(
                text, self.lines.rule, withdrawals=True, others=others
            )
        return self._rules[message]

    def others(self, message: int) -> tuple[Span, ...]:
        """Return the spans of a user's message that are not the user's own words. Reads the whole
        message: the evidence, such as the head of a mail, may be in another leaf than the words."""
        if message not in self._others:
            view = self.view(message)
            attached = ((len(view.own), len(view.text)),) if len(view.own) < len(view.text) else ()
            self._others[message] = (*others_words(untagged(view.own)), *attached)
        return self._others[message]


@dataclass(frozen=True, slots=True)
class LeafExtract:
    """Extract of a leaf's text besides its statistics: both can be computed again from the text."""

    summary: Summary
    rules: tuple[tuple[int, int, int], ...]


def leaf_extract(passages: Sequence[Passage], first: int, texts: MessageTexts) -> LeafExtract:
    """Return summary (version 0) and standing rules of a leaf that begins in message `first`."""
    sources = []
    for passage in passages:
        message = first + passage.message
        view = texts.view(message)
        text = view.text[passage.start : passage.end]
        kind = node.source_kind(passage.kind)
        others = None
        if view.message.role == "user":
            others = clipped(texts.others(message), passage.start, passage.end)
        ends = passage.end >= len(view.text)
        role = view.message.role
        # Each leaf looks at its whole message: the square of a long one.
        known = view.text if len(view.text) <= summarize.READ_MESSAGE else ""
        more = known, passage.start, ends, view.message.name
        sources.append(summarize.SourcePassage(role, text, kind, others, *more))
    summary = _summary(summarize.leaf_summary(sources, texts.lines))
    return LeafExtract(summary, tuple(standing_rules(passages, first, texts)))


@dataclass(frozen=True, slots=True)
class Unsummarised:
    """Nodes whose summaries are to be made, as plain values that cross a process border.

    `leaves`: passages, and the number of the first message. `messages`: those that they lie in, by
    number. `parents`: the summaries of the children, and the level.
    """

    leaves: Sequence[tuple[tuple[Passage, ...], int]] = ()
    messages: Mapping[int, bytes] = ()  # type: ignore[assignment]
    volatile: tuple[str, ...] = ()
    parents: Sequence[tuple[tuple[Summary, ...], int]] = ()


def summaries_of(nodes: Unsummarised) -> list[Summary]:
    """Return the summaries of these nodes: of leaves, with their standing rules, then of
    parents."""
    volatile = Volatile(nodes.volatile)
    texts = MessageTexts(cache(lambda at: Message(nodes.messages[at]).view(volatile)))
    extracts = [leaf_extract(passages, first, texts) for passages, first in nodes.leaves]
    return [
        *(msgspec.structs.replace(each.summary, rules=each.rules) for each in extracts),
        *(summarise(children, level) for children, level in nodes.parents),
    ]


# Holds what most of the patterns of extraction look for.
_TALK: tuple[tuple[str, str, tuple[tuple[str, str], ...]], ...] = (
    (
        "user",
        'Please fix `src/a.py`: it says "no such line". From now on, run the tests first.\n\n'
        "> quoted\n\n```py\nx = 1\n```\n- one\n- two\n\nKim: My sister wrote: stop calling me.",
        (),
    ),
    (
        "assistant",
        "I changed the loop in src/a.py, and the tests pass now. Shall I commit it?",
        (
            ("write_file", '{"path": "src/a.py", "content": "def f():\\n    return 1\\n"}'),
            ("bash", '{"command": "cd src && pytest -q | tail -3"}'),
        ),
    ),
    ("tool", "File created successfully at: src/a.py", ()),
    ("tool", "E   ValueError: x\n1 failed, 2 passed in 0.1s\nexit code: 1", ()),
)


def warm_up() -> None:
    """Compile the patterns that the first history would otherwise wait for, in 0.2 s."""
    views = []
    for role, text, calls in _TALK:
        made = [
            {"id": name, "type": "function", "function": {"name": name, "arguments": arguments}}
            for name, arguments in calls
        ]
        fields = {"role": role, "content": text, "tool_calls": made}
        views.append(Message.of(fields).view(Volatile(())))
    passages = [Passage(*block[:5]) for block in chunking.blocks(views, 0, 0)]
    leaf = leaf_extract(passages, 0, MessageTexts(views.__getitem__))
    summarise([leaf.summary] * node.MIN_CHILDREN, 1)


def extracted(leaf: Node, first: int, view: Callable[[int], View]) -> Node:
    """Return an open leaf, which begins in message `first`, with all fields of a final one. It
    grows with each turn, and few turns need more of it than its terms."""
    texts = MessageTexts(view)
    extract = leaf_extract(leaf.passages, first, texts)
    counts = (
        terms.terms(view(first + each.message).text[each.start : each.end])
        for each in leaf.passages
    )
    return msgspec.structs.replace(
        leaf,
        summary=extract.summary,
        rules=extract.rules,
        profile=terms.profile(terms.merge(counts)),
    )


def standing_rules(
    passages: Sequence[Passage], first: int, texts: MessageTexts
) -> Iterator[tuple[int, int, int]]:
    for passage in passages:
        if passage.kind == node.USER:
            spans = texts.rules(first + passage.message)
            low = bisect_left(spans, (passage.start, 0))
            high = bisect_left(spans, (passage.end, 0))
            for start, end in spans[low:high]:
                yield passage.message, start, end


def _summary(extract: summarize.Extract) -> Summary:
    return Summary(extract.headline, extract.body, extract.anchors, extraction=summarize.VERSION)
