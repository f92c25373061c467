"""A request, its canonical messages, and what it begins with."""

from __future__ import annotations

import dataclasses

import msgspec

from memtree.conversation.message_list import EarlierList
from memtree.dialects.anthropic_messages import messages_history
from memtree.dialects.anthropic_messages.messages_history import MessagesHistory
from memtree.dialects.anthropic_messages.posted_request import Cache, KnownRequests
from memtree.dialects.translated_messages import raw_items
from memtree.wire import json_body
from tests.wire.messages.messages_shorthand import assistant, called, result, text, user

TALK = [user("a"), assistant(called("t", "n", {})), user([result("t", "r")]), assistant(text("b"))]


class Client:
    """Posts requests one after the other, each with a beginning that is known."""

    def __init__(self) -> None:
        self.cache, self.known = Cache(1), KnownRequests()
        self.number = 0

    def posts(self, talk: list[dict], common: int, tenant: str = "t", **more) -> MessagesHistory:
        body = json_body.split(msgspec.json.encode({"messages": talk, **more}))
        raws = raw_items(body, "messages")
        assert raws is not None
        raws = dataclasses.replace(raws, earlier=EarlierList(self.number, common))
        self.number = raws.number
        return messages_history.read_items(body, raws, tenant, self.cache, self.known)


def test_a_longer_history_begins_with_the_one_before():
    client = Client()
    first = client.posts(TALK[:3], 0, system="s")
    assert first.messages.earlier is None
    second = client.posts(TALK, 3, system="s")
    assert second.messages.earlier == EarlierList(first.messages.number, 4)
    again = client.posts(TALK, 4, system="s")
    assert again.messages.number == second.messages.number
    longer = client.posts([*TALK, user("c")], 4, system="s")
    assert longer.messages.earlier == EarlierList(second.messages.number, 5)


def test_with_another_system_prompt_it_begins_otherwise():
    client = Client()
    client.posts(TALK[:3], 0, system="s")
    assert client.posts(TALK, 3, system="t").messages.earlier is None
    assert client.posts(TALK, 3).messages.earlier is None


def test_where_messages_get_tied_to_those_before_the_beginning_ends():
    client = Client()
    enabled = {"thinking": {"type": "enabled"}}
    first = client.posts(TALK[:3], 0, **enabled)
    assert [message.joined for message in first.messages] == [False, True, False]
    second = client.posts([*TALK, user("c")], 3, **enabled)
    assert second.messages.earlier == EarlierList(first.messages.number, 1)
    assert not any(message.joined for message in second.messages)


def test_nothing_is_known_of_another_tenant_or_after_a_deletion():
    client = Client()
    client.posts(TALK, 0)
    assert client.posts(TALK, 4, "other").messages.earlier is None
    client.posts(TALK, 0)
    client.known.forget()
    assert client.posts(TALK, 4).messages.earlier is None
    assert client.posts(TALK, 4, thread={"id": "x"}).messages.earlier is None


def test_parts_are_found_where_they_were_posted():
    request = Client().posts([*TALK, user([text("c"), text("d")])], 0, system="s").request
    assert [request.place(index) for index in range(len(request))] == [-1, 0, 1, 2, 3, 4]
    assert request.part(0).place == -1
    assert request.part(5).blocks == ()
    assert request.first_of(4) == 5
