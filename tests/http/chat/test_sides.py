"""Check what a client asks for itself goes through untouched where it fits, and leaves no trace."""

from __future__ import annotations

import pytest

from tests.http.served.fakes import dumps, edge
from tests.http.served.upstream import FakeUpstream
from tests.properties.process import World, assistant, story, user

HEADERS = {"x-polychat-memory": "on", "x-memtree-mode": "stable"}
COMPACTION = (
    "Provide a detailed prompt for continuing our conversation above. Focus on what we did, "
    "considering new session will not have access to our conversation."
)
TITLE = "Generate a concise 3-7 word title for this conversation, omitting punctuation."


@pytest.mark.parametrize("order", [COMPACTION, TITLE])
@pytest.mark.parametrize(
    ("turns", "state"), [(61, "below-threshold"), (161, "passed"), (401, "passed")]
)
async def test_a_side_request_goes_as_it_came(
    base: str, upstream: FakeUpstream, turns: int, state: str, order: str
) -> None:
    world = World()
    messages = [*story(turns), assistant("So."), user(order)]
    posted = dumps({"model": "gpt-4o", "messages": messages})
    async with edge(base, world.used) as client:
        answer = await client.post("/v1/chat/completions", content=posted, headers=HEADERS)
    assert answer.headers["x-memtree-state"] == state
    reason = "side-request" if state == "passed" else None
    assert answer.headers.get("x-memtree-reason") == reason
    assert upstream.last.body == posted
    await world.used.close()
    assert world.empty


async def test_the_epoch_goes_on_after_it(base: str, upstream: FakeUpstream) -> None:
    world, told = World(), story(401)
    async with edge(base, world.used) as client:
        epochs = []
        for newest in ("What then?", COMPACTION, "And after that?"):
            body = dumps({"model": "gpt-4o", "messages": [*told, assistant("So."), user(newest)]})
            answer = await client.post("/v1/chat/completions", content=body, headers=HEADERS)
            epochs.append(answer.headers.get("x-memtree-epoch"))
            if newest != COMPACTION:
                told = [*told, assistant("So."), user(newest)]
    assert epochs[0]
    assert epochs == [epochs[0], None, epochs[0]]


async def test_where_it_does_not_fit_it_is_packed(base: str, upstream: FakeUpstream) -> None:
    world = World()
    messages = [*story(401), assistant("So."), user(COMPACTION)]
    body = dumps({"model": "gpt-4o", "model_context_limit": 12_000, "messages": messages})
    async with edge(base, world.used) as client:
        answer = await client.post("/v1/chat/completions", content=body, headers=HEADERS)
    assert answer.headers["x-memtree-state"] == "packed"
    assert COMPACTION.encode() in upstream.last.body
    assert int(answer.headers["x-memtree-sent-tokens"]) < 12_000


async def test_a_request_that_only_looks_alike_gets_memory(
    base: str, upstream: FakeUpstream
) -> None:
    world = World()
    messages = [*story(401), assistant("So."), user("Please summarize our conversation.")]
    body = dumps({"model": "gpt-4o", "messages": messages})
    async with edge(base, world.used) as client:
        answer = await client.post("/v1/chat/completions", content=body, headers=HEADERS)
    assert answer.headers["x-memtree-state"] == "packed"
