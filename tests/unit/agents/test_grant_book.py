"""Grants: kept, written as JSON, signed, proved."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.agents.agent_memory import AgentScopes
from memtree.agents.grant import (
    MAX_GRANTS,
    MAX_HEADER_BYTES,
    PREFIX,
    Chain,
    GrantPayload,
    SignedGrant,
    grant_digest,
    payload_json,
    signed_text,
)
from memtree.agents.grant_book import GrantBook, Refusal
from memtree.agents.grant_json import (
    MAX_CODE_CHARS,
    grant_json,
    header_of,
    read_grant,
    read_header,
    read_share_code,
    share_code,
)
from memtree.agents.wallets import WINDOW_SECONDS, proof_text, proven
from memtree.errors import BadRequest, Forbidden, HeadersTooLarge, NotFound, Unauthorized
from memtree.stores import RamStore, open_memories
from tests.made.wallets import NOW, FixedClock, Wallet

# ------------------------------------------------------------------------------------------------
# Grant book.


ADA, BOB = Wallet("Ada"), Wallet("Bob", Chain.SOLANA)
STRANGER = Wallet("Eve")


class WatchedStore:
    """Notes which wallets somebody asks for."""

    def __init__(self) -> None:
        self._store = open_memories(RamStore())
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def wallet_tenants(self, addresses: Collection[str]) -> Mapping[str, str]:
        self.asked += addresses
        return await self._store.wallet_tenants(addresses)


@pytest.fixture
async def store() -> WatchedStore:
    store = WatchedStore()
    await store.prove_wallet(ADA.canonical, "t-ada", b"1", 0)
    await store.prove_wallet(BOB.canonical, "t-bob", b"2", 0)
    return store


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def book(store: WatchedStore, clock: FixedClock) -> GrantBook:
    return GrantBook(store, clock)


def wanted(agent: str | None, subject: str | None = "") -> AgentScopes:
    return AgentScopes("t-bob", agent, subject)


async def test_a_grant_opens_the_agents_of_its_grantor(book):
    opened = await book.opened("t-bob", header_of([ADA.grant(BOB)]))
    assert opened.scopes == (AgentScopes("t-ada", None, None),)
    assert opened.warnings == ()


async def test_without_grants_nothing_is_opened(book):
    assert (await book.opened("t-bob", None)).scopes == ()


async def test_shared_alone_needs_grants(book):
    with pytest.raises(BadRequest, match="scope=shared needs grants in x-grants"):
        await book.opened("t-bob", None, strict=True)


@pytest.mark.parametrize(
    ("limits", "asked", "found"),
    [
        ({}, wanted("a", "u"), AgentScopes("t-ada", "a", "u")),
        ({}, wanted("a"), AgentScopes("t-ada", "a", None)),
        ({}, wanted(None, None), AgentScopes("t-ada", None, None)),
        ({"agent": "a"}, None, AgentScopes("t-ada", "a", None)),
        ({"agent": "a"}, wanted(None), AgentScopes("t-ada", "a", None)),
        ({"agent": "a", "subject": "u"}, wanted("a"), AgentScopes("t-ada", "a", "u")),
        ({"agent": "a"}, wanted("b"), Refusal.OTHER_AGENT),
        ({"subject": "u"}, wanted("a", "v"), Refusal.OTHER_SUBJECT),
        ({"subject": "u"}, wanted("a", "u"), AgentScopes("t-ada", "a", "u")),
    ],
)
async def test_a_grant_opens_no_more_than_it_says_and_is_asked_for(book, limits, asked, found):
    header = header_of([ADA.grant(BOB, **limits)])
    opened = await book.opened("t-bob", header, asked, strict=True)
    if isinstance(found, AgentScopes):
        assert opened.scopes == (found,)
    else:
        assert opened.scopes == ()
        assert opened.warnings == (f"grant 1: {found}",)


async def test_each_grant_that_opens_nothing_is_named_with_its_reason(book, clock):
    revoked = ADA.grant(BOB, agent="old")
    sound = ADA.grant(BOB, agent="a")
    await book.revoke("t-ada", revoked)
    header = header_of(
        [
            ADA.grant(BOB, expires=clock.time),
            SignedGrant(sound.payload, STRANGER.sign("x"), Chain.EVM),
            sound,
            ADA.grant(STRANGER),
            revoked,
            STRANGER.grant(BOB),
        ]
    )
    opened = await book.opened("t-bob", header)
    assert opened.scopes == (AgentScopes("t-ada", "a", None),)
    assert opened.warnings == (
        "grant 1: it has expired",
        "grant 2: its signature is not its grantor's",
        "grant 4: its grantee is no wallet that you have proved to own",
        "grant 5: it was revoked",
        "grant 6: its grantor has no memories here",
    )
    with pytest.raises(Forbidden, match="grant 1: it has expired"):
        await book.opened("t-bob", header, strict=True)


async def test_a_remembered_signature_still_expires_and_can_be_revoked(book, clock):
    grant = ADA.grant(BOB)
    header = header_of([grant])
    assert (await book.opened("t-bob", header)).scopes
    assert await book.revoke("t-ada", grant)
    assert (await book.opened("t-bob", header)).warnings == ("grant 1: it was revoked",)
    clock.time += 7200
    assert (await book.opened("t-bob", header)).warnings == ("grant 1: it has expired",)


async def test_a_valid_text_with_another_signature_is_not_valid(book):
    grant = ADA.grant(BOB)
    await book.opened("t-bob", header_of([grant]))
    forged = SignedGrant(grant.payload, STRANGER.sign("x"), Chain.EVM)
    assert (await book.opened("t-bob", header_of([forged]))).scopes == ()


async def test_only_the_tenant_of_the_grantor_revokes(book):
    grant = ADA.grant(BOB)
    with pytest.raises(Forbidden, match="only its grantor"):
        await book.revoke("t-bob", grant)
    with pytest.raises(Forbidden, match="signature"):
        await book.revoke("t-ada", SignedGrant(grant.payload, STRANGER.sign("x"), Chain.EVM))
    assert await book.revoke("t-ada", grant)
    assert not await book.revoke("t-ada", grant)


async def test_what_has_expired_need_not_be_revoked(book, clock, store):
    grant = ADA.grant(BOB, expires=clock.time - 1)
    assert not await book.revoke("t-ada", grant)
    assert await store.revoked_grants([grant_digest(grant.payload)]) == set()


async def test_a_released_wallet_opens_nothing(book):
    await book.release("t-ada", ADA.address)
    with pytest.raises(NotFound):
        await book.release("t-ada", ADA.address)
    opened = await book.opened("t-bob", header_of([ADA.grant(BOB)]))
    assert opened.warnings == ("grant 1: its grantor has no memories here",)


async def test_whether_a_wallet_is_bound_is_not_told_to_others(book, store):
    """The store is not even asked where the signature is not valid."""
    grant = ADA.grant(BOB)
    forged = SignedGrant(grant.payload, STRANGER.sign("x"), Chain.EVM)
    store.asked.clear()
    await book.opened("t-bob", header_of([forged]))
    assert store.asked == []
    known = await book.opened("t-eve", header_of([grant]))
    unknown = await book.opened("t-eve", header_of([STRANGER.grant(BOB)]))
    assert known == unknown


# ------------------------------------------------------------------------------------------------
# Grant json.


GRANT = ADA.grant(BOB, agent="a", subject="u")
JSON = grant_json(GRANT)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=9,
)


def changed(**fields):
    """`p`'s fields by their names; None: left out."""
    payload = {**JSON["p"], **fields}
    return {**JSON, "p": {name: value for name, value in payload.items() if value is not None}}


def encoded(value: object) -> str:
    return base64.b64encode(json.dumps(value).encode()).decode()


def test_a_grant_is_read_as_it_was_written():
    assert read_grant(JSON) == GRANT
    assert read_grant(grant_json(BOB.grant(ADA))) == BOB.grant(ADA)
    assert read_share_code(share_code(GRANT)) == GRANT
    assert read_header(header_of([GRANT, GRANT])) == [GRANT, GRANT]


def test_keys_may_stand_in_any_order():
    payload = dict(reversed(JSON["p"].items()))
    assert read_grant({"c": "evm", "s": JSON["s"], "p": payload}) == GRANT


@pytest.mark.parametrize(
    ("grant", "place"),
    [
        (None, "grant"),
        ([], "grant"),
        ({}, "c"),
        ({**JSON, "c": "btc"}, "c"),
        ({**JSON, "c": ["evm"]}, "c"),
        ({**JSON, "c": {}}, "c"),
        ({**JSON, "c": "sol"}, "p.f"),
        ({**JSON, "s": ""}, "s"),
        ({**JSON, "s": 5}, "s"),
        ({**JSON, "s": "0x" + "0" * 199}, "s"),
        ({**JSON, "p": None}, "p"),
        ({**JSON, "p": []}, "p"),
        (changed(f=5), "p.f"),
        (changed(f="0xGrantor"), "p.f"),
        (changed(g=""), "p.g"),
        (changed(g=ADA.canonical + " "), "p.g"),
        ({**JSON, "p": {"g": ADA.address, "e": 1}}, "p.f"),
        (changed(e="1735689600"), "p.e"),
        (changed(e=True), "p.e"),
        (changed(e=1735689600.5), "p.e"),
        (changed(e=float("inf")), "p.e"),
        (changed(e=float("nan")), "p.e"),
        (changed(e=0), "p.e"),
        (changed(e=-1), "p.e"),
        (changed(e=1e21), "p.e"),
        (changed(e=1735689600000), "p.e"),
        (changed(a=""), "p.a"),
        (changed(a="*"), "p.a"),
        (changed(a='x"}'), "p.a"),
        (changed(a="\u2028"), "p.a"),
        (changed(a="\ud800"), "p.a"),
        (changed(a="x" * 201), "p.a"),
        (changed(u=7), "p.u"),
        (changed(u="é"), "p.u"),
        (changed(x=1), "p"),
        (changed(aud="https://other.example"), "p"),
    ],
)
def test_what_is_no_grant_names_its_place(grant, place):
    with pytest.raises(BadRequest) as raised:
        read_grant(grant)
    assert raised.value.param == place
    assert raised.value.message.startswith(place)


@pytest.mark.parametrize("name", ["a", "u"])
def test_a_limit_of_null_is_no_limit_that_is_left_out(name):
    """It would be signed as null; whoever wrote it may have meant nothing at all."""
    with pytest.raises(BadRequest):
        read_grant({**JSON, "p": {**JSON["p"], name: None}})


def test_a_whole_number_may_be_written_as_a_fraction():
    """It is one number to JavaScript, which signs it without."""
    assert read_grant(changed(e=float(GRANT.payload.expires))) == GRANT


@pytest.mark.slow
@given(VALUES)
def test_whatever_comes_is_read_or_refused(value):
    for one in (value, {**JSON, "p": value}, {**JSON, "s": value}, changed(a=value, e=value)):
        try:
            read = read_grant(one)
        except BadRequest:
            continue
        assert read_grant(grant_json(read)) == read


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text):
    for header in (text, base64.b64encode(text.encode("utf-8", "replace")).decode()):
        with contextlib.suppress(BadRequest):
            assert not any(isinstance(one, SignedGrant) for one in read_header(header))
        with pytest.raises(BadRequest):
            read_share_code(f"zkg1_{header}")


def test_one_that_is_no_grant_leaves_the_others():
    found = read_header(encoded([JSON, {}, JSON, 5]))
    assert [isinstance(one, SignedGrant) for one in found] == [True, False, True, False]


@pytest.mark.parametrize("wrap", ["{}\n", " {} ", "{}"])
def test_headers_of_shells_are_read(wrap):
    """`echo ... | base64`: the JSON ends with a line's end."""
    raw = json.dumps([JSON]) + "\n"
    assert read_header(wrap.format(base64.b64encode(raw.encode()).decode())) == [GRANT]
    assert read_header(base64.urlsafe_b64encode(raw.encode()).decode().rstrip("=")) == [GRANT]


@pytest.mark.parametrize(
    "header", ["!", "x", "e30=", encoded("zkg1_"), encoded(JSON), "é", "W10 W10"]
)
def test_what_is_no_list_of_grants(header):
    with pytest.raises(BadRequest) as raised:
        read_header(header)
    assert raised.value.param == "x-grants"


def test_as_many_as_are_allowed_and_no_more():
    short = grant_json(ADA.grant(BOB))
    assert len(read_header(encoded([short] * MAX_GRANTS))) == MAX_GRANTS
    with pytest.raises(BadRequest, match="at most 32 grants"):
        read_header(encoded([{}] * (MAX_GRANTS + 1)))


def test_thirty_two_grants_of_either_chain_fit():
    for wallet in (ADA, BOB):
        grants = [wallet.grant(ADA, agent="agent-of-twenty-chars", subject="u")] * MAX_GRANTS
        assert len(header_of(grants)) <= MAX_HEADER_BYTES


def test_a_header_over_the_limit():
    with pytest.raises(HeadersTooLarge):
        read_header("W" * (MAX_HEADER_BYTES + 1))


def test_deep_nesting_is_refused():
    with pytest.raises(BadRequest):
        read_header(base64.b64encode(b"[" * 9_000).decode())


def test_a_code_is_one_word_and_bounded():
    code = share_code(GRANT)
    assert code.startswith("zkg1_")
    assert code.replace("_", "").replace("-", "").isalnum()
    assert read_share_code(f" {code}\n") == GRANT
    for other in (code[5:], code.replace("zkg1_", "zkg2_"), code + "x" * MAX_CODE_CHARS):
        with pytest.raises(BadRequest):
            read_share_code(other)


# ------------------------------------------------------------------------------------------------
# Signed text.


FULL = GrantPayload("0xF", "G1", 1735689600, "agent:1@x~-_.", "u")


def test_the_signed_text_is_that_of_the_sdk():
    text = signed_text(FULL)
    assert text == (
        "zkstash:grant:v1:"
        "eyJhIjoiYWdlbnQ6MUB4fi1fLiIsImUiOjE3MzU2ODk2MDAsImYiOiIweEYiLCJnIjoiRzEiLCJ1IjoidSJ9"
    )
    assert base64.b64decode(text.removeprefix(PREFIX)).decode() == (
        '{"a":"agent:1@x~-_.","e":1735689600,"f":"0xF","g":"G1","u":"u"}'
    )


def test_what_is_not_limited_is_left_out():
    assert list(payload_json(GrantPayload("0xF", "G1", 1))) == ["e", "f", "g"]
    assert list(payload_json(FULL)) == sorted(json.loads(json.dumps(payload_json(FULL))))


def test_a_grant_is_known_by_the_hash_of_its_text():
    assert grant_digest(FULL) == hashlib.sha256(signed_text(FULL).encode()).digest()


# ------------------------------------------------------------------------------------------------
# Wallet proof.


BODY = b'{"agentId":"a"}'


def test_the_text_is_that_of_the_sdk():
    empty = hashlib.sha256(b"").hexdigest()
    assert proof_text("GET", "/memories/search?query=x", empty, "17") == (
        f"GET|/memories/search?query=x|{empty}|17"
    )


@pytest.mark.parametrize("wallet", [ADA, BOB])
def test_a_proof_names_its_wallet_until_its_window_ends(wallet):
    found = proven(wallet.proof("POST", "/memories", BODY), NOW + 10)
    assert found.address == wallet.canonical
    assert found.until == NOW + WINDOW_SECONDS
    again = proven(wallet.proof("POST", "/memories", BODY), NOW + 20)
    assert again.digest == found.digest


def test_two_wallets_that_sign_one_text_have_two_proofs():
    assert proven(ADA.proof(), NOW).digest != proven(BOB.proof(), NOW).digest


@pytest.mark.parametrize("away", [-WINDOW_SECONDS, 0, WINDOW_SECONDS])
def test_clocks_may_differ(away):
    assert proven(ADA.proof(at=NOW + away), NOW).until == NOW + away + WINDOW_SECONDS


@pytest.mark.parametrize("away", [-WINDOW_SECONDS - 1, WINDOW_SECONDS + 1, 10**10])
def test_a_proof_of_another_time_does_not_count(away):
    with pytest.raises(Unauthorized, match="more than 120 seconds") as raised:
        proven(ADA.proof(at=NOW + away), NOW)
    assert raised.value.param == "x-wallet-timestamp"


@pytest.mark.parametrize("part", ["method", "body", "timestamp", "address", "signature", "paths"])
def test_each_part_is_signed(part):
    proof = ADA.proof("POST", "/memories", BODY)
    others = {
        "method": "PUT",
        "body": BODY + b" ",
        "timestamp": str(int(proof.timestamp) + 1),
        "address": BOB.address,
        "signature": BOB.sign("x"),
        "paths": ("/memories/other", "/v1/memories"),
    }
    with pytest.raises(Unauthorized) as raised:
        proven(replace(proof, **{part: others[part]}), NOW)
    assert raised.value.param == "x-wallet-signature"


def test_a_path_may_be_written_in_several_ways():
    proof = replace(ADA.proof("GET", "/v1/x?a=1"), paths=("/x?a=1", "/v1/x?a=1", "/x", "/v1/x"))
    assert proven(proof, NOW).address == ADA.canonical


@pytest.mark.parametrize("timestamp", ["", "x", "-5", "1e13", "1.5", "٣", "1" * 17, "1 "])
def test_a_timestamp_is_whole_milliseconds(timestamp):
    with pytest.raises(BadRequest) as raised:
        proven(replace(ADA.proof(), timestamp=timestamp), NOW)
    assert raised.value.param == "x-wallet-timestamp"


@pytest.mark.parametrize("address", ["", "0x1", ADA.address + "0"])
def test_an_address_is_one(address):
    with pytest.raises(BadRequest) as raised:
        proven(replace(ADA.proof(), address=address), NOW)
    assert raised.value.param == "x-wallet-address"
