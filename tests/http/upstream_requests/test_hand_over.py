"""Check what users say in chats is handed over to become memories: when, of whom, at no cost to the
chat, and that nothing is stored for who did not switch it on."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memtree.history.message import Message
from memtree.memories.scope import Scope
from memtree.memories.user_memories import UserSettings
from tests.http.owned.injecting import SYSTEM, Notebook, assistant, chatting, user
from tests.http.served.upstream import FakeUpstream

TALK = [SYSTEM, user("I prefer TypeScript for new projects."), assistant("Noted.")]
ASKED = [SYSTEM, user("What do I prefer for new projects?")]


class HandedOver:
    """A queue that keeps what it is given. `error`: raised then."""

    def __init__(self, error: Exception | None = None) -> None:
        self.taken: list[tuple[Scope, Sequence[Message], UserSettings]] = []
        self.error = error

    def submit(self, scope: Scope, posted: Sequence[Message], settings: UserSettings) -> None:
        self.taken.append((scope, posted, settings))
        if self.error:
            raise self.error


@pytest.fixture
def notebook() -> Notebook:
    return Notebook()


@pytest.mark.parametrize("error", [None, RuntimeError("a fault of ours")])
async def test_it_is_what_the_client_posted(
    base: str, upstream: FakeUpstream, notebook: Notebook, error: Exception | None
):
    ada = notebook.user("ada")
    await notebook.save("The user prefers tabs", scope=ada)
    await notebook.switch(ada, save=True)
    queue = HandedOver(error)
    async with chatting(base, upstream, notebook, queue=queue) as chat:
        answer = await chat.post([*TALK, user("Which do I prefer, tabs?")], None, x_user_id="ada")
    assert "x-memtree-memories" in answer.headers
    ((scope, messages, settings),) = queue.taken
    assert scope == ada
    assert [json.loads(message.raw) for message in messages] == [
        *TALK,
        user("Which do I prefer, tabs?"),
    ]
    assert settings == UserSettings(save=True)


async def test_a_request_that_the_upstream_refuses_is_read_for_memories_too(
    base: str, upstream: FakeUpstream, notebook: Notebook
):
    """The user has said it all the same."""
    await notebook.switch(notebook.user(), save=True)
    upstream.mode = "error"
    queue = HandedOver()
    async with chatting(base, upstream, notebook, queue=queue) as chat:
        body = json.dumps({"model": "m", "messages": TALK[:2]})
        headers = {"authorization": "Bearer key"}
        answer = await chat.client.post("/v1/chat/completions", content=body, headers=headers)
    assert answer.status_code >= 400
    assert len(queue.taken) == 1


async def test_the_upstream_is_asked_first(base: str, upstream: FakeUpstream, notebook: Notebook):
    await notebook.switch(notebook.user(), save=True)
    asked: list[int] = []

    class Ordered(HandedOver):
        def submit(self, *given: Any) -> None:
            asked.append(len(upstream.seen))

    async with chatting(base, upstream, notebook, queue=Ordered()) as chat:
        await chat.post(TALK[:2], None)
    assert asked == [1]


async def test_a_body_that_cannot_be_read_is_not(
    base: str, upstream: FakeUpstream, notebook: Notebook
):
    await notebook.switch(notebook.user(), save=True)
    queue = HandedOver()
    async with chatting(base, upstream, notebook, queue=queue) as chat:
        for body in (
            b'{"model": "m", "messages": "none"}',
            b'{"model": "m", "messages": ["\xff"]}',
        ):
            await chat.send(body, None)
            assert upstream.last.body == body
    assert queue.taken == []


# ---------------------------------------------------------------- and becomes memories


async def rows(notebook: Notebook, *names: str) -> list[int]:
    return [(await notebook.memories.state(notebook.user(name))).total for name in names]


async def test_said_in_one_conversation_known_in_another(
    base: str, upstream: FakeUpstream, notebook: Notebook
):
    await notebook.switch(notebook.user("ada"), save=True)
    async with chatting(base, upstream, notebook) as chat:
        chat.services.start()
        await chat.post(TALK[:2], None, x_user_id="ada")
        await chat.services.extraction.join()
        await chat.post([*TALK, user("And for scripts?")], None, x_user_id="ada")
        await chat.services.extraction.join()
        assert chat.messages == [*TALK, user("And for scripts?")]  # it says so itself
        answer = await chat.post(ASKED, None, x_user_id="ada")
        assert "TypeScript" in chat.messages[0]["content"]
        assert "x-memtree-memories" in answer.headers
        for name in ("bob", "Ada"):
            await chat.post(ASKED, None, x_user_id=name)
            assert chat.messages == ASKED
        await chat.services.close()
    assert await rows(notebook, "ada", "bob", "") == [1, 0, 0]


async def test_what_was_said_in_a_branch_that_was_left_is_known_in_other_conversations_alone(
    base: str, upstream: FakeUpstream, notebook: Notebook
):
    await notebook.switch(notebook.user(), save=True)
    start = [
        SYSTEM,
        user("I want to begin something small at home this year. " * 5),
        assistant("Good. Tell me more about it, so that we find what suits you best."),
    ]
    said = [*start, user("I prefer TypeScript for new projects.")]
    other = [*start, user("What do I prefer for new projects?")]
    async with chatting(base, upstream, notebook) as chat:
        chat.services.start()
        await chat.post(said, None)
        await chat.services.extraction.join()
        for posted in ([*said, assistant("Noted."), *ASKED[1:]], other):
            await chat.post(posted, None)
            assert chat.messages == posted
        await chat.post(ASKED, None)
        assert "TypeScript" in chat.messages[0]["content"]
        await chat.services.close()


async def test_what_a_user_switches_holds_for_the_next_request(
    base: str, upstream: FakeUpstream, notebook: Notebook
):
    queue = HandedOver()
    headers = {"authorization": "Bearer key", "x-user-id": "ada"}
    async with chatting(base, upstream, notebook, queue=queue) as chat:
        await chat.post(TALK[:2], None, x_user_id="ada")
        for number, enabled in enumerate((True, False, True), 1):
            answer = await chat.client.patch(
                "/v1/memories/settings", json={"memories_save_enabled": enabled}, headers=headers
            )
            assert answer.status_code == 200
            await chat.post(TALK[:2], None, x_user_id="ada")
            assert len(queue.taken) == (number + 1) // 2


SAID = [
    "I live in Rome.",
    "I have two cats.",
    "I work as a baker.",
    "I prefer short answers.",
    "My dentist appointment is on 3 May 2031.",
    "I'm allergic to nuts.",
]
OFF: list[tuple[str, dict[str, bool], dict[str, Any], dict[str, Any]]] = [
    ("both switches are off", {}, {}, {}),
    (
        "this request says so",
        {"save": True, "history": True},
        {"memory_options": {"enabled": False}},
        {},
    ),
    ("the server says so", {"save": True, "history": True}, {}, {"memories_extraction": "off"}),
    ("injection alone is asked for", {}, {"memory_options": {"enabled": True}}, {}),
]


def talk() -> list[dict[str, Any]]:
    rows = [SYSTEM]
    for text in SAID:
        rows += [user(text), assistant("Noted, that is a fine thing.")]
    return rows[:-1]


def counted(file: Path) -> dict[str, int]:
    """Rows of every table."""
    with closing(sqlite3.connect(file)) as db:
        names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type='table'")]
        return {
            name: int(db.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]) for name in names
        }


async def posted(
    base: str,
    upstream: FakeUpstream,
    file: Path,
    switches: dict[str, bool],
    fields: dict[str, Any],
    settings: dict[str, Any],
    *,
    plan: str = "pro",
) -> tuple[dict[str, int], dict[str, int]]:
    """Rows before and after a conversation went through the chat routes, with the switches as they
    are said."""
    notebook = Notebook(f"sqlite:///{file}")
    if switches:
        await notebook.switch(notebook.user(), **switches)
    await notebook.memories.set_plan(notebook.tenant, plan)
    before = counted(file)
    async with chatting(base, upstream, notebook, **settings) as chat:
        chat.services.start()
        for _ in range(2):
            answer = await chat.post(talk(), None, fields)
            assert answer.status_code == 200
            await chat.services.extraction.join()
        await chat.services.close()
    after = counted(file)
    await notebook.store.close()
    return before, after


@pytest.mark.parametrize(("switches", "fields", "settings"), [row[1:] for row in OFF],
                         ids=[row[0] for row in OFF])  # fmt: skip
async def test_no_table_has_another_row(
    base: str,
    upstream: FakeUpstream,
    tmp_path: Path,
    switches: dict[str, bool],
    fields: dict[str, Any],
    settings: dict[str, Any],
) -> None:
    before, after = await posted(base, upstream, tmp_path / "store.db", switches, fields, settings)
    assert after == before
    assert len(before) > 10


async def test_nor_under_the_free_plan(base: str, upstream: FakeUpstream, tmp_path: Path) -> None:
    on = {"save": True, "history": True}
    before, after = await posted(base, upstream, tmp_path / "store.db", on, {}, {}, plan="free")
    assert after == before


async def test_where_it_is_switched_on_there_are_rows(
    base: str, upstream: FakeUpstream, tmp_path: Path
) -> None:
    on = {"save": True, "history": True}
    before, after = await posted(base, upstream, tmp_path / "store.db", on, {}, {})
    new = {name: after[name] - before[name] for name in after if after[name] != before[name]}
    # and the snapshot's, and that older memories were read again
    assert new["extracted_messages"] == len(SAID) + 2
    assert new["memories"] > 3
