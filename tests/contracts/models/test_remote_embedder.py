"""The remote embedder against a scripted endpoint: exact calls and texts, every kind of failure."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from email.utils import formatdate

import numpy as np
import pytest

from memtree.errors import EmbedderUnavailable
from memtree.models import remote_embedder
from memtree.models.embedding_endpoint import HARMLESS
from memtree.models.openai_client import SENT, retry_after
from memtree.models.remote_embedder import CALIBRATION, RemoteEmbedder, calibration_texts
from tests.contracts.remote import KEY, TEXT, Hand, arrived, probed
from tests.made.embeddings import Endless, Half, Raw, Silence, Status, in_base64, in_order


async def test_what_is_sent(endpoint, embedder):
    await embedder.embed([TEXT])
    (asked,) = endpoint.asked
    assert asked.path == "/v1/embeddings"
    assert asked.body == {"model": "a-model", "input": [TEXT]}
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert set(asked.headers) == SENT | {"authorization", "user-agent"}


async def test_nothing_of_the_environment_is_sent(endpoint, opened, monkeypatch):
    for name in ("API_KEY", "ORG_ID", "PROJECT_ID", "ADMIN_KEY"):
        monkeypatch.setenv(f"OPENAI_{name}", "not-for-you")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "authorization: not-for-you\nx-own: not-for-you")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    await opened(key=None).warm_up()
    await opened().warm_up()
    without, with_key = endpoint.asked
    assert "authorization" not in without.headers
    assert with_key.headers["authorization"] == f"Bearer {KEY}"
    assert "not-for-you" not in str(without.headers) + str(with_key.headers)


async def test_dimensions_are_sent_only_where_asked(endpoint, opened):
    await opened(dimensions=64).warm_up()
    assert endpoint.asked[0].body["dimensions"] == 64


async def test_dimensions_and_recipe_are_learned(endpoint, opened):
    one = opened()
    assert one.dimensions == 0
    await one.warm_up()
    assert one.dimensions == 64
    assert one.recipe.endswith("a-model/2000/64")
    assert opened(dimensions=64).recipe == one.recipe
    assert opened(max_tokens=9, dimensions=64).recipe != one.recipe
    other = RemoteEmbedder("http://elsewhere/v1", "a-model", dimensions=64)
    assert other.recipe != one.recipe
    await other.close()


async def test_threshold_and_scale_are_measured_in_one_call(endpoint, opened):
    one = opened(relevant=0.0)
    await one.warm_up()
    await one.warm_up()
    (asked,) = endpoint.asked
    assert asked.texts == [text for name in CALIBRATION for text in calibration_texts(name)]
    rows = await one.embed(asked.texts)
    questions, passages, *others = np.split(rows, [8, 16, 32, 40])
    assert one.relevant == pytest.approx(remote_embedder.measured_relevance(questions, passages))
    scale = remote_embedder.measured_scale(*others)
    assert (one.scale.chance, one.scale.strong) == pytest.approx((scale.chance, scale.strong))


async def test_a_threshold_that_is_given_is_kept_and_the_scale_is_measured(endpoint, opened):
    one = opened(relevant=0.3)
    before = one.scale
    await one.warm_up()
    (asked,) = endpoint.asked
    assert asked.texts == [text for name in CALIBRATION[2:] for text in calibration_texts(name)]
    assert one.relevant == 0.3
    assert one.scale != before


def test_the_scale_lies_between_strangers_and_paraphrases():
    # Rows with a common direction: cosines of 0.7 for what differs, 1 for what is the same.
    common = np.full((20, 1), 0.7**0.5)
    rows = np.concatenate([common, np.eye(20) * 0.3**0.5], axis=1).astype(np.float32)
    scale = remote_embedder.measured_scale(np.repeat(rows[:8], 2, axis=0), rows[:8], rows[8:])
    assert scale.chance == pytest.approx(0.7, abs=1e-3)
    assert scale.strong == pytest.approx(0.98)


@pytest.mark.parametrize("row", [0.0, 1.0, -1.0, float("nan")])
def test_any_model_has_a_scale(row):
    rows = np.full((16, 4), row, np.float32)
    scale = remote_embedder.measured_scale(rows, rows[:8], rows[:12])
    assert 0 < scale.chance < scale.strong < 1


def test_the_threshold_lies_between_floor_and_answers():
    # Rows with a common direction: cosines of 0.7 for what differs, 1 for what answers.
    common = np.full((8, 1), 0.7**0.5)
    rows = np.concatenate([common, np.eye(8) * 0.3**0.5], axis=1).astype(np.float32)
    assert remote_embedder.measured_relevance(rows, rows) == pytest.approx(0.7 + 0.3 * 2 / 3)


async def test_what_is_empty_is_not_sent(endpoint, embedder):
    rows = await embedder.embed(["", " \n", TEXT, "\ud800 lone"])
    assert endpoint.texts == [TEXT, "? lone"]
    assert [bool(row.any()) for row in rows] == [False, False, True, True]
    assert not (await embedder.embed_query(" ")).any()
    assert len(endpoint.asked) == 1


async def test_long_texts_are_cut(endpoint, opened):
    one = opened(max_tokens=3)
    await one.embed(["one two three four five"])
    assert endpoint.texts[-1] == "one two three"


async def test_batches_are_bounded_by_number_and_tokens_and_run_side_by_side(endpoint, embedder):
    texts = [f"text {n}" for n in range(1_000)]
    rows = await embedder.embed(texts)
    assert sorted(len(asked.texts) for asked in endpoint.asked) == [40, *[96] * 10]
    assert sorted(endpoint.texts) == sorted(texts)
    assert 1 < endpoint.peak <= 4
    alone = await embedder.embed(texts[500:501])
    np.testing.assert_array_equal(rows[500:501], alone)
    endpoint.asked.clear()
    await embedder.embed(["word " * 2_000] * 20)
    assert sorted(len(asked.texts) for asked in endpoint.asked) == [4, 8, 8]


async def test_a_server_that_takes_fewer_is_learned(endpoint, embedder):
    endpoint.most = 30
    texts = [f"text {n}" for n in range(60)]
    rows = await embedder.embed(texts)
    assert [len(asked.texts) for asked in endpoint.asked] == [60, 30, 30]
    assert all(row.any() for row in rows)
    endpoint.asked.clear()
    await embedder.embed(texts)
    assert [len(asked.texts) for asked in endpoint.asked] == [30, 30]


async def test_one_text_too_long_for_the_server_is_cut_further(endpoint, embedder):
    endpoint.longest = 3_000  # characters; 600 tokens
    rows = await embedder.embed(["short", "word " * 2_000, "brief"])
    assert all(row.any() for row in rows)
    cut = [asked.texts[0] for asked in endpoint.asked if len(asked.texts[0]) > 100]
    assert [len(text) // 5 for text in cut[-3:]] == [1_999, 999, 499]
    endpoint.asked.clear()
    await embedder.embed([f"text {n}" for n in range(96)])
    assert len(endpoint.asked) == 1  # nothing was learned about numbers


def _reversed(rows):
    answer = in_order(rows)
    answer["data"].reverse()
    return answer


def _bare(rows):
    return {"data": [{"embedding": row} for row in rows]}


def _first_bare(rows):
    answer = in_order(rows)
    del answer["data"][0]["index"]
    return answer


@pytest.mark.parametrize("form", [in_base64, _reversed, _bare, _first_bare])
async def test_forms_of_answers(endpoint, embedder, form):
    texts = [TEXT, "jumps over", "the lazy dog"]
    expected = await embedder.embed(texts)
    endpoint.steps = [form]
    np.testing.assert_allclose(await embedder.embed(texts), expected, atol=1e-6)


def _with(change):
    def step(rows):
        answer = in_order(rows)
        change(answer["data"])
        return answer

    return step


WRONG = {
    "too few": _with(lambda data: data.pop()),
    "too many": _with(lambda data: data.append(dict(data[0], index=2))),
    "none": lambda rows: {"data": []},
    "one twice": _with(lambda data: data[1].update(index=0)),
    "beyond": _with(lambda data: data[1].update(index=7)),
    "shorter": _with(lambda data: data[1].update(embedding=[1.0])),
    "all shorter": _with(lambda data: [one.update(embedding=[1.0, 2.0]) for one in data]),
    "nothing in it": _with(lambda data: [one.update(embedding=[]) for one in data]),
    "a word in it": _with(lambda data: data[0].update(embedding=["x"] * 64)),
    "no base64": _with(lambda data: data[0].update(embedding="?!")),
    "half a number": _with(lambda data: data[0].update(embedding="AAAA")),
    "NaN in base64": lambda rows: in_base64([[float("nan")] * 64] * len(rows)),
    "an infinity": Raw(b'{"data":[{"embedding":[1e999]},{"embedding":[1]}]}'),
    "NaN": Raw(b'{"data":[{"embedding":[NaN]},{"embedding":[1]}]}'),
    "garbage": Raw(b"\xff\x00<html>"),
    "nothing": Raw(b""),
    "a page": Raw(b"<html>hello</html>", "text/html"),
    "an error with status 200": Raw(b'{"error":{"message":"no"}}'),
    "unauthorized": Status(401),
    "no model": Status(404),
    "a redirect": Status(307, {"location": "http://127.0.0.1:1/elsewhere"}),
    "a failure": Status(500),
    "half an answer": Half(),
}


@pytest.mark.parametrize("name", WRONG)
async def test_a_wrong_answer_is_refused(endpoint, embedder, name, caplog):
    caplog.set_level(logging.DEBUG)
    expected = await embedder.embed([TEXT, "another"])
    endpoint.asked.clear()
    endpoint.always = WRONG[name]
    with pytest.raises(EmbedderUnavailable, match=r"127\.0\.0\.1") as failure:
        await embedder.embed([TEXT, "another"])
    assert len(endpoint.asked) == 1
    with pytest.raises(EmbedderUnavailable):
        await embedder.embed_query("another question")
    endpoint.always = None
    told = failure.value.message + caplog.text
    assert not [secret for secret in (KEY, TEXT, "another") if secret in told]
    np.testing.assert_array_equal(await embedder.embed([TEXT, "another"]), expected)


@pytest.mark.parametrize("step", [Endless(), Raw(b" " * 2_000_000, packed=True)], ids=["", "gzip"])
async def test_an_endless_answer_is_not_read_to_its_end(endpoint, opened, step):
    one = opened(retries=3, dimensions=64)
    await one.warm_up()
    endpoint.asked.clear()
    endpoint.steps = [step]
    with pytest.raises(EmbedderUnavailable, match="too much data"):
        await one.embed([TEXT])
    assert len(endpoint.asked) == 1
    await probed(endpoint, 1)
    assert endpoint.flood < 16 << 20  # 0.4 MB, and what lay in buffers
    assert (await one.embed([TEXT])).any()


@pytest.mark.long
async def test_the_widest_answer_is_read(endpoint, opened):
    endpoint.width = 12_288
    one = opened()
    await one.warm_up()
    rows = [endpoint.row(f"text {number}") for number in range(96)]
    wordy = [{"index": at, "embedding": row} for at, row in enumerate(rows)]
    endpoint.steps = [Raw(json.dumps({"data": wordy}, indent=12).encode())]
    found = await one.embed([f"text {number}" for number in range(96)])
    assert found.any(axis=1).all()
    assert found.shape == (96, 12_288)


async def test_a_packed_answer_is_read(endpoint, embedder):
    expected = await embedder.embed([TEXT])
    endpoint.steps = [Raw(json.dumps(in_order([endpoint.row(TEXT)])).encode(), packed=True)]
    np.testing.assert_array_equal(await embedder.embed([TEXT]), expected)


async def test_a_refusal_that_is_not_about_size_costs_few_calls(endpoint, opened):
    endpoint.always = Status(400)
    with pytest.raises(EmbedderUnavailable, match="400"):
        await opened(relevant=0.0).warm_up()
    assert [len(asked.texts) for asked in endpoint.asked] == [52, 26, 13, 6, 3, 1]


@pytest.mark.slow
@pytest.mark.parametrize("status", [429, pytest.param(500, marks=pytest.mark.long), 503])
async def test_the_server_is_asked_again(endpoint, opened, status):
    one = opened(retries=3)
    await one.warm_up()
    endpoint.asked.clear()
    endpoint.steps = [Status(status, {"retry-after": "1.5"}), Status(status)]
    begun = time.monotonic()
    assert (await one.embed([TEXT])).any()
    assert time.monotonic() - begun > 1.5
    assert endpoint.texts == [TEXT] * 3


@pytest.mark.slow
async def test_retries_come_to_an_end(endpoint, opened):
    one = opened(retries=2)
    endpoint.always = Status(503)
    with pytest.raises(EmbedderUnavailable, match="503"):
        await one.embed([TEXT])
    assert len(endpoint.asked) == 3


@pytest.mark.parametrize("form", ["3600", "date"])
async def test_who_is_told_to_wait_long_does_not_ask(endpoint, opened, form):
    clock = Hand()
    one = opened(clock=clock, dimensions=64)
    await one.warm_up()
    endpoint.asked.clear()
    value = formatdate(time.time() + 3600, usegmt=True) if form == "date" else form
    endpoint.steps = [Status(429, {"retry-after": value})]
    for call in (one.embed([TEXT]), one.embed([TEXT]), one.embed_query(TEXT)):
        with pytest.raises(EmbedderUnavailable):
            await call
    assert len(endpoint.asked) == 1
    clock.at += 3601
    assert (await one.embed_query(TEXT)).any()


def _zeros(rows):
    return in_order([[0.0] * len(row) for row in rows])


async def test_texts_in_which_a_model_finds_nothing(endpoint, embedder):
    endpoint.steps = [_with(lambda data: data[0].update(embedding=[0.0] * 64))]
    rows = await embedder.embed(["-----", TEXT])
    assert [bool(row.any()) for row in rows] == [False, True]
    endpoint.steps = [_zeros]
    assert not (await embedder.embed(["====="])).any()
    assert endpoint.texts[-1] == HARMLESS
    assert (await embedder.embed_query(TEXT)).any()


async def test_a_model_that_finds_nothing_in_any_text_is_broken(endpoint, embedder, opened):
    endpoint.always = _zeros
    for call in (embedder.embed([TEXT, "=="]), embedder.embed_query(TEXT), opened().warm_up()):
        with pytest.raises(EmbedderUnavailable, match=r"127\.0\.0\.1"):
            await call


async def test_a_text_that_is_never_taken_does_not_stop_the_others(endpoint, embedder, caplog):
    endpoint.never = "unspeakable"
    texts = [f"text {number}" for number in range(8)]
    texts[5] += " unspeakable"
    rows = await embedder.embed(texts)
    assert [index for index, row in enumerate(rows) if not row.any()] == [5]
    assert [len(asked.texts) for asked in endpoint.asked] == [8, 4, 4, 2, 1, 1, 1, 2]
    assert endpoint.asked[6].texts == [HARMLESS]
    assert "embedder.text_refused" in caplog.text
    assert "unspeakable" not in caplog.text
    rows = await embedder.embed([f"text {number}" for number in range(96)])
    assert rows.any(axis=1).all()
    assert len(endpoint.asked) == 9  # nothing was learned about numbers


async def test_closing_ends_what_runs(endpoint, embedder):
    endpoint.always = Silence()
    call = asyncio.create_task(embedder.embed([TEXT]))
    await arrived(endpoint)
    await embedder.close()
    with pytest.raises(EmbedderUnavailable):
        await asyncio.wait_for(call, 60)
    for late in (embedder.embed([TEXT]), embedder.embed_query(TEXT), embedder.warm_up()):
        with pytest.raises(EmbedderUnavailable, match="closed"):
            await late


async def test_nobody_listens():
    one = RemoteEmbedder("http://127.0.0.1:1/v1", "m", retries=0)
    with pytest.raises(EmbedderUnavailable, match="cannot be reached"):
        await one.warm_up()
    await one.close()


@pytest.mark.parametrize(
    ("value", "seconds"),
    [(None, 0), ("", 0), ("7", 7), ("1.5", 1.5), ("-3", 0), ("nan", 0), ("inf", 0), ("soon", 0)],
)
def test_retry_after(value, seconds):
    assert retry_after(value) == seconds
