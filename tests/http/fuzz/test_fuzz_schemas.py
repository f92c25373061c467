"""Odd requests to the routes of schemas, and odd data against schemas: what is refused is named,
and no answer is an error of ours."""

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

JSON = [(b"content-type", b"application/json")]
PROFILE = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "pattern": r"^\w+$"},
        "age": {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}]},
        "lines": {"items": {"enum": ["a", 1, 0.5, None]}, "uniqueItems": True},
    },
    "additionalProperties": {"propertyNames": {"maxLength": 9}},
}
DOCUMENTS = st.one_of(
    wild.values,
    st.dictionaries(
        st.sampled_from(["type", "properties", "$ref", "$defs", "pattern", "enum", "allOf", "not"]),
        wild.values,
    ).map(lambda rules: {"type": "object", **rules}),
    wild.values.map(json.dumps),
)
VALUES = st.one_of(wild.values, DOCUMENTS, st.just(PROFILE), st.lists(wild.scalars, max_size=3))
FIELDS = ("json_schema", "schema", "uniqueOn", "unique_on", "name", "description", "x")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    built = World(tmp_path_factory.mktemp("fuzz"), None, None)
    with built.listening():
        yield built
    built.close()


@pytest.fixture
def kept(world: World) -> None:
    posted = json.dumps({"json_schema": PROFILE, "uniqueOn": ["name"]}).encode()
    assert world.send("PUT", b"/v1/schemas/Profile", posted, JSON).status in (200, 201)


@pytest.mark.parametrize(
    ("method", "path"), [("PUT", "/Fuzzed"), ("POST", ""), ("PATCH", "/Profile")]
)
@pytest.mark.usefixtures("kept")
def test_any_fields(method: str, path: str, world: World):
    @given(st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=4))
    def run(fields: dict[str, Any]) -> None:
        answer = world.send(method, f"/v1/schemas{path}".encode(), wild.dumped(fields), JSON)
        event(str(answer.status))
        assert answer.status in (200, 201, 400, 409, 422), answer

    run()


@pytest.mark.parametrize(("method", "path"), [("PUT", "/Fuzzed"), ("POST", "")])
@pytest.mark.parametrize("name", wild.NASTY)
def test_the_worst_bodies(method: str, path: str, name: str, world: World):
    nasty = wild.NASTY[name]
    for posted in (nasty, b'{"name": "A", "json_schema": ' + nasty + b"}"):
        answer = world.send(method, f"/v1/schemas{path}".encode(), posted, JSON)
        assert 400 <= answer.status < 500, answer


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE"])
def test_any_kind(method: str, world: World):
    @given(st.text(min_size=1, max_size=70))
    def run(kind: str) -> None:
        path = f"/v1/schemas/{quote(kind.encode('utf-8', 'surrogatepass'), safe='')}".encode()
        posted = b'{"json_schema": {"type": "object"}}' if method in ("PUT", "PATCH") else b""
        answer = world.send(method, path, posted, JSON)
        event(str(answer.status))
        assert answer.status in (200, 201, 400, 404, 409), answer

    run()


@pytest.mark.usefixtures("kept")
def test_any_data(world: World):
    """Try any data of a memory of a kind that has a schema."""

    @given(
        st.dictionaries(st.sampled_from(["name", "age", "lines", "x"]), wild.values),
        st.sampled_from(["Profile", "profile", "Other", "", "a b"]),
    )
    def run(data: dict[str, Any], kind: str) -> None:
        posted = {"agentId": "a", "memories": [{"kind": kind, "data": data}]}
        answer = world.post("/v1/memories", wild.dumped(posted), JSON)
        event(str(answer.status))
        assert answer.status in (200, 201, 400, 422), answer
        if answer.status == 422:
            assert answer.error["param"].startswith("memories[0].")

    run()


BOMBS = {
    "deep": {"x": json.loads('{"a":' * 30 + "1" + "}" * 30)},
    "too deep": {"x": json.loads('{"a":' * 200 + "1" + "}" * 200)},
    "wide": {f"k{at}": at for at in range(1_500)},
    "a long text against a pattern": {"name": "a" * 16_000 + "!"},
    "long": {"name": "a" * 100_000},
    "many options": {"lines": [0.1 * at for at in range(2_000)]},
    "small numbers": {"age": 5e-324, "lines": [5e-324] * 1_500},
    "large numbers": {"age": 1.7e308, "lines": [9_007_199_254_740_993] * 500},
}


@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.usefixtures("kept")
def test_hostile_data(name: str, world: World):
    posted = {"agentId": "a", "memories": [{"kind": "Profile", "data": BOMBS[name]}] * 20}
    answer = world.post("/v1/memories", json.dumps(posted).encode(), JSON)
    assert answer.status in (200, 201, 400, 422), answer
    if answer.status >= 400:
        assert len(answer.error["message"]) < 300
