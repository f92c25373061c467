"""Whose a memory is, and the ids that callers choose."""

from __future__ import annotations

import pytest

from memtree.errors import BadRequest
from memtree.memories.scope import Scope, checked_id, is_placeholder


def test_scopes_of_different_kinds_are_never_equal():
    scopes = {
        Scope.of_chat("t", "x"),
        Scope.of_user("t", "x"),
        Scope.of_agent("t", "x"),
        Scope.of_agent("t", "x", "x"),
        Scope.of_user("t"),
        Scope.of_chat("u", "x"),
    }
    assert len(scopes) == 6


@pytest.mark.parametrize("given", ["a", "550e8400-e29b-41d4", "user:1@host~x_.", "x" * 200])
def test_ids_that_callers_may_choose(given):
    assert checked_id(given, "chatId") == given


@pytest.mark.parametrize("given", ["", "a b", "é", "x" * 201, "a/b", "a\n", None, 3, "..\x00"])
def test_other_ids_are_refused_by_the_name_of_their_field(given):
    with pytest.raises(BadRequest) as refused:
        checked_id(given, "chatId")
    assert refused.value.param == "chatId"


PLACEHOLDERS = (
    *"undefined null None NULL NaN user:NaN undefined:undefined user:null chat-undefined".split(),
    *"YOUR_USER_ID your-agent-here your-name placeholder user_id chatId :thread_id id".split(),
    "__USER_ID__",
    *"{user_id} {{user}} ${USER} $USER <user_id> <nil> %s".split(),
    "[object Object]",
)


@pytest.mark.parametrize("given", PLACEHOLDERS)
def test_placeholders_are_refused(given: str):
    assert is_placeholder(given)
    with pytest.raises(BadRequest, match=r"^chatId (is a placeholder, not an id|must be 1 to 200)"):
        checked_id(given, "chatId")


@pytest.mark.parametrize(
    "given",
    "ann user chat agent user-1 user.name my-user-id default null-safety none-of-your-business "
    "undefined-behaviour nancy david group-7 t:u1 grp_none nan Nan nil user:nil your".split(),
)
def test_words_that_look_alike_are_ids(given: str):
    assert checked_id(given, "chatId") == given
