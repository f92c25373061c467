"""Port of a model that answers background questions in JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from memtree.ports.models import Usage


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
