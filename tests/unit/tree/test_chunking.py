"""Blocks and leaves: lossless, cohesive, of the right size, the same however the text came."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtree.conversation.call_arguments import canonical
from memtree.conversation.message import Message, Volatile
from memtree.text import tokens
from memtree.tree import chunking, node
from memtree.tree.chunking import MAX_LEAF, MIN_LEAF
from tests.properties.strategies import code, conversation, exotic, history_of, prose


def views(*messages):
    made = [
        Message.of(one if isinstance(one, dict) else {"role": "user", "content": one})
        for one in messages
    ]
    return [message.view(Volatile()) for message in made]


def answer(content):
    return {"role": "assistant", "content": content}


def texts_of(found, posted, first=0):
    """Return the texts of blocks of the views `posted`, which begin with message `first`."""
    return [posted[block.message - first].text[block.start : block.end] for block in found]


def leaves(posted):
    """Texts of the final leaves of views, and of what is not final yet."""
    found = chunking.blocks(posted, 0, 0)
    texts = texts_of(found, posted)
    cuts = list(chunking.cuts(found))
    end = cuts[-1].end if cuts else 0
    return ["".join(texts[cut.first : cut.end]) for cut in cuts], "".join(texts[end:])


def sizes(found):
    return [sum(b.tokens for b in found[cut.first : cut.end]) for cut in chunking.cuts(found)]


TEXTS = {
    "prose": prose(1, 3000),
    "code": code(2, 900),
    "one line": "word " * 4000,
    "no spaces": "x" * 30_000,
    "unicode": exotic(3, 4000),
    "chinese": "数据库连接失败。" * 600,
    "emoji": "👩‍👩‍👧" * 900,
    "json": json.dumps([{"id": n, "name": prose(n, 4)} for n in range(300)]),
    "log": "\n".join(f"2024-01-01 ERROR worker {n} failed" for n in range(600)),
    "markdown": "\n\n".join(
        f"## Part {n}\n\n{prose(n, 60)}\n\n```\n{code(n, 9)}\n```" for n in range(30)
    ),
    "unclosed": f"{prose(4, 200)}\n```python\n{code(5, 800)}",
    "separators": "a\x0b\x0cb\x85c\u2028d\r\ne\rf " * 800,
}


@pytest.mark.parametrize("name", TEXTS)
def test_blocks_and_leaves_give_the_text_again(name):
    posted = views(TEXTS[name])
    found = chunking.blocks(posted, 0, 0)
    assert "".join(texts_of(found, posted)) == posted[0].text
    assert [b.start for b in found] == [0, *(b.end for b in found[:-1])]
    texts, rest = leaves(posted)
    assert "".join(texts) + rest == posted[0].text


@pytest.mark.parametrize("name", TEXTS)
def test_leaves_have_300_to_900_tokens(name):
    found = sizes(chunking.blocks(views(TEXTS[name]), 0, 0))
    assert found
    assert max(found) <= MAX_LEAF
    # A fence or object that fits a leaf is worth a leaf that is too small before it.
    small = [size for size in found if size < MIN_LEAF]
    assert not small or name in ("markdown", "json", "unclosed")


@pytest.mark.slow
@settings(max_examples=30)
@given(st.text(max_size=400), st.sampled_from(["user", "assistant"]))
def test_any_text_is_kept(text, role):
    posted = views({"role": role, "content": text})
    found = chunking.blocks(posted, 3, 0)
    assert "".join(texts_of(found, posted, 3)) == posted[0].text
    assert {block.message for block in found} == {3}


@pytest.mark.slow
def test_a_message_of_200k_tokens_is_several_leaves():
    text = prose(6, 100_000)
    assert tokens.count(text) > 200_000
    texts, rest = leaves(views(text))
    assert 200_000 / MAX_LEAF < len(texts) < 200_000 / MIN_LEAF * 1.5
    assert "".join(texts) + rest == text


@pytest.mark.slow
def test_5000_messages_of_one_word_are_few_leaves():
    many = views(*[{"role": ("user", "assistant")[n % 2], "content": "ok"} for n in range(5_000)])
    texts, rest = leaves(many)
    assert 5 <= len(texts) <= 5_000 / MIN_LEAF
    assert len("".join(texts) + rest) == 10_000


def test_empty_messages_take_their_place():
    posted = views("a", answer(""), answer(None), "b")
    found = chunking.blocks(posted, 0, 0)
    assert texts_of(found, posted) == ["a", "", "", "b"]
    assert [(b.message, b.tokens) for b in found] == [(0, 1), (1, 0), (2, 0), (3, 1)]


def unsplit(piece, around=12):
    """Return True if the piece lies in one leaf, wherever in a leaf's length it begins."""
    for words in range(0, 60 * around, 60):
        text = f"{prose(1, words)}\n\n{piece}\n\n{prose(2, 1500)}"
        texts, rest = leaves(views(text))
        if not any(piece in one for one in [*texts, rest]):
            return False
    return True


@pytest.mark.parametrize("lines", [5, 40, 80, 115])
@pytest.mark.parametrize("mark", ["```", "~~~", "````"])
def test_fences_that_fit_stay_in_one_leaf(mark, lines):
    assert unsplit(f"{mark}python\n{code(3, lines)[: chunking.UNIT - 60]}\n{mark}")


def test_a_fence_inside_a_longer_fence_does_not_close_it():
    assert unsplit(f"````\n{code(1, 20)}\n```\ninner\n```\n{code(2, 20)}\n````")


def objects(size):
    """A JSON object of about `size` characters."""
    rows = [{"id": n, "text": prose(n, 9)} for n in range(size // 75)]
    return json.dumps({"rows": rows}, indent=1)


def test_json_that_fits_stays_in_one_leaf():
    value = objects(1_500)
    result = {"role": "tool", "tool_call_id": "c", "content": value}
    for words in range(0, 700, 70):
        many = views(f"go {prose(1, words)}", answer("yes"), result, prose(2, 1500))
        texts, rest = leaves(many)
        assert any(value in one for one in [*texts, rest])


def test_arguments_of_a_call_that_fit_stay_in_one_leaf():
    value = objects(1_500)
    call = {"id": "c", "type": "function", "function": {"name": "put", "arguments": value}}
    for words in range(0, 700, 70):
        many = views(
            f"go {prose(1, words)}", {**answer(None), "tool_calls": [call]}, prose(2, 1500)
        )
        texts, rest = leaves(many)
        assert any(canonical(value) in one for one in [*texts, rest])


def test_functions_stay_in_one_leaf():
    """Code without a fence, as tools print it: every leaf of it begins with a definition."""
    source = "\n".join(
        f"def step_{n}(value):\n    {f'value += {n}; ' * 20}\n    return value\n" for n in range(60)
    )
    texts, _ = leaves(views({"role": "tool", "tool_call_id": "c", "content": source}))
    assert len(texts) > 3
    assert all(text.startswith("def step_") for text in texts)


def test_leaves_prefer_the_borders_of_asks():
    many = []
    for n in range(40):
        many += [prose(n, 30), answer(prose(n, 120))]
    found = chunking.blocks(views(*many), 0, 0)
    borders = [found[cut.first].border for cut in chunking.cuts(found)][1:]
    assert len(borders) > 5
    assert borders.count(chunking.ASK) > 0.9 * len(borders)


def test_leaves_end_where_the_topic_changes():
    """Among equal borders the weakest cohesion wins."""
    one, other = (
        [f"{word} {n} " * 12 for n in range(6)]
        for word in ("database index query", "violin concert opera")
    )
    texts, _ = leaves(views(*one, *other, *one, *other))
    assert texts
    assert not any("query" in text.split("violin")[0] and "violin" in text for text in texts[:1])


def test_kinds_of_blocks():
    call = {"id": "c", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    found = chunking.blocks(
        views(
            "ask",
            {**answer("Now\n```\ncode\n```\n"), "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": "```\nout\n```"},
        ),
        0,
        0,
    )
    assert [(b.message, b.kind) for b in found] == [
        (0, node.USER), (1, node.ASSISTANT), (1, node.CODE), (1, node.CALL), (2, node.TOOL)
    ]  # fmt: skip


def test_volatile_blocks_are_no_border_and_no_text():
    plain = prose(1, 900)
    noisy = plain[:700] + "<system-reminder>x</system-reminder>" + plain[700:]
    one, other = (chunking.blocks(views(text), 0, 0) for text in (plain, noisy))
    assert one == other


def test_blocks_from_the_middle_of_a_message_are_those_of_the_whole():
    text = prose(8, 2000)
    whole = chunking.blocks(views(text, "next"), 5, 0)
    skip = whole[4].start
    assert chunking.blocks(views(text, "next"), 5, skip) == whole[4:]


def test_a_leaf_is_final_once_900_tokens_follow_its_start():
    found = chunking.blocks(views(prose(9, 6000)), 0, 0)
    for cut in chunking.cuts(found):
        assert sum(b.tokens for b in found[cut.first : cut.seen]) >= MAX_LEAF
        assert cut.end <= cut.seen
        early = list(chunking.cuts(found[cut.first : cut.seen]))
        assert early == []
        (one, *_) = chunking.cuts(found[cut.first : cut.seen + 1])
        assert one.end == cut.end - cut.first


@pytest.mark.parametrize("seed", range(4))
def test_borders_fall_in_step_again_after_an_insertion(seed):
    history = history_of(conversation(seed, 12_000))
    old = [history.view(index) for index in range(len(history))]
    new = [*views(f"inserted {prose(seed, 40)}"), *old]
    before, _ = leaves(old)
    after, _ = leaves(new)
    assert before[-1] == after[-1]
    assert len(set(after) - set(before)) <= 8
