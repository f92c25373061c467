import base64
import hashlib
import json

from memtree.memories.grants.grant import (
    PREFIX,
    GrantPayload,
    grant_digest,
    payload_json,
    signed_text,
)

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
