"""Odd fields and queries for every route of user memories: what is refused is named, and no answer
is an error of ours."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from tests.http.fuzz.fuzzing import World
from tests.http.served import wild

pytestmark = pytest.mark.slow

JSON = [(b"content-type", b"application/json"), (b"x-user-id", b"u1")]
FILTER = st.dictionaries(
    st.sampled_from(
        ["category", "tags", "source_type", "group_id", "tainted", "created_from", "x", "kind"]
    ),
    wild.values,
    max_size=3,
)
VALUES = st.one_of(
    wild.values, FILTER, st.sampled_from(["User likes tea", "2031-01-01", "fact"]),
    st.lists(wild.scalars, max_size=3),
)  # fmt: skip
FIELDS = (
    "text", "category", "tags", "expires_at", "ids", "filter", "all", "dry_run", "purge",
    "replaces", "title", "description", "memory_ids", "top_k", "score_threshold", "plan",
    "memories_save_enabled", "memories_chat_history_enabled", "agentId", "conversation",
    "memories", "with", "action", "x",
)  # fmt: skip
POSTED = [
    ("POST", ""), ("PATCH", "/{id}"), ("POST", "/{id}/settle"), ("POST", "/delete"),
    ("POST", "/undelete"), ("PATCH", "/settings"), ("POST", "/groups"),
    ("PATCH", "/groups/{group}"), ("POST", "/groups/{group}/memories"),
]  # fmt: skip
QUERIES = (
    "limit", "cursor", "category", "tag", "tags", "source_type", "tainted", "created_from",
    "created_before", "include", "group_id", "query", "threshold", "purge", "agentId",
)  # fmt: skip
ASKED = [
    ("GET", ""), ("GET", "/search"), ("GET", "/{id}"), ("GET", "/{id}/history"), ("GET", "/groups"),
    ("GET", "/settings"), ("GET", "/tombstones"), ("DELETE", "/mem_none"),
    ("POST", "/{id}/confirm"),
]  # fmt: skip


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    built = World(tmp_path_factory.mktemp("fuzz"), None, None)
    with built.listening():
        yield built
    built.close()


@pytest.fixture
def named(world: World) -> dict[str, str]:
    """A memory and a group that are there, whatever was deleted before."""
    made = {}
    for name, path, posted in (
        ("id", "/memories", b'{"text": "User likes green tea"}'),
        ("group", "/memories/groups", b'{"title": "Drinks"}'),
    ):
        made[name] = json.loads(world.post(path, posted, JSON).body)["id"]
    return made


@pytest.mark.parametrize(("method", "path"), POSTED)
def test_any_fields(method: str, path: str, world: World, named: dict[str, str]):
    target = f"/v1/memories{path.format(**named)}".encode()

    @given(st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=4))
    def run(fields: dict[str, Any]) -> None:
        answer = world.send(method, target, wild.dumped(fields), JSON)
        event(str(answer.status))
        assert answer.status in (200, 201, 400, 403, 404, 409, 422), answer
        if answer.status == 400 and answer.error["param"] is not None:
            place = answer.error["param"].partition("[")[0].partition(".")[0]
            assert place in (*FIELDS, "body")

    run()


@pytest.mark.parametrize(("method", "path"), ASKED)
def test_any_query(method: str, path: str, world: World, named: dict[str, str]):
    target = f"/v1/memories{path.format(**named)}"
    pairs = st.lists(
        st.tuples(st.sampled_from(QUERIES), st.one_of(st.text(max_size=20), st.sampled_from(
            ["2031-01-01", "true", "deleted", "user", "5", "grp_none", "nan", "1e999", "-0"]
        ))),
        max_size=4,
    )  # fmt: skip

    @given(pairs)
    def run(query: list[tuple[str, str]]) -> None:
        given_ = "&".join(
            f"{name}={quote(value.encode('utf-8', 'surrogatepass'))}" for name, value in query
        )
        answer = world.send(method, f"{target}?{given_}".encode(), b"", JSON[1:])
        event(str(answer.status))
        assert answer.status in (200, 400, 404), answer
        if answer.status == 400:
            assert answer.error["param"].partition("[")[0] in QUERIES

    run()
