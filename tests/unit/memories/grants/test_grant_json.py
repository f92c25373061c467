import base64
import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.errors import BadRequest, HeadersTooLarge
from memtree.memories.grants.grant import MAX_GRANTS, MAX_HEADER_BYTES, Chain, SignedGrant
from memtree.memories.grants.grant_json import (
    MAX_CODE_CHARS,
    grant_json,
    header_of,
    read_grant,
    read_header,
    read_share_code,
    share_code,
)
from tests.made.wallets import Wallet

ADA, BOB = Wallet("Ada"), Wallet("Bob", Chain.SOLANA)
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
