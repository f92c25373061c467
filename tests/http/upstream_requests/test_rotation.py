"""A credential changed: its memory is reached with the new one, over a store in a file."""

from __future__ import annotations

import asyncio
import io
from pathlib import Path

import pytest

from memtree.context.context_memory import ContextMemory
from memtree.jobs.embedding import NoQueue
from memtree.jobs.growing import StageOne
from memtree.jobs.runtime import SystemClock
from memtree.stores import open_store
from memtree_proxy.cli.main import main
from memtree_proxy.http.auth import KEYS_SECONDS, Gate
from tests.http.served.fakes import FakeKeys, edge
from tests.http.server.test_auth import request

TALE = [
    {"role": ("user", "assistant")[at % 2], "content": f"Line {at}: " + f"word{at} " * 150}
    for at in range(40)
]


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    return f"sqlite:///{tmp_path}/store.db"


def posted(url: str, credential: str | None) -> str:
    """The address that a server started now gives the tale; it is made from the tenant."""

    async def work() -> str:
        store = open_store(url)
        memory = ContextMemory(store, StageOne(child=False), NoQueue(), SystemClock())
        headers = {"authorization": f"Bearer {credential}"} if credential else {}
        async with edge(None, memory, store) as client:
            answer = await client.post("/context_memory", json={"messages": TALE}, headers=headers)
        await memory.close()
        await store.close()
        assert answer.status_code == 200, answer.text
        return str(answer.json()["memory"]["address"])

    return asyncio.run(work())


def kept(url: str) -> list[tuple[str, int, int]]:
    """Names, addresses and nodes of all tenants."""

    async def work() -> list[tuple[str, int, int]]:
        store = open_store(url)
        rows = await store.tenants()
        await store.close()
        return [row[:3] for row in rows]

    return asyncio.run(work())


def command(url: str, monkeypatch: pytest.MonkeyPatch, *words: str, typed: str = "") -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    assert main([*words, "--store", url]) == 0


def test_without_keys_another_credential_takes_the_memory_along(url, monkeypatch):
    address = posted(url, "sk-old")
    before = kept(url)
    assert before[0][2] > 10
    command(url, monkeypatch, "tenants", "move", "-", "-", typed="sk-old\nsk-new\n")
    assert posted(url, "sk-new") == address
    assert kept(url) == before  # found, not made anew
    assert posted(url, "sk-old") != address
    assert len(kept(url)) == 2


def test_memory_of_nobody_goes_to_a_credential(url, monkeypatch):
    address = posted(url, None)
    before = kept(url)
    command(url, monkeypatch, "tenants", "move", "anonymous", "-", typed="sk-me\n")
    assert posted(url, "sk-me") == address
    assert kept(url) == before
    assert posted(url, None) != address


def test_shared_memory_is_reached_with_both(url, monkeypatch):
    address = posted(url, "sk-one")
    before = kept(url)
    command(url, monkeypatch, "tenants", "move", "-", "-", "--share", typed="sk-one\nsk-two\n")
    assert posted(url, "sk-two") == posted(url, "sk-one") == address
    assert kept(url) == before


def test_with_keys_a_rotated_key_keeps_its_memory(url, monkeypatch):
    command(url, monkeypatch, "keys", "create", "laptop", "--value", "k-old")
    address = posted(url, "k-old")
    before = kept(url)
    command(url, monkeypatch, "keys", "add-value", "laptop", "--value", "k-new", "--only")
    assert posted(url, "k-new") == address
    assert kept(url) == before


def test_the_first_keys_take_along_what_was_there_without(url, monkeypatch):
    addresses = [posted(url, "sk-a"), posted(url, "sk-b")]
    before = kept(url)
    command(url, monkeypatch, "keys", "create", "a", "--keep-memory", "--value", "sk-a")
    command(url, monkeypatch, "keys", "create", "b", "--value", "k-b")
    command(url, monkeypatch, "tenants", "move", "-", "b", typed="sk-b\n")
    assert [posted(url, "sk-a"), posted(url, "k-b")] == addresses
    assert kept(url) == before


async def test_a_move_is_noticed_within_seconds():
    now = [0.0]
    keys = FakeKeys()
    gate = Gate(keys, loopback=True, monotonic=lambda: now[0])
    own = (await gate.tenant(request({"x-api-key": "K"}))).id
    keys.named_anew = {own: "t_other", "anonymous": "t_another"}
    assert (await gate.tenant(request({"x-api-key": "K"}))).id == own
    now[0] = KEYS_SECONDS
    moved = await gate.tenant(request({"x-api-key": "K"}))
    assert (moved.id, moved.keyed) == ("t_other", False)
    assert (await gate.tenant(request())).id == "t_another"
