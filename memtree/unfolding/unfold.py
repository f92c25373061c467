"""Ranked passages and a budget to a plan: which nodes are shown, what is quoted.

The outline comes first, then what is pinned (standing rules, the ask whose tool loop is cut), then
excerpts, best first, each counted with its label. Where the dialogue is lopsided (long answers to
short asks) text of the user has a line of its own, because it is a twentieth of the tokens and
most of the evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from memtree.conversation.history import History
from memtree.ranking.corpus import Corpus
from memtree.ranking.fusion import Ranking
from memtree.tree.node import Node
from memtree.unfolding.excerpts import LABEL, ExcerptChoice, Units, lopsided
from memtree.unfolding.outline import outline
from memtree.unfolding.plan import WRAPPER, Plan, TextSpan, outline_line, render

TRAIL_REACH = 40  # messages before the cut

Count = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class BudgetSplit:
    """Shares of a memory message's budget. `outline`: (budgets, shares), between them linear."""

    outline: tuple[tuple[float, ...], tuple[float, ...]]
    rules: float
    ask: float
    trail: float
    user: float  # docs/decisions/0005


# An answer for the present question lives on excerpts; a message that stays for many turns on its
# outline, because excerpts chosen for one question are nearly worthless for another.
ONE_SHOT = BudgetSplit(
    ((2_000, 4_000, 8_000), (0.10, 0.15, 0.20)), rules=0.05, ask=0.1, trail=0, user=0.5
)
LASTING = BudgetSplit(((500, 2_000), (0.3, 0.5)), rules=0.2, ask=0.57, trail=0.2, user=0.5)


@dataclass(slots=True)
class Unfolding:
    plan: Plan
    text: str
    tokens: int
    outline_tokens: int
    chosen: list[ExcerptChoice]
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
    split: BudgetSplit = ONE_SHOT,
    head: int = 0,
) -> Unfolding:
    """A plan whose rendered text has at most `budget` tokens (or the bare wrapper). Messages
    [0, head) are sent whole: nothing of them is quoted."""
    before = (corpus.message >= head) & (corpus.message < cut)
    fused = np.where(before & (corpus.tokens > 0), ranking.fused, 0.0).astype(np.float32)
    pinned = _pins(history, corpus, cut, budget, split, count, head)
    room = budget - WRAPPER - sum(one.tokens + LABEL for one in pinned)
    share = min(int(np.interp(budget, *split.outline) * budget), room)
    shown = tuple(outline(history, roots, nodes, fused, corpus, cut, share, count))
    outline_tokens = count("\n".join(outline_line(s, nodes[s.id], history) for s in shown))
    room -= outline_tokens
    units = Units(corpus, fused, before & (corpus.tokens > 0), pinned)
    chosen = units.choose(room, int(split.user * budget) if lopsided(corpus, before) else 0)
    plan = Plan(cut, shown, head=head)
    return _fit(history, nodes, plan, pinned, chosen, units, budget, outline_tokens, count)


def _fit(
    history: History,
    nodes: Mapping[bytes, Node],
    plan: Plan,
    pinned: list[ExcerptChoice],
    chosen: list[ExcerptChoice],
    units: Units,
    budget: int,
    outline_tokens: int,
    count: Count,
) -> Unfolding:
    """Render, count exactly, and mend: estimates of labels and joints are not exact."""
    rules = [one for one in pinned if one.reason == "rule"]
    asks = [one for one in pinned if one.reason != "rule"]

    def made() -> tuple[Plan, str, int]:
        full = Plan(
            plan.cut,
            plan.outline,
            tuple(sorted(one.span for one in rules)),
            tuple(sorted(one.span for one in (*asks, *chosen))),
            plan.head,
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
            plan = Plan(plan.cut, plan.outline[:-1], head=plan.head)
        full, text, size = made()
    return Unfolding(full, text, size, outline_tokens, [*rules, *asks, *chosen], units.left_out())


def _pins(
    history: History,
    corpus: Corpus,
    cut: int,
    budget: int,
    split: BudgetSplit,
    count: Count,
    head: int,
) -> list[ExcerptChoice]:
    """Standing rules, newest first, and the ask whose tool loop is cut."""
    pins: list[ExcerptChoice] = []
    left = min(budget - WRAPPER, int(split.rules * budget))
    seen: set[str] = set()
    for span in _rules(corpus, head, cut):
        text = history.view(span.message).text[span.start : span.end]
        tokens = count(text)
        if text not in seen and tokens + LABEL <= left:
            seen.add(text)
            left -= tokens + LABEL
            pins.append(ExcerptChoice(span, tokens, "rule", -1))
    room = budget - WRAPPER - sum(one.tokens + LABEL for one in pins)
    ask = _asked(history, cut)
    if ask is None:
        return pins
    asked = _ask(history, ask, min(room, int(split.ask * budget)), count) if ask >= head else []
    room -= sum(one.tokens + LABEL for one in asked)
    return [*pins, *asked, *_trail(history, ask, cut, min(room, int(split.trail * budget)))]


def _trail(history: History, ask: int, cut: int, room: int) -> Iterator[ExcerptChoice]:
    """What the assistant said and called last in the cut part of a tool loop, newest first: the
    loop goes on where it was, and names the files and commands that it was at."""
    for index in range(cut - 1, max(ask, cut - TRAIL_REACH), -1):
        fact = history.facts[index]
        if fact.role == "assistant" and fact.tokens + LABEL <= room:
            room -= fact.tokens + LABEL
            text = history.view(index).text
            if text.strip():
                yield ExcerptChoice(TextSpan(index, 0, len(text)), fact.tokens, "trail", -1)


def _rules(corpus: Corpus, head: int, cut: int) -> Iterator[TextSpan]:
    for leaf, place in zip(reversed(corpus.leaves), reversed(corpus.places), strict=True):
        for message, start, end in reversed(leaf.rules):
            if head <= place.first + message < cut:
                yield TextSpan(place.first + message, start, end)


def _asked(history: History, cut: int) -> int | None:
    """The user message that the recent rounds work for, where it lies before the cut."""
    if any(fact.role == "user" for fact in history.facts[cut:]):
        return None
    return next((i for i in range(cut - 1, -1, -1) if history.facts[i].role == "user"), None)


def _ask(history: History, ask: int, room: int, count: Count) -> list[ExcerptChoice]:
    """As much of its beginning as there is room for."""
    if room <= 0:
        return []
    text = history.view(ask).text
    size = count(text)
    end = len(text) if size <= room else int(len(text) * room / size)
    return [ExcerptChoice(TextSpan(ask, 0, end), min(size, room), "ask", -1)] if end else []
