"""Models: text to vectors, and text to summaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memtree.ranking.relevance_scale import RelevanceScale
from memtree.summaries.prompts import Task
from memtree.summaries.replies import Draft

Matrix = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call as the server counted them, or as counted here where it told nothing.
    `cached`: of the input, what it had in its prompt cache. `counted`: counted here."""

    input: int = 0
    output: int = 0
    cached: int = 0
    counted: bool = False


@dataclass(frozen=True, slots=True)
class SummaryDrafts:
    """Drafts of one call: for each task's id what could be read of it, not judged yet."""

    drafts: Mapping[str, Draft]
    usage: Usage


class Summarizer(Protocol):
    """A model that writes summaries. `recipe` names it and the form of what it is asked."""

    recipe: str

    async def write(self, tasks: Sequence[Task]) -> SummaryDrafts:
        """One call for tasks of one kind; ids that the answer lacks are missing in the drafts.

        Waits for its turn where calls are limited. `SummarizerUnavailable` where nothing came:
        down, refused, or out of time; `wait` seconds later it may be asked again, and `usage` is
        what the failed attempts may have cost.
        """
        ...

    async def close(self) -> None: ...


class Embedder(Protocol):
    """Text to unit vectors. `recipe` names model and preprocessing: recipes never mix.
    `relevant`: the cosine under which a passage hardly ever answers a query. `scale`: what its
    cosines mean between memories and messages.

    A model that was never met may have `dimensions` 0, and a recipe under which nothing is kept;
    `embed` (of no texts, too) finds out both. `name` is what it was configured to be, and stays.

    `EmbedderUnavailable` where the model cannot be used.
    """

    name: str
    recipe: str
    dimensions: int
    relevant: float
    scale: RelevanceScale

    async def ready(self) -> None:
        """Until a model in this process is loaded; at once where it is on a server, up or down."""
        ...

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """(n, dimensions) float32, unit rows; a text without tokens gives a zero row."""
        ...

    async def embed_query(self, text: str) -> Matrix:
        """(dimensions,) float32, quick; `EmbedderUnavailable` while there are no `dimensions`."""
        ...

    async def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """(n, dimensions): rows as of `embed_query`; one call, where texts are sent anywhere."""
        ...

    def reads(self, text: str) -> bool:
        """Return True if it knows the writing of a text; else its vector says next to nothing."""
        ...

    def forget(self) -> None:
        """Let go of what is kept of earlier queries."""
        ...

    async def close(self) -> None: ...
