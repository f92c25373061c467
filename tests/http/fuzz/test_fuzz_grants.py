"""Odd grants, headers of grants and proofs of wallets: what is refused is named, and no answer is
an error of ours."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from memtree.memories.grants.grant_json import HEADER, grant_json
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
