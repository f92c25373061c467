"""Long sessions with folds in both APIs: no request that the API would refuse, a prompt that only
grows while its epoch lasts, and thinking that is refused once at most."""

from __future__ import annotations

from typing import Any

import pytest

from tests.http.dialects.driving import STABLE, DrivenSession, grows
from tests.http.dialects.vendors import Side, behind
from tests.http.served.fakes import real_memory
from tests.wire.rule_break import Fields, rules

MESSAGES_FIRST = pytest.mark.parametrize(
    "_side", ["messages", pytest.param("responses", marks=pytest.mark.long)], indirect=True
)


def folded(session: DrivenSession) -> list[int]:
    return [number for number, state in enumerate(session.states) if state == "packed"]


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.long)])
def test_a_long_session_is_sound_and_grows_within_its_epochs(side: Side, seed: int):
    with behind(side.upstream, real_memory(), target_tokens=2_500) as address:
        session = DrivenSession.of(Side(side.vendor, side.server, "", address), seed, STABLE)
        session.drive(seed, 20)
    assert session.problems == []
    assert side.server.invalid == []
    assert len(folded(session)) > 8
    assert 1 < len(set(session.epochs) - {""}) < len(folded(session)) / 3
    sent = session.sent
    for number in range(1, len(sent)):
        one, other = session.epochs[number - 1 : number + 1]
        if one == other != "":
            assert grows(sent[number - 1], sent[number]), f"request {number}"
    # Half of it would be lost with nothing to gain if each fold took all that comes later.
    kinds = {"thinking", "reasoning"}
    kept = [
        sum(kinds >= {block.get("type")} for item in items for block in blocks(item))
        for items in sent
    ]
    assert max(kept[number] for number in folded(session)) > 2


@pytest.mark.parametrize("thinking", [
    {"type": "enabled", "budget_tokens": 1024},
    pytest.param({"type": "disabled"}, marks=pytest.mark.long),
    pytest.param(None, marks=pytest.mark.long),
])  # fmt: skip
@pytest.mark.parametrize("_side", ["messages"], indirect=True)
def test_thinking_of_each_kind_survives_folds(side: Side, thinking: Fields | None):
    """Without binding it stays in every kept message; with it nothing is sent that was made before
    the fold. (A disabled one is replayed nevertheless: clients switch in mid-session.)"""
    fields: dict[str, Any] = {"thinking": thinking} if thinking else {}
    with behind(side.upstream, real_memory(), target_tokens=2_500) as address:
        session = DrivenSession.of(Side(side.vendor, side.server, "", address), 3, STABLE, **fields)
        if not thinking:
            del session.agent.fields["thinking"]
        session.drive(3, 14, thinks=True)
    assert session.problems == []
    assert side.server.invalid == []
    assert len(folded(session)) > 8


def blocks(item: Fields) -> list[Fields]:
    content = item.get("content")
    return [item, *content] if isinstance(content, list) else [item]


@pytest.mark.parametrize("mode", ["auto", pytest.param("fresh", marks=pytest.mark.long)])
def test_the_other_modes_send_nothing_that_is_refused(side: Side, mode: str):
    headers = {**STABLE, "x-memtree-mode": mode}
    with behind(side.upstream, real_memory(), target_tokens=2_500) as address:
        session = DrivenSession.of(Side(side.vendor, side.server, "", address), 4, headers)
        session.drive(4, 16, 600)
    assert session.problems == []
    assert side.server.invalid == []
    assert folded(session)


@MESSAGES_FIRST
def test_two_servers_with_one_store_send_the_same_prompt(side: Side, tmp_path: Any):
    memory = real_memory()
    with (
        behind(side.upstream, memory, target_tokens=2_500) as address,
        behind(side.upstream, memory, target_tokens=2_500) as other,
    ):
        session = DrivenSession.of(Side(side.vendor, side.server, "", address), 5, STABLE)
        session.others = [other]
        session.drive(5, 20)
    assert session.problems == []
    assert side.server.invalid == []
    assert len(folded(session)) > 8


OF_THINKING = {"thinking-of-another-prefix", "thinking-gap", "thinking-came-back"}
of_messages = pytest.mark.parametrize("_side", ["messages"], indirect=True)


def folded_session(side: Side, address: str) -> DrivenSession:
    session = DrivenSession.of(Side(side.vendor, side.server, "", address), 6, STABLE)
    session.drive(6, 16, thinks=True)
    assert session.problems == []
    assert session.states[-1] == "packed"
    return session


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
