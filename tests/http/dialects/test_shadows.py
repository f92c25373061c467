"""Shadow mode in the other dialects: what is sent stays as it came, and what memory would have kept
of it is measured."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.http.chat.test_shadow import SHADOW, opened
from tests.http.served.running import running
from tests.wire.conversations import as_messages, as_responses, conversation
from tests.wire.servers.messages_server import MessagesServer
from tests.wire.servers.responses_server import ResponsesServer

TALK = conversation(seed=5, turns=60, size=60)
KEY = {"authorization": "Bearer k", "anthropic-version": "2023-06-01"}


@pytest.mark.parametrize(
    ("path", "server", "body"),
    [
        ("/v1/messages", MessagesServer, as_messages(TALK)),
        ("/v1/responses", ResponsesServer, as_responses(TALK)),
    ],
)
async def test_a_history_in_shadow_goes_as_it_came_and_is_measured(
    path: str, server: Callable[[], Any], body: dict[str, Any]
) -> None:
    upstream = server()
    with running(upstream) as base:
        async with opened(f"{base}/v1", target_tokens=4_000) as edge:
            answer = await edge.client.post(path, json=body, headers=KEY | SHADOW)
            assert answer.headers["x-memtree-state"] == "shadow"
            assert upstream.last.body == body
            await edge.shadows.settle()
            found = await edge.counts()
            assert (await edge.outcomes())["folded"] == 1
            (ask,) = edge.memory.asks
            assert ask.dialect == path.removeprefix("/v1/")
            assert found["shadow_sent_tokens"] < 0.5 * found["shadow_raw_tokens"]
            assert sum(n for name, n in found.items() if "probes" in name) > 0
