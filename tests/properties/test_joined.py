"""Histories as dialects read them: messages that one posted item holds together, rounds that load
tools, words of a client's program. What is kept of them is whole, and addresses and leaves are
those of the same messages posted one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from memtree.budget.packing import PINNED_SHARE, Packed, TokenLimits, begin, most_sent, pack
from memtree.context.answer import KeptMessage, MemoryText
from memtree.context.turn_request import CompressRequest
from memtree.history.chat_history import History, read
from memtree.history.message import SYSTEM_ROLES, Message, Volatile
from tests.answered import Answered, compressed
from tests.properties.process import World, begins
from tests.properties.strategies import prose

TOOLS = ("Edit", "Grep", "WebFetch")


@dataclass(frozen=True, slots=True)
class Kinds:
    """How a drawn history is made, of which hypothesis shrinks the parts."""

    seed: int
    rounds: int
    size: int  # words of a message


kinds = st.builds(Kinds, st.integers(0, 9_999), st.integers(2, 40), st.sampled_from([4, 40, 300]))
targets = st.sampled_from([1_500, 4_000, 20_000])


def drawn(kind: Kinds) -> list[Message]:
    rng = Random(kind.seed)
    made = [Message.of({"role": "system", "content": "Be kind."}), *_asked(rng, kind.size)]
    for number in range(kind.rounds):
        made += _round(rng, number, kind.size) if rng.random() < 0.7 else _asked(rng, kind.size)
    return made


def _said(role: str, rng: Random, size: int, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": prose(rng.randint(0, 9_999), rng.randint(1, size)), **more}


def _asked(rng: Random, size: int) -> list[Message]:
    """A question, and at times what the program says behind it."""
    asked = [Message.of(_said("user", rng, size))]
    if rng.random() < 0.3:
        asked.append(Message(Message.of(_said("user", rng, 9)).raw, joined=True, aside=True))
    return asked


def _round(rng: Random, number: int, size: int) -> list[Message]:
    """Calls with their results; behind these, at times, words in the same posted item."""
    ids = [f"c{number}-{n}" for n in range(rng.randint(0, 3))]
    calls = [
        {"id": id_, "type": "function", "function": {"name": "run", "arguments": "{}"}}
        for id_ in ids
    ]
    made = [Message.of(_said("assistant", rng, size, **({"tool_calls": calls} if calls else {})))]
    for id_ in ids:
        loads = rng.sample(TOOLS, rng.randint(0, 2)) if rng.random() < 0.3 else ()
        raw = Message.of(_said("tool", rng, size, tool_call_id=id_)).raw
        made.append(Message(raw, loads=frozenset(loads)))
    while ids and rng.random() < 0.4:
        raw = Message.of(_said("user", rng, size)).raw
        made.append(Message(raw, joined=True, aside=rng.random() < 0.5))
    return made


def history_of(messages: Sequence[Message]) -> History:
    return read("t", messages, Volatile())


@given(kinds)
def test_addresses_and_rounds_are_those_of_messages_posted_one_by_one(kind: Kinds) -> None:
    posted = drawn(kind)
    found, apart = history_of(posted), history_of([Message(one.raw) for one in posted])
    assert found.addresses == apart.addresses
    assert found.rounds == apart.rounds == apart.cuts
    assert set(found.cuts) <= set(found.rounds)
    assert found.cuts[0] == 0
    event(f"joined: {any(one.joined for one in posted)}")


@given(kinds, targets, st.booleans(), st.sampled_from([8_000, 200_000]))
def test_a_cut_parts_nothing_and_pinned_rounds_are_whole(
    kind: Kinds, target: int, hard: bool, window: int
) -> None:
    history = history_of(drawn(kind))
    limits = TokenLimits.of(target=target, hard=hard, window=window, reserve=1_000)
    for found in (pack(history, limits, 500), begin(history, limits, 500)):
        assert found.cut in history.cuts
        assert not found.cut or not history.messages[found.cut].joined
        assert found.recent == history.size(found.cut)
        _check_pinned(history, found, target)
        if hard and found.memory:
            most = most_sent(history, min(target, limits.prompt - 500))
            assert found.memory + found.beside + found.recent <= most
        event(f"pinned rounds: {len(found.pinned)}")


def _check_pinned(history: History, found: Packed, target: int) -> None:
    ends = {*history.cuts, len(history)}
    flat = [place for rounds in found.pinned for place in rounds]
    assert flat == sorted(set(flat)) or all(one[1] <= two[0] for one, two in pairwise(found.pinned))
    assert all(0 < start < end <= found.cut for start, end in found.pinned)
    assert ends.issuperset(flat)
    size = sum(history.size(start, end) for start, end in found.pinned)
    assert size <= PINNED_SHARE * target
    assert found.beside >= size
    for start, end in found.pinned:
        assert any(message.loads for message in history.messages[start:end])


@pytest.mark.slow
@settings(max_examples=settings().max_examples // 3)
@given(kinds, st.sampled_from(["fresh", "stable"]), st.booleans())
async def test_what_is_sent_is_whole_and_grows_at_its_end(
    kind: Kinds, mode: str, hard: bool
) -> None:
    messages = drawn(Kinds(kind.seed, 60, max(150, kind.size)))
    world, previous = World(), None
    ends = [at for at in range(len(messages) - 12, len(messages)) if _may_end(messages, at)]
    for end in [*ends, len(messages)]:
        posted = tuple(messages[:end])
        answer = await compressed(
            world.used,
            CompressRequest("t", posted, 4_000, hard, mode=mode, dialect="messages"),
        )
        _check_sent(posted, answer, mode)
        if previous and previous.epoch and previous.epoch == answer.epoch:
            assert begins(answer, previous)
            assert answer.begun == previous.begun < len(posted)
            assert answer.stays <= answer.sent_tokens
        elif answer.changed:
            assert answer.begun == len(posted)
        previous = answer
    event(f"folded: {previous is not None and previous.folds}")


def _may_end(messages: Sequence[Message], end: int) -> bool:
    """Return True if a client posts that much: all results, and nothing that is joined to them
    later."""
    after = messages[end]
    return after.role == "assistant"


def _check_sent(posted: Sequence[Message], answer: Answered, mode: str) -> None:
    if not answer.changed:
        assert answer.begun == 0
        return
    kept = [item.index for item in answer.items if isinstance(item, KeptMessage)]
    assert kept == sorted(set(kept))
    sent = set(kept)
    for index, message in enumerate(posted):
        if message.joined:
            assert (index in sent) == (index - 1 in sent)
        if message.role == "tool":
            call = max(at for at in range(index) if posted[at].role == "assistant")
            assert (index in sent) == (call in sent)
        if message.role in SYSTEM_ROLES:
            assert index in sent
    if mode == "fresh":
        assert answer.begun == len(posted)
    if answer.folds:
        memory = next(i for i, item in enumerate(answer.items) if isinstance(item, MemoryText))
        behind = [i for i, item in enumerate(answer.items) if isinstance(item, KeptMessage)]
        first = next(item for item in answer.items[memory + 1 :] if isinstance(item, KeptMessage))
        assert behind
        assert not posted[first.index].joined
