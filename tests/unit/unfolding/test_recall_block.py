"""Recall blocks, and the segments they quote."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtree.history.message import Message
from memtree.ranking.corpus import Corpus
from memtree.ranking.fusion import Ranking, rank
from memtree.ranking.ranked_history import RankedHistory
from memtree.ranking.segments import segments
from memtree.text import terms, tokens
from memtree.unfolding import recall_block
from memtree.unfolding.excerpt_units import nearest_segment
from memtree.unfolding.memory_plan import Plan, RecallPlan, TextSpan
from memtree.unfolding.recall_block import LEAST, chosen, needless, text_of, versions_of, wants
from tests.made.trees import places
from tests.properties.strategies import batch, conversation, history_of, leaves_of, prose

# ------------------------------------------------------------------------------------------------
# Recall blocks: what they quote, and when there is one.


def user(content, **more):
    return {"role": "user", "content": content, **more}


def assistant(content, **more):
    return {"role": "assistant", "content": content, **more}


# ---------------------------------------------------------------- the block in its message


# ---------------------------------------------------------------- a history to look back on


NEEDLE = "The launch code of project Marigold is 7731-ZETA."
QUESTION = "What is the launch code of Marigold?"


class Past:
    """A history with its corpus; leaves that are not final yet are in it, too."""

    def __init__(self, made):
        self.history = history_of([Message.of(one) for one in made])
        grown = batch(self.history)
        nodes = {node.id: node for node in grown.nodes}
        leaves = leaves_of(grown.frontier, nodes) + ([grown.open] if grown.open else [])
        self.corpus = Corpus(1).extended(leaves, places(leaves))

    def lexical(self, query):
        return self.corpus.lexicon.scores(terms.terms(query))

    def chosen(
        self, query=QUESTION, plan=None, *, earlier=(), room=1_000, cosine=None, relevant=0.3
    ):
        ranking = rank(self.lexical(query), cosine)
        return self.chosen_by(ranking, plan, earlier, room, relevant)

    def chosen_by(self, ranking, plan=None, earlier=(), room=1_000, relevant=0.3):
        plan = plan or Plan(len(self.history) - 5)
        ranked = RankedHistory(self.history, self.corpus, ranking)
        self.block = chosen(ranked, plan, earlier, room, relevant)
        return self.block.excerpts

    def text(self, spans=None):
        """The block that was chosen last, or these spans without a path."""
        block = self.block if spans is None else RecallPlan(tuple(spans))
        return text_of(block, self.history, versions_of(self.corpus.leaves))

    def pieces(self, spans):
        return [self.history.view(one.message).text[one.start : one.end] for one in spans]


def chat(newest=QUESTION, needle_at=21, turns=40, words=120):
    made = []
    for n in range(turns):
        made += [user(prose(n, 30)), assistant(prose(n + 100, words))]
    made[needle_at] = assistant(f"{prose(1, 50)} {NEEDLE} {prose(2, 50)}")
    return [*made, user(newest)]


@pytest.fixture(scope="module")
def past():
    return Past(chat())


# ---------------------------------------------------------------- what a block says


@pytest.mark.slow
def test_a_block_is_verbatim_and_labelled(past):
    spans = past.chosen()
    text = past.text()
    opening, note, *quoted, closing = text.split("\n")
    assert (opening, note, closing) == (
        recall_block.OPENING,
        recall_block.NOTE,
        recall_block.CLOSING,
    )
    assert NEEDLE in text
    for span, piece in zip(spans, past.pieces(spans), strict=True):
        assert piece.strip() in text
        role = past.history.facts[span.message].role
        assert f"¶{span.message} {role}" in text
    labels = re.findall(r"^¶(\d+) (?:user|assistant)\b", "\n".join(quoted), re.MULTILINE)
    assert labels == [str(n) for n in sorted({span.message for span in spans})]


@pytest.mark.slow
def test_labels_count_as_the_client_posted():
    made = chat()
    system = Past([{"role": "system", "content": "Be brief."}, *made])
    spans = system.chosen()
    found = next(one for one in spans if NEEDLE in system.pieces([one])[0])
    assert found.message == 21
    assert f"¶22 assistant\n{prose(1, 50)} {NEEDLE}" in system.text()


# ---------------------------------------------------------------- what is hidden


@pytest.mark.parametrize("cut", [0, 21, 22, 60])
def test_only_what_stands_before_the_cut_is_recalled(past, cut):
    spans = past.chosen(plan=Plan(cut))
    assert all(span.message < cut for span in spans)
    assert any(NEEDLE in piece for piece in past.pieces(spans)) == (cut > 21)


def test_what_is_sent_whole_is_not_recalled(past):
    assert not any(NEEDLE in piece for piece in past.pieces(past.chosen(plan=Plan(76, head=22))))
    assert any(NEEDLE in piece for piece in past.pieces(past.chosen(plan=Plan(76, head=21))))


@pytest.mark.parametrize("where", ["excerpts", "rules", "earlier"])
def test_what_is_shown_already_is_not_recalled(past, where):
    whole = TextSpan(21, 0, len(past.history.view(21).text))
    given_ = {} if where == "earlier" else {where: (whole,)}
    spans = past.chosen(plan=Plan(76, **given_), earlier=[whole] if where == "earlier" else [])
    assert all(span.message != 21 for span in spans)


def test_what_is_shown_in_part_may_be_recalled(past):
    spans = past.chosen(plan=Plan(76, rules=(TextSpan(21, 0, 9),)))
    assert any(NEEDLE in piece for piece in past.pieces(spans))


@pytest.mark.slow
def test_of_a_long_message_only_the_passages_that_are_not_shown():
    made = chat()
    made[21] = assistant(f"{prose(1, 500)}\n\n{NEEDLE} {prose(2, 40)}\n\n{prose(3, 500)}")
    past = Past(made)
    first = past.chosen()
    held = next(one for one in first if NEEDLE in past.pieces([one])[0])
    again = past.chosen(earlier=[held])
    assert not [one for one in again if one.message == 21 and one.start < held.end > one.end]
    assert not any(NEEDLE in piece for piece in past.pieces(again))


@pytest.mark.slow
@settings(max_examples=25)
@given(st.integers(0, 30), st.floats(0, 1), st.integers(100, 2_000), st.integers(0, 40))
def test_any_block_keeps_to_its_rules(seed, at, room, query):
    """Disjoint spans before the cut, of nothing that is shown, in a text that fits."""
    past = Past([m.fields for m in conversation(seed, 2_500)] + [user(QUESTION)])
    cut = int(at * len(past.history))
    first = past.chosen(prose(query, 12), Plan(cut), room=room)
    plan = Plan(cut, excerpts=first[:1], rules=first[1:2])
    spans = past.chosen(prose(query, 12), plan, earlier=first[2:], room=room)
    for found in (first, spans):
        assert list(found) == sorted(found)
        assert all(span.message < cut for span in found)
        assert not found or tokens.count(past.text(found) + recall_block.SEAM) <= room
    assert not set(first) & set(spans)


# ---------------------------------------------------------------- room


def test_room_is_the_size_of_the_text_as_it_is_sent(past):
    spans = past.chosen()
    size = tokens.count(past.text(spans) + recall_block.SEAM)
    for room in range(size - 3, size + 1):
        found = past.chosen(room=room)
        assert tokens.count(past.text(found) + recall_block.SEAM) <= room
        assert (found == spans) == (room == size) or room > size - 12


def test_an_estimate_that_was_too_low_is_mended(past, monkeypatch):
    """Labels and joints are estimated while choosing; the last word has the exact count."""
    monkeypatch.setattr(recall_block, "WRAPPER", -100)
    past.chosen(room=500)
    size = tokens.count(past.text() + recall_block.SEAM)
    for room in (*range(150, 900, 50), *range(size - 4, size + 4)):
        found = past.chosen(room=room)
        assert tokens.count(past.text(found) + recall_block.SEAM) <= room or not found
        assert room != size or found


def test_the_best_stays_where_there_is_room_for_little(past):
    needle = TextSpan(21, 0, len(past.history.view(21).text))
    size = tokens.count(past.text([needle]) + recall_block.SEAM)
    assert past.chosen(room=size + 40) == (needle,)


def test_too_little_room_is_none(past):
    assert past.chosen(room=LEAST - 1) == ()
    assert past.chosen(room=-5) == ()


def test_a_history_without_passages_recalls_nothing():
    assert Past([user("")]).chosen() == ()


# ---------------------------------------------------------------- whether it matters


def scores(past, **by_message):
    """0 everywhere but in those messages: `m21=0.5`."""
    found = np.zeros(len(past.corpus), np.float32)
    for name, value in by_message.items():
        found[past.corpus.message == int(name[1:])] = value
    return found


LAST = "m80"


@pytest.mark.parametrize(("cosine", "some"), [(0.29, False), (0.3, True), (0.9, True)])
def test_meaning_alone_is_enough_where_it_is_near(past, cosine, some):
    fused = scores(past, m21=1.0)
    ranking = Ranking(fused, scores(past, **{LAST: 9.0}), scores(past, m21=cosine, m79=0.99))
    assert bool(past.chosen_by(ranking, relevant=np.float32(0.3))) == some


@pytest.mark.parametrize(("cosine", "beside"), [(0.22, True), (0.2, False)])
def test_beside_what_is_near_stands_what_is_a_little_less_so(past, cosine, beside):
    """Never alone: 0.3 is the least that may matter, and 0.7 of it the least that is quoted."""
    fused = scores(past, m21=1.0, m31=0.5)
    for nearest in (0.35, 0.29):
        near = scores(past, m21=nearest, m31=cosine)
        found = past.chosen_by(Ranking(fused, scores(past, **{LAST: 9.0}), near))
        expected = {21, *([31] if beside else [])} if nearest > 0.3 else set()
        assert {span.message for span in found} == expected


@pytest.mark.parametrize(("shared", "some"), [(3.4, False), (3.6, True)])
def test_words_are_enough_where_rare_ones_are_shared(past, shared, some):
    lexical = scores(past, m21=shared, m79=9.0, **{LAST: 10.0})
    ranking = Ranking(scores(past, m21=1.0), lexical, scores(past, m21=0.1))
    assert bool(past.chosen_by(ranking)) == some


@pytest.mark.parametrize(("shared", "some"), [(1.9, False), (2.1, True)])
def test_without_an_embedder_fewer_words_are_enough(past, shared, some):
    lexical = scores(past, m21=shared, m79=9.0, **{LAST: 10.0})
    assert bool(past.chosen_by(Ranking(scores(past, m21=1.0), lexical, None))) == some


@pytest.mark.parametrize("cosine", [None, 0.0])
def test_no_shared_word_is_never_enough(past, cosine):
    """Even where the newest message has no words of its own that count."""
    found = None if cosine is None else scores(past)
    assert past.chosen_by(Ranking(scores(past, m21=1.0), scores(past), found)) == ()


def test_what_is_shown_already_does_not_count_as_near(past):
    shown_ = (TextSpan(21, 0, 10**6),)
    ranking = Ranking(scores(past, m21=1.0, m5=0.5), scores(past), scores(past, m21=0.9))
    assert past.chosen_by(ranking)
    assert past.chosen_by(ranking, Plan(76, excerpts=shown_)) == ()
    assert past.chosen_by(ranking, earlier=shown_) == ()


REMARK = "The launch code of Marigold went to the archive."


@pytest.mark.slow
@pytest.mark.parametrize(("hidden", "some"), [(1.9, False), (2.0, True)])
def test_a_remark_needs_something_hidden_that_leads_clearly(hidden, some):
    """Twice what the best of the visible has; a question needs no lead."""
    for newest, expected in ((REMARK, some), (QUESTION, True)):
        past = Past(chat(newest, words=30))
        fused = scores(past, m21=hidden, m78=1.0, **{LAST: 99.0})
        ranking = Ranking(fused, scores(past), scores(past, m21=0.9))
        assert bool(past.chosen_by(ranking)) == expected


# ---------------------------------------------------------------- what the newest message is


@pytest.mark.parametrize("mark", ["?", "？", "؟"])
def test_a_question_asks(mark):
    plain = history_of([Message.of(one) for one in (user("a b"), assistant("a b"), user("a b"))])
    asking = history_of(
        [Message.of(one) for one in (user("a b"), assistant("a b"), user(f"a{mark} b"))]
    )
    assert not wants(plain)
    assert wants(asking)


def test_any_message_asks_where_the_other_side_does_the_work():
    def history(words):
        return history_of(
            [
                Message.of(one)
                for one in (
                    user("one two three"),
                    assistant("word " * words),
                    user("one two three"),
                )
            ]
        )

    assert wants(history(30))
    assert not wants(history(5))
    assert not wants(history_of([Message.of(user("one two three"))]))


@pytest.mark.parametrize(("text", "expected"), [("sounds good, go ahead", True), ("ok?", False)])
def test_an_acknowledgement_gets_no_block(text, expected):
    history = history_of([Message.of(assistant("done")), Message.of(user(text))])
    assert needless(history) == expected


def test_only_messages_of_the_user_are_given_blocks():
    call = {"id": "c", "type": "function", "function": {"name": "run", "arguments": "{}"}}
    made = [
        user("Run the launch code."),
        assistant(None, tool_calls=[call]),
        {"role": "tool", "tool_call_id": "c", "content": "What is the launch code?"},
        assistant("What is the launch code?"),
    ]
    for end, expected in ((1, False), (2, True), (3, True), (4, True)):
        assert needless(history_of([Message.of(one) for one in made[:end]])) == expected


def test_what_a_program_says_in_the_users_place_gets_no_block():
    raw = Message.of(user("What is the launch code?")).raw
    before = [Message.of(user("Run.")), Message.of(assistant("done"))]
    assert not needless(history_of([*before, Message(raw, joined=True)]))
    assert needless(history_of([*before, Message(raw, joined=True, aside=True)]))


def test_volatile_text_asks_for_nothing():
    reminder = "<system-reminder>Which launch code is it?</system-reminder>"
    history = history_of([Message.of(assistant("done")), Message.of(user(f"ok{reminder}"))])
    assert needless(history)
    assert not wants(history)


# ------------------------------------------------------------------------------------------------
# The segment of a passage that is quoted instead of it.


FIRST = "The harbour was quiet in the morning, and the boats lay still at their moorings."
SECOND = "Our landlord raised the rent by two hundred euros, which nobody had expected at all."
TEXT = f"{FIRST}\n\n  {SECOND}\n\n{FIRST}"


def shown(cosines, question=""):
    low, high = nearest_segment(TEXT, np.array(cosines, np.float32), terms.terms(question).keys())
    return TEXT[low:high]


def test_the_nearest_one_is_shown_without_the_space_around_it():
    assert len(segments(TEXT)) == 3
    assert shown([0.1, 0.3, 0.2]) == SECOND


def test_words_of_the_question_outweigh_what_is_a_little_nearer():
    assert shown([0.3, 0.2, 0.1], "Who raised the rent?") == SECOND
    assert shown([0.9, 0.2, 0.1], "Who raised the rent?") == FIRST


def test_without_vectors_of_these_segments_all_is_shown():
    assert shown([]) == shown([0.1, 0.2]) == TEXT


def test_a_short_one_is_shown_with_what_stands_beside_it():
    text = f"{FIRST}\n\nThe key lies under the third stone.\n\n{SECOND}"
    cosines = np.array([0.1, 0.3, 0.1], np.float32)
    assert len(segments(text)) == 3
    low, high = nearest_segment(text, cosines, (), 15)
    assert text[low:high] == f"The key lies under the third stone.\n\n{SECOND}"
    low, high = nearest_segment(text, cosines[[0, 2, 1]], (), 20)
    assert text[low:high] == f"The key lies under the third stone.\n\n{SECOND}"
    assert nearest_segment(text, cosines, (), 10_000) == (0, len(text))
