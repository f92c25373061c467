"""Recall blocks: excerpts for one user message, sent before its text and kept from then on.

A memory message stays the same for many turns, so what a new question needs from further back
comes with the question. A block is planned once, from what is hidden: before the cut, and neither
in the memory message nor in an earlier block.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from memtree.corpus import Corpus
from memtree.excerpts import Chosen, Units
from memtree.history import History
from memtree.plan import Plan, Span, quote_lines
from memtree.rank import Ranking

OPENING = "<recalled_context>"
CLOSING = "</recalled_context>"
NOTE = "Excerpts of earlier messages, verbatim, that may matter for the message below."
SEAM = "\n\n"
WRAPPER = 40  # tokens of the above
LEAST = 120  # tokens; less holds no excerpt worth its wrapper

Count = Callable[[str], int]


def text_of(spans: Sequence[Span], history: History) -> str:
    """The block as it is sent, without the seam that follows it."""
    return "\n".join([OPENING, NOTE, *quote_lines(spans, history), CLOSING])


def before(raw: bytes, block: str) -> bytes:
    """A user message with a block before its text; all other bytes of it stay as they are."""
    fields = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
    content = msgspec.json.decode(fields["content"])
    if isinstance(content, str):
        fields["content"] = msgspec.Raw(msgspec.json.encode(block + SEAM + content))
    else:
        parts = msgspec.json.decode(fields["content"], type=list[msgspec.Raw])
        first = msgspec.json.encode({"type": "text", "text": block + SEAM})
        fields["content"] = msgspec.Raw(msgspec.json.encode([msgspec.Raw(first), *parts]))
    return msgspec.json.encode(fields)


def chosen(
    history: History,
    corpus: Corpus,
    ranking: Ranking,
    plan: Plan,
    earlier: Iterable[Span],
    room: int,
    count: Count,
) -> tuple[Span, ...]:
    """Spans of a block for the newest message, at most `room` tokens as sent; empty for none."""
    if room < LEAST or not len(corpus) or is_acknowledgement(history.view(len(history) - 1).text):
        return ()
    hidden = _hidden(corpus, plan, earlier)
    fused = np.where(hidden, ranking.fused, 0.0).astype(np.float32)
    if not _matters(ranking, hidden, corpus.message < len(history) - 1):
        return ()
    units = Units(corpus, fused, hidden & (fused > 0), [])
    found = units.choose(room - WRAPPER, 0)
    return _fitted(found, history, room, count)


def _fitted(found: list[Chosen], history: History, room: int, count: Count) -> tuple[Span, ...]:
    while found:
        spans = tuple(sorted(one.span for one in found))
        if count(text_of(spans, history) + SEAM) <= room:
            return spans
        found = found[:-1]
    return ()


def _hidden(corpus: Corpus, plan: Plan, earlier: Iterable[Span]) -> NDArray[np.bool_]:
    """Which passages stand before the cut and are not quoted yet."""
    hidden = (corpus.message < plan.cut) & (corpus.tokens > 0)
    for span in (*plan.rules, *plan.excerpts, *earlier):
        low, high = np.searchsorted(corpus.message, [span.message, span.message + 1])
        inside = (corpus.start[low:high] >= span.start) & (corpus.end[low:high] <= span.end)
        hidden[low:high] &= ~inside
    return np.asarray(hidden)


def _matters(ranking: Ranking, hidden: NDArray[np.bool_], before: NDArray[np.bool_]) -> bool:
    """Whether the best of what is hidden is worth showing."""
    return bool((ranking.fused[hidden] > 0).any())


# -- mere acknowledgements -------------------------------------------------------------------

_WORD = re.compile(r"[^\W\d_]+", re.UNICODE)
_ACKNOWLEDGING = frozenset(
    """a agreed ahead all alright and awesome best bye cheers continue cool correct do done exactly
    excellent fine for go good got great ha haha hello hey hi hmm i it its job just keep k lgtm
    like lol looks love makes me much nice nope no now of ok okay on perfect please proceed ready
    really right same sense so sounds splendid sure thank thanks that the then this thx to too
    try u understood very want wonderful works wow yeah yep yes you
    ja nein danke gut weiter genau bitte oui non merci bien sí si gracias vale sim não obrigado
    да нет спасибо хорошо 好 好的 谢谢 是 是的 继续 はい ありがとう 네 감사합니다""".split()
)
_ACKNOWLEDGEMENT_WORDS = 8


def is_acknowledgement(text: str) -> bool:
    """Whether a message asks for nothing: "ok, thanks", "sounds good, go ahead"."""
    words = _WORD.findall(text.lower()[:400])
    if len(words) > _ACKNOWLEDGEMENT_WORDS or "?" in text or re.search(r"\d", text):
        return False
    return all(word in _ACKNOWLEDGING for word in words)
