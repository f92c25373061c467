"""All of a user in one look and one deletion, and memories that are on for all users."""

from __future__ import annotations

from typing import Any

import pytest

from memtree.memories.draft import MemoryDraft
from memtree.memories.scope import Scope
from tests.fakes import HashingEmbedder
from tests.http.owned.injecting import Notebook, chatting, user
from tests.http.owned.kinds import users
from tests.http.served.upstream import FakeUpstream

TEA = "The user drinks green tea, no coffee"
ASKED_TEA = "Which tea does the user drink, green or black?"


async def test_a_user_is_counted_and_erased_whole_and_nobody_else() -> None:
    async with users(HashingEmbedder()) as me:
        for who in ("ana", "bob"):
            await me.got("POST", "", who, status=201, json={"text": "User lives in Graz"})
            await me.got("POST", "/groups", who, status=201, json={"title": "Home"})
        [row] = await me.rows("ana")
        await me.got("POST", "", "ana", status=201, json={"text": "User drinks tea"})
        await me.got("DELETE", f"/{row['id']}", "ana")
        about = Scope.of_agent(me.tenant, "helper", "ana")
        await me.opened.book.save(about, MemoryDraft("User is a nurse"))
        kept = await me.got("GET", "/user", "ana")
        assert (kept["user_id"], kept["memories"], kept["groups"]) == ("ana", 1, 1)
        assert kept["states"] == {"live": 1, "deleted": 1}
        assert (kept["agent_records"], kept["settings"]["memories_save_enabled"]) == (1, False)
        assert (await me.got("DELETE", "/user?dry_run=true", "ana"))["count"] == 4
        assert (await me.got("GET", "/user", "ana")) == kept
        gone = await me.got("DELETE", "/user", "ana")
        assert gone == {"deleted": 2, "groups": 1, "agent_records": 1, "verified": True}
        again = await me.got("DELETE", "/user", "ana")
        assert again == {"deleted": 0, "groups": 0, "agent_records": 0, "verified": True}
        assert (await me.got("GET", "/user", "ana"))["states"] == {}
        assert await me.got("POST", "/undelete", "ana", json={"ids": [row["id"]]}) == {
            "memories": []
        }
        assert (await me.got("GET", "/user", "bob"))["memories"] == 1
        assert (await me.got("GET", "/user"))["user_id"] is None


async def test_what_the_route_does_not_know_erases_nothing() -> None:
    async with users(HashingEmbedder()) as me:
        await me.got("POST", "", "ana", status=201, json={"text": "User lives in Graz"})
        await me.got("DELETE", "/user?purge=true", "ana", status=400)
        await me.got("DELETE", "/user", "ana", status=400, json={"ids": []})
        assert len(await me.rows("ana")) == 1


@pytest.mark.parametrize("by", ["setting", "plan"])
async def test_memories_are_on_for_all_users_who_have_not_switched_them_off(
    base: str, upstream: FakeUpstream, by: str
) -> None:
    notebook = Notebook()
    await notebook.save(TEA, scope=notebook.user("ana"))
    if by == "plan":
        await notebook.memories.set_plan(notebook.tenant, "auto")
    settings: dict[str, Any] = {"memories_users": "on"} if by == "setting" else {}
    async with chatting(base, upstream, notebook, **settings) as chat:

        async def shown(**more: str) -> bool:
            answer = await chat.post([user(ASKED_TEA)], None, None, x_user_id="ana", **more)
            return "x-memtree-memories" in answer.headers

        assert await shown()
        assert chat.waiting == 1
        assert not await shown(x_user_memory="off")
        assert await shown(x_user_memory="on")
        await notebook.switch(notebook.user("ana"), save=False)
        chat.services.users.recent.forget(notebook.user("ana"))
        assert not await shown()
        assert await shown(x_user_memory="on")
        await notebook.memories.set_plan(notebook.tenant, "free")
        await notebook.switch(notebook.user("ana"), save=True)
        chat.services.users.recent.forget(notebook.user("ana"))
        assert not await shown()


async def test_they_are_off_without_that(base: str, upstream: FakeUpstream) -> None:
    notebook = Notebook()
    await notebook.save(TEA, scope=notebook.user("ana"))
    async with chatting(base, upstream, notebook) as chat:
        answer = await chat.post([user(ASKED_TEA)], None, None, x_user_id="ana")
        assert "x-memtree-memories" not in answer.headers
        answer = await chat.post([user(ASKED_TEA)], None, None, x_user_id="ana", x_user_memory="on")
        assert "x-memtree-memories" in answer.headers
        assert upstream.last.header("x-user-memory") == []
