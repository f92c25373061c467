"""A model that fills schemas from a few plain sentences, so that tests can speak as users do.

>>> records(["UserProfile"], {"1": "My name is Bo and I like tea."})[0]["values"]
[{'field': 'name', 'value': 'Bo'}]
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from memtree.ports.models import ModelAnswer, ModelQuestion, Usage

_FORMS = (
    ("UserProfile", r"[Mm]y name is (?P<name>\w+)"),
    ("UserProfile", r"I'm (?P<age>\d+)"),
    ("UserProfile", r"live in (?P<city>\w+)"),
    ("UserProfile", r"[Mm]y favorite color is (?P<favoriteColor>[\w-]+)"),
    ("UserProfile", r"I like (?P<likes>\w+)"),
    ("Pet", r"(?P<species>dog|cat)(?: is called| named|'s name is) (?P<name>\w+)"),
    ("Task", r"[Rr]emind me to (?P<title>[^.]+)"),
)


class SpokenModel:
    """An `AskedModel`, and a `ChatModel`. `texts`: of the messages that it was shown."""

    recipe = "spoken"

    def __init__(self) -> None:
        self.texts: list[str] = []

    async def ask(self, tenant: str, question: ModelQuestion) -> ModelAnswer:
        return await self.answer(question)

    async def answer(self, question: ModelQuestion) -> ModelAnswer:
        content = question.messages[1]["content"]
        self.texts += messages_of(content).values()
        return ModelAnswer(reply(content), True, Usage(100, 20))

    async def close(self) -> None: ...


def reply(content: str) -> str:
    """Return the answer to the user message of a prompt."""
    return json.dumps({"records": records(_kinds_of(content), messages_of(content))})


def records(kinds: Sequence[str], messages: Mapping[str, str]) -> list[dict[str, Any]]:
    return [
        {
            "message": id_,
            "quote": match.group(),
            "kind": kind,
            "values": [{"field": name, "value": text} for name, text in match.groupdict().items()],
        }
        for id_, text in messages.items()
        for kind, form in _FORMS
        if kind in kinds
        for match in re.finditer(form, text)
    ]


def messages_of(content: str) -> dict[str, str]:
    """Return the messages of a prompt by their ids."""
    parts = [part.partition("\n") for part in _parts(content)]
    return {
        head.split(",")[0].removeprefix("message "): text.rstrip("\n")
        for head, _, text in parts
        if head.startswith("message ")
    }


def _kinds_of(content: str) -> list[str]:
    [kinds] = (part for part in _parts(content) if part.startswith("kinds\n"))
    return [re.split(r"[ :]", line)[0] for line in kinds.splitlines()[1:]]


def _parts(content: str) -> list[str]:
    first, _, rest = content.partition("\n")
    return f"\n{rest}".split(f"\n{first.removeprefix('Mark: ')} ")
