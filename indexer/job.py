"""A job of stage 2: leaves of one history that lack vectors.

Its name is (tenant, address where work starts), so a growing chat keeps one job and the newest
payload wins; what a revert threw away is not in the newest payload and is dropped with the old one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from memtree.history import History
from memtree.ports import LeafWork

MIN_TOKENS = 2  # a passage of one token says nothing; it gets a zero vector


@dataclass(slots=True)
class Job:
    tenant: str
    start: bytes
    history: History
    work: list[LeafWork]
    tries: int = 0
    not_before: float = 0.0  # monotonic seconds
    size: int = field(init=False)  # bytes of the messages it holds

    def __post_init__(self) -> None:
        self.size = sum(len(message.raw) for message in self.history.messages)

    @property
    def name(self) -> tuple[str, bytes]:
        return self.tenant, self.start

    @property
    def tokens(self) -> int:
        return sum(one.leaf.tokens for one in self.work)

    def leaf_ids(self) -> set[bytes]:
        return {one.leaf.id for one in self.work}


def passage_texts(history: History, work: Sequence[LeafWork]) -> list[str]:
    """The text of every passage of these leaves, in order; empty where it is not worth a vector."""
    texts = []
    for one in work:
        for passage in one.leaf.passages:
            view = history.view(one.first + passage.message).text
            worth = passage.tokens >= MIN_TOKENS
            texts.append(view[passage.start : passage.end] if worth else "")
    return texts
