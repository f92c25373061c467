"""Positions and marks of the canonical messages of a list of items. What is read from a known
beginning on is what is read anew: `tests/properties/dialects/test_translating_on.py`."""

from __future__ import annotations

import dataclasses
import json

import pytest

from memtree.conversation.message_list import EarlierList, MessageList
from memtree.dialects.openai_responses import responses_history, translation
from memtree.dialects.openai_responses.input_item import ItemCache, KnownInputs
from memtree.dialects.openai_responses.responses_history import ResponsesHistory
from memtree.dialects.translated_messages import raw_items
from memtree.wire import json_body
from tests.unit.dialects.openai_responses.test_conversation import call, output, said, thought, user

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
    assert translation.NOTHING.nbytes > 0
