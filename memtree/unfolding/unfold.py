"""Ranked passages and a budget to a plan: which nodes are shown, what is quoted.

The outline comes first, then what is pinned (standing rules, the ask whose tool loop is cut), then
excerpts, best first, each counted with its label. Where the dialogue is lopsided (long answers to
short asks) text of the user has a line of its own, because it is a twentieth of the tokens and
most of the evidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from memtree.conversation.history import History
from memtree.ranking.corpus import Corpus
from memtree.ranking.ranked_history import RankedHistory
from memtree.text import tokens
from memtree.unfolding.excerpts import LABEL, ExcerptChoice, Units, lopsided
from memtree.unfolding.outline import outline
from memtree.unfolding.plan import (
    WRAPPER,
    FoldWindow,
    Plan,
    SummaryTree,
    TextSpan,
    outline_line,
    render,
)

TRAIL_REACH = 40  # messages before the cut


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


@dataclass(frozen=True, slots=True)
class Unfolding:
    """A plan and its text of `tokens` tokens, `outline_tokens` of them in the outline. `chosen`:
    why each span is in it. `left_out`: rows of the corpus, the best that found no room."""

    plan: Plan
    text: str
    tokens: int
    outline_tokens: int
    chosen: Sequence[ExcerptChoice] = ()
    left_out: Sequence[int] = ()


def unfold(
    ranked: RankedHistory, tree: SummaryTree, window: FoldWindow, split: BudgetSplit = ONE_SHOT
) -> Unfolding:
    """A plan whose rendered text has at most `window.budget` tokens (or is the bare wrapper).
    Messages [0, window.head) are sent whole: nothing of them is quoted."""
    history, corpus, cut, budget = ranked.history, ranked.corpus, window.cut, window.budget
    before = (corpus.message >= window.head) & (corpus.message < cut)
    fused = np.where(before & (corpus.tokens > 0), ranked.ranking.fused, 0.0).astype(np.float32)
    pinned = _pins(history, corpus, window, split)
    room = budget - WRAPPER - _size(pinned)
    share = min(int(np.interp(budget, *split.outline) * budget), room)
    shown = tuple(outline(ranked, tree, fused, cut, share))
    lines = "\n".join(outline_line(line, tree.nodes[line.id], history) for line in shown)
    outline_tokens = tokens.count(lines)
    units = Units(corpus, fused, before & (corpus.tokens > 0), pinned)
    user_room = int(split.user * budget) if lopsided(corpus, before) else 0
    draft = _Draft(
        Plan(cut, shown, head=window.head),
        rules=[choice for choice in pinned if choice.reason == "rule"],
        asks=[choice for choice in pinned if choice.reason != "rule"],
        excerpts=units.choose(room - outline_tokens, user_room),
    )
    text, size = _fit(draft, history, tree, units, budget)
    return Unfolding(draft.full, text, size, outline_tokens, draft.chosen, units.left_out())


@dataclass(slots=True)
class _Draft:
    """A plan in the making; `plan` has the outline alone."""

    plan: Plan
    rules: list[ExcerptChoice]
    asks: list[ExcerptChoice]
    excerpts: list[ExcerptChoice]

    @property
    def chosen(self) -> list[ExcerptChoice]:
        return [*self.rules, *self.asks, *self.excerpts]

    @property
    def full(self) -> Plan:
        rules = tuple(sorted(choice.span for choice in self.rules))
        excerpts = tuple(sorted(choice.span for choice in (*self.asks, *self.excerpts)))
        return Plan(self.plan.cut, self.plan.outline, rules, excerpts, self.plan.head)

    def shrink(self, over: int) -> None:
        """Take away about that many tokens, what matters least first: excerpts, the trail of a
        tool loop, the outline, rules, and last the ask that the loop works for."""
        for group, kept in ((self.excerpts, 0), (self.asks, 1)):
            while len(group) > kept and over > 0:
                over -= group.pop().tokens + 1
        if over <= 0:
            return
        if self.plan.outline:
            self.plan = Plan(self.plan.cut, self.plan.outline[:-1], head=self.plan.head)
        elif self.rules or self.asks:
            (self.rules or self.asks).pop()


def _fit(
    draft: _Draft, history: History, tree: SummaryTree, units: Units, budget: int
) -> tuple[str, int]:
    """Render, count exactly, and mend the draft: estimates of labels and joints are not exact.
    Returns the text and its tokens."""

    def rendered() -> tuple[str, int]:
        text = render(draft.full, history, tree.nodes)
        return text, tokens.count(text)

    text, size = rendered()
    for _ in range(3):
        added = units.more(draft.excerpts, budget - size) if size < budget else []
        if not added:
            break
        draft.excerpts.extend(added)
        text, size = rendered()
    while size > budget and (draft.chosen or draft.plan.outline):
        draft.shrink(size - budget)
        text, size = rendered()
    return text, size


def _size(choices: Iterable[ExcerptChoice]) -> int:
    """Tokens with labels."""
    return sum(choice.tokens + LABEL for choice in choices)


def _pins(
    history: History, corpus: Corpus, window: FoldWindow, split: BudgetSplit
) -> list[ExcerptChoice]:
    """Standing rules, newest first, and the ask whose tool loop is cut."""
    budget, cut, head = window.budget, window.cut, window.head
    pins: list[ExcerptChoice] = []
    left = min(budget - WRAPPER, int(split.rules * budget))
    seen: set[str] = set()
    for span in _rules(corpus, head, cut):
        text = history.view(span.message).text[span.start : span.end]
        size = tokens.count(text)
        if text not in seen and size + LABEL <= left:
            seen.add(text)
            left -= size + LABEL
            pins.append(ExcerptChoice(span, size, "rule", -1))
    room = budget - WRAPPER - _size(pins)
    ask = asked_message(history, cut)
    if ask is None:
        return pins
    most = max(window.ask, int(split.ask * budget))
    asked = ask_excerpt(history, ask, min(room, most)) if ask >= head else []
    room -= _size(asked)
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


def asked_message(history: History, cut: int) -> int | None:
    """The user message that the recent rounds work for, where it lies before the cut."""
    if any(fact.role == "user" for fact in history.facts[cut:]):
        return None
    return next((i for i in range(cut - 1, -1, -1) if history.facts[i].role == "user"), None)


def ask_excerpt(history: History, ask: int, room: int) -> list[ExcerptChoice]:
    """A user message, whole or its first `room` tokens."""
    if room <= 0:
        return []
    text = history.view(ask).text
    size = tokens.count(text)
    end = len(text)
    if size > room:  # a guess by length, mended where the beginning has longer words
        end = int(len(text) * room / size)
        for _ in range(3):
            if (shown := tokens.count(text[:end])) >= room or not shown:
                break
            end += int(end * (room - shown) / shown) + 1
    return [ExcerptChoice(TextSpan(ask, 0, end), min(size, room), "ask", -1)] if end else []
