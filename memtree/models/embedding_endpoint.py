"""Calls of `POST {base}/embeddings`: send texts, return validated unit vectors.

    batches = EmbeddingBatches(call)              # `call`: texts to rows, or `RequestRefused`
    rows = await batches.rows(texts, sizes)       # one row a text, in order

The `openai` SDK carries a call: it retries 408, 409, 429, 5xx, time-outs and broken connections,
and waits as `retry-after` says (up to two minutes). `Endpoint` adds validation: an answer must have
exactly one valid vector for each text. `EmbeddingBatches` makes calls that a server accepts:
bounded, a few at a time, halved after a refusal.

Only `model` and `input` are sent, and `dimensions` where asked for. No `encoding_format`, which the
SDK's own method adds: Gemini refuses any, Voyage "float", older servers "base64", and without it
all answer with numbers. Both forms are accepted.

Limits and the reaction to failures, as waiting for a busy server, are in `remote_embedder.py`.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NoReturn
from urllib.parse import urlsplit

import httpx2
import msgspec
import numpy as np
import openai
from numpy.typing import NDArray

from memtree.errors import EmbedderUnavailable
from memtree.models.openai_client import AnswerTooLong, connected, patience, retry_after
from memtree.text import tokens

Matrix = NDArray[np.float32]

# 400 and 422: text-embeddings-inference for too many or too long texts, OpenAI for too long ones.
TOO_MUCH = frozenset({400, 413, 422})
REASONS = {
    401: " (is embedding_api_key right?)",
    403: " (may this key use the model?)",
    404: " (are embedding_base_url and embedding_model right?)",
}
WIDEST = 16_384  # limit for the dimensions if they are unknown; the widest models have 12,288
NUMBER_BYTES = 40  # for one number: 24 as JSON, and an indent
BESIDE_BYTES = 500  # for the JSON around the numbers of a text
ERROR_BYTES = 100_000  # for an answer without vectors, or for the JSON around them
# size of an answer; beyond it, decoding takes over 1 ms and runs in a thread
INLINE_BYTES = 200_000


class RequestRefused(EmbedderUnavailable):
    """Raised if the endpoint refuses these texts, because they are too many or too long or for
    another reason, or returns no vectors for them."""


class ComeLater(EmbedderUnavailable):
    """The endpoint asked for no calls for so many seconds."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


class ConnectionLost(EmbedderUnavailable):
    """No answer began, or it was interrupted."""


class NotInTime(EmbedderUnavailable):
    """Raised if the vectors did not come in the time that the caller had."""


class _VectorItem(msgspec.Struct):
    embedding: msgspec.Raw
    index: int | None = None


class _Answer(msgspec.Struct):
    data: list[_VectorItem]


class Endpoint:
    """`url`: up to and with `/v1`. `dimensions`: to request, or 0. `key`: None to send none.
    `texts`: most in a call, which limits the size of an answer."""

    def __init__(
        self, url: str, key: str | None, model: str, dimensions: int, retries: int, texts: int
    ) -> None:
        self.host = urlsplit(url).netloc
        self._model, self._dimensions, self._retries = model, dimensions, retries
        most = texts * ((dimensions or WIDEST) * NUMBER_BYTES + BESIDE_BYTES)
        self._client = connected(url, key, most + ERROR_BYTES)

    async def rows(self, texts: Sequence[str], *, seconds: float, retry: bool = True) -> Matrix:
        """Return (n, d) float32 unit rows in order; a row is zero if the endpoint finds no words in
        its text. `seconds`: for connecting and for each read. Raises `RequestRefused`, `ComeLater`
        or another `EmbedderUnavailable`.
        """
        body: dict[str, Any] = {"model": self._model, "input": list(texts)}
        if self._dimensions:
            body["dimensions"] = self._dimensions
        try:
            answer = await self._client.post(
                "/embeddings",
                cast_to=httpx2.Response,
                body=body,
                options={
                    "timeout": patience(seconds),
                    "max_retries": self._retries if retry else 0,
                },
            )
        except openai.APIStatusError as error:
            self._refused(error)
        except openai.APITimeoutError:
            raise NotInTime(f"{self.host} did not answer in time") from None
        except AnswerTooLong:
            raise EmbedderUnavailable(f"{self.host} answered with too much data") from None
        except openai.APIConnectionError:
            raise ConnectionLost(f"{self.host} cannot be reached") from None
        if len(answer.content) <= INLINE_BYTES:
            return self._checked(answer.content, len(texts))
        return await asyncio.to_thread(self._checked, answer.content, len(texts))

    async def close(self) -> None:
        await self._client.close()

    def _refused(self, error: openai.APIStatusError) -> NoReturn:
        # The body is not shown: some servers quote the text that they refuse.
        status = error.status_code
        message = f"{self.host} answers {status}{REASONS.get(status, '')}"
        if status in TOO_MUCH:
            raise RequestRefused(message) from None
        seconds = retry_after(error.response.headers.get("retry-after"))
        if seconds:
            raise ComeLater(message, seconds) from None
        raise EmbedderUnavailable(message) from None

    def _checked(self, content: bytes, count: int) -> Matrix:
        try:
            items = msgspec.json.decode(content, type=_Answer).data
            rows = [_numbers(item.embedding) for item in _in_order(items, count)]
            if len({len(row) for row in rows}) != 1:
                raise ValueError("vectors of different lengths")
            unit = _unit(np.array(rows, np.float64))
        except (msgspec.DecodeError, UnicodeDecodeError):
            problem = "no list of embeddings"
        except ValueError as error:
            problem = str(error)
        else:
            if unit.any():
                return unit
            # Models that look up words have no vector for a line of dashes; a broken model has none
            # for any text.
            raise RequestRefused(f"{self.host} answered with zeros only")
        raise EmbedderUnavailable(f"{self.host} answered with {problem}")


def _in_order(items: list[_VectorItem], count: int) -> list[_VectorItem]:
    """Sort items by their index. Some servers leave out all indices, some that of the first (their
    encoder drops a zero)."""
    if len(items) != count:
        raise ValueError(f"{len(items)} vectors for {count} texts")
    unnamed = [item for item in items if item.index is None]
    if len(unnamed) == count:
        return items
    if len(unnamed) == 1:
        unnamed[0].index = 0
    if sorted(-1 if item.index is None else item.index for item in items) != list(range(count)):
        raise ValueError("indices that do not fit the texts")
    return sorted(items, key=lambda item: item.index or 0)


def _numbers(raw: msgspec.Raw) -> NDArray[Any]:
    """Decode row by row, so that the event loop can run in between."""
    embedding = msgspec.json.decode(raw, type=list[float] | str)
    if not isinstance(embedding, str):
        return np.array(embedding, np.float64)
    try:
        return np.frombuffer(base64.b64decode(embedding, validate=True), "<f4")
    except (binascii.Error, ValueError):
        raise ValueError("a vector that is neither numbers nor base64 of them") from None


def _unit(rows: NDArray[np.float64]) -> Matrix:
    if not rows.size or not np.isfinite(rows).all():
        raise ValueError("a vector that is empty or not finite")
    peaks = np.abs(rows).max(axis=1, keepdims=True)
    rows = rows / np.where(peaks > 0, peaks, 1)  # so that squares neither overflow nor vanish
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(norms > 0, norms, 1), np.float32)


log = logging.getLogger("memtree")

# in a call; OpenAI accepts 2,048, Cohere 96, text-embeddings-inference 32 by default
MAX_TEXTS = 96
MAX_TOKENS = (
    16_000  # in a call of several texts; OpenAI accepts 300,000, Voyage's large model 120,000
)
PARALLEL = 4
# A text that is refused by itself is halved again and again as long as it has more tokens than
# this.
SHORT = 128
HARMLESS = "why did the database connection time out?"  # every server that works accepts it


class EmbeddingBatches:
    """Batches for one server. Learns how many texts it accepts in a call."""

    def __init__(self, call: Callable[[list[str]], Awaitable[Matrix]]) -> None:
        self._call = call
        self._most = MAX_TEXTS
        self._parallel = asyncio.Semaphore(PARALLEL)

    async def rows(self, texts: Sequence[str], sizes: Sequence[int]) -> Matrix:
        """Return an array (n, d) for one or more non-empty texts. `sizes`: their tokens. Raises the
        errors of the calls; a failure cancels the other calls.
        """
        left = deque(range(len(texts)))
        rows: dict[int, Matrix] = {}  # by the text's index

        async def work() -> None:
            while left:
                batch = self._take(left, sizes)
                async with self._parallel:
                    rows.update(zip(batch, await self.few([texts[i] for i in batch]), strict=True))

        # No TaskGroup: if a part fails, it leaves the caller with a count of cancellations (until
        # Python 3.13), and a later `asyncio.timeout` of the same task then ends the task.
        parts = [asyncio.create_task(work()) for _ in range(PARALLEL)]
        try:
            await asyncio.gather(*parts)
        finally:
            for part in parts:
                part.cancel()
            await asyncio.gather(*parts, return_exceptions=True)
        return np.stack([rows[index] for index in range(len(texts))])

    async def few(self, texts: list[str]) -> Matrix:
        """Embed a few texts in one call, if the server accepts that."""
        rows, _ = await self._batch(texts)
        return rows

    def _take(self, left: deque[int], sizes: Sequence[int]) -> list[int]:
        batch: list[int] = []
        size = 0
        while (
            left and len(batch) < self._most and (not batch or size + sizes[left[0]] <= MAX_TOKENS)
        ):
            size += sizes[left[0]]
            batch.append(left.popleft())
        return batch

    async def _batch(self, texts: list[str]) -> tuple[Matrix, bool]:
        """Return the rows, and True if the texts were accepted as they are: in one call, uncut. A
        refused batch is tried in halves. If both are accepted, there were too many texts in one
        call: later calls have at most half as many.
        """
        try:
            return await self._call(texts), True
        except RequestRefused as refusal:
            if len(texts) == 1:
                return await self._alone(texts[0], refusal), False
        half = len(texts) // 2
        first, whole = await self._batch(texts[:half])
        second, too = await self._batch(texts[half:])
        if whole and too:
            self._most = min(self._most, max(half, 1))
        return np.concatenate([first, second]), False

    async def _alone(self, text: str, refusal: RequestRefused) -> Matrix:
        """Return the row of a text that was refused by itself: that of its first half, and so on.

        In the end a row of zeros, if the server accepts another text: a text that it never accepts
        must not keep all others of its history from being embedded.
        """
        size = tokens.count(text)
        if size > SHORT:
            return await self.few([tokens.prefix(text, size // 2)])
        if text == HARMLESS:
            raise refusal
        harmless = await self.few([HARMLESS])
        log.warning("embedder.text_refused")
        return np.zeros_like(harmless)
