"""Check what is drawn of a tree: words, in order, without what a terminal would obey."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from memtree.context.answer import Answer
from memtree.context.state import State
from memtree.conversation.message import Message
from memtree.unfolding.explain import ExplainedExcerpt, ExplainedNode, Explanation
from memtree_proxy.cli.trees import (
    draw_path,
    draw_unfolded,
    quoted_messages,
    quoted_text,
    summary_line,
)

WORDS = "the tide turns at noon"
MESSAGES = [
    Message.of({"role": ("user", "assistant")[at % 2], "content": f"{at}: {WORDS} :100:"})
    for at in range(12)
]
TOP, LEAF, NEXT = b"top", b"leaf", b"next"
NODES = (
    ExplainedNode(TOP, 1, 0, 11, 0, False, "a day at sea [bold]", 0),
    ExplainedNode(LEAF, 0, 0, 7, 1, True, "the morning\x1b[2J", 0),
    ExplainedNode(NEXT, 0, 8, 11, 1, False, "the evening", 0),
)


def excerpt(message: int, *path: bytes, reason: str = "excerpt", rank: int = 1) -> ExplainedExcerpt:
    size = len(MESSAGES[message].text)
    return ExplainedExcerpt(
        message, "content", 0, size, "", 9, {"fused": 0.25}, reason, path=path, rank=rank
    )


def drawn(draw: Any, *given: Any, width: int = 100, **options: Any) -> list[str]:
    file = io.StringIO()
    draw(Console(file=file, width=width, markup=False, emoji=False), *given, **options)
    return [line.rstrip() for line in file.getvalue().splitlines()]


def test_excerpts_stand_under_their_summary_in_order() -> None:
    shown = Explanation(NODES, (excerpt(9, TOP, NEXT), excerpt(2, TOP, LEAF)))
    assert drawn(draw_unfolded, shown, MESSAGES) == [
        "memory message: summaries, and 2 excerpts, word for word",
        "└── 0-11 a day at sea [bold]",
        "    ├── 0-7 the morning�[2J",
        "    │   └── 2 user: “2: the tide turns at noon :100:”",
        "    └── 8-11 the evening",
        "        └── 9 assistant: “9: the tide turns at noon :100:”",
    ]


def test_a_long_run_is_told_by_its_beginning() -> None:
    many = Explanation(NODES, tuple(excerpt(at, TOP, LEAF) for at in range(6)))
    lines = drawn(draw_unfolded, many, MESSAGES)
    assert "    │   ├── 1 assistant: “1: the tide turns at noon :100:”" in lines
    assert "    │   └── … and of 4 more messages up to 5: 36 tokens" in lines
    assert not any("2 user" in line for line in lines)


def test_scores_are_shown_where_they_are_asked_for() -> None:
    shown = Explanation(NODES, tuple(excerpt(at, TOP, LEAF) for at in range(6)))
    assert "0.25" not in "".join(drawn(draw_unfolded, shown, MESSAGES))
    lines = drawn(draw_unfolded, shown, MESSAGES, scores=True)
    assert sum("9 tokens, excerpt: fused 0.25" in line for line in lines) == 6


def test_rules_stand_apart() -> None:
    shown = Explanation(NODES, (excerpt(3, TOP, LEAF, reason="rule"),))
    assert drawn(draw_unfolded, shown, MESSAGES)[-2:] == [
        "└── standing rules, always shown",
        "    └── 3 assistant: “3: the tide turns at noon :100:”",
    ]


def test_what_has_no_summary_above_it_stands_at_the_top() -> None:
    shown = Explanation((), (excerpt(3), excerpt(4, b"gone")))
    assert drawn(draw_unfolded, shown, MESSAGES)[1:] == [
        "├── 3 assistant: “3: the tide turns at noon :100:”",
        "└── 4 user: “4: the tide turns at noon :100:”",
    ]


def test_a_path_holds_the_summaries_above_and_the_words() -> None:
    one, other = excerpt(9, TOP, NEXT), excerpt(8, TOP, NEXT)
    shown = Explanation(NODES, (one, other))
    assert drawn(draw_path, shown, MESSAGES, [one, other], mark="noon") == [
        "the whole conversation, messages 0 to 11",
        "└── 0-11 a day at sea [bold]",
        "    └── 8-11 the evening",
        "        ├── message 8, user: 8: the tide turns at noon :100:",
        "        └── message 9, assistant: 9: the tide turns at noon :100:",
    ]


def test_excerpts_of_one_message_are_one() -> None:
    first = ExplainedExcerpt(2, "content", 3, 11, "", 2, {}, "excerpt")
    later = ExplainedExcerpt(2, "content", 12, 17, "", 2, {}, "excerpt")
    (quoted,) = quoted_messages([later, first], MESSAGES)
    assert (quoted.texts, quoted.tokens) == (("the tide", "turns"), 4)


def test_what_is_quoted_is_found_in_every_part() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"a": "sea"}'}}
    message = Message.of({"role": "assistant", "content": [{"type": "text", "text": "one"}],
                          "tool_calls": [call]})  # fmt: skip
    place = "tool_calls[0].function.arguments"
    found = ExplainedExcerpt(0, place, 7, 10, "", 1, {}, "excerpt")
    assert quoted_text(message, found) == "sea"
    assert quoted_text(message, ExplainedExcerpt(0, "content[0]", 0, 3, "", 1, {}, "")) == "one"
    assert quoted_text(message, ExplainedExcerpt(0, "gone", 0, 3, "", 1, {}, "")) == ""


@pytest.mark.parametrize("width", [20, 40])
def test_a_narrow_terminal_is_enough(width: int) -> None:
    shown = Explanation(NODES, (excerpt(9, TOP, NEXT), excerpt(2, TOP, LEAF)))
    assert all(len(line) <= width for line in drawn(draw_unfolded, shown, MESSAGES, width=width))


def answer(state: State, raw: int, sent: int, **counts: Any) -> Answer:
    return Answer(state, True, (), b"", raw, sent, 0, **counts)


def test_a_summary_line_says_what_its_numbers_are() -> None:
    folded = answer(State.PROVISIONAL, 9000, 900, outline_tokens=300, recent_tokens=100, excerpts=4)
    assert summary_line(folded) == (
        "9,000 tokens posted, 900 sent (10.0%): summaries of 300 tokens, 4 excerpts, newest "
        "messages of 100 tokens; ranked by words for now, until there are embeddings"
    )
    whole = answer(State.BELOW_THRESHOLD, 90, 90)
    assert summary_line(whole) == "90 tokens posted, 90 sent; sent whole: it is short"
