"""Choose the part of the tree that a memory message shows, with speakers and days of messages.

What is shown is the paths above its excerpts, and an overview.

    tree = OutlineTree(ranked, summary_tree, fused, cut, turns)
    tree.missing(row)      # tokens that the line above a passage still costs
    tree.open_path(row)    # show that line, in a few words
    tree.widen(budget)     # headlines for these words, siblings, bodies: the best first
    tree.lines()           # in reading order

Widening is greedy from the top: a node is replaced by its children while the budget lasts, the best
descendant first; opened siblings keep their headlines.

Of speakers and days a plan stores numbers, no text: whether an excerpt begins with its speaker's
name, and the ordinal of its day. So its text stays the same when messages are added to the history.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

import msgspec
import numpy as np
from numpy.typing import NDArray

from memtree.digests.line_judgements import particular
from memtree.history.chat_history import History
from memtree.history.message import MESSAGE_OVERHEAD
from memtree.history.message_days import message_days
from memtree.ranking.corpus import Speakers
from memtree.ranking.ranked_history import RankedHistory
from memtree.text import tokens
from memtree.tree.node import SKETCHED, Node, NodePlace, after
from memtree.unfolding.memory_plan import OutlineNode, SummaryTree, TextSpan
from memtree.unfolding.memory_text import outline_line

# Mean tokens of a message. In talk, lines and paths cost 1.5 to 2.5 points of evidence recall.
TALK, SHORT_TALK = 60, 25
FEW = 8  # messages of the assistant that are examined, the first ones


@dataclass(frozen=True, slots=True)
class Turns:
    """`days`: the proleptic ordinal of each message's day, 0 if unknown; may be shorter than the
    history. `mean`: mean tokens of a message."""

    speakers: Speakers
    days: Sequence[int]
    mean: float

    @classmethod
    def of(cls, ranked: RankedHistory) -> Turns:
        history = ranked.history
        mean = history.tokens / max(1, len(history)) - MESSAGE_OVERHEAD
        return cls(ranked.corpus.speakers, message_days(history), mean)

    @property
    def are_talk(self) -> bool:
        """Return True if messages are as short as in talk between people."""
        return self.mean < TALK

    @property
    def are_short(self) -> bool:
        """Return True if messages are as short as in messengers."""
        return self.mean < SHORT_TALK

    def are_of_people(self, history: History) -> bool:
        """Return True if the assistant's messages begin with a speaker's name, too: then it is a
        record of people talking to each other, in which nobody asks a model for anything."""
        theirs = (at for at, fact in enumerate(history.facts) if fact.role == "assistant")
        first = list(islice(theirs, FEW))
        named = sum(map(self.speakers.begins_with_name, first))
        return named > len(first) // 2

    def days_in(self, place: NodePlace) -> dict[str, int]:
        """Return the first and the last day of a node, as fields of an `OutlineNode`."""
        if not self.days:
            return {}
        return {"first_day": self.day(place.first), "last_day": self.day(place.last)}

    def named(self, spans: Sequence[TextSpan]) -> bytes:
        """Return a byte for each span, 1 if it begins with its speaker's name; b"" if none does."""
        begins = self.speakers.begins_with_name
        named = bytes(not span.start and begins(span.message) for span in spans)
        return named if any(named) else b""

    def days_of(self, spans: Sequence[TextSpan]) -> tuple[int, ...]:
        """Return the day of each span; () if no message has one."""
        return tuple(self.day(span.message) for span in spans) if any(self.days) else ()

    def day(self, message: int) -> int:
        return self.days[message] if message < len(self.days) else 0


NARROW, NARROW_OF_SHORT = 20, 200  # messages; a path ends at a node with at most so many
ALL = 1_000_000  # lines above excerpts
SPARE = 6  # tokens; with fewer left, nothing more is opened
BARE, BRIEF, HEADLINE, BODY = 1, 2, 3, 4  # how much of a node is shown
# Approximate tokens of a bare and a brief line: many lines are estimated that are never shown
NO_WORDS, FEW_WORDS = 7, 15
DAYS = 14  # tokens for the days of a line that spans several
BESIDE = 6  # siblings on each side that a line's words are compared with


@dataclass(slots=True, eq=False)
class _Branch:
    node: Node
    place: NodePlace
    depth: int
    leaf: int  # index of its first leaf
    leaves: int
    score: float
    form: int = 0  # 0: not shown
    telling: bool | None = None  # None: not determined yet
    beside: Sequence[str] = ()  # headlines of its siblings
    above: _Branch | None = None
    follows: bool = False  # the node continues the message in which its previous sibling ends
    children: list[_Branch] | None = None  # None: not created yet
    costs: dict[int, int] = field(default_factory=dict)


class LeafLines:
    """The leaves above excerpts, without the nodes above them: the path in a recall block."""

    def __init__(self, ranked: RankedHistory, cut: int, turns: Turns, brief: bool) -> None:
        """`brief`: show a few words of each, else its headline; in talk only its range."""
        self._history, self._corpus, self._cut = ranked.history, ranked.corpus, cut
        self._turns, self._brief = turns, brief
        self._shown: dict[int, OutlineNode] = {}

    def missing(self, row: int) -> int:
        """Return the tokens of a passage's line if it is not shown yet, else 0."""
        leaf = int(self._corpus.leaf[row])
        line = self._line(leaf)
        if line is None or leaf in self._shown:
            return 0
        return tokens.count(outline_line(line, self._corpus.leaves[leaf], self._history)) + 1

    def open_path(self, row: int) -> None:
        """Show the line of a passage's leaf."""
        leaf = int(self._corpus.leaf[row])
        if line := self._line(leaf):
            self._shown[leaf] = line

    def lines(self) -> tuple[OutlineNode, ...]:
        """Return all shown lines in reading order."""
        return tuple(self._shown[leaf] for leaf in sorted(self._shown))

    def _line(self, leaf: int) -> OutlineNode | None:
        node, place = self._corpus.leaves[leaf], self._corpus.places[leaf]
        if place.last >= self._cut:
            return None
        # A sketch has no words yet; the line stays the same once there are some.
        bare = self._turns.are_talk or node.summary.extraction == SKETCHED
        return OutlineNode(
            node.id,
            node.summary.version,
            0,
            place,
            body=False,
            brief=self._brief,
            bare=bare,
            **self._turns.days_in(place),
        )


class OutlineTree:
    """The part of the tree that was examined; children are created when a node is."""

    def __init__(
        self,
        ranked: RankedHistory,
        tree: SummaryTree,
        fused: NDArray[np.float32],
        cut: int,
        turns: Turns,
        paths: int = ALL,
    ) -> None:
        """`fused`: the score of each passage, 0 if it does not count. `paths`: lines above excerpts
        at most. In talk these give only the range of one node, since each word costs an excerpt.
        """
        self._turns, self._left = turns, paths
        self._talk = turns.are_talk
        self._narrow = NARROW_OF_SHORT if turns.are_short else NARROW
        self._history, self._nodes, self._cut = ranked.history, tree.nodes, cut
        self._leaf_of = ranked.corpus.leaf
        self._scores = np.zeros(len(ranked.corpus.leaves) + 1, np.float32)
        np.maximum.at(self._scores, self._leaf_of, fused)
        self._leaves: dict[bytes, int] = {}
        self._known_count = tree.leaf_count
        self._tops = self._branches(tree.roots, None, 0, 0)

    # -- paths -------------------------------------------------------------------------------

    def missing(self, row: int) -> int:
        """Return the tokens of the line above a passage if it is not shown yet, else 0."""
        above = self._above(row) if self._left else None
        return 0 if above is None or above.form else NO_WORDS if self._talk else FEW_WORDS

    def open_path(self, row: int) -> None:
        """Show the line above a passage."""
        if self._left and (above := self._above(row)):
            self._left -= not above.form
            above.form = above.form or (BARE if self._talk else BRIEF)

    def _above(self, row: int) -> _Branch | None:
        """Return the narrowest node that a path ends at: each further line above would cost an
        excerpt."""
        path = list(self._path(int(self._leaf_of[row])))
        return path[-1] if path else None

    def _path(self, leaf: int) -> Iterator[_Branch]:
        """Yield the nodes that contain a leaf and end before the cut, top first, down to one of few
        messages."""
        branches = self._tops
        while True:
            branch = next((b for b in branches if b.leaf <= leaf < b.leaf + b.leaves), None)
            if branch is None:
                return
            yield branch
            if branch.node.is_leaf or branch.place.last - branch.place.first < self._narrow:
                return
            branches = self._opened(branch)

    # -- an overview -------------------------------------------------------------------------

    def widen(self, budget: int, brief: bool = False) -> int:
        """Show more for at most `budget` tokens: headlines for lines shown in brief (unless
        `brief`) and for the top nodes, then siblings, then bodies. Returns the tokens used."""
        left = budget if brief else self._lengthen(budget)
        left = self._show(sorted(self._tops, key=lambda b: (-b.node.level, -b.score)), left)
        heap = [(-b.score, i, b) for i, b in enumerate(self._tops) if b.form]
        heapq.heapify(heap)
        # distinct numbers, so that branches with equal scores are never compared
        tick = len(self._tops)
        while heap and left > SPARE:
            _, _, branch = heapq.heappop(heap)
            cost = self._cost(branch, BODY) - self._cost(branch, branch.form)
            if cost <= left and self._says_something(branch):
                branch.form = BODY
                left -= cost
            elif branch.form < HEADLINE and not self._talk:
                continue
            if branch.node.is_leaf or branch.place.first == branch.place.last:
                continue  # the parts of one message say less than their sum
            children = self._opened(branch)
            if cost <= left or any(child.form for child in children):
                left = self._show(sorted(children, key=lambda b: -b.score), left)
            for child in children:
                if child.form:
                    tick += 1
                    heapq.heappush(heap, (-child.score, tick, child))
        return budget - left

    def _lengthen(self, left: int) -> int:
        """Show headlines instead of brief lines, the best first; returns the tokens left."""
        short = sorted(
            (b for b in self._walk(self._tops) if b.form and self._says_something(b)),
            key=lambda b: (b.depth, -b.score),
        )
        for branch in short:
            for form in (HEADLINE, BRIEF):
                cost = self._cost(branch, form) - self._cost(branch, branch.form)
                if branch.form < form and cost <= left:
                    branch.form = form
                    left -= cost
        return left

    def _show(self, branches: Sequence[_Branch], left: int) -> int:
        """Show headlines of branches while the budget lasts; returns the tokens left."""
        for branch in branches:
            if branch.form or not self._says_something(branch) or self._is_part(branch):
                continue
            if (cost := self._cost(branch, HEADLINE)) <= left:
                branch.form = HEADLINE
                left -= cost
        return left

    def _says_something(self, branch: _Branch) -> bool:
        """Return True if the words of a line are specific to its range, and differ from those of
        the line above."""
        summary, above = branch.node.summary, branch.above
        if branch.telling is None:
            branch.telling = particular(summary.headline, summary.anchors, branch.beside)
        shown = above is not None and above.form >= HEADLINE
        return branch.telling and not (
            shown and above and above.node.summary.headline == summary.headline
        )

    def _is_part(self, branch: _Branch) -> bool:
        """Return True for lines of a file that is already named by the line above, or by the
        previous sibling: a file that was read gets one line."""
        line = branch.node.summary.headline
        if not branch.node.is_leaf or not line.startswith("lines "):
            return False
        return (branch.above is not None and branch.above.form >= HEADLINE) or branch.follows

    # -- what is shown -----------------------------------------------------------------------

    def lines(self) -> tuple[OutlineNode, ...]:
        """Return all shown lines in reading order."""
        return tuple(self._shown_lines(self._tops, 0))

    def _shown_lines(self, branches: Sequence[_Branch], depth: int) -> Iterator[OutlineNode]:
        """Yield lines below those of their shown ancestors."""
        for branch in branches:
            if branch.form:
                line = self._line(branch, branch.form)
                yield msgspec.structs.replace(line, depth=depth)
            yield from self._shown_lines(branch.children or (), depth + bool(branch.form))

    def _walk(self, branches: Sequence[_Branch]) -> Iterator[_Branch]:
        for branch in branches:
            yield branch
            if branch.children:
                yield from self._walk(branch.children)

    def _line(self, branch: _Branch, form: int) -> OutlineNode:
        return OutlineNode(
            branch.node.id,
            branch.node.summary.version,
            branch.depth,
            branch.place,
            body=form == BODY,
            brief=form == BRIEF,
            bare=form == BARE or not self._says_something(branch),
            **self._turns.days_in(branch.place),
        )

    def _cost(self, branch: _Branch, form: int) -> int:
        if form not in branch.costs:
            shown = self._line(branch, form)
            days = DAYS if shown.first_day < shown.last_day and not shown.bare else 0
            branch.costs[form] = (
                tokens.count(outline_line(shown, branch.node, self._history)) + 1 + days
            )
        return branch.costs[form]

    def _opened(self, branch: _Branch) -> list[_Branch]:
        if branch.children is None:
            outer = NodePlace(0, 0, branch.place.first, branch.place.start)
            branch.children = self._branches(
                branch.node.children, outer, branch.depth + 1, branch.leaf
            )
            for child in branch.children:
                child.above = branch
        return branch.children

    def _branches(
        self, ids: Sequence[bytes], before: NodePlace | None, depth: int, leaf: int
    ) -> list[_Branch]:
        """Return branches of consecutive nodes that begin where `before` ends."""
        place = before
        branches = []
        for id_ in ids:
            node = self._nodes[id_]
            place = after(place, node)
            leaves = self._leaf_count(id_)
            score = float(self._scores[leaf : leaf + leaves].max(initial=0.0))
            if place.last < self._cut:
                branches.append(_Branch(node, place, depth, leaf, leaves, score))
            elif not node.is_leaf:  # it crosses the cut: its children before the cut replace it
                outer = NodePlace(0, 0, place.first, place.start)
                branches += self._branches(node.children, outer, depth, leaf)
            leaf += leaves
        headlines = [branch.node.summary.headline for branch in branches]
        for at, branch in enumerate(branches):
            branch.beside = (*headlines[max(0, at - BESIDE) : at], *headlines[at + 1 :][:BESIDE])
            branch.follows = at > 0 and branches[at - 1].place.last == branch.place.first
        return branches

    def _leaf_count(self, id_: bytes) -> int:
        count = self._leaves.get(id_)
        if count is None:
            count = self._known_count(id_)
        if count is None:
            node = self._nodes[id_]
            count = 1 if node.is_leaf else sum(self._leaf_count(child) for child in node.children)
            self._leaves[id_] = count
        return count
