"""What stands there whatever is asked: here the steps of a cut tool loop."""

from __future__ import annotations

from memtree.unfolding.budget_split import LASTING, ONE_SHOT
from memtree.unfolding.memory_text import quote_lines
from memtree.unfolding.pins import Pins
from memtree.unfolding.plan import FoldWindow
from tests.unit.unfolding.histories import answering, call, calling, history


def loop(rounds):
    made = ["Rename frobnicate everywhere."]
    for n in range(rounds):
        id_ = f"c{n}"
        made += [
            calling(
                call("read_file", f'{{"path": "src/file{n % 30}.py"}}', id_), content="x " * 90
            ),
            answering(f"text {n}", id_),
        ]
    return history(*made)


def pinned(found, budget=2_000, split=LASTING, head=0):
    window = FoldWindow(len(found) - 6, budget, head)
    return Pins(found, (), window, split).chosen


def test_the_last_calls_are_named_once_each():
    found = loop(60)
    steps = [choice for choice in pinned(found) if choice.reason == "step"]
    lines = list(quote_lines([choice.span for choice in steps], found))
    assert len(lines) == len(steps) > 5
    named = [line.partition(", calls ")[2] for line in lines]
    assert len(set(named)) == len(named)
    assert all(line.startswith("read_file src/") for line in named)
    whole = {choice.span.message for choice in pinned(found) if choice.reason == "trail"}
    assert whole
    assert whole.isdisjoint(choice.span.message for choice in steps)


def test_steps_keep_to_a_part_of_the_trail():
    sizes = [
        sum(c.tokens for c in pinned(loop(200), n) if c.reason == "step") for n in (500, 4_000)
    ]
    assert sizes[0] < sizes[1] <= 0.2 * 4_000


def test_an_answer_for_one_question_names_no_steps():
    assert {choice.reason for choice in pinned(loop(60), split=ONE_SHOT)} == {"ask"}


def test_the_ask_is_not_pinned_where_it_goes_whole():
    assert "ask" not in {choice.reason for choice in pinned(loop(60), head=1)}
