"""One rule of an API that a request breaks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any, NamedTuple

Fields = dict[str, Any]


class RuleBreak(NamedTuple):
    """`rule`: its name, as the tests plant and expect it. `where`: a path into the body."""

    rule: str
    where: str

    def __str__(self) -> str:
        return f"{self.where}: {self.rule}"


def rules(found: Iterable[RuleBreak]) -> set[str]:
    return {one.rule for one in found}


def texts(blocks: Any, kinds: Collection[str] = ("text",)) -> Iterator[str]:
    """The text of a content: of a string, or of its parts of these types."""
    if isinstance(blocks, str):
        yield blocks
    elif isinstance(blocks, list):
        for block in blocks:
            if isinstance(block, dict) and block.get("type") in kinds:
                text = block.get("text")
                if isinstance(text, str):
                    yield text
