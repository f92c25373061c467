"""Items as canonical messages: runs, outputs, and what may not be parted."""

from __future__ import annotations

import json

import pytest

from memtree.conversation import history
from memtree.conversation.message import Volatile
from memtree.dialects.openai_responses import conversation
from memtree.dialects.openai_responses.input_item import read_item
from memtree.dialects.openai_responses.translation import Beginning


def user(text, **more):
    return {"type": "message", "role": "user", "content": text, **more}


def developer(text):
    return {"type": "message", "role": "developer", "content": text}


def said(text, **more):
    return {"role": "assistant", "content": [{"type": "output_text", "text": text}], **more}


def thought(name="rs_1"):
    return {"type": "reasoning", "id": name, "summary": [], "encrypted_content": "gAAAA"}


def call(name, own="", tool="read"):
    made = {"type": "function_call", "call_id": name, "name": tool, "arguments": "{}"}
    return {**made, "id": own or f"fc_{name}"}


def output(name, text="ok"):
    return {"type": "function_call_output", "call_id": name, "output": text}


def read(*items, instructions=None):
    raws = [json.dumps(item).encode() for item in items]
    read_items = [read_item(raw, f"input[{i}]") for i, raw in enumerate(raws)]
    first = None if instructions is None else json.dumps(instructions).encode()
    return conversation.read(first, raws, read_items)


def places(found):
    return tuple(tuple(found.items(index)) for index in range(len(found.messages)))


def roles(found):
    return "".join(message.role[0] for message in found.messages)


def test_a_run_of_the_model_is_one_message():
    found = read(
        user("Go."), thought(), said("A, "), said("b."), call("1"), call("2"),
        output("2", "two"), output("1", "one"), said("Done."),
    )  # fmt: skip
    assert roles(found) == "uatta"
    assert places(found) == ((0,), (1, 2, 3, 4, 5), (6,), (7,), (8,))
    run = found.messages[1]
    assert run.text == "A, b.\nread {}\nread {}"
    assert [one.id for one in run.calls] == ["1", "2"]
    assert run.fields["reasoning_content"] == ["gAAAA"]
    assert [message.text for message in found.messages[2:4]] == ["two", "one"]


def test_instructions_lead_and_are_no_item():
    found = read(developer("Skills."), user("Hi"), instructions="Be brief.")
    assert roles(found) == "sdu"
    assert places(found) == ((), (0,), (1,))
    assert found.messages[0].text == "Be brief."


def test_a_message_of_the_user_is_the_posted_item():
    item = user([{"type": "input_text", "text": "Hi"}], id="msg_1")
    (message,) = read(item).messages
    assert json.loads(message.raw) == item


def test_an_output_without_a_call_stays_where_it_is():
    found = read(output("0"), user("Go."), call("1"), output("1"), output("2"), user("So."))
    assert roles(found) == "tuattu"
    assert places(found) == tuple((index,) for index in range(6))
    assert history.read("t", found.messages, Volatile()).cuts == (0, 1, 2, 5)


def test_an_output_without_a_call_may_have_it_in_the_beginning():
    known = read(user("Go."), call("1"), output("1")).messages
    assert len(known) == 3
    raws = [
        json.dumps(each).encode() for each in (user("Go."), call("1"), user("So."), output("1"))
    ]
    items = [read_item(raw, "") for raw in raws]
    first = conversation.read_on(raws[:3], items[:3], Beginning()).translated
    with pytest.raises(conversation.BeginningChanged):
        conversation.read_on(raws, items, first.beginning(3))


def test_messages_of_unknown_roles_stand_for_themselves():
    found = read(user("Go."), {"role": "critic", "content": "Hm."}, said("So."))
    assert [message.role for message in found.messages] == ["user", "critic", "assistant"]


def test_an_output_that_names_no_call_answers_the_next_one():
    nameless = {"type": "tool_search_output", "call_id": None, "tools": []}
    search = {"type": "tool_search_call", "id": "tsc_1", "call_id": None, "arguments": {}}
    found = read(user("Go."), search, nameless, said("Done."))
    assert roles(found) == "uata"
    assert history.read("t", found.messages, Volatile()).rounds == (0, 1, 3)
    assert roles(read(user("Go."), search, nameless, nameless)) == "uatt"


def test_the_same_call_id_means_the_call_before():
    found = read(call("1"), output("1", "a"), user("?"), call("1", "fc_2"), output("1", "b"))
    assert [message.text for message in found.messages] == ["\nread {}", "a", "?", "\nread {}", "b"]
    assert not any(message.joined for message in found.messages)


def test_a_late_output_stands_behind_its_call_and_is_not_parted_from_it():
    found = read(
        user("Go."), call("1"), user("Hurry."), call("2"), output("2"), output("1"), user("And?")
    )
    assert roles(found) == "uatuatu"
    assert places(found) == ((0,), (1,), (5,), (2,), (3,), (4,), (6,))
    assert [m.joined for m in found.messages] == [0, 0, 0, 1, 1, 0, 0]
    read_history = history.read("t", found.messages, Volatile())
    assert not {3, 4} & set(read_history.cuts)
    assert 6 in read_history.cuts


def test_calls_that_come_one_by_one_stay_with_their_reasoning():
    found = read(
        user("Go."), thought(), call("1"), output("1"), call("2"), output("2"),
        thought("rs_2"), call("3"), output("3"), user("And?"), said("Done.", id="msg_1"),
    )  # fmt: skip
    assert roles(found) == "uatatatua"
    assert [i for i, message in enumerate(found.messages) if message.joined] == [3]


@pytest.mark.parametrize(
    "run",
    [
        [{**thought(), "id": None}, call("0"), output("0")],  # the server pairs by ids
        [call("0"), output("0")],
        [thought(), call("0"), output("0"), said("Next."), call("9"), output("9")],
    ],
)
def test_runs_without_paired_reasoning_are_free(run):
    found = read(user("Go."), *run, call("1"), output("1"), call("2"), output("2"))
    assert not any(message.joined for message in found.messages)


def test_not_all_of_a_long_session_is_joined():
    runs = [item for i in range(40) for item in (call(str(i)), output(str(i)))]
    found = read(user("Go."), thought(), *runs)
    assert sum(message.joined for message in found.messages) == conversation.TOGETHER


def test_settings_in_the_middle_are_the_systems():
    tools = {"type": "additional_tools", "role": "developer", "tools": [{"name": "a"}]}
    found = read(user("Go."), said("Yes."), tools, user("On."))
    assert roles(found) == "uasu"
    assert found.messages[2].text == ""


def test_all_up_to_the_newest_compaction_stays():
    compaction = {"type": "compaction", "encrypted_content": "x" * 400}
    found = read(
        user("One."), compaction, said("Two."), call("1"), compaction, output("1"), call("2"),
        output("2"), user("Three."),
    )  # fmt: skip
    assert roles(found) == "ssssssatu"
    assert places(found) == tuple((index,) for index in range(9))
    assert [m.text for m in found.messages[:1]] == ["\n[message]"]
    assert history.read("t", found.messages, Volatile()).system_tokens > 2 * 400 // 5


def test_a_refusal_is_text_and_a_thought_is_none():
    refusal = {"type": "refusal", "refusal": "No."}
    found = read(user("Go."), {"role": "assistant", "content": [refusal]})
    assert found.messages[1].content == "No."
    assert read(thought()).messages[0].content is None
