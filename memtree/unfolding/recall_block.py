"""Recall blocks: excerpts for one user message, sent before its text and kept from then on.

A memory message stays the same for many turns, so what a new question needs from further back
comes with the question. A block is planned once, from what is hidden: before the cut, and neither
in the memory message nor in an earlier block.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from memtree.conversation.history import History
from memtree.ranking.corpus import Corpus
from memtree.ranking.fusion import Ranking
from memtree.ranking.ranked_history import RankedHistory
from memtree.text import tokens
from memtree.unfolding.excerpts import ExcerptChoice, Units, lopsided
from memtree.unfolding.plan import Plan, TextSpan, quote_lines

OPENING = "<recalled_context>"
CLOSING = "</recalled_context>"
NOTE = "Excerpts of earlier messages, verbatim, that may matter for the message below."
SEAM = "\n\n"
WRAPPER = 40  # tokens of the above
# Shares of the newest message's own BM25 score, beside meaning and where there is no embedder
WORDS, WORDS_ALONE = 0.35, 0.2
LEAD = 2.0  # of what is hidden, for a remark to be given anything
USER_SHARE = 0.75  # of a block, for text of the user where answers are long
LEAST = 120  # tokens; less holds no excerpt worth its wrapper


def text_of(spans: Sequence[TextSpan], history: History) -> str:
    """The block as it is sent, without the seam that follows it."""
    return "\n".join([OPENING, NOTE, *quote_lines(spans, history), CLOSING])


def chosen(
    ranked: RankedHistory, plan: Plan, earlier: Iterable[TextSpan], room: int, relevant: float
) -> tuple[TextSpan, ...]:
    """Spans of a block for the newest message, at most `room` tokens as sent; empty for none.
    `relevant`: the embedder's cosine from which on a passage may matter."""
    history, corpus, ranking = ranked.history, ranked.corpus, ranked.ranking
    if room < LEAST or not len(corpus):
        return ()
    hidden = unsent(corpus, plan, earlier)
    if not _matters(ranking, hidden, corpus.message == len(history) - 1, relevant):
        return ()
    before = corpus.message < len(history) - 1
    if not wants(history) and not _leads(ranking, hidden, before & ~hidden):
        return ()
    fused = np.where(hidden, ranking.fused, 0.0).astype(np.float32)
    units = Units(corpus, fused, hidden & (fused > 0), [])
    user_room = USER_SHARE * room if lopsided(corpus, before) else 0
    return _fitted(units.choose(room - WRAPPER, int(user_room)), history, room)


def _fitted(choices: list[ExcerptChoice], history: History, room: int) -> tuple[TextSpan, ...]:
    """The spans of as many choices, best first, as fit exactly."""
    while choices:
        spans = tuple(sorted(choice.span for choice in choices))
        if tokens.count(text_of(spans, history) + SEAM) <= room:
            return spans
        choices = choices[:-1]
    return ()


def unsent(corpus: Corpus, plan: Plan, earlier: Iterable[TextSpan]) -> NDArray[np.bool_]:
    """Which passages stand before the cut and are not sent yet."""
    hidden = (corpus.message >= plan.head) & (corpus.message < plan.cut) & (corpus.tokens > 0)
    for span in (*plan.rules, *plan.excerpts, *earlier):
        low, high = np.searchsorted(corpus.message, [span.message, span.message + 1])
        inside = (corpus.start[low:high] >= span.start) & (corpus.end[low:high] <= span.end)
        hidden[low:high] &= ~inside
    return np.asarray(hidden)


def _matters(
    ranking: Ranking, hidden: NDArray[np.bool_], newest: NDArray[np.bool_], relevant: float
) -> bool:
    """Whether anything hidden is near enough in meaning, or shares enough of the rare words."""
    own = float(ranking.lexical[newest].max(initial=0.0))
    shared = float(ranking.lexical[hidden].max(initial=0.0))
    if ranking.cosine is None:
        return shared > 0 and shared >= WORDS_ALONE * own
    nearest = float(ranking.cosine[hidden].max(initial=0.0))
    return nearest >= relevant or (shared > 0 and shared >= WORDS * own)


def _leads(ranking: Ranking, hidden: NDArray[np.bool_], visible: NDArray[np.bool_]) -> bool:
    """Whether the best of what is hidden ranks far above the best of what is visible."""
    best = float(ranking.fused[hidden].max(initial=0.0))
    return best >= LEAD * float(ranking.fused[visible].max(initial=0.0))


# -- what the newest message is ---------------------------------------------------------------

RECENT = 200  # messages
LONG_ANSWERS = 2.0  # mean size of the assistant's messages over the user's: people ask, it works


def needless(history: History) -> bool:
    """Whether the newest message is none of the user, or a mere acknowledgement."""
    newest = len(history) - 1
    return history.facts[newest].role != "user" or is_acknowledgement(history.view(newest).text)


def wants(history: History) -> bool:
    """Whether the newest message asks for something, and is no remark in a chat: it holds a
    question, or stands in a dialogue where the other side does the work."""
    if any(mark in history.view(len(history) - 1).text for mark in "?？؟"):
        return True
    recent = history.facts[-RECENT:]
    mine = [fact.tokens for fact in recent if fact.role == "user"]
    theirs = [fact.tokens for fact in recent if fact.role == "assistant"]
    if not theirs:
        return False
    return sum(theirs) / len(theirs) >= LONG_ANSWERS * sum(mine) / len(mine)


_WORD = re.compile(r"[^\W\d_]+", re.UNICODE)
_ACKNOWLEDGING = frozenset(
    """a agreed ahead all alright and awesome best bye cheers continue cool correct do done exactly
    excellent fine for go good got great ha haha hello hey hi hmm i it its job just keep k lgtm
    like lol looks love makes me much nice nope no now of ok okay on perfect please proceed ready
    really right s same sense so sounds splendid sure thank thanks that the then this thx to too
    try u understood very want wonderful works wow yeah yep yes you
    ja nein danke gut weiter genau bitte oui non merci bien sí si gracias vale sim não obrigado
    да нет спасибо хорошо 好 好的 谢谢 是 是的 继续 はい ありがとう 네 감사합니다""".split()
)
_ACKNOWLEDGEMENT_WORDS = 8
_SHORT = 120  # characters
_ASKING = re.compile(r"[?？؟\d]")


def is_acknowledgement(text: str) -> bool:
    """Whether a message asks for nothing: "ok, thanks", "sounds good, go ahead"."""
    words = _WORD.findall(text.lower()[:_SHORT])
    if len(words) > _ACKNOWLEDGEMENT_WORDS or _ASKING.search(text) or len(text) > _SHORT:
        return False
    return all(word in _ACKNOWLEDGING for word in words)
