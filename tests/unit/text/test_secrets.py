"""Check what is a secret and what is not, by example."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.text.secrets import MASK, find, mask

BODY = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6"  # no real key looks so regular
PEM = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEow" * 10 + "\n-----END RSA PRIVATE KEY-----"

KEYS = {
    "openai": f"sk-proj-{BODY[:40]}",
    "anthropic": f"sk-ant-api03-{BODY[:40]}",
    "aws": "AKIA" + "Q3EGRIJ7TESTKEY9",
    "github": f"ghp_{BODY[:36]}",
    "gitlab": f"glpat-{BODY[:20]}",
    "slack": "xoxb" + "-123456789012-abcdefABCDEF",
    "google": f"AIza{BODY[:35]}",
    "stripe": f"sk_live_{BODY[:24]}",
    "npm": f"npm_{BODY[:36]}",
    "pypi": f"pypi-{BODY}{BODY}",
    "huggingface": f"hf_{BODY[:34]}",
    "twilio": "SK" + "0a1b2c3d" * 4,
    "sendgrid": f"SG.{BODY[:22]}.{BODY[:43]}",
    "jwt": f"eyJhbGciOiJIUzI1NiJ9.eyJ{BODY[:30]}.{BODY[:43]}",
    "private key": PEM,
}


@pytest.mark.parametrize(("kind", "key"), KEYS.items())
def test_a_vendor_key_is_found_whole(kind, key):
    text = f"export X={key} # and so on"
    assert [(one.kind, text[one.start : one.end]) for one in find(text)] == [(kind, key)]
    assert mask(text) == f"export X={MASK} # and so on"


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://app:hunter2secret@db.internal:5432/shop",
        "the url is redis://:hunter2secret@cache:6379/0, try it",
        "amqp://user:hunter2secret@[::1]/",
    ],
)
def test_only_the_password_of_a_connection_string_is_masked(text):
    assert mask(text) == text.replace("hunter2secret", MASK)


@pytest.mark.parametrize(
    "text",
    [
        'api_key = "Zq8vLk2Rm9TxB4wYcN7d"',
        "DB_PASSWORD=Zq8vLk2Rm9TxB4wYcN7d",
        "Authorization: Bearer Zq8vLk2Rm9TxB4wYcN7d",
        '{"client_secret": "Zq8vLk2Rm9TxB4wYcN7d"}',
        "my token is Zq8vLk2Rm9TxB4wYcN7d.",
    ],
)
def test_a_random_token_next_to_a_telling_word_is_masked(text):
    assert mask(text) == text.replace("Zq8vLk2Rm9TxB4wYcN7d", MASK)


@pytest.mark.parametrize(
    "text",
    [
        "key: 123e4567-e89b-12d3-a456-426614174000",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 fixes the token bug",
        "token = sha256:9fceb02d0ae598e95dc970b74767f19372d61af8",
        "secret_key_base = os.environ['SECRET_KEY_BASE']",
        "password: ${DB_PASSWORD_FROM_VAULT_2}",
        "api_key=YOUR_API_KEY_HERE_1",
        "auth/token_refresh_handler_v2.py holds token_refresh_handler_v2",
        "postgresql://user:password@localhost/db",
        "https://example.org:8080/a@b",
        "the key is under the mat, 12 steps from the door",
        "sk-learn and sk-estimators-are-nice-to-have",
        "max_tokens=4096 tokens_per_second=1234.5678",
        "ssh-rsa and -----BEGIN CERTIFICATE-----",
        "",
    ],
)
def test_ids_hashes_references_and_placeholders_are_no_secrets(text):
    assert find(text) == ()
    assert mask(text) == text


def test_a_key_that_is_cut_off_is_still_masked():
    assert mask(PEM[:60] + "\n") == f"{MASK}\n"


def test_secrets_do_not_overlap_and_come_in_order():
    text = f"token={KEYS['github']} password={KEYS['jwt']} {KEYS['aws']}"
    found = find(text)
    assert [one.kind for one in found] == ["github", "jwt", "aws"]
    assert all(left.end <= right.start for left, right in pairwise(found))


@pytest.mark.slow
@given(st.text(max_size=200), st.sampled_from(sorted(KEYS)), st.text(max_size=50))
def test_no_known_key_survives_whatever_stands_around_it(before, kind, after):
    key = KEYS[kind]
    assert key not in mask(f"{before} {key} {after}")


@given(st.text())
def test_masking_twice_is_masking_once(text):
    once = mask(text)
    assert mask(once) == once
