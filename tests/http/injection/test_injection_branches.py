"""Memories that were said in a conversation, beside its branches and beside other conversations.

What a user says is extracted here as the server does it: from what chat requests posted.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest

from memtree.history import chat_history
from memtree.history.conversation_beginning import origin
from memtree.history.message import Message, Volatile
from memtree.memories.memory import EXTRACTED, Memory, MemorySource
from tests.http.owned.injecting import SYSTEM, Notebook, assistant, chatting, user
from tests.http.served.fakes import FakeMemory, real_memory
from tests.http.served.upstream import FakeUpstream
from tests.programs import sessions

HONEY = "The user likes dark honey best"
ASKED = "Which honey does the user like best?"
FIRST = "I keep bees behind the house, and this year I want to know more about it all. " * 4
ENABLED = {"memory_options": {"enabled": True}}

START = [SYSTEM, user(FIRST), assistant("Gladly, there is a lot to say."), user("I see.")]
SAID = [*START, assistant("What do you like?"), user("I like dark honey best.")]
GOES_ON = [*SAID, assistant("Noted."), user(ASKED)]
EDITED = [*SAID[:-1], user("I am not sure yet."), assistant("Take your time."), user(ASKED)]
REGENERATED = [*START, assistant("Do you like honey?"), user(ASKED)]
REVERTED = [*START[:-1], user(ASKED)]
NEW = [SYSTEM, user(ASKED)]
COMPACTED = [SYSTEM, user(f"Summary of before: {FIRST}"), assistant("Fine."), user(ASKED)]


async def said(
    notebook: Notebook, posted: Sequence[dict[str, Any]], text: str = HONEY, **more: Any
) -> Memory:
    """A memory of what the last message of this history says."""
    read = chat_history.read(notebook.tenant, [Message.of(one) for one in posted], Volatile())
    source = MemorySource(
        address=read.addresses[-1].hex(), origin=origin(read, len(read) - 1), recorded=1.7e9
    )
    scope = notebook.user()
    return await notebook.save(text, scope=scope, source=source, source_type=EXTRACTED, **more)


@pytest.mark.parametrize(
    ("posted", "same", "strict"),
    [
        (GOES_ON, False, True),
        (EDITED, False, False),
        (REGENERATED, False, False),
        (REVERTED, False, False),
        (NEW, True, False),
        (COMPACTED, True, False),
    ],
    ids=["goes on", "edited", "regenerated", "reverted", "new", "compacted"],
)
@pytest.mark.parametrize("rule", ["same", "strict", "off"])
@pytest.mark.parametrize("real", [True, False], ids=["real memory", "fake memory"])
async def test_where_it_is_shown(
    base: str,
    upstream: FakeUpstream,
    notebook: Notebook,
    posted: list[dict[str, Any]],
    same: bool,
    strict: bool,
    rule: str,
    real: bool,
):
    await said(notebook, SAID)
    memory = real_memory() if real else FakeMemory(99)
    async with chatting(base, upstream, notebook, memory, memories_branches=rule) as chat:
        answer = await chat.post(posted, None, ENABLED)
    expected = {"same": same, "strict": strict, "off": True}[rule]
    assert ("x-memtree-memories" in answer.headers) is expected
    assert (HONEY.encode() in upstream.last.body) is expected


async def test_what_somebody_saved_stands_beside_any_branch(
    base: str, upstream: FakeUpstream, notebook: Notebook
):
    await notebook.save(HONEY, scope=notebook.user(), source=MemorySource(message="msg_1"))
    async with chatting(base, upstream, notebook, memories_branches="same") as chat:
        for posted in (GOES_ON, EDITED, REVERTED, NEW):
            answer = await chat.post(posted, None, ENABLED)
            assert "x-memtree-memories" in answer.headers


async def test_a_history_that_cannot_be_read_is_no_other_branch(
    base: str, upstream: FakeUpstream, notebook: Notebook
):
    await said(notebook, SAID)
    orphan = {"role": "tool", "tool_call_id": "x", "content": "42"}
    for rule, shown in (("same", True), ("strict", False)):
        async with chatting(base, upstream, notebook, real_memory(), memories_branches=rule) as one:
            answer = await one.post([SYSTEM, orphan, user(f"{ASKED} {rule}")], None, ENABLED)
        assert ("x-memtree-memories" in answer.headers) is shown


async def test_histories_are_read_only_where_it_matters(
    base: str, upstream: FakeUpstream, notebook: Notebook
):
    reads: list[int] = []

    class Counted(FakeMemory):
        async def read(self, ask: Any) -> chat_history.History:
            reads.append(1)
            return await super().read(ask)

    await notebook.save(HONEY, scope=notebook.user())
    other = await said(notebook, SAID, "A wooden boat lies in Graz")
    async with chatting(base, upstream, notebook, Counted(99)) as chat:
        await chat.post(NEW, None, ENABLED)
        assert reads == []
        answer = await chat.post([user("Where does a wooden boat lie, in Graz?")], None, ENABLED)
        assert answer.headers["x-memtree-memories"] == other.id
        assert reads == [1]
        await chat.post([user("Where does a wooden boat lie, in Graz?")], None)
        assert reads == [1]
    async with chatting(base, upstream, notebook, Counted(99), memories_branches="off") as chat:
        await chat.post([user("Where does a wooden boat lie, in Graz?")], None, ENABLED)
    assert reads == [1]


async def test_a_set_that_both_branches_share_keeps_what_each_was_shown(
    base: str, upstream: FakeUpstream, notebook: Notebook
):
    """Back in the branch that a memory stands beside, its prompt is what it was."""
    memory = await said(notebook, SAID)
    elsewhere = [SYSTEM, user(f"Hello. {FIRST}"), assistant("Yes?"), user(ASKED)]
    talk = [*elsewhere, assistant("Dark."), user("And the weather?")]
    branch = [*START, assistant("Yes?"), user("And the weather?")]
    async with chatting(base, upstream, notebook, memories_branches="same") as chat:
        for posted, shown in ((elsewhere, True), (branch, False), (talk, True), (branch, False)):
            answer = await chat.post(posted, "named", ENABLED)
            assert answer.headers.get("x-memtree-memories") == (memory.id if shown else None)


FOLDED = {"x_polychat_memory": "on", "x_memtree_mode": "stable"}


@pytest.mark.parametrize("rule", ["same", "strict", "off"])
async def test_within_an_epoch_no_byte_changes(
    base: str, upstream: FakeUpstream, notebook: Notebook, rule: str
):
    """A memory that is extracted while the conversation goes on, and branches of it."""
    fields = {"target_tokens": 4_000, **ENABLED}
    walks = [user("Hi"), assistant("Yes?"), user("I prefer long walks")]
    await said(notebook, walks, "The user prefers long walks")
    talk = [SYSTEM, *sessions.chat(170, words=60), assistant("Well."), user("I like dark honey.")]
    sent: list[list[dict[str, Any]]] = []
    epochs: list[str] = []
    memory = real_memory()
    async with chatting(base, upstream, notebook, memory, memories_branches=rule) as chat:

        async def post(posted: list[dict[str, Any]]) -> bool:
            answer = await chat.post(posted, None, fields, **FOLDED)
            sent.append(chat.messages)
            epochs.append(answer.headers["x-memtree-epoch"])
            return HONEY.encode() in upstream.last.body

        assert not await post(talk)
        await said(notebook, talk)  # extracted behind the first request
        shown = []
        for number in range(3):
            talk = [*talk, assistant("Well."), user(f"{ASKED} {number}")]
            shown.append(await post(talk))
        assert len(set(epochs)) == 1
        assert all(later[: len(one)] == one for one, later in pairwise(sent))
        assert shown == [rule != "same"] * 3
        branch = [*talk[:-7], user("I do not know."), assistant("Well."), user(ASKED)]
        assert await post(branch) is (rule == "off")
        assert await post(talk) is (rule != "same")
        assert sent[-1] == sent[3]
