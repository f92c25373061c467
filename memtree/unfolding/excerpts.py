"""What may be quoted, and the best of it that fits: whole short messages, passages of long ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from memtree.ranking.corpus import Corpus
from memtree.tree.node import USER
from memtree.unfolding.plan import TextSpan

LABEL = 6  # tokens of `[123 user] ` and the line's end
WHOLE = 500  # a message up to this size is quoted whole or not at all
LOPSIDED = 3.0  # assistant text over user text, per message
PATIENCE = 40  # candidates in a row that may fail to fit


@dataclass(frozen=True, slots=True)
class ExcerptChoice:
    """Why a span is in the plan: `reason` is excerpt, user, rule, ask or trail."""

    span: TextSpan
    tokens: int
    reason: str
    passage: int  # row of the corpus with the best score in it; -1: not ranked


class Units:
    """What may be quoted: whole short messages, single passages of long ones, with their score."""

    def __init__(
        self,
        corpus: Corpus,
        fused: NDArray[np.float32],
        allowed: NDArray[np.bool_],
        pinned: Sequence[ExcerptChoice],
    ) -> None:
        """`allowed`: what stands before the cut. After all that scored the newest follow."""
        self._corpus = corpus
        sizes = np.bincount(corpus.message, weights=corpus.tokens) if len(corpus) else np.zeros(1)
        self._message_tokens = sizes
        self._taken = {pin.span.message for pin in pinned if pin.reason != "rule"}
        scored = np.argsort(-fused, kind="stable")[: int((fused > 0).sum())]
        newest = np.flatnonzero(allowed & (fused <= 0))[::-1]
        self._order = np.concatenate([scored, newest])

    def choose(self, room: int, user_room: int) -> list[ExcerptChoice]:
        chosen: list[ExcerptChoice] = []
        if user_room:
            mine = self._order[self._corpus.kind[self._order] == USER]
            chosen = self._take(mine, min(room, user_room), "user")
            room -= sum(choice.tokens + LABEL for choice in chosen)
        return chosen + self._take(self._order, room, "excerpt")

    def more(self, chosen: Sequence[ExcerptChoice], room: int) -> list[ExcerptChoice]:
        return self._take(self._order, room, "excerpt") if room > 2 * LABEL else []

    def left_out(self, limit: int = 20) -> list[int]:
        """The best passages that found no room."""
        first = (int(row) for row in self._order[: 20 * limit])
        return list(islice((row for row in first if self._unit(row) is not None), limit))

    def _take(
        self, rows: Sequence[int] | NDArray[np.int64], room: int, reason: str
    ) -> list[ExcerptChoice]:
        chosen: list[ExcerptChoice] = []
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
            chosen.append(ExcerptChoice(span, tokens, reason, int(row)))
        return chosen

    def _unit(self, row: int) -> tuple[TextSpan, int, int] | None:
        """(span, tokens, key) of the unit that a passage belongs to; None where it is taken."""
        corpus = self._corpus
        message = int(corpus.message[row])
        if message in self._taken:
            return None
        whole = int(self._message_tokens[message])
        if whole <= WHOLE:
            last = np.searchsorted(corpus.message, message, "right") - 1
            end = int(corpus.end[last])
            return TextSpan(message, 0, end), whole, message
        key = -row - 1
        if key in self._taken:
            return None
        return (
            TextSpan(message, int(corpus.start[row]), int(corpus.end[row])),
            int(corpus.tokens[row]),
            key,
        )


def lopsided(corpus: Corpus, before: NDArray[np.bool_]) -> bool:
    """True where messages of the assistant are about three times longer than the user's."""
    mine = before & (corpus.kind == USER)
    theirs = before & (corpus.kind != USER)
    counts = [max(1, len(np.unique(corpus.message[side]))) for side in (mine, theirs)]
    means = [
        float(corpus.tokens[side].sum()) / n for side, n in zip((mine, theirs), counts, strict=True)
    ]
    return means[1] >= LOPSIDED * max(1.0, means[0])
