"""Items as canonical messages, and which requests leave a place for tools of ours."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from memtree.dialects import responses_conversation, responses_history, translated_messages
from memtree.dialects.responses_history import ResponsesHistory
from memtree.dialects.responses_items import ItemCache, KnownInputs, read_item
from memtree.dialects.tool_definitions import CHAT_MEMORY_TOOLS, CONTEXT_TOOLS
from memtree.dialects.translated_messages import Beginning, raw_items
from memtree.history import chat_history, json_body
from memtree.history.message import Volatile
from memtree.history.message_list import EarlierList, MessageList
from memtree_proxy.dialects.responses_dialect import tool_offer
from memtree_proxy.dialects.tool_offer import Offer
from tests.wire.responses.responses_rules import broken
from tests.wire.rule_break import Fields

# ------------------------------------------------------------------------------------------------
# Items as canonical messages: runs, outputs, and what may not be parted.


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
    return responses_conversation.read(first, raws, read_items)


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
    assert chat_history.read("t", found.messages, Volatile()).cuts == (0, 1, 2, 5)


def test_an_output_without_a_call_may_have_it_in_the_beginning():
    known = read(user("Go."), call("1"), output("1")).messages
    assert len(known) == 3
    raws = [
        json.dumps(each).encode() for each in (user("Go."), call("1"), user("So."), output("1"))
    ]
    items = [read_item(raw, "") for raw in raws]
    first = responses_conversation.read_on(raws[:3], items[:3], Beginning()).translated
    with pytest.raises(responses_conversation.BeginningChanged):
        responses_conversation.read_on(raws, items, first.beginning(3))


def test_messages_of_unknown_roles_stand_for_themselves():
    found = read(user("Go."), {"role": "critic", "content": "Hm."}, said("So."))
    assert [message.role for message in found.messages] == ["user", "critic", "assistant"]


def test_an_output_that_names_no_call_answers_the_next_one():
    nameless = {"type": "tool_search_output", "call_id": None, "tools": []}
    search = {"type": "tool_search_call", "id": "tsc_1", "call_id": None, "arguments": {}}
    found = read(user("Go."), search, nameless, said("Done."))
    assert roles(found) == "uata"
    assert chat_history.read("t", found.messages, Volatile()).rounds == (0, 1, 3)
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
    read_history = chat_history.read("t", found.messages, Volatile())
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
    assert sum(message.joined for message in found.messages) == responses_conversation.TOGETHER


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
    assert chat_history.read("t", found.messages, Volatile()).system_tokens > 2 * 400 // 5


def test_a_refusal_is_text_and_a_thought_is_none():
    refusal = {"type": "refusal", "refusal": "No."}
    found = read(user("Go."), {"role": "assistant", "content": [refusal]})
    assert found.messages[1].content == "No."
    assert read(thought()).messages[0].content is None


# ------------------------------------------------------------------------------------------------
# Positions and marks of the canonical messages of a list of items. What is read from a known
# beginning on is what is read anew: `tests/properties/dialects/test_translating_on.py`.


TALK = [
    user("a"), thought(), call("1"), call("2"), output("1"), output("2"), said("b"), user("c"),
]  # fmt: skip
TOOLS = {"type": "additional_tools", "role": "developer", "tools": [{"name": "memory_read"}]}


class Counted(ItemCache):
    """Record of which items were looked at."""

    def __init__(self) -> None:
        super().__init__(1)
        self.looked: list[bytes] = []

    def get(self, tenant, raw):
        self.looked.append(raw)
        return super().get(tenant, raw)


class Client:
    """Posts requests one after the other, each with a beginning that is known."""

    def __init__(self) -> None:
        self.cache, self.known = Counted(), KnownInputs()
        self.number = 0

    def posts(self, items: list[dict], common: int, tenant: str = "t", **more) -> ResponsesHistory:
        body = json_body.split(json.dumps({"input": items, **more}).encode())
        raws = raw_items(body, "input")
        assert raws is not None
        raws = dataclasses.replace(raws, earlier=EarlierList(self.number, common))
        self.number = raws.number
        self.cache.looked.clear()
        return responses_history.read_items(body, lambda: raws, tenant, self.cache, self.known)

    @property
    def looked(self) -> int:
        return len(self.cache.looked)


def listed(found: ResponsesHistory) -> MessageList:
    assert isinstance(found.messages, MessageList)
    return found.messages


def begins(found: ResponsesHistory) -> EarlierList | None:
    return listed(found).earlier


def test_only_what_stands_behind_the_last_known_step_is_looked_at():
    client = Client()
    first = client.posts(TALK, 0, instructions="i")
    assert (client.looked, begins(first)) == (8, None)
    second = client.posts([*TALK, said("d"), user("e")], 8, instructions="i")
    assert (client.looked, begins(second)) == (3, (listed(first).number, 6))
    again = client.posts([*TALK, said("d"), user("e")], 10, instructions="i")
    assert client.looked == 0
    assert listed(again).number == listed(second).number
    branch = client.posts([*TALK[:5], output("2", "other"), user("x")], 5, instructions="i")
    assert (client.looked, begins(branch)) == (6, (listed(second).number, 2))


@pytest.mark.parametrize(
    "more",
    [
        [output("1", "again")],  # it answers a call before the last known step
        [{"type": "compaction", "encrypted_content": "x"}],
    ],
)
def test_what_changes_the_beginning_is_read_as_a_whole(more):
    client = Client()
    client.posts(TALK, 0)
    found = client.posts([*TALK, *more, user("d")], 8)
    assert begins(found) is None
    assert client.looked == len(TALK) + 2
    anew = Client().posts([*TALK, *more, user("d")], 0)
    assert found.translated == anew.translated


def test_with_other_instructions_it_begins_otherwise():
    client = Client()
    client.posts(TALK, 0, instructions="i")
    assert begins(client.posts([*TALK, said("d")], 8, instructions="j")) is None
    assert begins(client.posts([*TALK, said("d")], 8)) is None
    assert begins(client.posts([*TALK, said("d")], 9))


def test_nothing_is_known_of_another_tenant_or_after_a_deletion():
    client = Client()
    client.posts(TALK, 0)
    assert begins(client.posts(TALK, 8, "other")) is None
    client.posts(TALK, 0)
    client.known.forget()
    assert begins(client.posts(TALK, 8)) is None


def test_a_call_belongs_to_the_reasoning_of_a_beginning():
    items = [user("a"), thought(), call("1"), output("1"), call("2"), output("2")]
    client = Client()
    client.posts(items[:4], 0)
    found = client.posts(items, 4)
    assert [message.joined for message in found.messages] == [0, 0, 0, 1, 0]
    found = client.posts([*items, call("3"), output("3")], 6)
    assert [message.joined for message in found.messages] == [0, 0, 0, 1, 0, 1, 0]


def test_tools_that_items_define_are_known_as_the_history_grows():
    client = Client()
    assert client.posts(TALK, 0).defined is None
    first = client.posts([*TALK, TOOLS, user("d")], 8)
    assert first.defined == {"memory_read"}
    second = client.posts([*TALK, TOOLS, user("d"), said("e"), user('"save_memory"')], 10)
    assert second.defined == {"memory_read"}  # as a whole string only
    assert second.tools_tokens == first.tools_tokens > 0
    branch = client.posts([*TALK, user("memory_search")], 8)
    assert (branch.defined, branch.tools_tokens) == (None, 0)
    third = client.posts([*TALK, user("x"), {**TOOLS, "tools": [{"name": "save_memory"}]}], 8)
    assert third.defined == {"save_memory"}


def test_the_newest_message_of_the_user():
    assert Client().posts(TALK, 0).translated.newest_user() == 7
    assert Client().posts(TALK[:7], 0).translated.newest_user() == 0
    assert Client().posts(TALK[6:7], 0).translated.newest_user() is None


def test_it_takes_what_it_says():
    known = Client().posts(TALK * 50, 0).translated
    arrays = (known.order, known.firsts, known.sizes, known.loading)
    held = len(known.marks) + sum(len(a) * a.itemsize for a in arrays)
    assert held < known.nbytes < 3 * held
    assert translated_messages.NOTHING.nbytes > 0


# ------------------------------------------------------------------------------------------------
# Check which requests of the Responses API leave a place for tools of ours.


GROUPS = (CHAT_MEMORY_TOOLS, CONTEXT_TOOLS)
OWN = ["save_memory", "recall_memory", "memory_search", "memory_read"]
SHELL: Fields = {"type": "function", "name": "shell", "parameters": {}, "strict": False}
PATCH: Fields = {"type": "custom", "name": "apply_patch"}
SPACE: Fields = {"type": "namespace", "name": "gmail", "tools": [{**SHELL, "name": "memory_read"}]}


def request(**fields: Any) -> Fields:
    return {"model": "gpt-6.1", "input": "Hello.", **fields}


def made(groups: Any = GROUPS, **fields: Any) -> Offer | None:
    body = json_body.split(json.dumps(request(**fields)).encode())
    defined = responses_history.read(body, "t", ItemCache(1)).defined
    return tool_offer(body, groups, defined)


def tools(found: Offer | None) -> list[Fields]:
    assert found
    return list(json.loads(found.fields(last=False)["tools"]))


def names(found: Offer | None) -> list[str]:
    return [tool["name"] for tool in tools(found)]


def loaded(*own: Fields) -> list[Fields]:
    """The input of a client that hands over its tools as an item."""
    return [
        {"type": "additional_tools", "role": "developer", "tools": list(own)},
        {"type": "message", "role": "user", "content": 'Is there "memory_read"?'},
    ]


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"tools": []},
        {"tools": None, "tool_choice": "auto", "parallel_tool_calls": False},
        {"stream": True, "text": {"verbosity": "low"}, "background": False},
        {"text": {"format": {"type": "text"}}, "store": True, "include": []},
    ],
)
def test_ours_are_offered_alone(fields):
    found = made(**fields)
    assert names(found) == OWN
    assert found
    assert found.fields(last=True)["tool_choice"] == b'"none"'


@pytest.mark.parametrize("choice", [None, "auto", "required"])
@pytest.mark.parametrize("own", [[SHELL], [SHELL, PATCH], [PATCH, {"type": "web_search"}]])
def test_ours_stand_behind_the_clients_own_whose_bytes_stay(own, choice):
    found = made(tools=own, tool_choice=choice)
    assert found
    posted = json.dumps(own).encode()
    for last in (False, True):
        fields = found.fields(last=last)
        assert fields["tools"].startswith(posted[:-1] + b",")
        assert list(fields) == ["tools"]
    assert [tool["name"] for tool in tools(found)[len(own) :]] == OWN


def test_tools_among_the_items_can_be_called_to_the_last():
    found = made(input=loaded(SHELL, PATCH))
    assert found
    only = found.only({CONTEXT_TOOLS})
    assert only
    assert names(only) == OWN[2:]
    assert list(only.fields(last=True)) == ["tools"]


def test_a_tool_of_our_name_among_the_items_is_the_clients():
    assert names(made(input=loaded({**SHELL, "name": "memory_read"}))) == OWN[:2]
    taken = loaded({**SHELL, "name": "memory_read"}, {**SHELL, "name": "save_memory"})
    assert made(input=taken) is None


def test_the_request_is_one_that_the_api_takes():
    assert broken(request(tools=tools(made(tools=[SHELL, PATCH]))), {}) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"tool_choice": "none"},
        {"tool_choice": "required"},  # of no tools
        {"tools": [SHELL], "tool_choice": {"type": "function", "name": "shell"}},
        {"tools": [SHELL], "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": []}},
        {"tools": [SHELL, 7]},
        {"tools": {"name": "x"}},
        {"text": {"format": {"type": "json_schema", "name": "x", "schema": {}}}},
        {"text": {"format": {"type": "json_object"}}},
        {"text": {"format": 7}},
        {"stream": "yes"},
        {"background": True},
        {"previous_response_id": "resp_1"},
        {"conversation": "conv_1"},
        {"prompt": {"id": "pmpt_1"}},
    ],
)
def test_nothing_is_offered_where_it_would_change_what_the_client_gets(fields):
    assert made(**fields) is None


def test_a_group_is_left_out_where_the_client_has_a_tool_of_its_name():
    assert names(made(tools=[{**SHELL, "name": "memory_read"}])) == ["memory_read", *OWN[:2]]
    assert names(made(tools=[SPACE])) == ["gmail", *OWN[:2]]
    taken = [{**SHELL, "name": name} for name in ("memory_read", "recall_memory")]
    assert made(tools=taken) is None
    assert made(groups=()) is None


def test_groups_can_be_chosen_later():
    found = made()
    assert found
    only = found.only({CHAT_MEMORY_TOOLS})
    assert only
    assert names(only) == OWN[:2]
    assert 0 < only.size < found.size
    assert found.only(()) is None


def test_definitions_are_those_of_chats():
    for tool, function in zip(tools(made()), (f for g in GROUPS for f in g.functions), strict=True):
        assert tool == {"type": "function", **function, "strict": False}
