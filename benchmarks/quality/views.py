"""One tree read three ways: with the summaries that were extracted, with those that a model wrote,
with both side by side. Tree, ranking and budget are the same; only the words of nodes differ.

The model is the one that the settings name (`MEMTREE_SUMMARY_BASE_URL`, `MEMTREE_SUMMARY_MODEL`
...). Where they name none, extraction is read alone.
"""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from msgspec.structs import replace as changed

from benchmarks.subject import Subject, settings, with_parts
from memtree.config import Settings
from memtree.jobs.runtime import open_runtime
from memtree.tree.node import Summary

EXTRACTION, MODEL, BOTH = VIEWS = ("extraction", "model", "both")
SUMMARIES = "summary_"  # how the settings of the model begin


class View:
    """A store whose later summaries are read in one of the three ways."""

    def __init__(self, store: Any, way: str) -> None:
        self._store, self._way = store, way

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def newest_summaries(self, tenant: str, ids: Sequence[bytes]) -> dict[bytes, Summary]:
        if self._way == EXTRACTION:
            return {}
        later = await self._store.newest_summaries(tenant, ids)
        if self._way == MODEL:
            return {id_: changed(one, extracted="") for id_, one in later.items()}
        first = await self._store.nodes(tenant, list(later))
        return {id_: beside(one, first[id_].summary) for id_, one in later.items()}


def beside(later: Summary, first: Summary) -> Summary:
    """A model's summary with the extraction shown after it, as `batching.written` makes them."""
    return changed(later, extracted=first.body if later.by_model else "")


def views(subject: Subject) -> Mapping[str, Subject]:
    """The ways that there are, each with a memory of its own over the same store."""
    runtime = subject.runtime
    ways = VIEWS if runtime.summaries else VIEWS[:1]
    return {
        way: Subject(
            with_parts(runtime, store=View(runtime.store, way)), subject.path, subject.tally
        )
        for way in ways
    }


@asynccontextmanager
async def open_summarised(
    keep: Path | None, name: str, embedder: str = "local"
) -> AsyncIterator[Subject]:
    """A subject with the configured model, if there is one. In a kept database nothing is
    summarised again."""
    with tempfile.TemporaryDirectory(prefix="memtree-bench-") as folder:
        path = (keep or Path(folder)) / f"{name}.db"
        async with open_runtime(replace(settings(path, embedder), **_model())) as runtime:
            yield Subject(runtime, path)


def _model() -> dict[str, Any]:
    named = Settings.from_env()
    return {
        name: getattr(named, name)
        for name in Settings.__dataclass_fields__
        if name.startswith(SUMMARIES)
    }
