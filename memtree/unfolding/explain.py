"""Why an answer shows what it shows, and the tree as JSON: wire shapes of API section 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from memtree.conversation.history import History
from memtree.ranking.corpus import Corpus
from memtree.ranking.fusion import Ranking
from memtree.text import tokens
from memtree.tree.btree import walk
from memtree.tree.node import KIND_NAMES, Frontier, Node, NodePlace, after
from memtree.unfolding.excerpts import ExcerptChoice
from memtree.unfolding.plan import Plan, Quote, TextSpan, quotes
from memtree.unfolding.unfold import Unfolding


@dataclass(frozen=True, slots=True)
class ScoredPassage:
    """A passage of the corpus with its scores, taken out while the corpus was held."""

    span: TextSpan
    tokens: int
    kind: str
    scores: dict[str, float]


def nothing() -> dict[str, Any]:
    return {"nodes": [], "excerpts": [], "candidates": []}


def scored(rows: Sequence[int], corpus: Corpus, ranking: Ranking) -> dict[int, ScoredPassage]:
    found = {}
    for row in rows:
        scores = {"fused": float(ranking.fused[row]), "bm25": float(ranking.lexical[row])}
        if ranking.cosine is not None:
            scores["cosine"] = float(ranking.cosine[row])
        span = TextSpan(int(corpus.message[row]), int(corpus.start[row]), int(corpus.end[row]))
        found[row] = ScoredPassage(
            span, int(corpus.tokens[row]), KIND_NAMES[corpus.kind[row]], scores
        )
    return found


def rows_of(unfolded: Unfolding, corpus: Corpus, ranking: Ranking) -> dict[int, ScoredPassage]:
    """Scores of what was chosen and of the best that was left out."""
    rows = [one.passage for one in unfolded.chosen if one.passage >= 0]
    return scored([*rows, *unfolded.left_out], corpus, ranking)


def of_epoch(
    history: History,
    plan: Plan,
    blocks: Sequence[Sequence[TextSpan]],
    unfolded: Unfolding | None,
    rows: Mapping[int, ScoredPassage],
    nodes: Mapping[bytes, Node],
) -> dict[str, Any]:
    """The same for an answer of an epoch; `unfolded` where this request began it."""
    shown = of(history, unfolded or Unfolding(plan, "", 0, 0, []), rows, nodes, "kept")
    recalled = [
        _excerpt(history, quote, [], rows, "recalled")
        for block in blocks
        for quote in quotes(block, history)
    ]
    return {**shown, "excerpts": [*shown["excerpts"], *recalled]}


def of(
    history: History,
    unfolded: Unfolding,
    rows: Mapping[int, ScoredPassage],
    nodes: Mapping[bytes, Node],
    otherwise: str = "decayed",
) -> dict[str, Any]:
    """The `explain` object of an answer."""
    plan = unfolded.plan
    return {
        "nodes": [
            {
                "id": shown.id.hex(),
                "level": nodes[shown.id].level,
                "messages": _range(history, shown.place),
                "depth": shown.depth,
                "body": shown.body,
                "headline": nodes[shown.id].summary.headline,
                "version": shown.version,
            }
            for shown in plan.outline
        ],
        "excerpts": [
            _excerpt(history, quote, unfolded.chosen, rows, otherwise)
            for spans in (plan.rules, plan.excerpts)
            for quote in quotes(spans, history)
        ],
        "candidates": [
            {
                "message": history.posted[rows[row].span.message],
                "tokens": rows[row].tokens,
                "kind": rows[row].kind,
                "scores": rows[row].scores,
            }
            for row in unfolded.left_out
            if row in rows
        ],
    }


def _excerpt(
    history: History,
    quote: Quote,
    chosen: Sequence[ExcerptChoice],
    rows: Mapping[int, ScoredPassage],
    otherwise: str,
) -> dict[str, Any]:
    piece = history.messages[quote.span.message].text[quote.start : quote.end]
    why = next((one for one in chosen if _inside(one.span, quote.span)), None)
    return {
        "message": quote.posted,
        "start": quote.start,
        "end": quote.end,
        "sha256": sha256(piece.encode("utf-8", "surrogatepass")).hexdigest(),
        "tokens": tokens.count(piece),
        "scores": rows[why.passage].scores if why and why.passage in rows else {},
        "reason": why.reason if why else otherwise,
    }


def _inside(one: TextSpan, other: TextSpan) -> bool:
    return one.message == other.message and other.start <= one.start and one.end <= other.end


def tree(
    history: History, frontier: Frontier, nodes: Mapping[bytes, Node], open_leaf: Node | None
) -> dict[str, Any]:
    """All nodes over a posted history, leaves included, and what stands at the top."""
    listed = [_node(node, place, history, True) for node, place in walk(frontier.nodes, nodes)]
    roots = [id_.hex() for id_ in frontier.nodes]
    if open_leaf is not None:
        place = after(NodePlace(0, 0, frontier.messages, frontier.tail), open_leaf)
        listed.append(_node(open_leaf, place, history, False))
        roots.append(open_leaf.id.hex())
    return {"nodes": listed, "roots": roots}


def _node(node: Node, place: NodePlace, history: History, sealed: bool) -> dict[str, Any]:
    return {
        "id": node.id.hex(),
        "level": node.level,
        "children": [child.hex() for child in node.children],
        "messages": _range(history, place),
        "tokens": node.tokens,
        "headline": node.summary.headline,
        "body": node.summary.shown,
        "anchors": list(node.summary.anchors),
        "summary": "model" if node.summary.by_model else "extracted",
        "sealed": sealed,
    }


def _range(history: History, place: NodePlace) -> list[int]:
    last = max(place.first, min(place.last, len(history) - 1))
    return [history.posted[place.first], history.posted[last]]
