"""A model that is asked something in the background, and answers in JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from memtree.ports.models import Usage


@dataclass(frozen=True, slots=True)
class ModelQuestion:
    """One call. `schema`: the `response_format` that is wanted, which a server may not know.
    `room`: tokens that the answer may take. `fruitful`: whether there is something to read in an
    answer (its text, and whether it came to its end). `key`: a word that every answer holds as soon
    as it has begun."""

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
    """Port of a model that answers questions in the background. `recipe` names the model, and where
    it is asked."""

    recipe: str

    async def answer(self, question: ModelQuestion) -> ModelAnswer:
        """Waits for its turn where calls are limited. `SummarizerUnavailable` where nothing came:
        down, refused, or out of time; `wait` seconds later it may be asked again, and `cost` is
        what the failed attempts may have cost."""
        ...

    async def close(self) -> None:
        """Later questions get `SummarizerUnavailable`, and so do open ones."""
        ...
