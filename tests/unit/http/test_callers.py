"""Check who asks: scopes of requests, wrong keys, and codes of a local user."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.datastructures import QueryParams
from starlette.requests import Request

from memtree.agents.agent_memory import AgentScopes
from memtree.config import Settings
from memtree.errors import BadRequest, Unauthorized
from memtree.memories.scope import Scope
from memtree_proxy.http.auth import (
    CODE_SECONDS,
    EARLY_SECONDS,
    LOCAL_PREFIX,
    LocalUser,
    Tenant,
    agent_scopes,
    new_code,
    new_secret,
    queried_agents,
    server_proof,
    single_scope,
    user_scope,
)
from memtree_proxy.http.rate_limits import FailedKeys

# ------------------------------------------------------------------------------------------------
# `agentId` and `subjectId` of requests.


@pytest.mark.parametrize(
    ("named", "agent", "subject"),
    [
        ({"agentId": "a"}, "a", ""),
        ({"agentId": "a", "subjectId": None}, "a", ""),
        ({"agentId": "a", "subjectId": "s"}, "a", "s"),
        ({"agentId": "a", "subjectId": "*"}, "a", None),
        ({"agentId": "*"}, None, ""),
        ({"agentId": "*", "subjectId": "s"}, None, "s"),
        ({"agentId": "*", "subjectId": "*"}, None, None),
    ],
)
def test_the_scopes_that_are_meant(named: dict[str, Any], agent: str | None, subject: str | None):
    assert agent_scopes(named, "t") == AgentScopes("t", agent, subject)


def test_no_agent_is_no_scope_of_agents():
    assert agent_scopes({}, "t") is None
    assert agent_scopes({"agentId": None, "subjectId": None}, "t") is None
    assert queried_agents(QueryParams("query=a"), "t") is None


@pytest.mark.parametrize(
    ("named", "param"),
    [
        ({"subjectId": "s"}, "subjectId"),
        ({"subjectId": "*"}, "subjectId"),
        ({"agentId": ""}, "agentId"),
        ({"agentId": "**"}, "agentId"),
        ({"agentId": "a b"}, "agentId"),
        ({"agentId": "a\0"}, "agentId"),
        ({"agentId": "é"}, "agentId"),
        ({"agentId": "a" * 201}, "agentId"),
        ({"agentId": 5}, "agentId"),
        ({"agentId": ["a"]}, "agentId"),
        ({"agentId": True}, "agentId"),
        ({"agentId": "a", "subjectId": ""}, "subjectId"),
        ({"agentId": "a", "subjectId": "\ud800"}, "subjectId"),
        ({"agentId": "a", "subjectId": {}}, "subjectId"),
    ],
)
def test_what_names_none_is_refused_by_the_name_of_its_field(named: dict[str, Any], param: str):
    with pytest.raises(BadRequest) as caught:
        agent_scopes(named, "t")
    assert caught.value.param == param
    with pytest.raises(BadRequest) as caught:
        agent_scopes(named, "t", "filters.")
    assert caught.value.param == f"filters.{param}"
    assert f"filters.{param}" in caught.value.message


@pytest.mark.parametrize("query", ["agentId=a&agentId=a", "agentId=a&subjectId=&subjectId=s"])
def test_a_field_that_stands_twice_in_a_query(query: str):
    with pytest.raises(BadRequest, match="is given twice"):
        queried_agents(QueryParams(query), "t")


def test_one_scope_where_only_one_can_be_meant():
    assert single_scope(AgentScopes("t", "a")) == Scope.of_agent("t", "a")
    assert single_scope(AgentScopes("t", "a", "s")) == Scope.of_agent("t", "a", "s")
    for many, param in (
        (AgentScopes("t", None), "agentId"),
        (AgentScopes("t", "a", None), "subjectId"),
    ):
        with pytest.raises(BadRequest) as caught:
            single_scope(many)
        assert caught.value.param == param


# ------------------------------------------------------------------------------------------------
# The tenant's own memories, or those of a user within it.


def request(**headers: str) -> Request:
    raw = [(name.replace("_", "-").encode(), v.encode("latin-1")) for name, v in headers.items()]
    return Request({"type": "http", "headers": raw})


@pytest.mark.parametrize("keyed", [True, False])
def test_the_tenant_itself_or_a_user(keyed: bool):
    tenant = Tenant("t_1", keyed=keyed)
    assert user_scope(request(), tenant) == Scope.of_user("t_1")
    assert user_scope(request(x_user_id="ann@x.org"), tenant) == Scope.of_user("t_1", "ann@x.org")


def test_a_cookie_that_may_count_lets_nobody_choose():
    given = request(x_user_id="ann", cookie="session=abc")
    assert user_scope(given, Tenant("t_1", keyed=True)) == Scope.of_user("t_1")
    # Without keys no cookie counts: any local web app may have set it.
    assert user_scope(given, Tenant("t_1", keyed=False)) == Scope.of_user("t_1", "ann")


@pytest.mark.parametrize("name", ["", " ", "a b", "ü", "x" * 201, "../other", "a\x00"])
def test_what_is_no_id_is_refused(name: str):
    with pytest.raises(BadRequest, match="x-user-id"):
        user_scope(request(x_user_id=name), Tenant("t_1", keyed=False))


# ------------------------------------------------------------------------------------------------
# Check which client a wrong key is counted for: the last hop that is no proxy of ours.


OURS = Settings(trusted_proxies=("2001:db8:1::/48", "10.0.0.0/8"))


def client(peer: str, *forwarded: str, settings: Settings = OURS) -> str:
    headers = [(b"x-forwarded-for", line.encode()) for line in forwarded]
    scope = {"type": "http", "headers": headers, "client": (peer, 9)}
    return FailedKeys(settings).client(Request(scope))


@pytest.mark.parametrize(
    ("forwarded", "network"),
    [
        (["2001:db8:9::1, 2001:db8:7:1:2::5"], "2001:db8:7:1::/64"),
        (["2001:db8:9::1, 2001:db8:7:1:2::5, 2001:db8:1:5::2"], "2001:db8:7:1::/64"),
        (["2001:db8:9::1", "[2001:db8:7:1:2::5]", "2001:db8:1::2,10.1.1.1"], "2001:db8:7:1::/64"),
        (["2001:db8:9::1, ::ffff:198.51.100.1"], "198.51.100.1"),
        (["2001:db8:9::1, ::ffff:198.51.100.1, ::ffff:10.0.0.7"], "198.51.100.1"),
        (["2001:db8:9::1, 198.51.100.1:49152, 10.0.0.7:443"], "198.51.100.1"),
        (["[2001:db8:7:1:2::5]:49152, 10.0.0.7"], "2001:db8:7:1::/64"),
        (["2001:db8:9::1, nobody, 2001:db8:1::2"], ""),
        (["2001:db8:1::2"], ""),
        ([], ""),
    ],
)
def test_hops_are_read_from_the_last_one_on(forwarded: list[str], network: str) -> None:
    assert client("2001:db8:1::1", *forwarded) == network


def test_a_peer_that_is_no_proxy_is_the_client() -> None:
    assert client("2001:db8:7:1:2::5", "198.51.100.1") == "2001:db8:7:1::/64"
    assert client("::ffff:198.51.100.1", "203.0.113.9") == "198.51.100.1"
    behind = Settings(public_url="https://memory.example.com")
    assert client("127.0.0.1", "203.0.113.9", settings=behind) == "127.0.0.1"


# ------------------------------------------------------------------------------------------------
# Codes of `memtree ui`: good once and for a minute, by the secret alone.


SECRET = "only in the state file"
NOW = 1_800_000_000.0


def user(now: float = NOW, secret: str = SECRET) -> LocalUser:
    return LocalUser(secret, lambda: now)


def test_a_code_is_good_once_and_the_key_it_gives_is_known() -> None:
    local, code = user(), new_code(SECRET, NOW)
    key = local.redeem(code)
    local.check(key)
    assert key.startswith(LOCAL_PREFIX)
    assert SECRET not in key + code
    with pytest.raises(Unauthorized, match="memtree ui"):
        local.redeem(code)
    assert local.redeem(new_code(SECRET, NOW)) == key


@pytest.mark.parametrize(("age", "good"), [
    (0, True), (CODE_SECONDS, True), (CODE_SECONDS + 1, False),
    (-EARLY_SECONDS, True), (-EARLY_SECONDS - 1, False),
])  # fmt: skip
def test_a_code_is_good_for_a_minute(age: int, good: bool) -> None:
    code = new_code(SECRET, NOW - age)
    if good:
        assert user().redeem(code)
    else:
        with pytest.raises(Unauthorized):
            user().redeem(code)


def test_a_used_code_stays_used_until_it_is_too_old() -> None:
    times = iter([NOW, NOW + CODE_SECONDS, NOW + CODE_SECONDS])
    local, code = LocalUser(SECRET, lambda: next(times)), new_code(SECRET, NOW)
    local.redeem(code)
    local.redeem(new_code(SECRET, NOW + CODE_SECONDS))
    with pytest.raises(Unauthorized):
        local.redeem(code)


def spoiled() -> list[str]:
    code = new_code(SECRET, NOW)
    made, nonce, mark = code.split(".")
    later = f"{int(made) + 1}.{nonce}.{mark}"
    return [
        "", ".", "..", "x", "é.é.é", "٣.n.m", "9" * 200, f"{made}.{nonce}.", f"{made}.{nonce}",
        later, code[:-1], code + "0", f"{made}.other.{mark}", new_code("another", NOW),
        f"{made}.{nonce}.{server_proof(SECRET, f'{made}.{nonce}')}",
    ]  # fmt: skip


@pytest.mark.parametrize("code", spoiled())
def test_what_the_secret_did_not_make_is_no_code(code: str) -> None:
    with pytest.raises(Unauthorized):
        user().redeem(code)


def test_keys_and_proofs_are_of_one_secret() -> None:
    key = user().redeem(new_code(SECRET, NOW))
    for wrong in (key[:-1], key.upper(), LOCAL_PREFIX, key + "é"):
        with pytest.raises(Unauthorized, match="earlier start"):
            user().check(wrong)
    with pytest.raises(Unauthorized):
        user(secret="another").check(key)
    assert user().proof("n") == server_proof(SECRET, "n")
    assert len({server_proof(SECRET, "n"), server_proof(SECRET, "m"), server_proof("x", "n")}) == 3
    assert new_secret() != new_secret()
