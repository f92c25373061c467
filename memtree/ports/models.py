"""Ports of models: text to vectors, text to summaries, and answers to background questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from memtree.ranking.relevance_scale import RelevanceScale
from memtree.tree.summary_prompts import Task
from memtree.tree.summary_replies import Draft

Matrix = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call, as counted by the server, or here if it reports nothing (`counted`).
    `cached`: input tokens read from its prompt cache."""

    input: int = 0
    output: int = 0
    cached: int = 0
    counted: bool = False

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cached + other.cached,
            self.counted or other.counted,
        )


@dataclass(frozen=True, slots=True)
class SummaryDrafts:
    """Drafts of one call: for each task's id the draft as parsed, not checked yet."""

    drafts: Mapping[str, Draft]
    usage: Usage


class Summarizer(Protocol):
    """A model that writes summaries. `recipe` names the model and the form of its prompts."""

    recipe: str

    async def write(self, tasks: Sequence[Task]) -> SummaryDrafts:
        """Make one call for tasks of one kind; ids that the answer lacks are missing in the drafts.
        Waits for its turn if calls are limited. Raises `SummarizerUnavailable` if there was no
        answer: the server was down, refused, or was too slow; `wait` is the seconds until the next
        attempt, and `usage` the most that the failed attempts may have cost.
        """
        ...

    async def close(self) -> None: ...


class Embedder(Protocol):
    """Turns text into unit vectors. `recipe` names model and preprocessing: vectors of different
    recipes are never mixed. `relevant`: the cosine below which a passage hardly ever answers a
    query. `scale`: meaning of its cosines between memories and messages.

    A model that was never reached may have `dimensions` 0, and a recipe under which nothing is
    stored; `embed` (even of no texts) determines both. `name` is the configured name, and never
    changes. Raises `EmbedderUnavailable` if the model cannot be used.
    """

    name: str
    recipe: str
    dimensions: int
    relevant: float
    scale: RelevanceScale

    async def ready(self) -> None:
        """Wait until a model in this process is loaded; return at once if it is on a server."""
        ...

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """Return (n, dimensions) float32 unit rows; a text without tokens gives a zero row."""
        ...

    async def embed_query(self, text: str) -> Matrix:
        """Return (dimensions,) float32, quickly; raises `EmbedderUnavailable` while `dimensions` is
        0."""
        ...

    async def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """Return (n, dimensions), rows as from `embed_query`; a single call if texts are sent to a
        server."""
        ...

    def reads(self, text: str) -> bool:
        """Return True if the model knows the script of a text; otherwise its vector means
        little."""
        ...

    def forget(self) -> None:
        """Drop what is cached of earlier queries."""
        ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class ModelQuestion:
    """One call. `schema`: the desired `response_format`, which a server may not support. `room`:
    tokens that the answer may take. `fruitful`: a function of the answer's text, and True if it is
    complete; returns True if it can be used. `key`: a word that every answer contains once it has
    begun."""

    messages: Sequence[Mapping[str, str]]
    schema: Mapping[str, Any]
    room: int
    fruitful: Callable[[str, bool], bool]
    key: str


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """`finished`: the model stopped by itself. An empty text: it refuses this question."""

    text: str
    finished: bool
    usage: Usage


class ChatModel(Protocol):
    """A model that answers questions in the background. `recipe` names the model and its server."""

    recipe: str

    async def answer(self, question: ModelQuestion) -> ModelAnswer:
        """Answer a question. Waits for its turn if calls are limited. Raises
        `SummarizerUnavailable` if there was no answer: the server was down, refused, or was too
        slow; `wait` is the seconds until the next attempt, and `cost` the most that the failed
        attempts may have cost."""
        ...

    async def close(self) -> None:
        """Close. Running and later calls raise `SummarizerUnavailable`."""
        ...
