"""An upstream that takes what a model thought for another prompt's: asked again without, once."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.http.served.speaking import OFF, MessagesSpeaker, events, messages
from tests.wire.servers.messages_server import FAULTS, MessagesServer

BOUND = FAULTS["bound thinking"]


def thoughts(said: MessagesSpeaker, back: int = 1) -> int:
    """Blocks of thinking in a request that the upstream got."""
    sent = said.server.seen[-back].body["messages"]
    blocks = [b for m in sent if isinstance(m["content"], list) for b in m["content"]]
    return sum(block["type"] == "thinking" for block in blocks)


def statuses(said: MessagesSpeaker, since: int) -> list[int]:
    return [seen.status for seen in said.server.seen[since:]]


async def replays(client: httpx.AsyncClient) -> float:
    page = await client.get("/metrics")
    lines = [line for line in page.text.splitlines() if line.startswith("memtree_thinking_replays")]
    return float(next(line.split()[-1] for line in lines if "created" not in line))


async def test_a_history_behind_a_fold_that_goes_whole_is_sent_again_without_thinking():
    """Memory is switched off after a fold: what was thought behind it is bound to it."""
    async with messages() as said:
        await said.until_folded()
        await said.say("and then?")
        before = len(said.server.seen)
        answer = await said.post([*said.items, said.user("whole, please")], **OFF_HEADERS)
        assert answer.status_code == 200
        assert statuses(said, before) == [400, 200]
        assert (thoughts(said, 2) > 0, thoughts(said)) == (True, 0)
        assert await replays(said.client) == 1
        # With memory again, the same epoch goes on with the thinking that is bound to it.
        before = len(said.server.seen)
        assert (await said.say("go on")).status_code == 200
        assert statuses(said, before) == [200]
        assert thoughts(said) > 0


OFF_HEADERS = {name.replace("-", "_"): value for name, value in OFF.items()}


async def test_what_was_refused_stays_left_out():
    async with messages() as said:
        await said.until_folded()
        for _ in range(3):
            await said.say("and then?")
        said.server.steps.append(BOUND)
        before = len(said.server.seen)
        assert (await said.say("which bed?")).status_code == 200
        assert statuses(said, before) == [400, 200]
        assert thoughts(said) == 0
        # The client sends all of it again; what is thought from now on stays.
        for number in range(1, 4):
            before = len(said.server.seen)
            assert (await said.say("and that one?")).status_code == 200
            assert statuses(said, before) == [200]
            assert thoughts(said) == number
        before = len(said.server.seen)
        count = await said.post(said.items[:-1], "/v1/messages/count_tokens")
        assert count.status_code == 200
        assert thoughts(said) == 3
        assert said.server.invalid == []


async def test_a_streamed_request_is_sent_again_too():
    async with messages() as said:
        await said.until_folded()
        await said.say("and then?")
        said.server.steps.append(BOUND)
        said.fields["stream"] = True
        answer = await said.post([*said.items, said.user("which bed?")])
        assert events(answer.text)[-1]["type"] == "message_stop"
        assert (thoughts(said, 2) > 0, thoughts(said)) == (True, 0)


async def test_a_deletion_forgets_what_was_refused():
    async with messages() as said:
        await said.until_folded()
        gone = await said.client.request(
            "DELETE", "/v1/context_memory/delete", json={"all": True}, headers=said.credentials
        )
        assert gone.status_code == 200
        said.server.steps.append(BOUND)
        answer = await said.post([said.user("hi")], **OFF_HEADERS)
        assert (answer.status_code, answer.content) == (400, BOUND.body)


async def test_it_is_tried_once():
    async with messages() as said:
        await said.until_folded()
        await said.say("and then?")
        said.server.steps.extend([BOUND, BOUND])
        before = len(said.server.seen)
        answer = await said.say("which bed?")
        assert (answer.status_code, answer.content) == (400, BOUND.body)
        assert statuses(said, before) == [400, 400]


@pytest.mark.parametrize(
    ("headers", "fields"),
    [
        ({"anthropic_beta": "thinking-block-binding-2026-08-31"}, {}),
        ({}, {"thinking": {"type": "adaptive", "block_binding": "keep"}}),
    ],
)
async def test_a_client_that_says_what_is_to_become_of_it_gets_the_refusal(
    headers: dict[str, str], fields: dict[str, Any]
):
    async with messages(Lenient()) as said:
        await said.until_folded()
        await said.say("and then?")
        said.fields |= fields
        said.server.steps.append(BOUND)
        answer = await said.post([*said.items, said.user("which bed?")], **headers)
        assert (answer.status_code, answer.content) == (400, BOUND.body)


class Lenient(MessagesServer):
    """Knows no rules."""

    def judge(self, body: Any, seen: Any) -> list[Any]:
        return []


async def test_whose_history_was_never_folded_gets_the_refusal_without_memory():
    async with messages() as said:
        said.server.steps.append(BOUND)
        answer = await said.post([said.user("hi")], **OFF_HEADERS)
        assert (answer.status_code, answer.content) == (400, BOUND.body)
        assert len(said.server.seen) == 1
