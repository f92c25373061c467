"""Ranked passages and a budget to a plan: which nodes are shown, what is quoted.

Greedy from the top: a node opens into its children while the outline's budget lasts, the best
descendant first; opened siblings stay headlines. Excerpts go to whole messages where they are
short, to passages of long ones, best first, each counted with its label. Where the dialogue is
lopsided (long answers to short asks) text of the user has a line of its own, because it is a
twentieth of the tokens and most of the evidence.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from memtree.corpus import Corpus
from memtree.history import History
from memtree.node import USER, Node, Place, after
from memtree.pack import ASK_SHARE, RULES_SHARE, WRAPPER
from memtree.plan import Plan, Shown, Span, outline_line, render
from memtree.rank import Ranking

LABEL = 6  # tokens of `[123 user] ` and the line's end
WHOLE = 500  # a message up to this size is quoted whole or not at all
LOPSIDED = 3.0  # assistant text over user text, per message
USER_SHARE = 0.5  # docs/decisions/0005
PATIENCE = 40  # candidates in a row that may fail to fit

Count = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Chosen:
    """Why a span is in the plan: `reason` is excerpt, user, rule or ask."""

    span: Span
    tokens: int
    reason: str
    passage: int  # row of the corpus with the best score in it; -1: not ranked


@dataclass(slots=True)
class Unfolded:
    plan: Plan
    text: str
    tokens: int
    outline_tokens: int
    chosen: list[Chosen]
    left_out: list[int] = field(default_factory=list)  # best rows that found no room


def unfold(
    history: History,
    roots: Sequence[bytes],
    nodes: Mapping[bytes, Node],
    corpus: Corpus,
    ranking: Ranking,
    cut: int,
    budget: int,
    count: Count,
) -> Unfolded:
    """A plan whose rendered text has at most `budget` tokens (or the bare wrapper)."""
    before = corpus.message < cut
    fused = np.where(before & (corpus.tokens > 0), ranking.fused, 0.0).astype(np.float32)
    outline = list(
        _outline(
            history, roots, nodes, fused, corpus, cut, int(outline_share(budget) * budget), count
        )
    )
    outline_tokens = count("\n".join(outline_line(s, nodes[s.id], history) for s in outline))
    room = budget - WRAPPER - outline_tokens
    pinned = _pins(history, corpus, cut, budget, room, count)
    room -= sum(one.tokens + LABEL for one in pinned)
    units = _Units(corpus, fused, before & (corpus.tokens > 0), pinned)
    chosen = units.choose(room, int(USER_SHARE * budget) if _lopsided(corpus, before) else 0)
    return _fit(
        history,
        nodes,
        Plan(cut, tuple(outline)),
        pinned,
        chosen,
        units,
        budget,
        outline_tokens,
        count,
    )


def outline_share(budget: int) -> float:
    """10 % at 2k, 15 % at 4k, 20 % from 8k on."""
    return float(np.interp(budget, [2000, 4000, 8000], [0.10, 0.15, 0.20]))


def _fit(
    history: History,
    nodes: Mapping[bytes, Node],
    plan: Plan,
    pinned: list[Chosen],
    chosen: list[Chosen],
    units: _Units,
    budget: int,
    outline_tokens: int,
    count: Count,
) -> Unfolded:
    """Render, count exactly, and mend: estimates of labels and joints are not exact."""
    rules = [one for one in pinned if one.reason == "rule"]
    asks = [one for one in pinned if one.reason != "rule"]

    def made() -> tuple[Plan, str, int]:
        full = Plan(
            plan.cut,
            plan.outline,
            tuple(sorted(one.span for one in rules)),
            tuple(sorted(one.span for one in (*asks, *chosen))),
        )
        text = render(full, history, nodes)
        return full, text, count(text)

    full, text, size = made()
    for _ in range(3):
        added = units.more(chosen, budget - size) if size < budget else []
        if not added:
            break
        chosen = [*chosen, *added]
        full, text, size = made()
    while size > budget and (chosen or asks or rules or plan.outline):
        over = size - budget
        for group in (chosen, asks, rules):
            while group and over > 0:
                over -= group.pop().tokens + 1
        if over > 0:
            plan = Plan(plan.cut, plan.outline[:-1])
        full, text, size = made()
    return Unfolded(full, text, size, outline_tokens, [*rules, *asks, *chosen], units.left_out())


class _Units:
    """What may be quoted: whole short messages, single passages of long ones, with their score."""

    def __init__(
        self,
        corpus: Corpus,
        fused: NDArray[np.float32],
        allowed: NDArray[np.bool_],
        pinned: Sequence[Chosen],
    ) -> None:
        """`allowed`: what stands before the cut. After all that scored the newest follow."""
        self._corpus = corpus
        sizes = np.bincount(corpus.message, weights=corpus.tokens) if len(corpus) else np.zeros(1)
        self._message_tokens = sizes
        self._taken = {one.span.message for one in pinned if one.reason == "ask"}
        scored = np.argsort(-fused, kind="stable")[: int((fused > 0).sum())]
        newest = np.flatnonzero(allowed & (fused <= 0))[::-1]
        self._order = np.concatenate([scored, newest])

    def choose(self, room: int, user_room: int) -> list[Chosen]:
        chosen: list[Chosen] = []
        if user_room:
            mine = self._order[self._corpus.kind[self._order] == USER]
            chosen = self._take(mine, min(room, user_room), "user")
            room -= sum(one.tokens + LABEL for one in chosen)
        return chosen + self._take(self._order, room, "excerpt")

    def more(self, chosen: Sequence[Chosen], room: int) -> list[Chosen]:
        return self._take(self._order, room, "excerpt") if room > 2 * LABEL else []

    def left_out(self, limit: int = 20) -> list[int]:
        """The best passages that found no room."""
        first = (int(row) for row in self._order[: 20 * limit])
        return list(islice((row for row in first if self._unit(row) is not None), limit))

    def _take(
        self, rows: Sequence[int] | NDArray[np.int64], room: int, reason: str
    ) -> list[Chosen]:
        chosen: list[Chosen] = []
        failed = 0
        for row in rows:
            unit = self._unit(int(row))
            if unit is None:
                continue
            span, tokens, key = unit
            if tokens + LABEL > room:
                failed += 1
                if failed > PATIENCE or room < 2 * LABEL:
                    break
                continue
            self._taken.add(key)
            room -= tokens + LABEL
            chosen.append(Chosen(span, tokens, reason, int(row)))
        return chosen

    def _unit(self, row: int) -> tuple[Span, int, int] | None:
        """(span, tokens, key) of the unit that a passage belongs to; None where it is taken."""
        corpus = self._corpus
        message = int(corpus.message[row])
        if message in self._taken:
            return None
        whole = int(self._message_tokens[message])
        if whole <= WHOLE:
            last = np.searchsorted(corpus.message, message, "right") - 1
            end = int(corpus.end[last])
            return Span(message, 0, end), whole, message
        key = -row - 1
        if key in self._taken:
            return None
        return (
            Span(message, int(corpus.start[row]), int(corpus.end[row])),
            int(corpus.tokens[row]),
            key,
        )


def _lopsided(corpus: Corpus, before: NDArray[np.bool_]) -> bool:
    """True where messages of the assistant are about three times longer than the user's."""
    mine = before & (corpus.kind == USER)
    theirs = before & (corpus.kind != USER)
    counts = [max(1, len(np.unique(corpus.message[side]))) for side in (mine, theirs)]
    means = [
        float(corpus.tokens[side].sum()) / n for side, n in zip((mine, theirs), counts, strict=True)
    ]
    return means[1] >= LOPSIDED * max(1.0, means[0])


def _pins(
    history: History, corpus: Corpus, cut: int, budget: int, room: int, count: Count
) -> list[Chosen]:
    """Standing rules, newest first, and the ask whose tool loop is cut."""
    pins: list[Chosen] = []
    left = min(room, int(RULES_SHARE * budget))
    seen: set[str] = set()
    for span in _rules(corpus, cut):
        text = history.view(span.message).text[span.start : span.end]
        tokens = count(text)
        if text not in seen and tokens + LABEL <= left:
            seen.add(text)
            left -= tokens + LABEL
            pins.append(Chosen(span, tokens, "rule", -1))
    return pins + _ask(history, cut, min(room, int(ASK_SHARE * budget)), count)


def _rules(corpus: Corpus, cut: int) -> Iterator[Span]:
    for leaf, place in zip(reversed(corpus.leaves), reversed(corpus.places), strict=True):
        for message, start, end in reversed(leaf.rules):
            if place.first + message < cut:
                yield Span(place.first + message, start, end)


def _ask(history: History, cut: int, room: int, count: Count) -> list[Chosen]:
    """The user message that the recent rounds work for, where it lies before the cut."""
    recent = range(cut, len(history))
    if any(history.facts[index].role == "user" for index in recent):
        return []
    ask = next((i for i in range(cut - 1, -1, -1) if history.facts[i].role == "user"), None)
    if ask is None or room <= 0:
        return []
    text = history.view(ask).text
    size = count(text)
    end = len(text) if size <= room else int(len(text) * room / size)
    return [Chosen(Span(ask, 0, end), min(size, room), "ask", -1)] if end else []


def _outline(
    history: History,
    roots: Sequence[bytes],
    nodes: Mapping[bytes, Node],
    fused: NDArray[np.float32],
    corpus: Corpus,
    cut: int,
    budget: int,
    count: Count,
) -> Iterator[Shown]:
    leaf_scores = np.zeros(len(corpus.leaves) + 1, np.float32)
    np.maximum.at(leaf_scores, corpus.leaf, fused)
    tree = _Tree(history, roots, nodes, leaf_scores, cut, count)
    return tree.open(budget)


@dataclass(slots=True)
class _Branch:
    node: Node
    place: Place
    depth: int
    leaf: int  # index of its first leaf
    score: float
    shown: bool = False
    body: bool = False
    children: list[_Branch] = field(default_factory=list)


class _Tree:
    """The part of the tree that is looked at; children are made when a node opens."""

    def __init__(
        self,
        history: History,
        roots: Sequence[bytes],
        nodes: Mapping[bytes, Node],
        leaf_scores: NDArray[np.float32],
        cut: int,
        count: Count,
    ) -> None:
        self._history, self._nodes, self._scores = history, nodes, leaf_scores
        self._cut, self._count = cut, count
        self._leaves: dict[bytes, int] = {}
        self._tops = self._branches(roots, None, 0, 0)

    def open(self, budget: int) -> Iterator[Shown]:
        left = self._show(sorted(self._tops, key=lambda b: (-b.node.level, -b.score)), budget)
        heap = [(-b.score, i, b) for i, b in enumerate(self._tops) if b.shown]
        heapq.heapify(heap)
        tick = len(heap)
        while heap and left > LABEL:
            _, _, branch = heapq.heappop(heap)
            cost = self._body_cost(branch)
            if cost > left:
                continue
            branch.body = True
            left -= cost
            if branch.node.is_leaf:
                continue
            outer = Place(0, 0, branch.place.first, branch.place.start)
            branch.children = self._branches(
                branch.node.children, outer, branch.depth + 1, branch.leaf
            )
            left = self._show(sorted(branch.children, key=lambda b: -b.score), left)
            for child in branch.children:
                if child.shown:
                    tick += 1
                    heapq.heappush(heap, (-child.score, tick, child))
        for top in self._tops:
            yield from _lines(top)

    def _show(self, branches: Sequence[_Branch], left: int) -> int:
        """Give branches their headline while the budget lasts; returns what is left."""
        for branch in branches:
            shown = Shown(
                branch.node.id, branch.node.summary.version, branch.depth, branch.place, False
            )
            cost = self._count(outline_line(shown, branch.node, self._history)) + 1
            if cost <= left:
                branch.shown = True
                left -= cost
        return left

    def _body_cost(self, branch: _Branch) -> int:
        return self._count(branch.node.summary.body) + 1

    def _branches(
        self, ids: Sequence[bytes], before: Place | None, depth: int, leaf: int
    ) -> list[_Branch]:
        """Branches of consecutive nodes that begin where `before` ends."""
        place = before
        found = []
        for id_ in ids:
            node = self._nodes[id_]
            place = after(place, node)
            leaves = self._leaf_count(id_)
            score = float(self._scores[leaf : leaf + leaves].max(initial=0.0))
            if place.last < self._cut:
                found.append(_Branch(node, place, depth, leaf, score))
            elif not node.is_leaf:  # straddles the cut: its children before the cut stand for it
                outer = Place(0, 0, place.first, place.start)
                found += self._branches(node.children, outer, depth, leaf)
            leaf += leaves
        return found

    def _leaf_count(self, id_: bytes) -> int:
        known = self._leaves.get(id_)
        if known is None:
            node = self._nodes[id_]
            known = 1 if node.is_leaf else sum(self._leaf_count(child) for child in node.children)
            self._leaves[id_] = known
        return known


def _lines(branch: _Branch) -> Iterator[Shown]:
    if branch.shown:
        yield Shown(
            branch.node.id, branch.node.summary.version, branch.depth, branch.place, branch.body
        )
    for child in branch.children:
        yield from _lines(child)
