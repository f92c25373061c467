"""One contract for every embedder, and what the local one promises beyond it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from copy import copy
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from memtree.config import Settings
from memtree.errors import EmbedderUnavailable
from memtree.jobs.embedding import open_embedder
from memtree.models.local_embedder import (
    ENGLISH,
    MULTILINGUAL,
    LocalEmbedder,
    LocalModel,
    MemoryEmbedder,
    TextModel,
)
from memtree.models.minilm import MODEL, TOKENIZER, PackagedFile
from memtree.models.remote_embedder import RemoteEmbedder
from memtree.ports.models import Embedder
from tests.fakes import HashingEmbedder
from tests.made.embeddings import Embeddings, serving

TEXTS = [
    "The parser rejects a trailing comma.",
    "",
    "We chose PostgreSQL because the team runs it already.",
    "word " * 2000,
    "naïve 日本語 🙂 \ud800 lone surrogate",
    " \n\t ",
    "ok",
]


class EmbedderContract:
    async def test_rows_are_unit_and_in_order(self, embedder: Embedder) -> None:
        rows = await embedder.embed(TEXTS)
        assert rows.dtype == np.float32
        assert rows.shape == (len(TEXTS), embedder.dimensions)
        norms = np.linalg.norm(rows, axis=1)
        np.testing.assert_allclose(norms, [bool(text.strip()) for text in TEXTS], atol=1e-5)

    async def test_a_row_does_not_depend_on_its_neighbours(self, embedder: Embedder) -> None:
        together = await embedder.embed(TEXTS)
        alone = [await embedder.embed([text]) for text in TEXTS]
        np.testing.assert_array_equal(together, np.concatenate(alone))

    async def test_no_texts(self, embedder: Embedder) -> None:
        assert (await embedder.embed([])).shape == (0, embedder.dimensions)

    async def test_a_query_is_a_row(self, embedder: Embedder) -> None:
        query = await embedder.embed_query(TEXTS[0])
        rows = await embedder.embed(TEXTS[:1])
        assert query.shape == (embedder.dimensions,)
        assert query.dtype == np.float32
        np.testing.assert_allclose(query, rows[0], atol=1e-5)

    async def test_a_query_can_be_asked_again(self, embedder: Embedder) -> None:
        once = (await embedder.embed_query(TEXTS[2])).copy()
        np.testing.assert_array_equal(await embedder.embed_query(TEXTS[2]), once)

    async def test_queries_together_are_those_alone(self, embedder: Embedder) -> None:
        queries = [
            *TEXTS,
            "which port?",
            "why?",
            TEXTS[0],
            "tea " * 30,
            *(f"n {n}" for n in range(9)),
        ]
        rows = await embedder.embed_queries(queries)
        assert rows.shape == (len(queries), embedder.dimensions)
        assert rows.dtype == np.float32
        embedder.forget()
        alone = [await embedder.embed_query(text) for text in queries]
        np.testing.assert_allclose(rows, np.stack(alone), atol=1e-6)
        assert (await embedder.embed_queries([])).shape == (0, embedder.dimensions)
        assert not (await embedder.embed_queries(["", " "])).any()

    async def test_odd_queries(self, embedder: Embedder) -> None:
        assert not (await embedder.embed_query("")).any()
        assert (await embedder.embed_query("a\ud800b")).any()
        assert (await embedder.embed_query("word " * 50_000)).any()

    async def test_shared_words_bring_texts_near(self, embedder: Embedder) -> None:
        rows = await embedder.embed(["the database connection pool timed out", "a cat on a sofa"])
        query = await embedder.embed_query("why did the connection to the database time out")
        near, far = rows @ query
        assert near > far + 0.2

    async def test_many_callers_at_once(self, embedder: Embedder) -> None:
        expected = await embedder.embed(TEXTS)
        for rows in await asyncio.gather(*(embedder.embed(TEXTS) for _ in range(4))):
            np.testing.assert_array_equal(rows, expected)

    async def test_a_cancelled_call_breaks_nothing(self, embedder: Embedder) -> None:
        expected = await embedder.embed(TEXTS)
        for delay in (0.0, 0.01):
            call = asyncio.create_task(embedder.embed(TEXTS * 20))
            await asyncio.sleep(delay)
            call.cancel()
            await asyncio.wait([call])
        np.testing.assert_array_equal(await embedder.embed(TEXTS), expected)

    async def test_the_recipe_is_named(self, embedder: Embedder) -> None:
        assert embedder.recipe

    async def test_one_that_is_ready_answers(self, embedder: Embedder) -> None:
        await embedder.ready()
        await embedder.ready()
        assert (await embedder.embed_query("hello")).any()

    async def test_closing_twice(self, embedder: Embedder) -> None:
        await embedder.close()
        await embedder.close()


class TestHashingEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> Embedder:
        return HashingEmbedder()


class TestRemoteEmbedder(EmbedderContract):
    @pytest.fixture
    async def embedder(self) -> AsyncIterator[Embedder]:
        async with serving(Embeddings()) as endpoint:
            embedder = RemoteEmbedder(endpoint.url, "m", query_seconds=600)
            await embedder.warm_up()
            yield embedder
            await embedder.close()


@cache
def _read(model: LocalModel) -> TextModel:
    """The model, read once for all tests: that takes half a second."""
    return model.open(*(file.locate() for file in model.files))


def kept(model: LocalModel) -> LocalModel:
    """Return the model as one that is open already, and that closing leaves open."""
    opened = copy(_read(model))
    opened.close = lambda: None  # type: ignore[method-assign]
    return replace(model, open=lambda *_: opened)


class TestLocalEmbedder(EmbedderContract):
    @pytest.fixture(params=[ENGLISH, MULTILINGUAL], ids=["english", "multilingual"])
    def model(self, request: pytest.FixtureRequest) -> LocalModel:
        return request.param

    @pytest.fixture
    async def embedder(self, model: LocalModel) -> AsyncIterator[Embedder]:
        embedder = LocalEmbedder(kept(model))
        yield embedder
        await embedder.close()

    @pytest.fixture
    def unread(self, model: LocalModel) -> Embedder:
        """One that reads the model itself, and lets go of it; each test closes it."""
        return LocalEmbedder(model)

    async def test_meaning_counts_beyond_words(self, embedder: Embedder) -> None:
        rows = await embedder.embed(["The vehicle would not start.", "Bake it for ten minutes."])
        near, far = rows @ await embedder.embed_query("my car is broken")
        assert near > far + 0.2

    async def test_a_query_counts_up_to_128_wordpieces(self, embedder: Embedder) -> None:
        row = await embedder.embed_query("word " * 126)
        np.testing.assert_array_equal(await embedder.embed_query("word " * 126 + "cat"), row)
        assert (await embedder.embed_query("word " * 125 + "cat") != row).any()

    async def test_a_cached_query_cannot_be_changed(self, embedder: Embedder) -> None:
        with pytest.raises(ValueError, match="read-only"):
            (await embedder.embed_query("hello"))[0] = 1

    async def test_a_closed_one_says_so(self, unread: Embedder) -> None:
        await unread.embed(["loaded"])
        await unread.close()
        with pytest.raises(EmbedderUnavailable, match="closed"):
            await unread.embed(["more"])

    async def test_closing_while_the_model_is_loaded(self, unread: Embedder) -> None:
        waiting = [asyncio.create_task(unread.ready()) for _ in range(5)]
        await asyncio.sleep(0)
        waiting[0].cancel()  # who goes away stops no other
        await unread.close()
        for result in await asyncio.gather(*waiting[1:], return_exceptions=True):
            assert result is None or isinstance(result, EmbedderUnavailable)
        with pytest.raises(EmbedderUnavailable, match="closed"):
            await unread.ready()

    async def test_closing_ends_what_runs(self, unread: Embedder) -> None:
        await unread.embed(["loaded"])
        call = asyncio.create_task(unread.embed(["word " * 200] * 1000))
        await asyncio.sleep(0.01)
        await unread.close()
        with pytest.raises(EmbedderUnavailable, match="closed"):
            await call


class TestMemoryEmbedder(EmbedderContract):
    @pytest.fixture
    async def embedder(self) -> AsyncIterator[Embedder]:
        models = LocalEmbedder(kept(ENGLISH)), LocalEmbedder(kept(MULTILINGUAL))
        embedder = MemoryEmbedder(*models)
        yield embedder
        await embedder.close()

    async def test_english_is_compared_by_both_models(self, embedder: Embedder) -> None:
        english, german = await embedder.embed(
            ["I am blind.", "Ich bin blind und höre gern Radio."]
        )
        assert np.linalg.norm(english[:384]) == pytest.approx(0.5**0.5, abs=1e-4)
        assert not german[:384].any()

    async def test_a_question_finds_a_memory_in_another_language(self, embedder: Embedder) -> None:
        texts = ["Der Nutzer ist gegen Erdnüsse allergisch.", "Der Nutzer spielt sonntags Geige."]
        near, far = await embedder.embed(texts) @ await embedder.embed_query(
            "Is he allergic to nuts?"
        )
        assert near > far + 0.2

    async def test_a_closed_one_says_so(self, embedder: Embedder) -> None:
        await embedder.close()
        with pytest.raises(EmbedderUnavailable, match="closed"):
            await embedder.embed(["more"])


@pytest.mark.parametrize("model", [ENGLISH, MULTILINGUAL])
async def test_passages_are_cut_at_max_tokens(model: LocalModel) -> None:
    embedder = LocalEmbedder(kept(model), max_tokens=12)
    rows = await embedder.embed(["word " * 10, "word " * 10 + "cat", "word " * 9 + "cat"])
    await embedder.close()
    np.testing.assert_array_equal(rows[0], rows[1])
    assert (rows[0] != rows[2]).any()


async def test_another_cut_is_another_recipe() -> None:
    assert LocalEmbedder(max_tokens=12).recipe != LocalEmbedder().recipe


async def test_opening_loads_the_model() -> None:
    settings = Settings.from_env({}, {"embedder": "local"})
    embedder, trouble = await open_embedder(settings, patient=True)
    assert isinstance(embedder, LocalEmbedder)
    assert trouble == ""
    assert (await embedder.embed_query("hello")).any()
    await embedder.close()


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (PackagedFile("memtree-absent", "x", ""), "needs the package memtree-absent"),
        (PackagedFile("numpy", "numpy/absent.onnx", ""), "package numpy holds no readable"),
        (PackagedFile("numpy", "numpy/__init__.py", "00"), "not the expected file: sha256"),
    ],
)
@pytest.mark.parametrize("part", ["model", "tokenizer"])
async def test_an_unusable_file_is_named(file: PackagedFile, message: str, part: str) -> None:
    files = {"model": MODEL, "tokenizer": TOKENIZER, part: file}
    embedder = LocalEmbedder(replace(ENGLISH, files=(files["model"], files["tokenizer"])))
    calls = (embedder.ready(), embedder.warm_up(), embedder.embed(["x"]), embedder.embed_query("x"))
    for call in calls:
        with pytest.raises(EmbedderUnavailable, match=message):
            await call
    await embedder.close()
