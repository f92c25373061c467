"""Whose memories a request gets: by its headers, its fields and what its user has switched on."""

from __future__ import annotations

import pytest

from memtree.errors import BadRequest
from memtree.memories.memory import Memory
from memtree.memories.scope import Scope
from memtree.memories.user_memories import UserSettings
from memtree_proxy.chat.memories.sources import NONE, ChatUser, wanted
from memtree_proxy.request.options import MemoryOptions, RagOptions

DEFAULTS = MemoryOptions()
CHAT = Scope.of_chat("t", "c")
USER = Scope.of_user("t", "u")
OFF = ChatUser(USER, UserSettings())
ON = ChatUser(USER, UserSettings(save=True))


def test_nobody_wants_anything():
    assert wanted("t", None, OFF, DEFAULTS) == NONE
    assert not wanted("t", None, OFF, DEFAULTS).any


@pytest.mark.parametrize(
    ("user", "enabled", "beside", "extracted"),
    [
        (OFF, None, False, False),
        (OFF, True, True, False),
        (OFF, False, False, False),
        (ON, None, True, True),
        (ON, True, True, True),
        (ON, False, False, False),
        (ChatUser(USER, UserSettings(history=True)), None, False, True),
    ],
)
def test_a_user_by_settings_and_by_request(user, enabled, beside, extracted):
    found = wanted("t", None, user, MemoryOptions(enabled))
    assert [source.scope for source in found.sources] == [USER] * beside
    assert found.extracted == (user if extracted else None)
    assert found.any is (beside or extracted)


def test_the_chats_own_stand_first():
    assert [source.scope for source in wanted("t", CHAT, ON, DEFAULTS).sources] == [CHAT, USER]
    assert [source.scope for source in wanted("t", CHAT, OFF, DEFAULTS).sources] == [CHAT]
    assert wanted("t", CHAT, ON, MemoryOptions(enabled=False)).chat == CHAT


def test_how_many_and_how_near_the_request_says_before_the_settings():
    user = ChatUser(USER, UserSettings(save=True, top_k=7, threshold=0.8))
    by_settings = wanted("t", None, user, DEFAULTS).sources[0].options
    assert (by_settings.most, by_settings.threshold) == (7, 0.8)
    by_request = wanted("t", None, user, MemoryOptions(None, 2, 0.0)).sources[0].options
    assert (by_request.most, by_request.threshold) == (2, 0.0)
    by_default = wanted("t", None, ON, DEFAULTS).sources[0].options
    assert (by_default.most, by_default.threshold) == (3, None)


def test_passages_of_a_namespace_of_the_tenant_stand_last():
    rag = RagOptions("handbook", 4, 0.7, metadata=True, type="manual")
    sources = wanted("t", CHAT, ON, DEFAULTS, rag).sources
    assert [source.scope for source in sources] == [CHAT, USER, Scope.of_namespace("t", "handbook")]
    options = sources[2].options
    assert (options.most, options.threshold, options.category) == (4, 0.7, "manual")
    passage = Memory("a", 1, "Text", 0.0, 0.0, thread_id="d", data={"shown": "year=2024"})
    assert options.line(passage) == "[d; year=2024] Text"
    by_default = wanted("t", None, OFF, DEFAULTS, RagOptions()).sources[0]
    assert by_default.scope == Scope.of_namespace("t", "default")
    assert (by_default.options.most, by_default.options.threshold) == (5, None)
    assert by_default.options.line(passage) == "[d] Text"
    alone = wanted("t", None, ON, MemoryOptions(enabled=False), rag).sources
    assert [source.scope for source in alone] == [sources[2].scope]


def test_passages_of_the_tenants_documents_and_what_each_user_was_shown_of_them():
    rag = RagOptions("handbook", 7, 0.6, metadata=True, type="manual")
    for user, keys in (
        (OFF, ["u 1", "u 2"]),
        (ChatUser(Scope.of_user("t"), UserSettings()), ["1", "2"]),
    ):
        (source,) = wanted("t", None, user, MemoryOptions(False), rag).sources
        assert source.scope == Scope.of_namespace("t", "handbook")
        assert source.keys(["1", "2"]) == keys
        options = source.options
        assert (options.most, options.threshold, options.category) == (7, 0.6, "manual")
    (by_default,) = wanted("t", None, OFF, DEFAULTS, RagOptions()).sources
    assert by_default.options.threshold is None


def test_what_a_chat_and_its_user_were_shown_goes_by_the_names_of_the_conversation():
    for source in wanted("t", CHAT, ON, DEFAULTS).sources:
        assert source.keys(["c"]) == ["c"]


def test_of_a_user_whom_nobody_can_be_nothing_is_wanted():
    nobody = ChatUser(None, UserSettings(save=True), BadRequest("no id", param="x-user-id"))
    assert wanted("t", None, nobody, DEFAULTS) == NONE
    assert wanted("t", None, nobody, MemoryOptions(False)) == NONE
    assert [one.scope for one in wanted("t", CHAT, nobody, DEFAULTS).sources] == [CHAT]
    (documents,) = wanted("t", None, nobody, DEFAULTS, RagOptions()).sources
    assert documents.keys(["1"]) == ["? 1"]
    with pytest.raises(BadRequest):
        wanted("t", None, nobody, MemoryOptions(True))
