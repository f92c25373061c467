"""An upstream that finds a prompt too long, in front of real memory: packed smaller, sent again."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from tests.http.served.fakes import edge, real_memory
from tests.http.served.upstream import PLAIN_BYTES, FakeUpstream, event
from tests.programs.sessions import chat

ON = {"x-polychat-memory": "on"}
CHAT = "/v1/chat/completions"
STREAMED = event("one") + event("two") + event("three") + b"data: [DONE]\n\n"
TOO_LONG = {
    "error": {
        "message": "This model's maximum context length is 6000 tokens. However, your messages "
        "resulted in 14000 tokens.",
        "code": "context_length_exceeded",
    }
}


def body(turns: int = 120, **fields: Any) -> dict[str, Any]:
    """Some 105 tokens a turn."""
    asked = {"role": "user", "content": "what about the river?"}
    return {"model": "local", "messages": [*chat(turns, words=100), asked], **fields}


def narrow(upstream: FakeUpstream, said: Any = TOO_LONG, mode: str = "narrow") -> None:
    upstream.mode, upstream.status = mode, 400
    upstream.fits = 30_000  # bytes, some 6,000 tokens
    upstream.refusal = json.dumps(said).encode()


@pytest.mark.parametrize("turns", [60, 120, 400])  # below the threshold, passed, folded
@pytest.mark.parametrize("said", [TOO_LONG, {"error": {"message": "prompt is too long"}}])
async def test_it_is_packed_smaller_and_the_client_sees_an_answer(
    turns: int, said: Any, base: str, upstream: FakeUpstream
):
    narrow(upstream, said)
    posted = body(turns)
    async with edge(base, real_memory(), target_tokens=14_000) as client:
        answer = await client.post(CHAT, json=posted, headers=ON)
    assert (answer.status_code, answer.content) == (200, PLAIN_BYTES)
    assert answer.headers["x-memtree-state"] == "packed"
    assert len(upstream.seen) == (2 if len(upstream.seen[0].body) > upstream.fits else 1)
    sent = json.loads(upstream.last.body)
    assert sent["messages"][-1] == posted["messages"][-1]
    assert sent["messages"][0]["content"].startswith("<context_memory>")


async def test_the_window_is_known_the_next_time_and_only_to_its_tenant(
    base: str, upstream: FakeUpstream
):
    narrow(upstream)
    async with edge(base, real_memory(), target_tokens=14_000) as client:
        for key, requests in (("a", 2), ("a", 1), ("b", 2)):
            upstream.seen.clear()
            headers = {**ON, "authorization": f"Bearer {key}"}
            answer = await client.post(CHAT, json=body(), headers=headers)
            assert answer.status_code == 200
            assert len(upstream.seen) == requests
        upstream.seen.clear()
        await client.post(
            CHAT, json=body(model="another"), headers={**ON, "authorization": "Bearer a"}
        )
        assert len(upstream.seen) == 2


async def test_a_stream_is_asked_for_again_before_the_client_sees_anything(
    base: str, upstream: FakeUpstream
):
    narrow(upstream)
    async with edge(base, real_memory(), target_tokens=14_000) as client:
        answer = await client.post(CHAT, json=body(stream=True), headers=ON)
    assert (answer.status_code, answer.content) == (200, STREAMED)


async def test_a_stream_that_begins_with_the_error_goes_on_with_the_other_stream(
    base: str, upstream: FakeUpstream
):
    narrow(upstream, mode="narrow_sse")
    async with edge(base, real_memory(), target_tokens=14_000) as client:
        answer = await client.post(CHAT, json=body(stream=True), headers=ON)
    # The comment goes on where it came alone, and not in one piece with the error.
    assert answer.content.removeprefix(b": PROCESSING\n\n") == STREAMED
    assert len(upstream.seen) == 2


async def test_a_refusal_in_gzip_is_understood(base: str, upstream: FakeUpstream):
    narrow(upstream)
    upstream.refusal = gzip.compress(upstream.refusal)
    upstream.answer_headers = [(b"content-encoding", b"gzip")]
    async with edge(base, real_memory(), target_tokens=14_000) as client:
        answer = await client.post(CHAT, json=body(), headers=ON)
    assert (answer.status_code, answer.content) == (200, PLAIN_BYTES)


@pytest.mark.parametrize("mode", ["narrow", "narrow_sse"])
async def test_it_is_tried_once_more_and_no_more(mode: str, base: str, upstream: FakeUpstream):
    narrow(upstream, mode=mode)
    upstream.fits = 0
    async with edge(base, real_memory(), target_tokens=14_000) as client:
        answer = await client.post(CHAT, json=body(stream=True), headers=ON)
    assert len(upstream.seen) == 2
    assert upstream.refusal in answer.content
    assert answer.status_code == (400 if mode == "narrow" else 200)


@pytest.mark.parametrize("mode", ["narrow", "narrow_sse"])
@pytest.mark.parametrize("said", ["Too many tokens, please wait before trying again.",
                                  "Invalid schema for function 'resize_context_window'.",
                                  "failed to create context: context size 4096"])  # fmt: skip
async def test_an_error_about_something_else_is_relayed_and_changes_no_later_request(
    said: str, mode: str, base: str, upstream: FakeUpstream
):
    narrow(upstream, {"error": {"message": said}}, mode)
    upstream.fits, upstream.status = 0, 500
    async with edge(base, real_memory(), target_tokens=14_000) as client:
        for _ in range(4):
            answer = await client.post(CHAT, json=body(stream=True), headers=ON)
            assert upstream.refusal in answer.content
        assert len({seen.body for seen in upstream.seen}) == 1
        assert len(upstream.seen) == 4


@pytest.mark.parametrize("mode", ["narrow", "narrow_sse"])
async def test_no_window_is_learned_from_a_shorter_prompt_that_is_refused_too(
    mode: str, base: str, upstream: FakeUpstream
):
    narrow(upstream, {"error": {"message": "prompt is too long"}}, mode)
    upstream.fits = 0
    async with edge(base, real_memory(), target_tokens=14_000) as client:
        for _ in range(3):
            await client.post(CHAT, json=body(stream=True), headers=ON)
    sizes = [len(seen.body) for seen in upstream.seen]
    assert sizes[0] > sizes[1]
    assert sizes == sizes[:2] * 3


@pytest.mark.parametrize("streams", [True, False])
async def test_a_named_window_is_kept_and_gets_no_smaller_while_all_is_refused(
    streams: bool, base: str, upstream: FakeUpstream
):
    narrow(upstream)
    upstream.fits = 0
    async with edge(base, real_memory(), target_tokens=14_000) as client:
        for limit in (6_000, 3_000, 1_000, 500):
            said = {"error": {"message": f"This model's maximum context length is {limit} tokens."}}
            upstream.refusal = json.dumps(said).encode()
            await client.post(CHAT, json=body(stream=streams), headers=ON)
        first = [len(seen.body) for seen in upstream.seen[::2]]
        assert first[0] > first[1] == first[2] == first[3]
        upstream.fits = 10**9
        await client.post(CHAT, json=body(stream=streams), headers=ON)
        assert len(upstream.last.body) == first[1]
        upstream.fits = 0  # after an answer the next limit counts again
        for _ in range(2):
            await client.post(CHAT, json=body(stream=streams), headers=ON)
        assert len(upstream.seen[-2].body) < first[1]


@pytest.mark.parametrize("said", [{}, {"error": {"message": "Bad Request", "code": 400}}])
async def test_an_error_without_a_reason_gets_one_shorter_try(
    said: Any, base: str, upstream: FakeUpstream
):
    narrow(upstream, said)
    upstream.fits = 0
    async with edge(base, real_memory(), target_tokens=14_000) as client:
        for _ in range(2):  # nothing is learned while the shorter one is refused, too
            answer = await client.post(CHAT, json=body(), headers=ON)
            assert (answer.status_code, answer.content) == (400, upstream.refusal)
        sizes = [len(seen.body) for seen in upstream.seen]
        assert sizes[0] > sizes[1]
        assert sizes == sizes[:2] * 2
        upstream.fits = sizes[0] - 1
        assert (await client.post(CHAT, json=body(), headers=ON)).status_code == 200
        upstream.seen.clear()
        assert (await client.post(CHAT, json=body(), headers=ON)).status_code == 200
        assert [len(seen.body) < sizes[0] for seen in upstream.seen] == [True]


@pytest.mark.parametrize("measured", [True, False])
@pytest.mark.parametrize("packed", [True, False])
async def test_an_error_of_status_200_is_one(
    measured: bool, packed: bool, base: str, upstream: FakeUpstream
):
    narrow(upstream, mode="narrow" if measured else "narrow_unmeasured")
    upstream.status = 200
    if packed:
        upstream.refusal = gzip.compress(upstream.refusal)
        upstream.answer_headers = [(b"content-encoding", b"gzip")]
    async with edge(base, real_memory(), target_tokens=14_000) as client:
        answer = await client.post(CHAT, json=body(), headers=ON)
        if packed and not measured:  # it cannot be read before it is relayed
            assert answer.json() == TOO_LONG
            return
        assert (answer.status_code, answer.content) == (200, PLAIN_BYTES)
        assert len(upstream.seen) == 2
        upstream.fits = 10**9
        answer = await client.post(CHAT, json=body(60), headers=ON)
        assert answer.content == PLAIN_BYTES, "an answer is relayed as it is"


async def test_the_prompt_leaves_room_for_the_posted_answer(base: str, upstream: FakeUpstream):
    said = "'max_tokens' is too large: 2000. This model's maximum context length is 6000 tokens " \
        "and your request has 14000 input tokens (2000 > 6000 - 14000)."  # fmt: skip
    narrow(upstream, {"error": {"message": said}})
    async with edge(base, real_memory(), target_tokens=14_000) as client:
        posted = body(400, max_tokens=2_000, mode="fresh")
        answer = await client.post(CHAT, json=posted, headers=ON)
    assert answer.status_code == 200
    assert int(answer.headers["x-memtree-sent-tokens"]) <= 0.95 * 6_000 - 2_000


async def test_without_memory_the_refusal_is_the_clients(base: str, upstream: FakeUpstream):
    narrow(upstream)
    async with edge(base, real_memory()) as client:
        answer = await client.post(CHAT, json=body())
    assert (answer.status_code, answer.content) == (400, upstream.refusal)
    assert len(upstream.seen) == 1


@pytest.mark.parametrize("said", [{"error": {"message": "no such model"}}, "text"])
async def test_another_refusal_passes_as_it_is(said: Any, base: str, upstream: FakeUpstream):
    narrow(upstream, said)
    async with edge(base, real_memory(), target_tokens=14_000) as client:
        answer = await client.post(CHAT, json=body(), headers=ON)
    assert (answer.status_code, answer.content) == (400, upstream.refusal)
    assert len(upstream.seen) == 1


async def test_what_must_be_whole_and_does_not_fit_is_refused_as_the_upstream_did(
    base: str, upstream: FakeUpstream
):
    narrow(upstream)
    long = {"role": "user", "content": "river and bridge " * 3_000}
    posted = {"model": "local", "messages": [*chat(120, words=100), long]}
    async with edge(base, real_memory(), target_tokens=14_000) as client:
        answer = await client.post(CHAT, json=posted, headers=ON)
        assert (answer.status_code, answer.content) == (400, upstream.refusal)


async def test_a_learned_window_refuses_nothing_before_the_upstream_was_asked(
    base: str, upstream: FakeUpstream
):
    narrow(upstream)
    long = {"role": "user", "content": "river and bridge " * 3_000}
    posted = {"model": "local", "messages": [*chat(120, words=100), long]}
    async with edge(base, real_memory(), target_tokens=14_000) as client:
        assert (await client.post(CHAT, json=body(), headers=ON)).status_code == 200
        upstream.seen.clear()
        for _ in range(2):
            answer = await client.post(CHAT, json=posted, headers=ON)
            assert (answer.status_code, answer.content) == (400, upstream.refusal)
        assert len(upstream.seen) == 2
        upstream.fits = 10**9  # another model behind the same name
        answer = await client.post(CHAT, json=posted, headers=ON)
        assert (answer.status_code, answer.headers["x-memtree-state"]) == (200, "packed")
        upstream.seen.clear()
        answer = await client.post(CHAT, json=body(), headers=ON)
        assert (answer.status_code, len(upstream.seen)) == (200, 1)
        assert len(upstream.last.body) > 30_000, "the window that was learned is forgotten"


async def test_a_side_request_goes_whole_and_is_packed_where_the_upstream_refuses(
    base: str, upstream: FakeUpstream
):
    order = (
        "Your task is to create a detailed summary of the conversation so far. Another agent will "
        "continue from your summary. Output only the summary."
    )
    posted = body(400, model="gpt-4o")
    posted["messages"][-1] = {"role": "user", "content": order}
    async with edge(base, real_memory()) as client:
        answer = await client.post(CHAT, json=posted, headers=ON)
        assert answer.headers["x-memtree-state"] == "passed"
        assert json.loads(upstream.last.body) == posted
        narrow(upstream)
        answer = await client.post(CHAT, json=posted, headers=ON)
        assert (answer.status_code, answer.headers["x-memtree-state"]) == (200, "packed")
