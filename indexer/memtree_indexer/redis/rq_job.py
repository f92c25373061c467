"""The function that RQ's jobs name. It hands its work to the lane whose thread it runs in."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from memtree_indexer.redis.ledger import JobName

_here = threading.local()


@contextmanager
def handed_to(do: Callable[[JobName], None]) -> Iterator[None]:
    """While the block runs, tickets of this thread go to `do`."""
    _here.do = do
    try:
        yield
    finally:
        del _here.do


def run(stage: str, tenant: str, id_: str) -> None:
    """What a worker of RQ's own would run: it has no hands for it, so nothing is done."""
    _here.do(JobName(stage, tenant, id_))
