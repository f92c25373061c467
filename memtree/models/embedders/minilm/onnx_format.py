"""Read and write the parts of the ONNX file format that MiniLM needs: the weights of a file, a
graph.

    weights = read_weights(memoryview(data))          # name to array; views, nothing is copied
    graph = Graph()
    graph.node("MatMul", ["x", graph.weight("w", array)], "y")
    data = graph.model(("x", ["n", 384]), ("y", ["n", 384]))

The format is Protocol Buffers: fields of a number, a kind and a value. The library `onnx` would add
50 MB for these few messages. Use it only for files with a known hash: nothing here protects against
a hostile file.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
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
