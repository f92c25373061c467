"""Thinking that was made behind a fold, and is sent without it: the API refuses it once, and the
client never hears of that."""

from __future__ import annotations

import pytest

from tests.http.dialects.driving import STABLE, DrivenSession
from tests.http.dialects.vendors import Side, behind
from tests.http.served.fakes import real_memory
from tests.wire.rule_break import rules

OF_THINKING = {"thinking-of-another-prefix", "thinking-gap", "thinking-came-back"}
of_messages = pytest.mark.parametrize("_side", ["messages"], indirect=True)


def folded_session(side: Side, address: str) -> DrivenSession:
    session = DrivenSession.of(Side(side.vendor, side.server, "", address), 6, STABLE)
    session.drive(6, 16, thinks=True)
    assert session.problems == []
    assert session.states[-1] == "packed"
    return session


@of_messages
def test_whoever_switches_memory_off_goes_on(side: Side):
    """The whole history goes, and what was thought behind the fold does not fit it."""
    with behind(side.upstream, real_memory(), target_tokens=2_500) as address:
        session = folded_session(side, address)
        session.agent.say("And without memory?")
        before = len(side.server.seen)
        answer = session.side.post(session.agent.body(), **{"x-polychat-memory": "off"})
    first, second = side.server.seen[before:]
    assert answer.status_code == 200
    assert rules(first.breaks) <= OF_THINKING
    assert len(first.breaks) > 0 == len(second.breaks)
    kinds = {block["type"] for one in second.body["messages"] if one["role"] == "assistant"
             for block in one["content"]}  # fmt: skip
    assert kinds == {"text", "tool_use"}
    assert len(second.body["messages"]) == len(first.body["messages"])


@of_messages
@pytest.mark.parametrize("mode", [pytest.param("auto", marks=pytest.mark.long), "stable"])
def test_a_server_that_lost_its_store_goes_on(side: Side, mode: str):
    """It does not know which fold the thinking belongs to. One refusal at most tells it."""
    with behind(side.upstream, real_memory(), target_tokens=2_500) as address:
        session = folded_session(side, address)
    with behind(side.upstream, real_memory(), target_tokens=2_500) as fresh:
        session.side = Side(side.vendor, side.server, "", fresh)
        session.headers = {**STABLE, "x-memtree-mode": mode}
        session.drive(7, 4, thinks=True)
    refused = [request for request in side.server.seen if request.breaks]
    assert [one for one in session.problems if " 400 " in one] == []
    assert len(refused) <= 1
    assert all(rules(one.breaks) <= OF_THINKING for one in refused)
