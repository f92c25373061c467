"""A scripted endpoint and remote embedders that ask it; several stores on one PostgreSQL schema."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from memtree.models.remote_embedder import RemoteEmbedder
from memtree.stores.postgres import PostgresStore
from tests.contracts.remote import KEY
from tests.made.embeddings import Embeddings, serving
from tests.programs.postgres import Postgres, drop_schema, own_postgres, ready_url


def pytest_itemcollected(item: pytest.Item) -> None:
    """A class says which tests of its contract take long over its back end (`LONG`)."""
    if not isinstance(item, pytest.Function):
        return
    long = getattr(item.cls, "LONG", ())
    assert all(hasattr(item.cls, name) for name in long), (item.cls, long)
    if item.originalname in long:
        item.add_marker(pytest.mark.long)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Tests of a class that names stores run over each of them."""
    if "backend" in metafunc.fixturenames and (stores := getattr(metafunc.cls, "STORES", ())):
        long = metafunc.function.__name__ in metafunc.cls.LONG_IN_POSTGRES
        marks = {"postgres": pytest.mark.long} if long else {}
        metafunc.parametrize(
            "backend", [pytest.param(name, marks=marks.get(name, ())) for name in stores]
        )


@pytest.fixture
async def endpoint():
    async with serving(Embeddings()) as app:
        yield app


@pytest.fixture
async def opened(endpoint):
    made = []

    def make(**options):
        # Queries have time, unless a test says otherwise: a busy machine must not fail a test.
        usual = {"retries": 0, "relevant": 0.3, "key": KEY, "dimensions": 0, "query_seconds": 600}
        options = usual | options
        made.append(RemoteEmbedder(endpoint.url, "a-model", **options))
        return made[-1]

    yield make
    for one in made:
        await one.close()


@pytest.fixture
async def embedder(endpoint, opened):
    """Warm, and the endpoint's record is empty."""
    one = opened()
    await one.warm_up()
    endpoint.asked.clear()
    return one


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[list[PostgresStore]]:
    """Four on one schema, as four processes have them."""
    made = [PostgresStore(ready_url(tmp_path, connections=3)) for _ in range(4)]
    yield made
    for store in made:
        await store.close()
    drop_schema(tmp_path)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.long)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Return the address of a store for several processes."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/store.db"
    else:
        yield ready_url(tmp_path)
        drop_schema(tmp_path)


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    """One that a test may stop."""
    with own_postgres() as running:
        yield running
