"""A recorded answer is compared without the heartbeats before it."""

from __future__ import annotations

import pytest

from memtree_proxy.dialects.chat_dialect import ChatDialect
from memtree_proxy.dialects.messages_dialect import AnthropicMessages
from tests.programs.tap import Exchange


@pytest.mark.parametrize("sign", [ChatDialect.sign, AnthropicMessages.sign])
def test_heartbeats_are_not_from_the_upstream(sign: bytes) -> None:
    exchange = Exchange(0, "POST", "/v1/messages", [], b"{}")
    exchange.answered = 2 * sign + b"data: 1\n\n" + sign
    assert exchange.from_upstream == b"data: 1\n\n" + sign
