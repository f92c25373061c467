"""Errors about thinking, told from all others."""

from __future__ import annotations

import pytest

from memtree.wire import json_body
from memtree_proxy.chat.retrying.thinking_refusal import LONGEST, is_about_thinking, is_the_client_s

BOUND = (
    b'{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0: '
    b'Invalid signature in thinking block. The block is bound to a different conversation."}}'
)
CHANGED = (
    b'{"error":{"message":"`thinking` or `redacted_thinking` blocks in the latest assistant '
    b'message cannot be modified. They must remain as they were."}}'
)


@pytest.mark.parametrize("body", [BOUND, CHANGED, BOUND.upper(), b"\xff" + BOUND])
def test_an_error_about_thinking_is_known(body: bytes):
    assert is_about_thinking(400, body)
    assert not is_about_thinking(413, body)


@pytest.mark.parametrize(
    "body",
    [
        b'{"error": {"message": "prompt is too long: 5 tokens > 3 maximum"}}',
        b'{"error": {"message": "max_tokens must be greater than thinking.budget_tokens"}}',
        b'{"error": {"message": "this field cannot be modified"}}',
        b" " * LONGEST + BOUND,
        b"",
    ],
)
def test_other_errors_are_not(body: bytes):
    assert not is_about_thinking(400, body)


@pytest.mark.parametrize(
    ("posted", "headers", "said"),
    [
        (b'{"thinking": {"type": "adaptive"}}', {}, False),
        (b"{}", {"anthropic-beta": "interleaved-thinking-2025-05-14"}, False),
        (b'{"thinking": {"type": "adaptive", "block_binding": "drop_block"}}', {}, True),
        (b'{"block_binding": "keep"}', {}, True),
        (b"{}", {"anthropic-beta": "a-1,thinking-block-binding-2026-08-31"}, True),
    ],
)
def test_whoever_says_what_is_to_become_of_it_gets_that(
    posted: bytes, headers: dict[str, str], said: bool
):
    assert is_the_client_s(json_body.split(posted), headers) is said
