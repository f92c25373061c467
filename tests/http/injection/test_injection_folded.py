"""Memories of a chat beside its folded history: what stays as it was, and when an epoch ends."""

from __future__ import annotations

import json
import time
from itertools import pairwise
from typing import Any

import pytest

from memtree.memories.draft import MemoryDraft
from memtree.memories.memory import MemoryChange
from tests.http.owned.injecting import (
    ASKED,
    DAY,
    DEADLINE,
    FORMAT,
    SYSTEM,
    Notebook,
    assistant,
    block,
    chatting,
    user,
)
from tests.http.served.fakes import real_memory
from tests.http.served.upstream import FakeUpstream
from tests.programs import sessions


def talk(*questions: str) -> list[dict[str, Any]]:
    """Some 11,500 tokens about other things, then those questions."""
    said = [SYSTEM, *sessions.chat(170, words=60)]
    for question in questions:
        said += [assistant("Well."), user(question)]
    return said


FOLDED = {"x_polychat_memory": "on", "x_memtree_mode": "stable"}


def folded(messages: list[dict[str, Any]]) -> str:
    return json.dumps({"model": "m", "target_tokens": 4_000, "messages": messages})


async def test_where_the_history_is_folded_they_stand_beside_it(
    base: str, upstream: FakeUpstream, notebook: Notebook
):
    deadline = await notebook.save(DEADLINE)
    asked = [ASKED, "What is new?", "Which format do I prefer?", "And now?"]
    sent, epochs, named = [], [], []
    async with chatting(base, upstream, notebook, real_memory()) as chat:
        for turn in range(1, 5):
            if turn == 3:
                form = await notebook.save(FORMAT, "preference")
            answer = await chat.send(folded(talk(*asked[:turn])), **FOLDED)
            sent.append(chat.messages)
            epochs.append(answer.headers["x-memtree-epoch"])
            named.append(answer.headers["x-memtree-memories"])
    assert len(set(epochs)) == 1
    assert all(later[: len(one)] == one for one, later in pairwise(sent))
    assert sent[3][0] == SYSTEM
    first = block(f"{DEADLINE} (fact, {DAY})")
    assert sent[0][1]["content"].endswith(f"</context_memory>\n\n{first}")
    second = block(f"{FORMAT} (preference, {DAY})")
    assert sent[2][-1]["content"].endswith(f"{second}\n\nWhich format do I prefer?")
    assert named == [deadline.id] * 2 + [f"{deadline.id},{form.id}"] * 2


async def test_a_deleted_memory_ends_the_epoch_that_shows_it(
    base: str, upstream: FakeUpstream, notebook: Notebook
):
    memory = await notebook.save(DEADLINE)
    posted, more = folded(talk(ASKED)), folded(talk(ASKED, "Thanks."))
    async with chatting(base, upstream, notebook, real_memory()) as chat:
        first = await chat.send(posted, **FOLDED)
        before = chat.messages
        await notebook.edit(memory, "The project deadline was moved to April 1")
        edited = await chat.send(more, **FOLDED)
        assert chat.messages[: len(before)] == before
        assert "moved to April 1" in chat.messages[-1]["content"]  # it fits what was asked before
        assert edited.headers["x-memtree-epoch"] == first.headers["x-memtree-epoch"]
        await notebook.delete(memory)
        for sent in (more, posted):
            after = await chat.send(sent, **FOLDED)
            assert b"deadline was" not in upstream.last.body
            assert DEADLINE.encode() not in upstream.last.body
            assert after.headers["x-memtree-epoch"] != first.headers["x-memtree-epoch"]
            assert "x-memtree-memories" not in after.headers


@pytest.mark.parametrize("what", ["edited", "corrected", "confirmed", "expired", "a duplicate"])
@pytest.mark.parametrize("url", ["memory:", "sqlite:///{}/m.db"])
async def test_whatever_else_becomes_of_a_memory_the_epoch_keeps_its_line(
    base: str, upstream: FakeUpstream, what: str, url: str, tmp_path: Any
):
    notebook = Notebook(url.format(tmp_path))
    other = await notebook.save("The cat of the neighbours is called Minka")
    memory = await notebook.save(DEADLINE, "instruction", tainted=True)
    scope = notebook.scope()
    async with chatting(base, upstream, notebook, real_memory()) as chat:
        await chat.send(folded(talk(ASKED)), **FOLDED)
        before = chat.messages
        assert f"{DEADLINE} (fact, {DAY})" in before[1]["content"]
        if what == "edited":
            await notebook.edit(memory, "Nothing is known of it")
        elif what == "corrected":
            await notebook.book.correct(scope, memory.id, MemoryDraft("Nothing is known of it"))
        elif what == "confirmed":
            await notebook.book.confirm(scope, memory.id, by_person=True)
        elif what == "expired":
            gone = MemoryChange(time.time(), expires=time.time() - 1)
            await notebook.memories.change(scope, memory.id, gone)
        else:
            assert await notebook.memories.mark_duplicate(scope, memory.id, other.id)
        await chat.send(folded(talk(ASKED, "What is 2+2?")), **FOLDED)
    assert chat.messages[: len(before)] == before
    await notebook.store.close()
