"""Codes of `memtree ui`: good once and for a minute, by the secret alone."""

from __future__ import annotations

import pytest

from memtree.errors import Unauthorized
from memtree_proxy.access.local_user import (
    CODE_SECONDS,
    EARLY_SECONDS,
    PREFIX,
    LocalUser,
    new_code,
    new_secret,
    server_proof,
)

SECRET = "only in the state file"
NOW = 1_800_000_000.0


def user(now: float = NOW, secret: str = SECRET) -> LocalUser:
    return LocalUser(secret, lambda: now)


def test_a_code_is_good_once_and_the_key_it_gives_is_known() -> None:
    local, code = user(), new_code(SECRET, NOW)
    key = local.redeem(code)
    local.check(key)
    assert key.startswith(PREFIX)
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
    for wrong in (key[:-1], key.upper(), PREFIX, key + "é"):
        with pytest.raises(Unauthorized, match="earlier start"):
            user().check(wrong)
    with pytest.raises(Unauthorized):
        user(secret="another").check(key)
    assert user().proof("n") == server_proof(SECRET, "n")
    assert len({server_proof(SECRET, "n"), server_proof(SECRET, "m"), server_proof("x", "n")}) == 3
    assert new_secret() != new_secret()
