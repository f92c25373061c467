"""Odd grants, headers of grants, proofs of wallets, schemas, and data against schemas: what is
refused is named, and no answer is an error of ours."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from memtree.agents.grant_json import HEADER, grant_json
from memtree_proxy.http.headers import WALLET_HEADERS
from tests.http.fuzz.fuzzing import World
from tests.http.served import wild
from tests.made.wallets import Wallet

pytestmark = pytest.mark.slow

JSON = [(b"content-type", b"application/json")]
ADA = Wallet("Ada")
NAMES = st.sampled_from(["f", "g", "e", "a", "u", "x"])


def near(grant: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Return what is almost this grant, or nothing like one."""
    payloads = st.dictionaries(NAMES, wild.values, max_size=3)
    parts = st.dictionaries(st.sampled_from("psc"), wild.values, max_size=2)
    return st.one_of(
        wild.values,
        parts.map(lambda odd: {**grant, **odd}),
        payloads.map(lambda odd: {**grant, "p": {**grant["p"], **odd}}),
    )


# Of different agents: what one test revokes, another must not find revoked.
POSTED, SENT = (grant_json(ADA.grant(ADA, expires=time.time() + 9_000, agent=a)) for a in "pa")
BODIES = st.dictionaries(st.sampled_from(["grant", "shareCode", "x"]), near(POSTED), max_size=3)
LINES = st.text(st.characters(min_codepoint=32, max_codepoint=255, exclude_characters="\x7f"))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    built = World(tmp_path_factory.mktemp("fuzz"), None, None)
    with built.listening():
        headers = ADA.headers("POST", "/wallets", at=time.time())
        given_ = [(name.encode(), value.encode()) for name, value in headers.items()]
        bound = built.send("POST", b"/wallets", b"", [*given_, (b"x-api-key", b"k")])
        assert bound.status == 200
        yield built
    built.close()


@pytest.mark.parametrize("route", ["inspect", "revoke"])
def test_any_grant(route: str, world: World):
    @given(BODIES)
    def run(body: dict[str, Any]) -> None:
        headers = [*JSON, (b"x-api-key", b"k")]
        answer = world.post(f"/v1/grants/{route}", wild.dumped(body), headers)
        event(str(answer.status))
        assert answer.status in (200, 400, 403), answer
        if answer.status == 400:
            place = (answer.error["param"] or "body").partition(".")[0].partition("[")[0]
            assert place in ("grant", "shareCode", "x", "body")

    run()


@given(st.one_of(LINES, st.lists(near(SENT))))
def test_any_header_of_grants(world: World, given_: str | list[Any]):
    text = base64.b64encode(wild.dumped(given_)).decode() if isinstance(given_, list) else given_
    header = text.encode("latin-1")
    for scope in (b"all", b"shared"):
        target = b"/v1/memories/search?query=tea&agentId=a&scope=" + scope
        answer = world.send("GET", target, b"", [(HEADER.encode(), header), (b"x-api-key", b"k")])
        event(str(answer.status))
        assert answer.status in (200, 400, 403, 431), answer
        if answer.status != 200:
            assert answer.error["param"] in (HEADER, None)
        elif isinstance(given_, list) and scope == b"all":
            warned = json.loads(answer.body).get("warnings", [])
            assert len(warned) == sum(row != SENT for row in json.loads(wild.dumped(given_)))


@given(st.dictionaries(st.sampled_from(WALLET_HEADERS), LINES, min_size=1), st.booleans())
def test_any_proof(world: World, odd: dict[str, str], keyed: bool):
    sound = ADA.headers("GET", "/memories", at=time.time())
    sent = [(name.encode(), value.encode("latin-1")) for name, value in {**sound, **odd}.items()]
    more = [(b"x-api-key", b"k")] if keyed else []
    answer = world.send("GET", b"/v1/memories", b"", [*sent, *more])
    event(str(answer.status))
    if odd == {name: sound[name] for name in odd}:
        return
    assert answer.status in (400, 401), answer
    assert answer.error["param"] in WALLET_HEADERS


@given(st.sets(st.sampled_from(WALLET_HEADERS), min_size=1, max_size=2))
def test_any_part_of_a_proof(world: World, missing: set[str]):
    sound = ADA.headers("GET", "/memories", at=time.time())
    sent = [(n.encode(), v.encode()) for n, v in sound.items() if n not in missing]
    answer = world.send("GET", b"/v1/memories", b"", sent)
    assert (answer.status, answer.error["param"] in missing) == (400, True)


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
