"""Whose a memory is, and the ids that callers choose."""

from __future__ import annotations

import pytest

from memtree.errors import BadRequest
from memtree.memories.scope import Scope, checked_id


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
