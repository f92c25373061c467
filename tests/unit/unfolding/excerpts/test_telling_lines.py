"""Check which lines of an answer are shown where the whole has no room."""

from __future__ import annotations

import numpy as np
import pytest

from memtree.conversation.message import Message
from memtree.ranking.corpus import Corpus
from memtree.text import terms, tokens
from memtree.unfolding.excerpts.telling_lines import (
    LEAST,
    LONGEST,
    MOST,
    telling_lines,
    telling_run,
)
from tests.made.trees import places
from tests.properties.strategies import batch, history_of, leaves_of, prose

ANSWER = """Great question! I am happy to help you with the choice of a database today.

1. **PostgreSQL**: you should use version 16, since it keeps 500 connections with a pool.
2. **Backups**: run them each night at two, and keep thirty days of them in another region.
- short
- tiny

Let me know if you have any other questions, and good luck with the project!"""


def shown(text, question=""):
    run = telling_run(text, terms.terms(question).keys())
    return text[run.start : run.end] if run else None


def test_entries_with_numbers_and_decisions_come_before_politeness():
    assert shown(ANSWER) == ANSWER.split("\n")[2]


def test_what_was_asked_for_decides_between_them():
    assert shown(ANSWER, "When do the backups run at night?") == ANSWER.split("\n")[3]


def test_short_lines_are_shown_together():
    lines = [f"- step {n} of the whole plan for the move" for n in range(9)]
    run = telling_run("\n".join(lines), ())
    assert LEAST <= run.tokens <= MOST
    assert shown("\n".join(lines)).count("\n") >= 1


def test_of_long_paragraphs_the_shortest_is_shown_unless_it_is_too_long():
    long, longer = prose(1, 18).strip(), prose(2, 60).replace("\n", " ")
    assert MOST < tokens.count(long) <= LONGEST < tokens.count(longer)
    assert shown(f"{longer}\n\n{long}\n") == long
    assert shown(longer) is None


@pytest.mark.parametrize("text", ["", "\n\n", "ok", "ok\nyes\nno"])
def test_nothing_to_tell(text):
    assert shown(text) is None


class Past:
    """Requests and long answers, each with a line of its own."""

    def __init__(self):
        self.turns = []
        for n in range(20):
            line = f"{n}. Decision number {n}: use the {prose(n + 500, 2)} library from now on."
            self.turns += [
                ("user", f"Request about topic {prose(n + 900, 6)}"),
                ("assistant", "\n\n".join([prose(n, 90), line, prose(n + 50, 90)])),
            ]
        made = [Message.of({"role": role, "content": text}) for role, text in self.turns]
        self.history = history_of(made)
        grown = batch(self.history)
        leaves = leaves_of(grown.frontier, {node.id: node for node in grown.nodes})
        leaves += [grown.open] if grown.open else []
        self.corpus = Corpus(1)
        self.corpus.extend(leaves, places(leaves))

    def lines(self, scores, quoted=(), cut=None):
        fused = np.zeros(len(self.corpus), np.float32)
        for message, score in scores.items():
            fused[self.corpus.message == message] = score
        allowed = self.corpus.message < (len(self.history) if cut is None else cut)
        found = telling_lines(self.history, self.corpus, fused, allowed, (), quoted)
        return [(line, self.text(line.span)) for line in found]

    def text(self, span):
        return self.history.view(span.message).text[span.start : span.end]


@pytest.fixture(scope="module")
def past():
    return Past()


def test_answers_come_by_their_score_and_by_that_of_their_request(past):
    found = past.lines({5: 0.1, 8: 0.3, 13: 0.2})
    assert [line.span.message for line, _ in found] == [13, 9, 5]
    for line, text in found:
        assert tokens.count(text) == line.tokens
        assert past.corpus.message[line.row] == line.span.message
        assert past.corpus.start[line.row] <= line.span.start < past.corpus.end[line.row]


def test_they_are_whole_lines(past):
    for line, text in past.lines(dict.fromkeys(range(1, 40, 2), 0.1)):
        assert set(text.split("\n")) <= set(past.turns[line.span.message][1].split("\n"))


def test_requests_and_what_is_shown_already_give_none(past):
    assert [line.span.message for line, _ in past.lines({4: 0.3})] == [5]
    assert past.lines({4: 0.3}, quoted={5}) == []
    assert past.lines({}) == []


def test_an_answer_behind_the_cut_gives_none_whatever_its_request_scores(past):
    scores = {4: 0.3, 5: 0.2, 8: 0.1}
    assert [line.span.message for line, _ in past.lines(scores, cut=6)] == [5]
    assert past.lines(scores, cut=5) == []
