"""Queries of the remote embedder: nobody waits for a server that is down, slow, or not there yet; a
probe finds out when it answers."""

from __future__ import annotations

import asyncio

import pytest

from memtree.errors import EmbedderUnavailable
from memtree.models.embedding_endpoint import HARMLESS
from memtree.models.remote_embedder import RELEVANT
from memtree.process.circuit_breaker import CircuitBreaker
from tests.contracts.remote import TEXT, Hand, arrived, probed, probes
from tests.made.embeddings import Silence, Status, in_order


async def test_a_query_that_is_too_long_for_the_model_is_cut(endpoint, embedder):
    endpoint.longest = 1_000
    assert (await embedder.embed_query("word " * 600)).any()
    assert [len(text) // 5 for text in endpoint.texts] == [511, 127]
    endpoint.always = Status(400)
    with pytest.raises(EmbedderUnavailable, match="400"):
        await embedder.embed_query(TEXT)
    assert len(endpoint.asked) == 3


async def test_a_query_does_not_wait_and_nobody_waits_after_it(endpoint, opened):
    one = opened(query_seconds=0.5, retries=3, dimensions=64)
    await one.warm_up()
    endpoint.asked.clear()
    endpoint.always = Silence()
    with pytest.raises(EmbedderUnavailable, match="in time"):
        await asyncio.wait_for(one.embed_query(TEXT), 60)
    with pytest.raises(EmbedderUnavailable, match="paused after a failure"):
        await one.embed_query(TEXT)
    assert len(endpoint.asked) <= 1  # none where the machine was busy for all that time


async def test_a_query_is_not_tried_again(endpoint, opened):
    one = opened(retries=3)
    await one.warm_up()
    endpoint.asked.clear()
    endpoint.always = Status(503, {"retry-after": "30"})
    with pytest.raises(EmbedderUnavailable, match="503"):
        await one.embed_query(TEXT)
    assert len(endpoint.asked) == 1


async def test_after_three_failures_a_probe_finds_out_and_nobody_waits(endpoint, opened):
    clock = Hand()
    one = opened(clock=clock)
    await one.warm_up()
    endpoint.asked.clear()
    endpoint.always = Status(500)
    for number in range(6):
        with pytest.raises(EmbedderUnavailable):
            await one.embed_query(f"question {number}")
    assert len(endpoint.asked) == 3
    clock.at += 31
    asked = [one.embed_query(f"question {number}") for number in range(4)]
    found = await asyncio.gather(*asked, return_exceptions=True)
    assert all("paused after a failure" in str(error) for error in found)
    await probed(endpoint, 4)
    assert endpoint.asked[3].texts == [HARMLESS]
    endpoint.always = None
    with pytest.raises(EmbedderUnavailable, match="paused after a failure"):  # it rests again
        await one.embed_query(TEXT)
    clock.at += 31
    with pytest.raises(EmbedderUnavailable, match="paused after a failure"):
        await one.embed_query(TEXT)
    await probed(endpoint, 5)
    assert (await one.embed_query(TEXT)).any()
    assert (await one.embed_query("and more")).any()
    assert len(endpoint.asked) == 7


async def test_background_work_that_is_answered_brings_the_probe_forward(endpoint, opened):
    breaker = CircuitBreaker()
    one = opened(clock=Hand(), breaker=breaker)
    await one.warm_up()
    endpoint.asked.clear()
    breaker.failed(100.0, slow=True)
    with pytest.raises(EmbedderUnavailable, match="paused after a failure"):
        await one.embed_query(TEXT)
    await one.embed([TEXT])
    await probed(endpoint, 2)
    assert (await one.embed_query(TEXT)).any()


async def test_a_server_that_is_too_busy_for_queries_is_not_waited_for(endpoint, opened):
    one = opened(query_seconds=0.5)
    await one.warm_up()
    endpoint.steps = [Silence()]
    with pytest.raises(EmbedderUnavailable, match="in time"):
        await one.embed_query(TEXT)
    for _ in range(2):
        endpoint.steps = [in_order, Silence()]  # a batch, and the probe behind it
        await one.embed([TEXT])
        (probe,) = probes()
        await probe
        with pytest.raises(EmbedderUnavailable, match="paused after a failure"):
            await one.embed_query(TEXT)


async def test_closing_ends_a_probe(endpoint, opened):
    breaker = CircuitBreaker()
    one = opened(breaker=breaker)
    await one.warm_up()
    endpoint.asked.clear()
    breaker.failed(0.0, slow=True)
    endpoint.always = Silence()
    with pytest.raises(EmbedderUnavailable, match="paused after a failure"):
        await one.embed_query(TEXT)
    await arrived(endpoint)
    await asyncio.wait_for(one.close(), 60)
    assert not probes()


async def test_who_was_never_met_is_not_waited_for_and_is_probed(endpoint, opened):
    clock = Hand()
    one = opened(clock=clock, relevant=0.0)
    endpoint.always = Status(503)
    with pytest.raises(EmbedderUnavailable, match="503"):
        await one.warm_up()
    assert (one.dimensions, one.name) == (0, one.recipe)
    endpoint.asked.clear()
    for text in (TEXT, "", "another"):
        with pytest.raises(EmbedderUnavailable, match="503"):
            await one.embed_query(text)
    assert not endpoint.asked
    clock.at += 10
    endpoint.always = None
    with pytest.raises(EmbedderUnavailable, match="503"):
        await one.embed_query(TEXT)
    await probed(endpoint, 2)
    assert [len(asked.texts) for asked in endpoint.asked] == [52, 1]
    assert endpoint.asked[1].texts == [HARMLESS]
    assert one.dimensions == 64
    assert one.recipe.endswith("/64")
    assert one.name.endswith("/0")
    assert one.relevant != RELEVANT
    assert (await one.embed_query(TEXT)).any()


async def test_work_in_the_background_meets_a_server_as_well(endpoint, opened):
    one = opened(clock=Hand())
    endpoint.always = Status(400)  # which no breaker counts
    with pytest.raises(EmbedderUnavailable):
        await one.warm_up()
    endpoint.always = None
    assert (await one.embed([])).shape == (0, 64)
    assert (await one.embed_query(TEXT)).any()


async def test_who_was_never_met_is_probed_once_in_a_while(endpoint, opened):
    clock = Hand()
    one = opened(clock=clock)
    endpoint.always = Status(400)  # which no breaker counts
    calls = 7  # of a probe: 36 texts, ever fewer, and one that is harmless
    for probe in range(1, 4):
        clock.at += 10
        for _ in range(3):
            with pytest.raises(EmbedderUnavailable):
                await one.embed_query(TEXT)
            await probed(endpoint, probe * calls)
        assert len(endpoint.asked) == probe * calls


async def test_who_never_answers_is_not_waited_for(endpoint, opened):
    one = opened(clock=Hand())
    endpoint.always = Silence()
    for _ in range(3):
        with pytest.raises(EmbedderUnavailable, match="not asked yet"):
            await one.embed_query(TEXT)
        await arrived(endpoint)
    assert len(endpoint.asked) == 1


async def test_queries_are_kept_until_forgotten(endpoint, embedder):
    once = await embedder.embed_query(TEXT)
    assert await embedder.embed_query(TEXT) is once
    assert endpoint.texts == [TEXT]
    with pytest.raises(ValueError, match="read-only"):
        once[0] = 1
    embedder.forget()
    await embedder.embed_query(TEXT)
    assert endpoint.texts == [TEXT] * 2


async def test_a_query_under_way_is_not_kept_after_forgetting(endpoint, embedder):
    call = asyncio.create_task(embedder.embed_query(TEXT))
    await arrived(endpoint)
    embedder.forget()
    await call
    await embedder.embed_query(TEXT)
    assert len(endpoint.asked) == 2


def test_nobody_is_retry_after_for_ever():
    breaker = CircuitBreaker()
    breaker.failed(0.0, 1e12)
    assert breaker.retry_after(0.0) == 3_600
    assert not breaker.admits(3_599.0)
    assert breaker.admits(3_600.0)
