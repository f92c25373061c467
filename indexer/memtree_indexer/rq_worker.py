"""The function named by RQ's jobs. It passes its work to the lane in whose thread it runs.

`Ticket` resolves its name in this release and in the one before, and no other: data in Redis never
chooses which function a worker imports.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rq.job import Job

from memtree_indexer.redis.jobs.ledger import RUN, JobName

NAMES = (RUN, "memtree_indexer.redis.rq_job.run")

_here = threading.local()


class Ticket(Job):
    """An RQ job as workers read it."""

    @property
    def func(self) -> Callable[[str, str, str], None]:
        """Return `run`. Raises `ValueError` for a job that names another function."""
        if self.func_name not in NAMES:
            raise ValueError("the job names a function that is not for workers of MemTree")
        return run


@contextmanager
def handed_to(do: Callable[[JobName], None]) -> Iterator[None]:
    """Pass tickets of this thread to `do` while the block runs."""
    _here.do = do
    try:
        yield
    finally:
        del _here.do


def run(stage: str, tenant: str, id_: str) -> None:
    """Do nothing. One of RQ's own workers would call this, and it lacks the parts for the work."""
    _here.do(JobName(stage, tenant, id_))
