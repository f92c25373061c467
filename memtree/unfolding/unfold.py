"""Turn ranked passages and a budget into a plan: which nodes are shown, and what is quoted.

Pinned parts come first (standing rules, a persona card, the request whose tool loop is cut), then
excerpts, best first, each counted with its label and its path, and last the rest of the outline's
share: headlines, siblings, bodies. If the dialogue is lopsided (long answers to short requests),
text of the user has a share of its own, because it is a twentieth of the tokens and most of the
evidence.

Excerpts that contradict an older one on the matter of the question are marked. Users change their
mind and correct their numbers. If two quoted messages of the user share many of the question's
words in neighbouring clauses, but differ in a number or a negation, the later one is marked: a
reader of both then knows which is newer, and that there is another.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest
from math import log1p
from typing import NamedTuple

import numpy as np

from memtree.history.chat_history import History
from memtree.language import borders
from memtree.language.borders import denies
from memtree.ranking.corpus import Corpus
from memtree.ranking.ranked_history import RankedHistory
from memtree.text import terms, tokens
from memtree.tree.node import Node, NodePlace
from memtree.unfolding.excerpt_choice import (
    LABEL,
    ONE_SHOT,
    BudgetSplit,
    ExcerptChoice,
    Room,
    Units,
    lopsided,
    size_of,
)
from memtree.unfolding.excerpt_duplicates import ShownTexts
from memtree.unfolding.excerpt_units import folded_rows, row_at
from memtree.unfolding.files_in_hand import files_in_hand, hand_rows
from memtree.unfolding.memory_plan import (
    LAST_RANK,
    REASONS,
    ExcerptNote,
    FoldWindow,
    OutlineNode,
    Plan,
    SummaryTree,
    TextSpan,
    WorkLine,
)
from memtree.unfolding.memory_text import KEPT, WRAPPER, Made, outline_line, render, root_line
from memtree.unfolding.outline import ALL, OutlineTree, Turns
from memtree.unfolding.pins import PinnedRule, Pins, ledger
from memtree.unfolding.quotes import cut_lines
from memtree.unfolding.work_log import work_lines, work_log

SHARE = 0.4  # of the weight of all quoted terms of the question, the share that both must contain
BEST = 100  # ranks within which statements are compared
MOST = 2  # marks in an answer; a general topic would give many
CLAUSES = 4  # of a message, that are compared
REACH = 4_000  # characters of an excerpt that are read
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_NUMBER = re.compile(r"\d(?:[\d.,:]*\d)?")


@dataclass(frozen=True, slots=True)
class _Statement:
    """A clause. `wanted`: terms of the question in it and in its neighbours; `numbers`: in it, or
    in the clause after it."""

    message: int
    wanted: frozenset[int]
    numbers: frozenset[str]
    negated: bool

    def differs(self, other: _Statement) -> bool:
        numbers = self.numbers - other.numbers and other.numbers - self.numbers
        return self.negated != other.negated or bool(numbers)


def with_earlier(choices: Sequence[ExcerptChoice], ranked: RankedHistory) -> list[ExcerptChoice]:
    """Return the choices; of two that differ, the later one names the message of the other."""
    history, query = ranked.history, frozenset(ranked.query)
    said: dict[int, list[_Statement]] = {}
    for choice in choices:
        message = choice.span.message
        if 0 < choice.rank <= BEST and history.facts[message].role == "user":
            text = history.view(message).text[choice.span.start : choice.span.end]
            said.setdefault(message, []).extend(statements(message, text[:REACH], query))
    weights = _weights(said)
    enough = SHARE * sum(weights.values())

    def weight(wanted: frozenset[int]) -> float:
        return sum(weights[term] for term in wanted)

    telling: list[_Statement] = []  # in message order
    pairs: list[tuple[float, int, int]] = []
    for message in sorted(said):
        mine = [each for each in said[message] if weight(each.wanted) >= enough]
        mine = nlargest(CLAUSES, mine, key=lambda each: weight(each.wanted))
        shared = (
            (weight(each.wanted & other.wanted), message, other.message)
            for each in mine
            for other in telling
            if each.differs(other)
        )
        pairs.append(max(shared, default=(-1.0, message, -1)))
        telling += mine
    best = nlargest(MOST, pairs)
    earlier = {message: older for shares, message, older in best if shares >= enough}
    return [replace(choice, earlier=earlier.get(choice.span.message, -1)) for choice in choices]


def _weights(said: Mapping[int, Sequence[_Statement]]) -> dict[int, float]:
    """Return the weight of each term: the fewer of these messages contain it, the higher."""
    held = (frozenset().union(*(each.wanted for each in group)) for group in said.values())
    counts = Counter(term for wanted in held for term in wanted)
    return {term: log1p(len(said) / count) for term, count in counts.items()}


def statements(message: int, text: str, query: frozenset[int]) -> Iterator[_Statement]:
    """Yield the clauses of a text that contain terms of the question; code is left out."""
    for sentence in borders.split(_FENCE.sub("\n", text)):
        clauses = list(borders.clauses(" ".join(sentence.split())))
        own = [query.intersection(terms.terms(clause)) for clause in clauses]
        for at, clause in enumerate(clauses):
            wanted = frozenset().union(*own[max(0, at - 1) : at + 2])
            if wanted:
                following = clauses[at + 1] if at + 1 < len(clauses) else ""
                numbers = frozenset(_NUMBER.findall(clause) or _NUMBER.findall(following))
                yield _Statement(message, wanted, numbers, bool(own[at]) and denies(clause))


PATHS = 0.8  # of the outline's share, for the paths of excerpts
# tokens of the line for the whole, and the part of the outline's share that it may take
ROOT, ROOT_SHARE = 45, 4
FEW_PATHS = 10  # lines above excerpts in a session of an agent
VISIBLE = 400_000  # characters of the unfolded messages with which excerpts are compared


@dataclass(frozen=True, slots=True)
class Unfolding:
    """A plan and its text of `tokens` tokens, `outline_tokens` of them in the outline. `chosen`:
    the reason for each span. `left_out`: rows of the corpus, the best that did not fit.
    `cut_lines`: characters left out of its quotations (`own_lines`)."""

    plan: Plan
    text: str
    tokens: int
    outline_tokens: int
    chosen: Sequence[ExcerptChoice] = ()
    left_out: Sequence[int] = ()
    cut_lines: int = 0


def unfold(
    ranked: RankedHistory, tree: SummaryTree, window: FoldWindow, split: BudgetSplit = ONE_SHOT
) -> Unfolding:
    """Return a plan whose rendered text has at most `window.budget` tokens (or is the bare
    wrapper). Messages that are sent whole are not quoted, except for rules in them."""
    history, corpus, cut = ranked.history, ranked.corpus, window.cut
    whole, budget = window.budget, window.budget - window.kept.tokens
    window = replace(window, budget=budget)
    before = folded_rows(corpus, window)
    fused = np.where(before, ranked.ranking.fused, 0.0).astype(np.float32)
    turns = Turns.of(ranked)
    people = turns.are_of_people(history)
    rules = () if people else ledger(history, _with_rules(corpus, tree), window.head, cut)
    pins = Pins(history, rules, window, split)
    work = work_log(history, cut, window.head, window.log)
    log = tokens.count("\n".join(work_lines(work, history)))
    room = budget - WRAPPER - size_of(pins.chosen) - log
    talk = 0.0 if window.brief else split.talk
    # A question says itself what it is about; in a loop the files at work are the best guess.
    is_question = history.questions(len(history) - 1)
    files = () if turns.are_talk or window.brief or is_question else files_in_hand(history)
    lines = talk if turns.are_talk else np.interp(budget, *split.outline)
    if files:
        lines = min(lines, split.lines)
    share = max(0, min(int(lines * (budget - log)), room))
    paths = 0 if turns.are_talk and window.brief else FEW_PATHS if files else ALL
    outline = OutlineTree(ranked, tree, fused, cut, turns, paths)
    pinned = [*pins.chosen, *(ExcerptChoice(span, 0, KEPT, -1) for span in window.kept.spans)]
    shown = _visible(history, window, pinned)
    units = Units(history, corpus, fused, before, cut, pinned, shown, outline)
    root = ROOT if share >= ROOT_SHARE * ROOT and not turns.are_talk else 0
    left = Room(room - share, max(0, int(PATHS * share) - root))
    reserved = left.paths
    _open_paths(outline, corpus, pins.asks, left)
    shares = split.for_long_answers(budget, ranked) if lopsided(corpus, before) else None
    hand = hand_rows(files, corpus, fused, before)
    excerpts = units.choose(left, shares, hand, int(split.hand * budget))
    if not people:
        excerpts = with_earlier(excerpts, ranked)
    pins.add_rules(left)
    outline.widen(share - reserved + left.paths - root, window.brief)
    draft = _Draft(
        window, turns, bool(root), outline.lines(), pins.rules, pins.asks, excerpts, work
    )
    text, size = _fit(draft, history, tree, units, outline, whole)
    plan = draft.plan
    return Unfolding(
        plan,
        text,
        size,
        outline_size(plan, history, tree.nodes),
        draft.chosen,
        units.left_out(),
        cut_lines(plan.verbatim, history),
    )


def _with_rules(corpus: Corpus, tree: SummaryTree) -> Iterator[tuple[Node, NodePlace]]:
    """Yield the leaves that may have standing rules, with rules renewed since the corpus was
    built."""
    every = range(len(corpus.leaves))
    for at in every if tree.newer is None or tree.newer else corpus.ruled:
        leaf = corpus.leaves[at]
        yield tree.nodes.get(leaf.id, leaf), corpus.places[at]


def _open_paths(
    outline: OutlineTree, corpus: Corpus, pinned: Iterable[ExcerptChoice], left: Room
) -> None:
    """Show the paths of pinned parts, as far as their share allows."""
    for pin in pinned:
        row = row_at(corpus, pin.span)
        if row < len(corpus) and (cost := outline.missing(row)) <= left.paths:
            left.paths -= cost
            outline.open_path(row)


def outline_size(plan: Plan, history: History, nodes: Mapping[bytes, Node]) -> int:
    """Return the tokens of the summary lines of a plan."""
    lines = [outline_line(shown, nodes[shown.id], history) for shown in plan.outline]
    return tokens.count("\n".join([root_line(plan, history, nodes), *lines]).strip())


def _visible(history: History, window: FoldWindow, pinned: Sequence[ExcerptChoice]) -> ShownTexts:
    """Return what the model sees besides the excerpts: pins, and the messages that are sent
    unchanged."""
    shown = ShownTexts()
    for pin in pinned:
        if pin.reason != "rule":
            shown.add(history.view(pin.span.message).text[pin.span.start : pin.span.end])
    left = VISIBLE
    whole = (index for rounds in window.pinned for index in range(*rounds))
    for index in (*range(window.head), *whole, *range(len(history) - 2, window.cut - 1, -1)):
        text = history.view(index).text
        if (left := left - len(text)) < 0:
            break
        shown.add(text)
    return shown


@dataclass(slots=True)
class _Draft:
    """A plan under construction."""

    window: FoldWindow
    turns: Turns
    root: bool
    outline: tuple[OutlineNode, ...]
    rules: list[PinnedRule]
    asks: list[ExcerptChoice]
    excerpts: list[ExcerptChoice]
    work: tuple[WorkLine, ...] = ()

    @property
    def chosen(self) -> list[ExcerptChoice]:
        return [*(rule.choice for rule in self.rules), *self.asks, *self.excerpts]

    @property
    def plan(self) -> Plan:
        shown = excerpts_of([*self.asks, *self.excerpts])
        quoted = (*shown.spans, *self.window.kept.spans)
        rules = sorted(
            (rule for rule in self.rules if not _holds(quoted, rule.choice.span)),
            key=lambda rule: rule.choice.span,
        )
        return Plan(
            self.window.cut,
            self.outline,
            tuple(rule.choice.span for rule in rules),
            shown.spans,
            self.window.head,
            shown.notes,
            tuple((i, r.replaces) for i, r in enumerate(rules) if r.replaces is not None),
            self.root,
            shown.reasons,
            shown.ranks,
            self.window.pinned,
            self.turns.named(shown.spans),
            self.turns.days_of(shown.spans),
            self.work,
            self.window.kept,
        )

    def shrink(self, over: int) -> None:
        """Remove about so many tokens, least important first: excerpts except the best one, the
        trail of a tool loop, the outline, rules, the best excerpt, and last the request that the
        loop works for."""
        for group in (self.excerpts, self.asks):
            while len(group) > 1 and over > 0:
                over -= group.pop().tokens + 1
        if over <= 0:
            return
        if self.outline:
            self.outline = self.outline[:-1]
        elif self.work:
            self.work = self.work[:-1]
        elif self.rules or self.excerpts or self.asks:
            (self.rules or self.excerpts or self.asks).pop()


class QuotedSpans(NamedTuple):
    """Quoted spans, as in `Plan`."""

    spans: tuple[TextSpan, ...]
    notes: tuple[ExcerptNote, ...]
    reasons: bytes
    ranks: bytes


def excerpts_of(choices: Iterable[ExcerptChoice]) -> QuotedSpans:
    """Return the spans of choices, in order and disjoint, with their notes. Spans with a note are
    merged with others only if they overlap. Merged spans keep the reason of the first choice."""
    spans: list[TextSpan] = []
    notes: dict[int, ExcerptNote] = {}
    # the reason for each span, with its place among the choices
    whys: list[tuple[int, ExcerptChoice]] = []
    for place, choice in sorted(enumerate(choices), key=lambda each: each[1].span):
        span = choice.span
        facts = (choice.also, choice.newest, choice.newer, choice.earlier)
        note = ExcerptNote(len(spans), *facts)
        said = facts != ((), -1, -1, -1)
        last = spans[-1] if spans else None
        meets = last and last.message == span.message and last.end >= span.start
        if last and meets and (last.end > span.start or not (said or len(spans) - 1 in notes)):
            spans[-1] = TextSpan(span.message, last.start, max(last.end, span.end))
            whys[-1] = min(whys[-1], (place, choice), key=lambda why: why[0])
            continue
        if said:
            notes[len(spans)] = note
        spans.append(span)
        whys.append((place, choice))
    return QuotedSpans(
        tuple(spans),
        tuple(notes.values()),
        bytes(REASONS.index(why.reason) for _, why in whys),
        bytes(min(LAST_RANK, why.rank) for _, why in whys),
    )


def _holds(spans: Sequence[TextSpan], inner: TextSpan) -> bool:
    """Return True if one of the spans contains another entirely."""
    return any(
        span.message == inner.message and span.start <= inner.start and inner.end <= span.end
        for span in spans
    )


def _fit(
    draft: _Draft,
    history: History,
    tree: SummaryTree,
    units: Units,
    outline: OutlineTree,
    budget: int,
) -> tuple[str, int]:
    """Render, count exactly, and correct the draft: estimates of labels and joints are not exact.
    Returns the text and its tokens."""

    made: Made = {}

    def rendered() -> tuple[str, int]:
        text = render(draft.plan, history, tree.nodes, made)
        return text, tokens.count(text)

    text, size = rendered()
    for _ in range(3):
        left = budget - size
        added = units.choose(Room(left)) if left > 2 * LABEL else []
        if not added:
            break
        draft.excerpts = units.kept([*draft.excerpts, *added])
        draft.outline = outline.lines()
        text, size = rendered()
    while size > budget and (draft.chosen or draft.outline):
        draft.shrink(size - budget)
        text, size = rendered()
    return text, size
