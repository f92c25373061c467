"""When memory begins, as the headers of a growing chat tell it: why it still went whole, and from
which size on it will be folded."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import httpx
import pytest

from memtree.budget.packing import THRESHOLD
from memtree_proxy.upstream.upstreams import Upstreams
from tests.http.served.fakes import client_of, dumps, edge, real_memory, services
from tests.http.served.upstream import FakeUpstream
from tests.programs.sessions import chat
from tests.properties.process import World, story

CHAT = "/v1/chat/completions"
ON = {"x-polychat-memory": "on"}
REMOTE = "https://models.example.com/v1"
SAID = re.compile(r"(fits|cheaper-whole|one-round|large-round|tree-pending); folds-at=([0-9]+)")
STEP = 40  # messages of some 67 tokens that are added between two requests


@asynccontextmanager
async def placed(base: str, world: World, **settings: Any) -> AsyncIterator[httpx.AsyncClient]:
    """Open an edge like `edge`; what goes to `upstream` among the settings goes to `base` all the
    same, so that no test asks for a name in the network."""
    built = services(base, world.used, **settings)
    there = Upstreams.of_settings(replace(built.settings, upstream=base))
    async with client_of(replace(built, upstreams=there)) as client:
        yield client
    await built.upstreams.close()


class Growing:
    """A chat that comes again and again with more messages, until it is folded."""

    def __init__(self, **settings: Any) -> None:
        self.settings = settings
        self.whole: list[tuple[int, str, int]] = []  # tokens, why it went whole, where it folds
        self.folded = 0  # tokens

    async def run(self, base: str, model: str, headers: dict[str, str] = ON) -> None:
        world, made = World(), story(1_101)
        async with placed(base, world, **self.settings) as client:
            for end in range(101, len(made), STEP):
                body = dumps({"model": model, "messages": made[:end]})
                answer = await client.post(CHAT, content=body, headers=headers)
                tokens = int(answer.headers["x-memtree-raw-tokens"])
                if answer.headers["x-memtree-state"] == "packed":
                    assert "x-memtree-reason" not in answer.headers
                    self.folded = tokens
                    return
                assert answer.headers["x-memtree-sent-tokens"] == str(tokens)
                if tokens < THRESHOLD:
                    assert answer.headers["x-memtree-state"] == "below-threshold"
                    continue
                assert answer.headers["x-memtree-state"] == "passed"
                said = SAID.fullmatch(answer.headers["x-memtree-reason"])
                assert said, answer.headers["x-memtree-reason"]
                self.whole.append((tokens, said[1], int(said[2])))
                await world.used.close()

    @property
    def largest(self) -> int:
        """Tokens that went whole last."""
        return self.whole[-1][0]


@pytest.mark.parametrize("mode", ["auto", "stable"])
@pytest.mark.parametrize("target", [4_000, 12_000, 20_000])
async def test_at_home_an_unknown_model_has_memory_as_soon_as_it_is_over_the_target(
    base: str, upstream: FakeUpstream, mode: str, target: int
) -> None:
    """The upstream of these tests is on loopback."""
    growing = Growing(target_tokens=target, mode=mode)
    await growing.run(base, "my-model")
    least = max(target, THRESHOLD)
    assert all((why, at) == ("fits", least) for _, why, at in growing.whole)
    assert all(tokens <= least for tokens, _, _ in growing.whole)
    assert least < growing.folded < least + 3_000


async def test_elsewhere_an_unknown_model_waits_a_little(base: str, upstream: FakeUpstream) -> None:
    growing = Growing(upstream=REMOTE)
    await growing.run(base, "my-model")
    assert 20_000 < growing.folded < 30_000
    assert {why for _, why, _ in growing.whole} <= {"fits", "cheaper-whole"}
    for tokens, why, at in growing.whole:
        assert (why == "fits") == (tokens <= 20_000)
        assert at >= 20_000
        assert abs(at - growing.folded) < 6_000  # a step of this chat is 2,700 tokens


async def test_a_known_model_waits_until_it_pays_wherever_the_upstream_is(
    base: str, upstream: FakeUpstream
) -> None:
    growing = Growing()
    await growing.run(base, "us.anthropic.claude-sonnet-4-20250514-v1:0")
    assert growing.largest > 21_000
    assert growing.folded
    assert [why for _, why, _ in growing.whole][-1] == "cheaper-whole"
    for tokens, why, at in growing.whole:
        assert (why == "fits") == (tokens <= 20_000)
        assert at > tokens
        assert abs(at - growing.folded) < 6_000  # two steps of this chat


async def test_a_model_whose_reads_are_dear_does_not_wait(
    base: str, upstream: FakeUpstream
) -> None:
    growing = Growing(upstream=REMOTE)
    await growing.run(base, "gpt-4o-mini")
    assert 20_000 < growing.folded < 23_000


async def test_what_the_operator_says_goes_before_the_place(
    base: str, upstream: FakeUpstream
) -> None:
    growing = Growing(prices=("*=1.25/0.1",))
    await growing.run(base, "my-model")
    assert growing.largest > 21_000


async def test_one_round_is_never_cut(base: str, upstream: FakeUpstream) -> None:
    asked = {"role": "user", "content": "tree " * 24_000}
    async with edge(base, real_memory()) as client:
        body = dumps({"model": "my-model", "messages": [asked]})
        answer = await client.post(CHAT, content=body, headers=ON)
        size = answer.headers["x-memtree-raw-tokens"]
        assert answer.headers["x-memtree-state"] == "passed"
        assert answer.headers["x-memtree-reason"] == f"one-round; folds-at={size}"
        more = [asked, *chat(20, words=60)]
        body = dumps({"model": "my-model", "messages": more})
        folded = await client.post(CHAT, content=body, headers=ON)
    assert folded.headers["x-memtree-state"] == "packed"


async def test_a_newest_round_that_fills_the_model_is_told_where_it_ends(
    base: str, upstream: FakeUpstream
) -> None:
    """Over the margin for other tokenizers, and leaving out the rest would not help."""
    asked = {"role": "user", "content": "tree " * 15_400}
    body = {"model": "my-model", "messages": [*chat(2, words=60), asked], "max_tokens": 1}
    limit = {"model_context_limit": 16_000}
    async with edge(base, real_memory()) as client:
        answer = await client.post(CHAT, content=dumps({**body, **limit}), headers=ON)
    assert answer.headers["x-memtree-state"] == "passed"
    assert answer.headers["x-memtree-reason"] == "large-round; folds-at=15999"


async def test_system_messages_and_tools_do_not_count(base: str, upstream: FakeUpstream) -> None:
    """The request has over 10,000 tokens, and its history has not."""
    system = {"role": "system", "content": "rule " * 9_000}
    for said, expected in (([], None), ([system], "fits; folds-at=20000")):
        body = dumps({"model": "my-model", "messages": [*said, *story(41)]})
        async with edge(base, real_memory()) as client:
            answer = await client.post(CHAT, content=body, headers=ON)
        assert answer.headers["x-memtree-state"] == "below-threshold"
        assert answer.headers.get("x-memtree-reason") == expected


async def test_the_body_of_context_memory_says_the_same(base: str) -> None:
    messages = story(241)
    async with edge(base, real_memory()) as client:
        answer = await client.post("/context_memory", json={"messages": messages})
        hard = await client.post(
            "/context_memory", json={"messages": messages, "target_tokens": 19_000}
        )
    assert answer.headers["x-memtree-reason"] == "fits; folds-at=20000"
    assert answer.json()["memory"]["reason"] == "fits; folds-at=20000"
    assert hard.json()["memory"]["reason"] == "fits; folds-at=19000"


async def test_the_status_tells_when_a_chat_with_a_model_is_folded(base: str) -> None:
    window = ("small=8192",)
    async with edge(base, World().used, target_tokens=20_000, window=window) as client:
        names = ("gpt-4o-mini", "claude-opus-5-5", "small", "x" * 201)
        asked = [await client.get(f"/v1/context_memory/status?model={name}") for name in names]
        plain = await client.get("/v1/context_memory/status")
    assert "folds_at" not in plain.json()
    *told, refused = asked
    assert [answer.json()["folds_at"] for answer in told] == [20_000, 77_000, 6_000]
    assert refused.status_code == 400
    assert refused.json()["error"]["param"] == "model"
