"""The graph of integers says what the packaged one says."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest
from tokenizers import Tokenizer

from memtree.models.minilm import MODEL, TOKENIZER, MiniLM

TEXTS = [
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
    for text in TEXTS:
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
    alone = [model.vector(text, 160) for text in TEXTS]
    np.testing.assert_array_equal(model.vectors(TEXTS[::-1], 160)[::-1], alone)
