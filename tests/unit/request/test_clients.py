"""Check which program posted a request: a name of a fixed list, or none."""

from __future__ import annotations

import pytest

from memtree_proxy.request.clients import CLIENTS, client_of


@pytest.mark.parametrize(
    ("headers", "client"),
    [
        ({"user-agent": "claude-cli/2.1.330 (external, sdk-cli)"}, "claude-code"),
        ({"user-agent": "node", "x-claude-code-session-id": "2219455a"}, "claude-code"),
        ({"user-agent": "codex_exec/0.169.0 (Debian 12.0.0; x86_64)"}, "codex"),
        ({"user-agent": "reqwest", "originator": "codex_cli_rs"}, "codex"),
        ({"user-agent": "opencode/1.18.33 ai-sdk/provider-utils/4.0.23"}, "opencode"),
        ({"user-agent": "OpenAI/JS 6.49.0", "x-title": "Cline"}, "cline"),
        ({"user-agent": "OpenAI/JS 6.49.0", "x-title": "Roo Code"}, "roo-code"),
        ({"user-agent": "Kilo-Code/7.7.7"}, "kilo"),
        ({"user-agent": "litellm/1.81", "x-title": "Aider"}, "aider"),
        ({"user-agent": "QwenCode/0.15.10 (linux; x64)"}, "qwen-code"),
        ({"user-agent": "OpenAI/Python 2.54.0"}, "openai-python"),
        ({"user-agent": "AsyncOpenAI/Python 2.54.0"}, "openai-python"),
        ({"user-agent": "OpenAI/JS 6.26.0"}, "openai-node"),
        ({"user-agent": "ai-sdk/openai-compatible/3.0.37 ai-sdk/provider-utils/5.0.30"}, "ai-sdk"),
        ({"user-agent": "Mozilla/5.0 (X11; Linux x86_64) Chrome/156"}, ""),
        ({"user-agent": "My secret project's bot", "x-title": "ghp_" + "a1B2c3" * 6}, ""),
        ({}, ""),
    ],
)
def test_programs_by_their_headers(headers: dict[str, str], client: str) -> None:
    assert client_of(headers) == client
    assert client in (*CLIENTS, "")
