"""MiniLM as a graph of int8 matrix products, built from the packaged file's weights at load time.

The packaged model stores its weights as int8 but multiplies them as float32, which unpacks 43 MB of
matrices and 47 MB of word vectors. This graph multiplies the int8 weights directly, with
activations quantised at run time (one scale for each product), which takes 0.4 times as long. Word
vectors are looked up outside the graph, in the file itself (`model.py`), so that unneeded ones are
not read.

The output is the mean of the token states, not yet scaled to unit length. One text at a time: a
second text would change the scale of the first one's activations.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memtree.models.embedders.minilm.onnx_format import Graph

Array = NDArray[Any]

LAYERS, HEADS, WIDTH = 6, 12, 384
EPSILON = 1e-12
FUSED = "com.microsoft"  # onnxruntime's own operators
INPUT, OUTPUT = "embedded", "mean"
_MATRIX = re.compile(r"(val_\d+)_q")
_LAYER = "inner.encoder.layer.{}."


def build(weights: Mapping[str, Array]) -> bytes:
    """Return the graph as an ONNX file's bytes: (1, n, 384) word vectors to (1, 384)."""
    matrices = [match[1] for match in map(_MATRIX.fullmatch, weights) if match]
    made = Encoder(weights)
    states = made.first(INPUT)
    for layer in range(LAYERS):
        states = made.layer(layer, states, matrices[6 * layer : 6 * layer + 6])
    made.graph.node("ReduceMean", [states], OUTPUT, axes=[1], keepdims=0)
    return made.graph.model((INPUT, [1, "tokens", WIDTH]), (OUTPUT, [1, WIDTH]))


class Encoder:
    """A graph under construction; methods take and return names of values in it."""

    def __init__(self, weights: Mapping[str, Array]) -> None:
        self._weights = weights
        self.graph = Graph()

    def first(self, words: str) -> str:
        """Add the states before the first layer."""
        scale, shift = self._norm("inner.embeddings.LayerNorm")
        return self.graph.node(
            "LayerNormalization", [words, scale, shift], "states", epsilon=EPSILON
        )

    def layer(self, number: int, states: str, matrices: list[str]) -> str:
        """Add a layer. `matrices`: of query, key, value, attention's output, and the two of the
        feed-forward."""
        prefix, graph = _LAYER.format(number), self.graph
        mixed = self._attention(number, states, matrices[:3])
        mixed = self._product(mixed, matrices[3:4], [f"{prefix}attention.output.dense"])
        states = self._added(states, mixed, f"{prefix}attention.output.LayerNorm")
        wide = self._product(states, matrices[4:5], [f"{prefix}intermediate.dense"])
        wide = graph.node("Gelu", [wide], f"{wide}.gelu", domain=FUSED)
        narrow = self._product(wide, matrices[5:], [f"{prefix}output.dense"])
        return self._added(states, narrow, f"{prefix}output.LayerNorm")

    def _attention(self, number: int, states: str, matrices: list[str]) -> str:
        """Add attention. Queries, keys and values come from one product."""
        inner = f"{_LAYER.format(number)}attention.self."
        sources = [f"{inner}{part}" for part in ("query", "key", "value")]
        joined = self._product(states, matrices, sources)
        sizes = self.graph.weight(f"{inner}sizes", np.full(3, WIDTH, np.int64))
        self.graph.node("Split", [joined, sizes], *(f"{each}.part" for each in sources), axis=2)
        return self.graph.node(
            "MultiHeadAttention",
            [f"{each}.part" for each in sources],
            f"{inner}mixed",
            domain=FUSED,
            num_heads=HEADS,
        )

    def _product(self, states: str, matrices: list[str], sources: list[str]) -> str:
        """Add the product of `states` and the concatenated matrices, plus the biases of
        `sources`."""
        name = sources[0]
        matrix = np.concatenate([self._weights[f"{each}_q"] for each in matrices], axis=1)
        scale = np.concatenate([self._weights[f"{each}_scale"].ravel() for each in matrices])
        bias = np.concatenate([self._weights[f"{each}.bias"] for each in sources])
        inputs = [
            states,
            self.graph.weight(f"{name}.matrix", matrix),
            self.graph.weight(f"{name}.scale", scale),
            "",  # int8 weights are symmetric around zero
            self.graph.weight(f"{name}.bias", bias),
        ]
        return self.graph.node("DynamicQuantizeMatMul", inputs, f"{name}.out", domain=FUSED)

    def _added(self, states: str, more: str, norm: str) -> str:
        inputs = [states, more, *self._norm(norm)]
        return self.graph.node(
            "SkipLayerNormalization", inputs, f"{norm}.out", domain=FUSED, epsilon=EPSILON
        )

    def _norm(self, name: str) -> tuple[str, str]:
        parts = (f"{name}.weight", f"{name}.bias")
        first, second = (self.graph.weight(part, self._weights[part]) for part in parts)
        return first, second
