"""The headers that switch memory on or off, and those by which a request opts in to that of a
chat."""

from __future__ import annotations

import pytest
from starlette.datastructures import Headers

from memtree.context.state import Reason
from memtree.errors import BadRequest
from memtree.memories.scope import Scope
from memtree_proxy.request import memory_switch


@pytest.mark.parametrize("switch", [None, "on", "ON", "", "perhaps", "1"])
def test_a_chat_that_is_named_is_in(switch: str | None):
    headers = {"x-chat-id": " 550e8400-e29b "}
    if switch is not None:
        headers["x-chat-memory"] = switch
    assert memory_switch.chat_of("t", headers) == Scope.of_chat("t", "550e8400-e29b")


@pytest.mark.parametrize("switch", ["off", " Off ", "false", "no", "0"])
def test_off_wins_and_then_the_id_does_not_count(switch: str):
    for chat in ("c", "not an id"):
        assert memory_switch.chat_of("t", {"x-chat-id": chat, "x-chat-memory": switch}) is None


def test_on_alone_names_no_chat():
    assert memory_switch.chat_of("t", {"x-chat-memory": "on"}) is None


@pytest.mark.parametrize("chat", ["", "a b", "a/b", "a" * 201, "\u00e9"])
def test_what_cannot_be_an_id_is_refused_by_its_name(chat: str):
    with pytest.raises(BadRequest) as refused:
        memory_switch.chat_of("t", {"x-chat-id": chat})
    assert refused.value.param == "x-chat-id"


def posted(name: str, *lines: str) -> Headers:
    return Headers(raw=[(name.encode(), line.encode()) for line in lines])


@pytest.mark.parametrize(
    ("lines", "on", "reason"),
    [
        (["on, on"], True, ""),
        (["on", "ON"], True, ""),
        (["on,true", "1"], True, ""),
        (["on,"], True, ""),
        (["off, off"], False, ""),
        (["on", "off"], False, Reason.UNKNOWN_SWITCH),
        (["on, off"], False, Reason.UNKNOWN_SWITCH),
        (["on", "perhaps"], False, Reason.UNKNOWN_SWITCH),
        (["perhaps, perhaps"], False, Reason.UNKNOWN_SWITCH),
        (["", ""], None, ""),
    ],
)
def test_a_switch_that_is_repeated_means_what_all_its_words_mean(
    lines: list[str], on: bool | None, reason: str
):
    assert memory_switch.by_headers(posted("x-polychat-memory", *lines)) == (on, reason)


@pytest.mark.parametrize("lines", [["on", "off"], ["on, off"]])
def test_off_wins_in_the_other_switches(lines: list[str]):
    assert memory_switch.by_headers(posted("memory", *lines)) == (False, "")
    assert not memory_switch.recall_tools(posted("x-memtree-recall-tools", *lines), True)
    chat = Headers(raw=[(b"x-chat-id", b"c"), *posted("x-chat-memory", *lines).raw])
    assert memory_switch.chat_of("t", chat) is None
