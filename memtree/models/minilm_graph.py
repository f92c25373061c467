"""Build MiniLM as a graph of int8 matrix products, at load time, from the packaged file's weights.

The parts of the ONNX file format that this needs are here, too.

    weights = read_weights(memoryview(data))          # name to array; views, nothing is copied
    graph = Graph()
    graph.node("MatMul", ["x", graph.weight("w", array)], "y")
    data = graph.model(("x", ["n", 384]), ("y", ["n", 384]))

The packaged model stores its weights as int8 but multiplies them as float32, which unpacks 43 MB of
matrices and 47 MB of word vectors. This graph multiplies the int8 weights directly, with
activations quantised at run time (one scale for each product), which takes 0.4 times as long. Word
vectors are looked up outside the graph, in the file itself (`minilm.py`), so that unneeded ones are
not read. The output is the mean of the token states, not yet scaled to unit length. One text at a
time: a second text would change the scale of the first one's activations.

The format is Protocol Buffers: fields of a number, a kind and a value. The library `onnx` would add
50 MB for these few messages. Use it only for files with a known hash: nothing here protects against
a hostile file.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# Field numbers of ONNX's messages.
MODEL_IR, MODEL_GRAPH, MODEL_OPSET = 1, 7, 8
GRAPH_NODE, GRAPH_NAME, GRAPH_WEIGHT, GRAPH_INPUT, GRAPH_OUTPUT = 1, 2, 5, 11, 12
NODE_INPUT, NODE_OUTPUT, NODE_OPERATOR, NODE_ATTRIBUTE, NODE_DOMAIN = 1, 2, 4, 5, 7
ATTRIBUTE_NAME, ATTRIBUTE_FLOAT, ATTRIBUTE_INT, ATTRIBUTE_INTS, ATTRIBUTE_TYPE = 1, 2, 3, 8, 20
TENSOR_DIMENSION, TENSOR_TYPE, TENSOR_NAME, TENSOR_DATA = 1, 2, 8, 9
TYPES: dict[int, np.dtype[Any]] = {
    1: np.dtype("<f4"),
    3: np.dtype("i1"),
    7: np.dtype("<i8"),
    9: np.dtype("?"),
}
NUMBERS = {dtype: number for number, dtype in TYPES.items()}
FLOAT, INT, INTS = 1, 2, 7  # kinds of attributes

VARINT, WIDE, BYTES, NARROW = 0, 1, 2, 5  # kinds of fields

IR_VERSION = 8
OPERATORS = {"": 17, "com.microsoft": 1}  # versions, by domain


def read_weights(data: memoryview) -> dict[str, Array]:
    """Return the weights of an ONNX file by name, as views of `data`."""
    weights = {}
    for number, graph in _fields(data):
        if number == MODEL_GRAPH:
            for inner, tensor in _fields(graph):
                if inner == GRAPH_WEIGHT:
                    name, array = _tensor(tensor)
                    weights[name] = array
    return weights


def _tensor(data: memoryview) -> tuple[str, Array]:
    name, shape, dtype, raw = "", [], TYPES[1], memoryview(b"")
    for number, value in _fields(data):
        if number == TENSOR_DIMENSION and isinstance(value, int):
            shape.append(value)
        elif number == TENSOR_DIMENSION:
            shape += _varints(value)
        elif number == TENSOR_TYPE:
            dtype = TYPES[value]
        elif number == TENSOR_NAME:
            name = str(value, "utf-8")
        elif number == TENSOR_DATA:
            raw = value
    return name, np.frombuffer(raw, dtype).reshape(shape)


def _fields(data: memoryview) -> Iterator[tuple[int, Any]]:
    """Yield (number, value) of each field: an int, or a view of its bytes."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        kind = key & 7
        if kind == VARINT:
            value, at = _varint(data, at)
            yield key >> 3, value
            continue
        size = {WIDE: 8, NARROW: 4}.get(kind)
        if size is None:
            size, at = _varint(data, at)
        yield key >> 3, data[at : at + size]
        at += size


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    """Read a number of seven bits a byte; returns it and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def _varints(data: memoryview) -> list[int]:
    values, at = [], 0
    while at < len(data):
        value, at = _varint(data, at)
        values.append(value)
    return values


class Graph:
    """A graph that is built node by node."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def weight(self, name: str, array: Array) -> str:
        """Add a constant; returns its name."""
        self._parts.append(
            _bytes(
                GRAPH_WEIGHT,
                b"".join(_number(TENSOR_DIMENSION, size) for size in array.shape)
                + _number(TENSOR_TYPE, NUMBERS[array.dtype])
                + _bytes(TENSOR_NAME, name)
                + _bytes(TENSOR_DATA, array.tobytes()),
            )
        )
        return name

    def node(
        self, operator: str, inputs: Sequence[str], *outputs: str, domain: str = "", **settings: Any
    ) -> str:
        """Add a node; returns the name of its first output. An input named "" is left out."""
        self._parts.append(
            _bytes(
                GRAPH_NODE,
                b"".join(_bytes(NODE_INPUT, name) for name in inputs)
                + b"".join(_bytes(NODE_OUTPUT, name) for name in outputs)
                + _bytes(NODE_OPERATOR, operator)
                + b"".join(_attribute(name, value) for name, value in settings.items())
                + _bytes(NODE_DOMAIN, domain),
            )
        )
        return outputs[0]

    def model(
        self, entry: tuple[str, Sequence[int | str]], result: tuple[str, Sequence[int | str]]
    ) -> bytes:
        """Return the model as a file's bytes. `entry`, `result`: name and shape, both float32."""
        operators = b"".join(
            _bytes(MODEL_OPSET, _bytes(1, domain) + _number(2, version))
            for domain, version in OPERATORS.items()
        )
        parts = [
            _bytes(GRAPH_NAME, "graph"),
            *self._parts,
            _bytes(GRAPH_INPUT, _port(*entry)),
            _bytes(GRAPH_OUTPUT, _port(*result)),
        ]
        # Weights are most of the size, and copied once.
        graph = _encoded(MODEL_GRAPH << 3 | BYTES) + _encoded(sum(map(len, parts)))
        return b"".join([_number(MODEL_IR, IR_VERSION), operators, graph, *parts])


def _attribute(name: str, value: int | float | Sequence[int]) -> bytes:
    head = _bytes(ATTRIBUTE_NAME, name)
    if isinstance(value, float):
        packed = struct.pack("<f", value)
        body = _encoded(ATTRIBUTE_FLOAT << 3 | NARROW) + packed + _number(ATTRIBUTE_TYPE, FLOAT)
    elif isinstance(value, int):
        body = _number(ATTRIBUTE_INT, value) + _number(ATTRIBUTE_TYPE, INT)
    else:
        body = b"".join(_number(ATTRIBUTE_INTS, each) for each in value)
        body += _number(ATTRIBUTE_TYPE, INTS)
    return _bytes(NODE_ATTRIBUTE, head + body)


def _port(name: str, shape: Sequence[int | str]) -> bytes:
    """Encode a float32 input or output; a named dimension may have any size."""
    sizes = b"".join(
        _bytes(1, _bytes(2, size) if isinstance(size, str) else _number(1, size)) for size in shape
    )
    tensor = _number(1, NUMBERS[TYPES[1]]) + _bytes(2, sizes)
    return _bytes(1, name) + _bytes(2, _bytes(1, tensor))


def _number(field: int, value: int) -> bytes:
    return _encoded(field << 3 | VARINT) + _encoded(value)


def _bytes(field: int, value: bytes | str) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return _encoded(field << 3 | BYTES) + _encoded(len(data)) + data


def _encoded(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


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
