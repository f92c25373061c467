"""The summariser against a scripted endpoint: what is sent, what is learned, every failure."""

from __future__ import annotations

import asyncio
import contextlib
import logging

import pytest

from memtree.errors import SummarizerUnavailable
from memtree.models import openai_client
from memtree.models.chat_endpoint import ChatEndpoint, ChatSummarizer
from memtree.models.chat_reply import SPARE
from memtree.text import tokens
from memtree.tree import summary_prompts
from memtree.tree.summary_prompts import CHAT, SourcePiece, leaf_task, prompt
from tests.made.embeddings import Half, Raw, Silence, Status
from tests.made.summaries import (
    Answer,
    Drip,
    Hand,
    Held,
    Summaries,
    garbage,
    good,
    half,
    nothing_but_reasoning,
    serving,
    thinking,
)

KEY = "sk-secret-of-the-tests"
TEXT = "The quick brown fox jumps over the lazy dog."
TASKS = [leaf_task("1", [SourcePiece("user", 0, TEXT)], CHAT)]
INPUT = sum(tokens.count(one["content"]) for one in prompt(TASKS))
ROOM = 2 * (75 + 18) + 40


@pytest.fixture
async def server():
    async with serving(Summaries()) as app:
        yield app


@pytest.fixture
def hand():
    return Hand()


@pytest.fixture
async def opened(server, hand):
    made = []

    def make(**options):
        options = {"key": KEY, "clock": hand, "sleep": hand.sleep} | options
        made.append(ChatSummarizer(ChatEndpoint(server.url, "a-model", **options)))
        return made[-1]

    yield make
    for one in made:
        await one.close()


@pytest.fixture
def model(opened):
    return opened()


async def until(condition):
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110  what is waited for has no event
            await asyncio.sleep(0.001)


# ---------------------------------------------------------------- what is sent


async def test_what_is_sent(server, model):
    await model.write(TASKS)
    (asked,) = server.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    form = asked.body.pop("response_format")
    assert form["json_schema"]["strict"]
    assert asked.body == {
        "model": "a-model",
        "messages": prompt(TASKS),
        "max_tokens": ROOM,
        "temperature": 0.3,
    }


async def test_nothing_of_the_environment_is_sent(server, opened, monkeypatch):
    for name in ("API_KEY", "ORG_ID", "PROJECT_ID", "ADMIN_KEY"):
        monkeypatch.setenv(f"OPENAI_{name}", "not-for-you")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "authorization: not-for-you\nx-own: not-for-you")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    await opened(key=None).write(TASKS)
    await opened().write(TASKS)
    without, with_key = server.asked
    assert "authorization" not in without.headers
    assert with_key.headers["authorization"] == f"Bearer {KEY}"
    assert "not-for-you" not in str(without.headers) + str(with_key.headers)
    assert not {name for name in with_key.headers if name.startswith("x-")}


async def test_the_recipe_names_model_place_and_prompt(model, monkeypatch):
    same = ChatSummarizer(ChatEndpoint(model_url := "http://a/v1", "m"))
    assert (
        same.recipe == ChatSummarizer(ChatEndpoint(f"{model_url}/", "m", "key", parallel=9)).recipe
    )
    assert ChatSummarizer(ChatEndpoint("http://b/v1", "m")).recipe != same.recipe
    assert ChatSummarizer(ChatEndpoint(model_url, "n")).recipe != same.recipe
    assert "://" not in same.recipe
    assert KEY not in model.recipe
    monkeypatch.setattr(summary_prompts, "TOLD", summary_prompts.TOLD / 2)
    assert ChatSummarizer(ChatEndpoint(model_url, "m")).recipe != same.recipe


# ---------------------------------------------------------------- what a server takes

SETS = [
    {"json_schema"},
    {"json_schema", "json_object"},
    {"response_format"},
    {"max_tokens"},
    {"temperature"},
    {"max_tokens", "temperature", "json_schema"},
    {"max_tokens", "max_completion_tokens", "temperature", "response_format"},
]


@pytest.mark.parametrize("status", [400, 422])
@pytest.mark.parametrize("refused", SETS, ids=lambda one: "+".join(sorted(one)))
async def test_what_is_refused_is_left_out_and_that_is_remembered(server, model, refused, status):
    server.refuses, server.refusal = set(refused), status
    assert (await model.write(TASKS)).drafts
    calls = server.calls
    assert 1 < calls <= 6
    assert (await model.write(TASKS)).drafts
    assert server.calls == calls + 1
    assert not refused & server.asked[-1].body.keys()


async def test_a_refusal_that_names_nothing_is_tried_without_structure(server, model):
    server.steps = [Status(400), Status(400)]
    assert (await model.write(TASKS)).drafts
    assert [one.body.get("response_format", {}).get("type") for one in server.asked] == [
        "json_schema",
        "json_object",
        None,
    ]


async def test_a_text_that_is_refused_has_no_draft_and_costs_one_call(server, model):
    await model.write(TASKS)
    server.steps = [Status(400)]
    written = await model.write(TASKS)
    assert (written.drafts, written.usage.input) == ({}, 0)
    assert (await model.write(TASKS)).drafts
    assert server.calls == 3
    assert server.asked[-1].body["response_format"]["type"] == "json_schema"


async def test_a_server_that_refuses_everything_is_unavailable(server, model):
    server.always = Status(400)
    with pytest.raises(SummarizerUnavailable, match="400"):
        await model.write(TASKS)
    server.always = None
    assert (await model.write(TASKS)).drafts
    assert server.asked[-1].body["response_format"]["type"] == "json_schema"  # it was not that


async def test_structure_that_bears_no_fruit_is_given_up(server, model):
    server.steps = [garbage] * 3
    for _ in range(4):
        await model.write(TASKS)
    forms = [one.body["response_format"]["type"] for one in server.asked]
    assert forms == ["json_schema"] * 3 + ["json_object"]


# ---------------------------------------------------------------- models that think


async def test_no_room_for_an_answer_is_given_once(server, model):
    server.steps = [nothing_but_reasoning]
    written = await model.write(TASKS)
    assert written.drafts
    assert [one.body["max_tokens"] for one in server.asked] == [ROOM, ROOM + SPARE[1]]
    assert written.usage.input == 2 * INPUT
    assert written.usage.output == server.output_tokens > 900
    server.always = nothing_but_reasoning
    assert not (await model.write(TASKS)).drafts
    assert [one.body["max_tokens"] for one in server.asked[2:]] == [ROOM + one for one in SPARE[1:]]


async def test_a_model_that_thinks_is_asked_to_be_brief(server, model):
    server.steps = [thinking]
    await model.write(TASKS)
    await model.write(TASKS)
    assert [one.body.get("reasoning_effort") for one in server.asked] == [None, "low"]
    server.refuses = {"reasoning_effort"}
    for _ in range(2):
        assert (await model.write(TASKS)).drafts
    sent = [one.body.get("reasoning_effort") for one in server.asked]
    assert sent == [None, "low", "low", None, None]


async def test_an_answer_without_an_end_gets_no_more_room(server, model):
    server.always = half  # of the only part: there is nothing to be read in it
    assert not (await model.write(TASKS)).drafts
    assert [one.body["max_tokens"] for one in server.asked] == [ROOM]


async def test_half_an_answer_with_something_in_it_is_not_asked_again(server, model):
    server.steps = [half]
    two = [*TASKS, leaf_task("2", [SourcePiece("user", 0, TEXT)], CHAT)]
    assert list((await model.write(two)).drafts) == ["1"]
    assert server.calls == 1


# ---------------------------------------------------------------- limits


@pytest.mark.parametrize(
    "headers",
    [
        {"retry-after": "7"},
        {"retry-after-ms": "7000"},
        {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "7s"},
    ],
)
async def test_one_refusal_slows_all_calls(server, model, hand, headers):
    event = asyncio.Event()
    server.steps = [Status(429, headers), Held(event)]
    first = asyncio.create_task(model.write(TASKS))
    await until(lambda: server.open)  # it is asked again, alone
    others = [asyncio.create_task(model.write(TASKS)) for _ in range(5)]
    await asyncio.sleep(0.05)
    assert (server.calls, server.open) == (2, 1)
    event.set()
    for call in (first, *others):
        assert (await call).drafts
    assert hand.slept == [pytest.approx(7)]


async def test_limits_a_minute_are_kept(server, opened, hand):
    model = opened(requests_per_minute=2)
    for _ in range(5):
        await model.write(TASKS)
    assert hand.at == 220.0
    model = opened(tokens_per_minute=2 * (INPUT + ROOM) - 1)
    for _ in range(3):  # what was not used is given back
        await model.write(TASKS)
    assert hand.at == 280.0


async def test_as_many_at_once_as_allowed(server, opened):
    for parallel in (1, 3):
        event = asyncio.Event()
        server.steps = [Held(event)] * parallel
        server.peak = 0
        model = opened(parallel=parallel)
        calls = [asyncio.create_task(model.write(TASKS)) for _ in range(8)]
        await until(lambda want=parallel: server.open == want)
        event.set()
        await asyncio.gather(*calls)
        assert server.peak == parallel


# ---------------------------------------------------------------- failures


@pytest.mark.parametrize("status", [408, 409, 500, 502, 503, 529])
async def test_a_broken_server_is_asked_again(server, model, hand, status):
    server.steps = [Status(status), Status(status)]
    assert (await model.write(TASKS)).drafts
    assert server.calls == 3
    assert hand.slept == [1.0, 2.0]


async def test_a_server_that_is_down_is_left_alone(server, model, hand):
    server.always = Status(500)
    for _ in range(4):
        with pytest.raises(SummarizerUnavailable) as failure:
            await model.write(TASKS)
    assert server.calls == 3
    assert failure.value.wait == pytest.approx(30)
    hand.at += 31
    with pytest.raises(SummarizerUnavailable) as failure:
        await model.write(TASKS)
    assert server.calls == 4
    assert failure.value.wait == pytest.approx(60)
    server.always = None
    hand.at += 61
    found = await asyncio.gather(*(model.write(TASKS) for _ in range(4)))
    assert all(one.drafts for one in found)
    assert server.calls == 8


@pytest.mark.parametrize("status", [401, 402, 403, 404, 307])
async def test_a_wrong_key_is_not_tried_again_soon(server, model, hand, status):
    server.always = Status(status, {"location": "http://127.0.0.1:1/elsewhere"})
    for _ in range(3):
        with pytest.raises(SummarizerUnavailable) as failure:
            await model.write(TASKS)
    assert server.calls == 1
    assert failure.value.wait == pytest.approx(600)
    assert failure.value.cost == (0, 0)


async def test_an_empty_account_is_not_a_busy_server(server, model):
    server.empty = True
    with pytest.raises(SummarizerUnavailable) as failure:
        await model.write(TASKS)
    assert (server.calls, failure.value.wait) == (1, pytest.approx(600))


@pytest.mark.parametrize("step", [Silence(), Drip()])
async def test_one_that_never_answers_holds_no_slot_and_may_cost(server, opened, hand, step):
    model = opened(seconds=0.5, parallel=1)

    async def written():
        """An answer in that little time, which a busy machine does not give each time."""
        async with asyncio.timeout(60):
            while True:
                with contextlib.suppress(SummarizerUnavailable):
                    return await model.write(TASKS)
                hand.at += 1_000

    await written()  # so that there is a connection: who cannot connect pays nothing
    server.always = step
    with pytest.raises(SummarizerUnavailable, match="in time") as failure:
        await asyncio.wait_for(model.write(TASKS), 60)
    assert failure.value.cost == (INPUT, ROOM)
    server.always = None
    assert (await written()).drafts


async def test_an_answer_that_breaks_off_is_asked_for_again(server, model, monkeypatch):
    monkeypatch.setattr(openai_client, "SOON", 600.0)
    server.steps = [Half()]
    written = await model.write(TASKS)
    assert written.drafts
    assert (server.calls, written.usage.input) == (2, INPUT)  # an idle connection costs nothing
    monkeypatch.setattr(openai_client, "SOON", -1.0)  # as if the model had been at work
    server.steps = [Half()]
    with pytest.raises(SummarizerUnavailable, match="broke off") as failure:
        await model.write(TASKS)
    assert failure.value.cost == (INPUT, ROOM)
    assert server.calls == 3


@pytest.mark.parametrize("status", [504, 524])
async def test_a_gateway_that_gave_up_may_cost_and_is_not_asked_at_once(server, model, status):
    server.always = Status(status)
    with pytest.raises(SummarizerUnavailable, match=str(status)) as failure:
        await model.write(TASKS)
    assert (server.calls, failure.value.cost) == (1, (INPUT, ROOM))


async def test_what_was_paid_before_a_failure_is_told(server, model):
    server.steps = [nothing_but_reasoning]
    server.always = Status(500)
    with pytest.raises(SummarizerUnavailable) as failure:
        await model.write(TASKS)
    assert failure.value.cost == (INPUT, 900)


async def test_nobody_listens(hand):
    model = ChatSummarizer(ChatEndpoint("http://127.0.0.1:1/v1", "m", clock=hand, sleep=hand.sleep))
    with pytest.raises(SummarizerUnavailable, match="cannot be reached") as failure:
        await model.write(TASKS)
    assert failure.value.cost == (0, 0)
    await model.close()


BAD = [
    Status(400),
    Status(401),
    Status(429, {"retry-after": "900"}),
    Status(500),
    Raw(b"\xff<html>"),
    Raw(b'{"error":{"message":"no"}}'),
]


@pytest.mark.parametrize("step", BAD, ids=str)
async def test_nothing_is_told_of_key_and_text(server, model, caplog, step):
    caplog.set_level(logging.DEBUG)
    server.always = step
    with pytest.raises(SummarizerUnavailable, match=r"127\.0\.0\.1") as failure:
        await model.write(TASKS)
    told = failure.value.message + repr(failure.value.__cause__) + caplog.text
    assert not [secret for secret in (KEY, TEXT, "brown fox") if secret in told]


async def test_closing_ends_what_runs(server, opened):
    model = opened(sleep=asyncio.sleep)
    server.steps = [Silence()]
    call = asyncio.create_task(model.write(TASKS))
    await until(lambda: server.open)
    await model.close()
    with pytest.raises(SummarizerUnavailable):
        await asyncio.wait_for(call, 60)


async def test_closing_ends_waits(server, opened):
    asleep = asyncio.Event()

    async def sleep(seconds):
        asleep.set()
        await asyncio.sleep(seconds)

    model = opened(sleep=sleep)
    server.steps = [Status(429, {"retry-after": "100"})]
    call = asyncio.create_task(model.write(TASKS))
    await asleep.wait()
    await model.close()
    with pytest.raises(SummarizerUnavailable, match="closed"):
        await asyncio.wait_for(call, 60)


async def test_a_probe_that_is_cancelled_does_not_stop_the_others(server, model):
    server.steps = [Status(500), Silence()]
    probe = asyncio.create_task(model.write(TASKS))
    await until(lambda: server.calls == 2 and server.open)
    other = asyncio.create_task(model.write(TASKS))
    probe.cancel()
    assert (await asyncio.wait_for(other, 60)).drafts


async def test_usage_of_all_attempts_is_one_sum(server, model):
    server.steps = [lambda asked: Answer("<think>so", "length", usage=False), good]
    usage = (await model.write(TASKS)).usage
    assert usage.counted
    assert (usage.input, usage.output) == (server.input_tokens, server.output_tokens)
