"""The headers by which a request opts in to chat memory."""

from __future__ import annotations

import pytest

from memtree.errors import BadRequest
from memtree.memories.scope import Scope
from memtree_proxy.request import chat_scope


@pytest.mark.parametrize("switch", [None, "on", "ON", "", "perhaps", "1"])
def test_a_chat_that_is_named_is_in(switch: str | None):
    headers = {"x-chat-id": " 550e8400-e29b "}
    if switch is not None:
        headers["x-chat-memory"] = switch
    assert chat_scope.of("t", headers) == Scope.of_chat("t", "550e8400-e29b")


@pytest.mark.parametrize("switch", ["off", " Off ", "false", "no", "0"])
def test_off_wins_and_then_the_id_does_not_count(switch: str):
    for chat in ("c", "not an id"):
        assert chat_scope.of("t", {"x-chat-id": chat, "x-chat-memory": switch}) is None


def test_on_alone_names_no_chat():
    assert chat_scope.of("t", {"x-chat-memory": "on"}) is None


@pytest.mark.parametrize("chat", ["", "a b", "a/b", "a" * 201, "\u00e9"])
def test_what_cannot_be_an_id_is_refused_by_its_name(chat: str):
    with pytest.raises(BadRequest) as refused:
        chat_scope.of("t", {"x-chat-id": chat})
    assert refused.value.param == "x-chat-id"
