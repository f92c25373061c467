"""Where memories stand among posted messages, and how these are read in each dialect."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.dialects import posted_history
from memtree.dialects.fragment_caches import ROW_BYTES, FragmentCounts
from memtree.dialects.openai_chat import SYSTEM, USER, PlacedMemories
from memtree.dialects.translated_messages import RawItems, raw_items
from memtree.history import json_body
from memtree.history.address_chain import digest
from memtree.history.message import Message, Volatile
from memtree.text import memory_lines, tokens
from memtree.text.memory_lines import LineKind
from tests.made.shown_lines import lines_of

# ------------------------------------------------------------------------------------------------
# Where memories stand among posted messages; every other byte stays.


LINES = lines_of(('Deadline: "March" 15 (fact)', "Ä line (preference)"))
SECTION = memory_lines.section(LINES)
BLOCK = memory_lines.block(LINES)


def placed(placement: str = SYSTEM) -> PlacedMemories:
    return PlacedMemories.of(LINES, placement)


def system(content):
    return {"role": "system", "content": content}


def user(content):
    return {"role": "user", "content": content}


def text(content):
    return {"type": "text", "text": content}


IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
CALL = {"role": "assistant", "content": None, "tool_calls": [{"id": "c"}]}
RESULT = {"role": "tool", "tool_call_id": "c", "content": "42"}


@pytest.mark.parametrize(
    ("posted", "sent"),
    [
        ([system("be brief"), user("Hi")], [system(f"be brief\n\n{SECTION}"), user("Hi")]),
        ([user("Hi")], [system(SECTION), user("Hi")]),
        ([system(""), user("Hi")], [system(SECTION), user("Hi")]),
        ([system([]), user("Hi")], [system([text(SECTION)]), user("Hi")]),
        (
            [system([text("be brief")]), user("Hi")],
            [system([text("be brief"), text(SECTION)]), user("Hi")],
        ),
        (
            [system("one"), {"role": "developer", "content": "two"}, user("Hi"), system("late")],
            [
                system("one"),
                {"role": "developer", "content": f"two\n\n{SECTION}"},
                user("Hi"),
                system("late"),
            ],
        ),
        ([user("Hi"), system("late")], [system(SECTION), user("Hi"), system("late")]),
        ([system(None), user("Hi")], [system(SECTION), system(None), user("Hi")]),
        ([{"role": "system"}, user("Hi")], [system(SECTION), {"role": "system"}, user("Hi")]),
    ],
)
def test_behind_the_last_leading_system_message(posted, sent):
    array = json.dumps(posted).encode()
    assert json.loads(placed().within(array)) == sent
    raws = [json.dumps(one).encode() for one in posted]
    assert [json.loads(raw) for raw in placed().among(raws)] == sent


@pytest.mark.parametrize(
    ("posted", "sent"),
    [
        ([system("be brief"), user("Hi")], [system("be brief"), user(f"{BLOCK}\n\nHi")]),
        ([user([IMAGE])], [user([text(f"{BLOCK}\n\n"), IMAGE])]),
        (
            [user("old"), user("new"), CALL, RESULT],
            [user("old"), user(f"{BLOCK}\n\nnew"), CALL, RESULT],
        ),
        ([user(None)], [system(SECTION), user(None)]),
        ([CALL, RESULT], [system(SECTION), CALL, RESULT]),
    ],
)
def test_before_the_words_of_the_newest_message_of_the_user(posted, sent):
    array = json.dumps(posted).encode()
    assert json.loads(placed(USER).within(array)) == sent


PASSAGES = lines_of(["[a.md] Deploys happen on Tuesdays."], LineKind.DOCUMENT)
QUOTED = memory_lines.block(PASSAGES)


@pytest.mark.parametrize(
    ("placement", "posted", "sent"),
    [
        (
            SYSTEM,
            [system("be brief"), user("Hi")],
            [system(f"be brief\n\n{SECTION}"), user(f"{QUOTED}\n\nHi")],
        ),
        (SYSTEM, [user("Hi")], [system(SECTION), user(f"{QUOTED}\n\nHi")]),
        (
            SYSTEM,
            [system("be brief"), user("old"), user("new"), CALL, RESULT],
            [
                system(f"be brief\n\n{SECTION}"),
                user("old"),
                user(f"{QUOTED}\n\nnew"),
                CALL,
                RESULT,
            ],
        ),
        (SYSTEM, [CALL, RESULT], [system(f"{SECTION}\n\n{QUOTED}"), CALL, RESULT]),
        (USER, [user("Hi")], [user(f"{BLOCK}\n\n{QUOTED}\n\nHi")]),
    ],
)
def test_passages_of_documents_stand_before_the_newest_message(placement, posted, sent):
    both = PlacedMemories.of((*LINES, *PASSAGES), placement)
    assert json.loads(both.within(json.dumps(posted).encode())) == sent
    raws = [json.dumps(one).encode() for one in posted]
    assert [json.loads(raw) for raw in both.among(raws)] == sent


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=9,
)
contents = st.text(max_size=20) | st.lists(st.builds(text, st.text(max_size=9)), max_size=3)
messages = st.fixed_dictionaries(
    {"role": st.sampled_from(["system", "developer", "user", "assistant"]), "content": contents},
    optional={"name": values, "x": values},
)


@pytest.mark.slow
@given(
    st.lists(messages, min_size=1, max_size=6),
    st.sampled_from([None, 1, 4]),
    st.booleans(),
    st.sampled_from([SYSTEM, USER]),
)
def test_all_other_bytes_stay(posted, indent, ascii_, placement):
    array = f" {json.dumps(posted, indent=indent, ensure_ascii=ascii_)} ".encode()
    sent = placed(placement).within(array)
    before = next(i for i in range(len(array)) if array[i] != sent[i])
    after = next(i for i in range(1, len(array)) if array[-i] != sent[-i])
    kept = len(array) - (after - 1)
    assert kept - before <= 1  # nothing of the array is left out but a quotation mark or bracket
    shown = json.loads(sent)
    assert sum(memory_lines.NOTE in json.dumps(one) for one in shown) == 1
    if len(shown) > len(posted):
        assert shown == [system(SECTION), *posted]


@pytest.mark.slow
@given(
    st.lists(messages, min_size=1, max_size=6),
    st.sampled_from([None, 1, 4]),
    st.sampled_from([SYSTEM, USER]),
)
def test_in_two_messages_all_other_bytes_stay(posted, indent, placement):
    array = f" {json.dumps(posted, indent=indent)} ".encode()
    both = PlacedMemories.of((*LINES, *PASSAGES), placement)
    raws = [bytes(raw) for raw in msgspec.json.decode(array, type=list[msgspec.Raw])]
    sent = both.within(array)
    assert json.loads(sent) == [json.loads(raw) for raw in both.among(raws)]
    assert sent.startswith(array[: array.index(b"[") + 1])
    shown = json.loads(sent)
    told = [json.dumps(one) for one in shown]
    assert sum(memory_lines.NOTE in one for one in told) == 1
    assert sum(memory_lines.DOCUMENTS_NOTE in one for one in told) == 1
    rest = shown[1:] if len(shown) > len(posted) else shown
    for one, original in zip(rest, posted, strict=True):
        assert {**one, "content": 0} == {**original, "content": 0}
    unchanged = sum(one == original for one, original in zip(rest, posted, strict=True))
    assert unchanged >= len(posted) - 2


# ------------------------------------------------------------------------------------------------
# Check what a client sends alike with each request is counted once.


TOOLS = b'[{"name":"caf\xc3\xa9","cache_control":{"type":"ephemeral"}},{"cache_control":null}]' * 9


def test_tokens_and_markers_of_a_fragment():
    counts = FragmentCounts(1)
    for _ in range(2):
        assert counts.of(TOOLS) == (tokens.count(TOOLS.decode()), 18)
        assert counts.of(b"[]") == (tokens.count("[]"), 0)
    assert counts.nbytes == ROW_BYTES


def test_it_is_bounded_in_bytes():
    counts = FragmentCounts(1, most=3 * ROW_BYTES)
    for number in range(9):
        counts.of(TOOLS + b"%d" % number)
    assert counts.nbytes == 3 * ROW_BYTES


# ------------------------------------------------------------------------------------------------
# A posted history reads the same in the three dialects.


THOUGHT, ANSWER = "<think>\n51? No.\n</think>\n\n", "The limit is 521."
VOLATILE = Volatile()


def posted_history_text(words, kind="text"):
    return {"type": kind, "text": words}


def chat(content):
    return {
        "messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": content}]
    }


def blocks(content):
    return {**chat(content), "dialect": "messages"}


def items(content):
    return {"input": [{"role": "user", "content": "a"}, {"role": "assistant", "content": content}]}


@pytest.mark.parametrize(
    "posted",
    [
        chat(THOUGHT + ANSWER),
        chat([posted_history_text(THOUGHT + ANSWER)]),
        chat([posted_history_text(THOUGHT), posted_history_text(ANSWER)]),
        chat(
            [
                posted_history_text("<think>51?"),
                posted_history_text("No.\n</think>\n"),
                posted_history_text(ANSWER),
            ]
        ),
        blocks(THOUGHT + ANSWER),
        blocks([posted_history_text(THOUGHT), posted_history_text(ANSWER)]),
        blocks(
            [
                {"type": "thinking", "thinking": "Hm.", "signature": "s"},
                posted_history_text(THOUGHT + ANSWER),
            ]
        ),
        items(THOUGHT + ANSWER),
        items(
            [
                posted_history_text(THOUGHT, "output_text"),
                posted_history_text(ANSWER, "output_text"),
            ]
        ),
    ],
)
def test_thoughts_among_the_words_are_neither_hashed_nor_indexed(posted):
    body = json_body.split(msgspec.json.encode(posted))
    message = posted_history.read(body, "t").messages[-1]
    view = message.view(VOLATILE)
    assert view.text == ANSWER
    assert [message.text[start:end] for start, end in view.posted(0, len(ANSWER))] == [ANSWER]
    assert digest(message, VOLATILE) == digest(
        Message.of({"role": "assistant", "content": ANSWER}), VOLATILE
    )


@pytest.mark.parametrize("role", ["user", "tool"])
def test_only_a_model_has_thoughts(role):
    assert Message.of({"role": role, "content": THOUGHT}).view(VOLATILE).text == THOUGHT


# ------------------------------------------------------------------------------------------------
# The items of a posted array, where they stand.


BODY = b'{"model": "m", "input" : [ {"a":[1]} , 7 ,\n[2] ], "n": [0]}'


def found(body: bytes = BODY) -> RawItems:
    items = raw_items(json_body.split(body), "input")
    assert items is not None
    return items


def test_items_are_cut_out_where_they_stand():
    items = found()
    assert items[0:3] == (b'{"a":[1]}', b"7", b"[2]")
    assert [items.size(at) for at in range(len(items))] == [9, 1, 3]
    assert items[-1] == b"[2]"
    assert list(items) == list(items[:])


def test_the_array_is_the_posted_one():
    assert found().array() == b'[ {"a":[1]} , 7 ,\n[2] ]'
    assert found().with_item(1, b"8") == b'[ {"a":[1]} , 8 ,\n[2] ]'


def test_each_list_has_a_number_of_its_own():
    assert found().number != found().number


@pytest.mark.parametrize("posted", [b'"a"', b"null", b"{}", b"[]"])
def test_where_there_are_none(posted):
    assert not raw_items(json_body.split(b'{"input":' + posted + b"}"), "input")
    assert not raw_items(json_body.split(b'{"model":' + posted + b"}"), "input")
