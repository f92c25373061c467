"""Recall blocks: excerpts for one message, sent beside its text and unchanged from then on.

A memory message stays the same for many turns, so older passages that a new question needs are sent
with the question, before its text; and in a tool loop those of files that the newest calls and
results name, behind the text of the newest result. A block is planned once, from hidden passages:
those before the cut that are neither in the memory message nor in an earlier block.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from memtree.history.chat_history import History
from memtree.history.message import RESULT_ROLES
from memtree.ranking.corpus import Corpus
from memtree.ranking.fusion import Ranking
from memtree.ranking.ranked_history import RankedHistory
from memtree.text import tokens
from memtree.text.request_words import is_acknowledgement
from memtree.tree.node import Node
from memtree.unfolding.excerpt_choice import ExcerptChoice, Room, Shares, Units, lopsided
from memtree.unfolding.excerpt_duplicates import ShownTexts
from memtree.unfolding.excerpt_units import folded_rows
from memtree.unfolding.files_in_hand import FileInHand, hand_rows
from memtree.unfolding.memory_plan import OutlineNode, Plan, RecallPlan, TextSpan
from memtree.unfolding.memory_text import Days, outline_line, placed, run_pieces, runs
from memtree.unfolding.outline import LeafLines, Turns
from memtree.unfolding.unfold import excerpts_of

OPENING = "<recalled_context>"
CLOSING = "</recalled_context>"
NOTE = "Excerpts of earlier messages, verbatim, that may matter for the message below."
BEHIND = (
    "Excerpts of earlier messages, verbatim, of files named above. They are no part of the result."
)
SEAM = "\n\n"
WRAPPER = 40  # tokens of the fixed lines above
# Shares of the newest message's own BM25 score: beside an embedder, and without one
WORDS, WORDS_ALONE = 0.35, 0.2
# If one passage is that near, less near ones are quoted as well: shares of the required similarity
# in meaning, and in words. LoCoMo in an epoch at 4k: 85.9 without this, 90.2 with it
NEAR, NEAR_WORDS = 0.7, 0.2
LEAD = 2.0  # how far the best hidden passage must lead for a remark to get a block
USER_SHARE = 0.75  # of a block, for text of the user if answers are long
LEAST = 120  # tokens; a smaller block holds no excerpt worth its wrapper
LONG = 1_500  # tokens from which on the lines above excerpts are headlines


Versions = Mapping[tuple[bytes, int], Node]  # by id and version of the summary


def versions_of(nodes: Iterable[Node]) -> Versions:
    """Map nodes by id and version, as plans name them: another block may name another version of a
    node."""
    return {(node.id, node.summary.version): node for node in nodes}


def named_leaves(corpus: Corpus, outline: Iterable[OutlineNode]) -> Versions:
    """Return the leaves that the lines of a block name, as they are in the corpus."""
    at = (bisect_left(corpus.places, shown.place) for shown in outline)
    return versions_of(corpus.leaves[leaf] for leaf in at)


def is_behind(history: History, message: int) -> bool:
    """Return True if the block of a message stands behind its text: the message is a result."""
    return history.facts[message].role in RESULT_ROLES


def text_of(block: RecallPlan, history: History, nodes: Versions, *, behind: bool = False) -> str:
    """Return the block as it is sent, without the separator. `behind`: it stands behind a result.
    Raises `KeyError` if a node is not in `nodes`."""
    lines = [f"{OPENING}\n{BEHIND if behind else NOTE}\n"]
    above: Sequence[OutlineNode] = ()
    days = Days()
    for run in runs(placed(block), history):
        path = run[0].path
        if path and path != above:
            shown = path[-1]
            said = "" if shown.bare else days.of_line(shown.first_day, shown.last_day)
            line = outline_line(shown, nodes[shown.id, shown.version], history, said)
            lines.append(f"{line}\n")
        above = path
        lines += (piece.text for piece in run_pieces(run, history, days))
    return "".join([*lines, CLOSING])


def chosen(
    ranked: RankedHistory,
    plan: Plan,
    earlier: Iterable[TextSpan],
    room: int,
    relevant: float,
) -> RecallPlan:
    """Plan a block for the newest message, at most `room` tokens as sent; empty for none.
    `relevant`: the embedder's cosine from which on a passage counts as relevant. If no passage is
    that near or shares rare words with the message, nothing is quoted; irrelevant passages never
    are."""
    history, corpus, ranking = ranked.history, ranked.corpus, ranked.ranking
    if room < LEAST or not len(corpus):
        return RecallPlan()
    sent = [*plan.verbatim, *earlier]
    hidden = unsent(corpus, plan, sent)
    newest = corpus.message == len(history) - 1
    if not (hidden & relevant_passages(ranking, newest, relevant, WORDS)).any():
        return RecallPlan()
    matters = hidden & relevant_passages(ranking, newest, NEAR * relevant, NEAR_WORDS)
    before = corpus.message < len(history) - 1
    if not wants(history) and not _leads(ranking, hidden, before & ~hidden):
        return RecallPlan()
    fused = np.where(matters, ranking.fused, 0.0).astype(np.float32)
    turns = Turns.of(ranked)
    paths = LeafLines(ranked, plan.cut, turns, brief=room < LONG)
    shown = _shown(history, sent)
    units = Units(history, corpus, fused, matters, plan.cut, shown=shown, paths=paths, fill=False)
    shares = Shares(0, int(USER_SHARE * room)) if lopsided(corpus, before) else None
    choices = units.choose(Room(room - WRAPPER), shares)
    return _fitted(choices, paths, turns, ranked, room)


def of_files(
    ranked: RankedHistory,
    plan: Plan,
    earlier: Iterable[TextSpan],
    room: int,
    files: Sequence[FileInHand],
) -> RecallPlan:
    """Plan a block for the newest result: passages of `files` that are not visible, at most `room`
    tokens as sent; empty for none."""
    history, corpus = ranked.history, ranked.corpus
    sent = [*plan.verbatim, *earlier]
    hidden = unsent(corpus, plan, sent)
    fused = np.where(hidden, ranked.ranking.fused, 0.0).astype(np.float32)
    rows = hand_rows(files, corpus, fused, hidden)
    turns = Turns.of(ranked)
    paths = LeafLines(ranked, plan.cut, turns, brief=True)
    shown = _shown(history, sent)
    units = Units(history, corpus, fused, hidden, plan.cut, shown=shown, paths=paths, fill=False)
    return _fitted(units.of_files(rows, Room(room - WRAPPER)), paths, turns, ranked, room)


def shown_characters(sent: Iterable[TextSpan]) -> Mapping[int, int]:
    """Return how many characters of each message are quoted."""
    shown = Counter[int]()
    for span in sent:
        shown[span.message] += span.end - span.start
    return shown


def _shown(history: History, sent: Iterable[TextSpan]) -> ShownTexts:
    shown = ShownTexts()
    for span in sent:
        shown.add(history.view(span.message).text[span.start : span.end])
    return shown


def _fitted(
    choices: list[ExcerptChoice],
    paths: LeafLines,
    turns: Turns,
    ranked: RankedHistory,
    room: int,
) -> RecallPlan:
    """Return as many choices, best first, as fit exactly, with the lines above them."""
    history, outline = ranked.history, paths.lines()
    nodes, behind = named_leaves(ranked.corpus, outline), is_behind(history, len(history) - 1)
    while choices:
        block = _block(choices, outline, turns)
        over = tokens.count(text_of(block, history, nodes, behind=behind) + SEAM) - room
        if over <= 0:
            return block
        while choices and over > 0:
            over -= choices[-1].tokens
            choices = choices[:-1]
    return RecallPlan()


def _block(
    choices: Sequence[ExcerptChoice], outline: Sequence[OutlineNode], turns: Turns
) -> RecallPlan:
    """Return a block of the excerpts, and of the lines above them."""
    spans, notes, reasons, ranks = excerpts_of(choices)
    named, days = turns.named(spans), turns.days_of(spans)
    block = RecallPlan(spans, tuple(outline), notes, reasons, ranks, named, days)
    used = {entry.path[-1] for entry in placed(block) if entry.path}
    above = tuple(line for line in outline if line in used)
    return msgspec.structs.replace(block, outline=above)


def unsent(corpus: Corpus, plan: Plan, sent: Iterable[TextSpan]) -> NDArray[np.bool_]:
    """Flag the passages before the cut that are not sent yet."""
    hidden, spans = folded_rows(corpus, plan), list(sent)
    # Numbers of the column's own type, otherwise the whole column would be converted for each
    # search.
    messages = np.array([span.message for span in spans], np.int32)
    lows = corpus.message.searchsorted(messages).tolist()
    highs = corpus.message.searchsorted(messages, "right").tolist()
    for span, low, high in zip(spans, lows, highs, strict=True):
        inside = (corpus.start[low:high] >= span.start) & (corpus.end[low:high] <= span.end)
        hidden[low:high] &= ~inside
    return hidden


def relevant_passages(
    ranking: Ranking, newest: NDArray[np.bool_], relevant: float, words: float
) -> NDArray[np.bool_]:
    """Flag the passages that are near enough in meaning, or share enough of the newest message's
    rare words (`words`: share of its own score). `newest`: the passages of that message."""
    own = float(ranking.lexical[newest].max(initial=0.0))
    share = WORDS_ALONE if ranking.cosine is None else words
    sharing = (ranking.lexical > 0) & (ranking.lexical >= share * own)
    if ranking.cosine is None:
        return np.asarray(sharing)
    return np.asarray(sharing | (ranking.cosine >= relevant))


def _leads(ranking: Ranking, hidden: NDArray[np.bool_], visible: NDArray[np.bool_]) -> bool:
    """Return True if the best hidden passage ranks far above the best visible one."""
    best = float(ranking.fused[hidden].max(initial=0.0))
    return best >= LEAD * float(ranking.fused[visible].max(initial=0.0))


# -- kinds of newest messages -----------------------------------------------------------------

RECENT = 200  # messages
# mean size of the assistant's messages over the user's: people ask, the assistant works
LONG_ANSWERS = 2.0


def needless(history: History) -> bool:
    """Return True if the newest message was not written by the user, or is a mere
    acknowledgement."""
    newest = len(history) - 1
    return not history.asks(newest) or is_acknowledgement(history.view(newest).text)


def wants(history: History) -> bool:
    """Return True if the newest message asks for something, rather than being a remark in a chat:
    it contains a question, or is part of a dialogue in which the other side does the work."""
    if history.questions(len(history) - 1):
        return True
    recent = history.facts[-RECENT:]
    mine = [fact.tokens for fact in recent if fact.role == "user"]
    theirs = [fact.tokens for fact in recent if fact.role == "assistant"]
    if not theirs:
        return False
    return sum(theirs) / len(theirs) >= LONG_ANSWERS * sum(mine) / len(mine)
