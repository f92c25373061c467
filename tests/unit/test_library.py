"""The library's door over a store in memory: what each method gives, and what it refuses."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from typing import Any

import pytest

import memtree
from memtree.errors import BadRequest, NotFound

NO_HTTP = ("starlette", "uvicorn", "httpx", "httpx2", "aiohttp", "mcp", "memtree_proxy",
           "memtree_indexer")  # fmt: skip
SAID = "Step {0}: module_{0}.py is edited, its limit is {1}. " + "It took a while. " * 12
ASKED = "Go on; the port of service {0} is {1}."
QUERY = "Which port has service 17?"


def chat(turns: int = 160) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Set all limits."}]
    for turn in range(turns):
        messages.append({"role": "assistant", "content": SAID.format(turn, turn * 7)})
        messages.append({"role": "user", "content": ASKED.format(turn, 9_000 + turn)})
    return messages


def anthropic(turns: int = 160) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Set all limits."}]
    for turn in range(turns):
        call = {"type": "tool_use", "id": f"toolu_{turn}", "name": "edit", "input": {"at": turn}}
        text = {"type": "text", "text": SAID.format(turn, turn * 7)}
        messages.append({"role": "assistant", "content": [text, call]})
        done = {"type": "tool_result", "tool_use_id": f"toolu_{turn}", "content": "done"}
        said = {"type": "text", "text": ASKED.format(turn, 9_000 + turn)}
        messages.append({"role": "user", "content": [done, said]})
    return messages


def responses(turns: int = 160) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = [{"role": "user", "content": "Set all limits."}]
    for turn in range(turns):
        call = {"type": "function_call", "call_id": f"call_{turn}", "name": "edit",
                "arguments": "{}"}  # fmt: skip
        output = {"type": "function_call_output", "call_id": f"call_{turn}", "output": "done"}
        text = [{"type": "output_text", "text": SAID.format(turn, turn * 7), "annotations": []}]
        items += [call, output, {"type": "message", "role": "assistant", "content": text},
                  {"role": "user", "content": ASKED.format(turn, 9_000 + turn)}]  # fmt: skip
    return items


@pytest.fixture
async def memory() -> AsyncIterator[memtree.MemTree]:
    async with memtree.open("memory:", embedder="none", index_processes=False) as opened:
        yield opened


@pytest.mark.parametrize(
    ("messages", "options"),
    [
        (chat(), {}),
        (anthropic(), {"system": "Be brief."}),
        (anthropic(), {"dialect": "messages"}),
        (responses(), {"dialect": "responses", "system": "Be brief."}),
    ],
    ids=["chat", "anthropic", "anthropic-named", "responses"],
)
async def test_a_long_history_comes_back_shorter_in_its_own_form(
    memory: memtree.MemTree, messages: list[dict[str, Any]], options: dict[str, Any]
) -> None:
    answer = await memory.compress(messages, target=2_000, **options)
    assert answer.state == "packed"
    assert answer.sent_tokens <= 2_000 < answer.raw_tokens
    assert answer.messages[-1] == messages[-1]
    assert len(answer.messages) < len(messages)
    again = await memory.compress(messages, target=2_000, **options)
    assert again.messages == answer.messages


async def test_a_short_history_comes_back_as_it_is(memory: memtree.MemTree) -> None:
    messages = chat(2)
    answer = await memory.compress(messages)
    assert answer.messages == messages
    assert answer.sent_tokens == answer.raw_tokens
    assert await memory.search(messages, QUERY) == []


async def test_search_quotes_and_explain_says_where(memory: memtree.MemTree) -> None:
    messages = chat()
    found = await memory.search(messages, QUERY)
    assert any("service 17 is 9017" in passage.text for passage in found)
    for passage in found:
        text = messages[passage.message]["content"]
        assert text[passage.start : passage.end] == passage.text
    explained = await memory.explain(messages, target=2_000, query=QUERY)
    assert explained.excerpts
    for dialect, posted in (("messages", anthropic()), ("responses", responses())):
        found = await memory.search(posted, QUERY, dialect=dialect)  # type: ignore[arg-type]
        assert any("service 17 is 9017" in passage.text for passage in found)
    assert sum(await memory.delete(messages)) > 0
    assert sum(await memory.delete(messages)) == 0


async def test_what_is_saved_belongs_to_its_owner(memory: memtree.MemTree) -> None:
    ann = memory.of("user:ann")
    saved = await ann.save("Ann drinks green tea", tags=["tea"])
    assert [hit.memory.id for hit in await ann.search("green tea")] == [saved.id]
    assert [each.text for each in await ann.list()] == ["Ann drinks green tea"]
    for other in ("", "user:bob", "chat:ann", "agent:ann"):
        assert await memory.of(other).list() == []
    await ann.delete(saved.id)
    assert await ann.list() == []
    with pytest.raises(NotFound):
        await ann.delete(saved.id)


@pytest.mark.parametrize("owner", ["ann", "user:", "namespace:a", "user:a b", "user", ":"])
async def test_an_owner_that_is_none_is_refused(memory: memtree.MemTree, owner: str) -> None:
    with pytest.raises(BadRequest):
        memory.of(owner)


async def test_what_cannot_be_read_names_its_argument(memory: memtree.MemTree) -> None:
    for messages, options, param in (
        ([], {}, "messages"),
        ([{"role": "user", "content": object()}], {}, "messages"),
        (chat(1), {"target": 10}, "target"),
        (chat(1), {"target": 4_000, "window": 2_000}, "target"),
        (chat(1), {"mode": "odd"}, "mode"),
        (chat(1), {"dialect": "morse"}, "dialect"),
        ([{"type": "item_reference", "id": "i"}], {"dialect": "responses"}, "input"),
    ):
        with pytest.raises(BadRequest) as error:
            await memory.compress(messages, **options)  # type: ignore[arg-type]
        assert (error.value.param or "").startswith(param), (messages, error.value)
    with pytest.raises(BadRequest):
        await memory.of("").list(limit=0)


async def test_settings_are_checked_and_no_environment_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MEMTREE_EMBEDDER", "nonsense")
    for wrong in ({"embeder": "none"}, {"embedder": "nonsense"}, {"target_tokens": -1}):
        with pytest.raises(BadRequest):
            async with memtree.open("memory:", **wrong):
                pass
    with pytest.raises(BadRequest):
        async with memtree.open("oracle:db", embedder="none"):
            pass
    async with memtree.open("memory:", embedder="none"):
        pass


def test_without_a_loop_many_threads_use_it_and_the_thread_ends() -> None:
    with memtree.open_sync("memory:", embedder="none", index_processes=False) as memory:
        sent: list[int] = []

        def compress() -> None:
            sent.append(memory.compress(chat(), target=2_000).sent_tokens)

        threads = [threading.Thread(target=compress) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(sent) == 4
        assert memory.of("user:ann").save("Ann drinks tea").text == "Ann drinks tea"
        memory.settle()
        with pytest.raises(BadRequest):
            memory.compress([])
    assert "memtree" not in [thread.name for thread in threading.enumerate()]
    with pytest.raises(BadRequest), memtree.open_sync("memory:", embedder="no"):
        pass
    assert "memtree" not in [thread.name for thread in threading.enumerate()]


def test_objects_of_an_sdk_may_stand_among_the_messages() -> None:
    class Said:
        def model_dump(self, **_: Any) -> dict[str, str]:
            return {"role": "assistant", "content": "Hi"}

    async def compressed() -> list[dict[str, Any]]:
        async with memtree.open("memory:", embedder="none") as memory:
            posted = [{"role": "user", "content": "Hello"}, Said()]
            return (await memory.compress(posted)).messages

    assert asyncio.run(compressed())[1] == {"role": "assistant", "content": "Hi"}


def test_nothing_of_http_is_imported() -> None:
    code = (
        "import memtree, sys\n"
        "with memtree.open_sync('memory:', embedder='none') as memory:\n"
        "    memory.compress([{'role': 'user', 'content': 'Hello'}])\n"
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(run.stdout.split()) & set(NO_HTTP)
