"""Explain an answer: the reasons for its excerpts, and the tree over a history, as values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import chain, count

import msgspec

from memtree.digests.titles import root_summary
from memtree.history.address_chain import node_id
from memtree.history.chat_history import History
from memtree.ranking.ranked_history import RankedHistory
from memtree.text import tokens
from memtree.tree.btree import walk
from memtree.tree.node import KIND_NAMES, Frontier, Node, NodePlace, after
from memtree.unfolding.excerpt_choice import ExcerptChoice
from memtree.unfolding.labels import NO_NOTE
from memtree.unfolding.memory_plan import (
    ExcerptNote,
    KeptReason,
    OutlineNode,
    Plan,
    RecallPlan,
    TextSpan,
    kept_reasons,
)
from memtree.unfolding.memory_text import placed, runs, spent
from memtree.unfolding.pins import CurrentRule, ledger
from memtree.unfolding.quotes import Quote, cut_lines, first_piece, quotes
from memtree.unfolding.unfold import Unfolding
from memtree.unfolding.work_log import work_kind, work_names, work_outcome

RECALLED = "recalled"
RULE, KEPT = KeptReason("rule"), KeptReason("kept")

Scores = Mapping[str, float]  # by kind of score: fused, bm25, cosine


@dataclass(frozen=True, slots=True)
class ScoredPassage:
    """A passage of the corpus with its scores, copied while the corpus was locked."""

    span: TextSpan
    tokens: int
    kind: str
    scores: Scores


@dataclass(frozen=True, slots=True)
class Evidence:
    """Data for an explanation. `chosen`, `left_out`: of this request's unfolding, none if the plan
    is an earlier one's. `reserved`: tokens that the epoch keeps for its next requests. `passages`:
    by row of the corpus. `blocks`: the recall blocks. `otherwise`: the reason given for an excerpt
    if neither this request nor the plan has one."""

    history: History
    plan: Plan
    nodes: Mapping[bytes, Node]
    chosen: Sequence[ExcerptChoice] = ()
    left_out: Sequence[int] = ()
    passages: Mapping[int, ScoredPassage] = field(default_factory=dict)
    blocks: Sequence[RecallPlan] = ()
    otherwise: str = "decayed"
    rules: Sequence[CurrentRule] = ()
    reserved: int = 0

    @property
    def shown(self) -> Plan:
        """Return all that the model sees of the folded part: the plan with the recall blocks'
        excerpts."""
        excerpts = (*self.plan.excerpts, *chain(*(block.excerpts for block in self.blocks)))
        return msgspec.structs.replace(self.plan, excerpts=excerpts)


@dataclass(frozen=True, slots=True)
class ExplainedNode:
    """A node of the outline. `first`, `last`: indexes of its messages in the posted list."""

    id: bytes
    level: int
    first: int
    last: int
    depth: int
    body: bool
    headline: str
    version: int


@dataclass(frozen=True, slots=True)
class ExplainedExcerpt:
    """Code points [start, end) of the string at `part` (such as `content[0]`) of the posted message
    with index `message`; `sha256`: of this text in UTF-8, in hex. `path`: the nodes above it, top
    first. `also`: posted messages with the same text. `rank`: as in `KeptReason`. `run`: excerpts
    with the same number share a label, counted from 0; None: a rule, or pinned. `newer_than`: an
    older posted message that differs on the same matter."""

    message: int
    part: str
    start: int
    end: int
    sha256: str
    tokens: int
    scores: Scores
    reason: str
    path: tuple[bytes, ...] = ()
    also: tuple[int, ...] = ()
    rank: int | None = None
    run: int | None = None
    newer_than: int | None = None


@dataclass(frozen=True, slots=True)
class ExplainedRule:
    """A standing rule in force; place and `sha256` as for an excerpt. `pinned`: the memory message
    shows it. `replaces`: the message of the rule that it corrects or withdraws."""

    message: int
    part: str
    start: int
    end: int
    sha256: str
    pinned: bool
    replaces: int | None


@dataclass(frozen=True, slots=True)
class ExplainedCandidate:
    """One of the best passages that did not fit: its message, and the place of its text, or of its
    first piece, there."""

    message: int
    part: str
    start: int
    end: int
    tokens: int
    kind: str
    scores: Scores


@dataclass(frozen=True, slots=True)
class ExplainedWork:
    """A file or command from the work log, placed as an excerpt is; its text has JSON escapes as
    posted. `kind`: what was done (`work_kind`). `outcome`: how the last run of a command ended,
    "passed" or "failed"; None if unknown."""

    message: int
    part: str
    start: int
    end: int
    sha256: str
    kind: str
    outcome: str | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """`spent`: tokens of the memory message by kind, as from `memory_text.spent`, and the tokens
    that are `reserved` for the next requests. `cut_lines`: number of characters that quotations
    leave out, so that no quoted line can be mistaken for one of ours."""

    nodes: tuple[ExplainedNode, ...] = ()
    excerpts: tuple[ExplainedExcerpt, ...] = ()
    candidates: tuple[ExplainedCandidate, ...] = ()
    rules: tuple[ExplainedRule, ...] = ()
    spent: Mapping[str, int] = field(default_factory=dict)
    cut_lines: int = 0
    log: tuple[ExplainedWork, ...] = ()


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A node over posted messages `first` to `last`. `sealed`: final. `chars`: for a leaf, where it
    begins in the text of its first message, and where it ends in that of its last one (None: at its
    end)."""

    id: bytes
    level: int
    children: tuple[bytes, ...]
    first: int
    last: int
    tokens: int
    headline: str
    body: str
    anchors: tuple[str, ...]
    by_model: bool
    sealed: bool
    chars: tuple[int, int | None] | None = None


@dataclass(frozen=True, slots=True)
class TreeView:
    """`whole`: the tree reaches the end of the history. Building it may take longer than the caller
    waits."""

    nodes: tuple[TreeNode, ...]
    roots: tuple[bytes, ...]
    rules: tuple[ExplainedRule, ...] = ()
    whole: bool = True


def scored(rows: Sequence[int], ranked: RankedHistory) -> dict[int, ScoredPassage]:
    """Return these rows of the corpus with their scores."""
    corpus, ranking = ranked.corpus, ranked.ranking
    passages = {}
    for row in rows:
        scores = {"fused": float(ranking.fused[row]), "bm25": float(ranking.lexical[row])}
        if ranking.cosine is not None:
            scores["cosine"] = float(ranking.cosine[row])
        span = TextSpan(int(corpus.message[row]), int(corpus.start[row]), int(corpus.end[row]))
        passages[row] = ScoredPassage(
            span, int(corpus.tokens[row]), KIND_NAMES[corpus.kind[row]], scores
        )
    return passages


def scored_by(unfolded: Unfolding, ranked: RankedHistory) -> dict[int, ScoredPassage]:
    """Return the chosen passages and the best of those left out."""
    rows = [choice.passage for choice in unfolded.chosen if choice.passage >= 0]
    return scored([*rows, *unfolded.left_out], ranked)


def explanation(evidence: Evidence) -> Explanation:
    """Explain what an answer shows and why; hashes and counts all of its excerpts."""
    history, plan, passages = evidence.history, evidence.plan, evidence.passages
    rules = [_excerpt(evidence, quote, RULE) for quote in quotes(plan.rules, history)]
    kept = [_excerpt(evidence, quote, KEPT) for quote in quotes(plan.kept.spans, history)]
    numbers = count()
    shown: Sequence[Plan | RecallPlan] = (plan, *evidence.blocks)
    return Explanation(
        nodes=tuple(_outlined(evidence)),
        excerpts=(
            *rules,
            *kept,
            *chain(*(_excerpts(evidence, each, numbers) for each in shown)),
        ),
        candidates=tuple(
            _candidate(history, passages[row]) for row in evidence.left_out if row in passages
        ),
        rules=explained_rules(history, evidence.rules, plan.rules),
        spent={**spent(plan, history, evidence.nodes), "reserved": evidence.reserved},
        cut_lines=cut_lines(evidence.shown.verbatim, history),
        log=tuple(_logged(plan, history)),
    )


def _logged(plan: Plan, history: History) -> Iterator[ExplainedWork]:
    for line, name in work_names(plan):
        span = TextSpan(name.message, name.start, name.end)
        for quote in quotes([span], history, names=True):
            yield ExplainedWork(
                quote.posted,
                quote.part,
                quote.start,
                quote.end,
                _sha256(quote.text),
                work_kind(line),
                work_outcome(line),
            )


def _candidate(history: History, passage: ScoredPassage) -> ExplainedCandidate:
    part, start, end = first_piece(passage.span, history)
    return ExplainedCandidate(
        message=history.posted[passage.span.message],
        part=part,
        start=start,
        end=end,
        tokens=passage.tokens,
        kind=passage.kind,
        scores=passage.scores,
    )


def explained_rules(
    history: History, rules: Iterable[CurrentRule], pinned: Sequence[TextSpan] = ()
) -> tuple[ExplainedRule, ...]:
    """Return the rules with their places in the posted messages, in the given order."""
    shown = frozenset(pinned)
    return tuple(
        ExplainedRule(
            message=quote.posted,
            part=quote.part,
            start=quote.start,
            end=quote.end,
            sha256=_sha256(quote.text),
            pinned=quote.span in shown,
            replaces=None if rule.replaces is None else history.posted[rule.replaces],
        )
        for rule in rules
        for quote in quotes([TextSpan(rule.rule.message, rule.rule.start, rule.rule.end)], history)
    )


def _sha256(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _outlined(evidence: Evidence) -> Iterator[ExplainedNode]:
    listed = {shown.id for shown in evidence.plan.outline}
    recalled = {shown.id: shown for block in evidence.blocks for shown in block.outline}
    further = [shown for id_, shown in recalled.items() if id_ not in listed]
    for shown in (*evidence.plan.outline, *further):
        node = evidence.nodes[shown.id]
        first, last = _range(evidence.history, shown.place)
        yield ExplainedNode(
            shown.id,
            node.level,
            first,
            last,
            shown.depth,
            shown.body,
            node.summary.headline,
            shown.version,
        )


def _excerpts(
    evidence: Evidence, plan: Plan | RecallPlan, numbers: Iterator[int]
) -> Iterator[ExplainedExcerpt]:
    """Yield the excerpts of a plan. Those of a recall block have the reason "recalled", however
    they were chosen. `numbers`: of the runs."""
    kept = defaultdict(list)
    for span, reason in zip(plan.excerpts, kept_reasons(plan), strict=False):
        kept[span.message].append((span, reason))
    for run in runs(placed(plan), evidence.history):
        number = next(numbers)
        for entry in run:
            for quote in quotes(entry.spans, evidence.history):
                spans = kept[quote.span.message]
                why = _best(reason for span, reason in spans if _meets(span, quote.span))
                if isinstance(plan, RecallPlan):
                    why = why._replace(reason=RECALLED)
                yield _excerpt(evidence, quote, why, entry.path, entry.note, number)


def _best(reasons: Iterable[KeptReason]) -> KeptReason:
    """Return the reason for excerpts that are listed as one: pinned before ranked, the best rank
    first."""
    known = [reason for reason in reasons if reason.reason or reason.rank]
    return min(known, key=lambda why: why.rank or 0, default=KeptReason())


def _meets(one: TextSpan, other: TextSpan) -> bool:
    """Return True if two spans of one message overlap, or are the same place."""
    return one == other or max(one.start, other.start) < min(one.end, other.end)


def _excerpt(
    evidence: Evidence,
    quote: Quote,
    kept: KeptReason,
    path: Sequence[OutlineNode] = (),
    note: ExcerptNote = NO_NOTE,
    run: int | None = None,
) -> ExplainedExcerpt:
    chosen = () if kept is KEPT or kept.reason == RECALLED else evidence.chosen
    why = next((choice for choice in chosen if _inside(choice.span, quote.span)), None)
    passage = evidence.passages.get(why.passage) if why else None
    return ExplainedExcerpt(
        message=quote.posted,
        part=quote.part,
        start=quote.start,
        end=quote.end,
        sha256=_sha256(quote.text),
        tokens=tokens.count(quote.text),
        scores=passage.scores if passage else {},
        reason=(why.reason if why else kept.reason) or evidence.otherwise,
        rank=kept.rank,
        path=tuple(shown.id for shown in path),
        also=tuple(evidence.history.posted[message] for message in note.also),
        run=run,
        newer_than=None if note.earlier < 0 else evidence.history.posted[note.earlier],
    )


def _inside(inner: TextSpan, outer: TextSpan) -> bool:
    return inner.message == outer.message and outer.start <= inner.start and inner.end <= outer.end


def tree(
    history: History, frontier: Frontier, nodes: Mapping[bytes, Node], open_leaf: Node | None
) -> TreeView:
    """Return all nodes over a posted history, leaves included, its rules, and the top: if there are
    several top nodes, a node above them that is never stored."""
    placed = list(walk(frontier.nodes, nodes))
    listed = [tree_node(node, place, _range(history, place), sealed=True) for node, place in placed]
    tops = frontier.nodes
    if open_leaf is not None:
        place = after(NodePlace(0, 0, frontier.messages, frontier.tail), open_leaf)
        listed.append(tree_node(open_leaf, place, _range(history, place), sealed=False))
        placed.append((open_leaf, place))
        tops = (*tops, open_leaf.id)
    rules = explained_rules(history, ledger(history, placed, 0, len(history)))
    if len(tops) < 2:
        return TreeView(tuple(listed), tops, rules)
    root = root_node(tops, {node.id: node for node in listed})
    return TreeView((*listed, root), (root.id,), rules)


def root_node(tops: Sequence[bytes], listed: Mapping[bytes, TreeNode]) -> TreeNode:
    """Return a node for the whole, made of the summaries below it."""
    children = [listed[id_] for id_ in tops]
    return TreeNode(
        id=node_id("root", list(tops)),
        level=1 + max(child.level for child in children),
        children=tuple(tops),
        first=children[0].first,
        last=children[-1].last,
        tokens=sum(child.tokens for child in children),
        headline=root_summary(children),
        body="",
        anchors=(),
        by_model=False,
        sealed=False,
    )


def tree_node(node: Node, place: NodePlace, messages: tuple[int, int], *, sealed: bool) -> TreeNode:
    """Return a node over posted messages [first, last]."""
    first, last = messages
    return TreeNode(
        id=node.id,
        level=node.level,
        children=tuple(node.children),
        first=first,
        last=last,
        tokens=node.tokens,
        headline=node.summary.headline,
        body=node.summary.shown,
        anchors=tuple(node.summary.anchors),
        by_model=node.summary.by_model,
        sealed=sealed,
        chars=(place.start, place.tail or None) if node.is_leaf else None,
    )


def _range(history: History, place: NodePlace) -> tuple[int, int]:
    last = max(place.first, min(place.last, len(history) - 1))
    return history.posted[place.first], history.posted[last]
