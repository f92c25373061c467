"""Recognise the program that posted a request by its headers: one of a fixed list of names.

Free text by which a client describes itself is never stored. Agents come first in the list, since
they also send the headers of their SDK.

    >>> client_of({"user-agent": "claude-cli/2.1.330 (external, sdk-cli)"})
    'claude-code'
    >>> client_of({"user-agent": "Mozilla/5.0 (X11; Linux x86_64)"})
    ''
"""

from __future__ import annotations

import re
from collections.abc import Mapping

OTHER = "other"  # name of any other program
READ = 300  # characters of a header
# Prefix of a name, in lower case and without blanks or dashes, in a header that names the program:
# `User-Agent`, `originator` (Codex, opencode), `X-Title` (OpenRouter's, of many agents).
_HEADERS = ("originator", "x-title", "x-app-name", "x-client-name", "user-agent")
_NAMES: tuple[tuple[str, str], ...] = (
    ("claudecli", "claude-code"),
    ("claudecode", "claude-code"),
    ("codex", "codex"),
    ("opencode", "opencode"),
    ("kilo", "kilo"),
    ("roocode", "roo-code"),
    ("roocline", "roo-code"),
    ("cline", "cline"),
    ("aider", "aider"),
    ("qwencode", "qwen-code"),
    ("continue", "continue"),
    ("geminicli", "gemini-cli"),
    ("openclaw", "openclaw"),
    ("hermes", "hermes"),
    ("goose", "goose"),
    ("openhands", "openhands"),
    ("miniswe", "mini-swe-agent"),
    ("sweagent", "swe-agent"),
    ("crush", "crush"),
    ("zed", "zed"),
    ("cursor", "cursor"),
    ("githubcopilot", "copilot"),
    ("copilot", "copilot"),
    ("openwebui", "open-webui"),
    ("librechat", "librechat"),
    ("lobe", "lobe-chat"),
    ("sillytavern", "sillytavern"),
    ("langchain", "langchain"),
    ("litellm", "litellm"),
    ("pydanticai", "pydantic-ai"),
    ("agents/", "openai-agents"),
    ("llamaindex", "llama-index"),
    ("asyncopenai/python", "openai-python"),
    ("openai/python", "openai-python"),
    ("openai/js", "openai-node"),
    ("asyncanthropic/python", "anthropic-python"),
    ("anthropic/python", "anthropic-python"),
    ("anthropic/js", "anthropic-node"),
    ("aisdk", "ai-sdk"),
    ("curl/", "curl"),
    ("memtree", "memtree"),
)
# Headers that only one program sends.
_OWN = (
    ("x-claude-code-session-id", "claude-code"),
    ("x-codex-window-id", "codex"),
    ("x-kilocode-version", "kilo"),
    ("x-openwebui-user-id", "open-webui"),
)
READING = (*_HEADERS, *(name for name, _ in _OWN))  # headers that identify it
_CALLED = dict(_NAMES)
_BEGINS = re.compile("|".join(re.escape(beginning) for beginning in _CALLED))
CLIENTS = tuple(dict.fromkeys(name for _, name in _NAMES))


def client_of(headers: Mapping[str, str]) -> str:
    """Return one of `CLIENTS`, "" if none matches. `headers`: looked up in lower case."""
    for header, client in _OWN:
        if header in headers:
            return client
    for header in _HEADERS:
        called = headers.get(header, "")[:READ].lower()
        plain = called.replace(" ", "").replace("-", "").replace("_", "")
        if match := _BEGINS.match(plain):
            return _CALLED[match.group()]
    return ""
