"""Every store says which steps of its schema it has, and which versions open it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from memtree import __version__
from memtree.stores import RamStore, SqliteStore
from memtree.stores.postgres import PostgresStore, migrations
from memtree.stores.sqlite import migrations as sqlite_migrations
from tests.programs.postgres import drop_schema, ready_url

CHANGELOG = Path(__file__).parents[3] / "CHANGELOG.md"


def versions() -> set[str]:
    return {__version__, *re.findall(r"^## \[(\d[^\]]*)\]", CHANGELOG.read_text(), re.MULTILINE)}


@pytest.mark.parametrize("name", ["ram", "sqlite", "postgres"])
async def test_a_store_says_its_steps_and_who_opens_it(name: str, tmp_path: Path) -> None:
    known = migrations if name == "postgres" else sqlite_migrations
    store: RamStore | SqliteStore | PostgresStore
    if name == "ram":
        store = RamStore()
    elif name == "sqlite":
        store = SqliteStore(tmp_path / "m.db")
    else:
        store = PostgresStore(ready_url(tmp_path))
    try:
        schema = (await store.stats()).schema
    finally:
        await store.close()
        if name == "postgres":
            drop_schema(tmp_path)
    assert schema.steps == {part: len(steps) for part, steps in known.PARTS.items()}
    assert schema.since in versions()
    tree, memories = schema.steps["tree"], schema.steps["memories"]
    assert str(schema) == (
        f"schema memories {memories}, tree {tree}; MemTree {schema.since} and later open it"
    )
