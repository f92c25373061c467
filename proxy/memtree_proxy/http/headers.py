"""Say which HTTP header fields are relayed, and recognise by them the program that posted.

The header fields of a request that are for this server stand in one table, which their readers
import. None of them is sent to the upstream, on any route: some contain credentials or signed
proofs, and others describe a person's memories.

A program is one of a fixed list of names: free text by which a client describes itself is never
stored. Agents come first in the list, since they also send the headers of their SDK.

    >>> client_of({"user-agent": "claude-cli/2.1.330 (external, sdk-cli)"})
    'claude-code'
    >>> client_of({"user-agent": "Mozilla/5.0 (X11; Linux x86_64)"})
    ''
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from starlette.datastructures import Headers as HeaderLines

from memtree.agents.grant_json import HEADER as GRANTS_HEADER
from memtree.agents.wallets import ADDRESS_HEADER, SIGNATURE_HEADER, TIMESTAMP_HEADER
from memtree.errors import BadRequest

# The credential for this server only, of a client whose own one is for the upstream, or changes.
TENANT_KEY = b"x-memtree-key"
MEMORY_HEADER, FLAG_HEADER = "x-polychat-memory", "memory"
TOOLS_HEADER = "x-memtree-recall-tools"
MODE_HEADER = "x-memtree-mode"
KEEP_HEADER = "x-memtree-keep"
# Front proxies drop headers with underscores, so the hyphenated forms count as well.
EXPIRATION_HEADERS = (
    "memory_expiration_days",
    "memory-expiration-days",
    "x-memory-expiration-days",
)
CHAT_HEADER, SWITCH_HEADER = "x-chat-id", "x-chat-memory"
USER_HEADER, USER_SWITCH_HEADER = "x-user-id", "x-user-memory"
WALLET_HEADERS = (ADDRESS_HEADER, TIMESTAMP_HEADER, SIGNATURE_HEADER)

OWN_HEADERS = frozenset(
    name.encode()
    for name in (
        MEMORY_HEADER, FLAG_HEADER, TOOLS_HEADER, MODE_HEADER, KEEP_HEADER, *EXPIRATION_HEADERS,
        CHAT_HEADER, SWITCH_HEADER, USER_HEADER, USER_SWITCH_HEADER, GRANTS_HEADER, *WALLET_HEADERS,
        TENANT_KEY.decode(),
    )
)  # fmt: skip
_OWN_FAMILIES = (b"x-memtree-", b"x-polychat-", b"x-wallet-")  # includes names of later versions


def is_own(name: bytes) -> bool:
    """Return True if a header field of this name (in lower case) is for this server."""
    return name in OWN_HEADERS or name.startswith(_OWN_FAMILIES)


def own_values(headers: Mapping[str, str], name: str) -> list[str]:
    """Return the different values of a header field, in their order. Clients and front proxies may
    repeat one, in another line or behind a comma: equal values count once.

    >>> own_values({"x-user-id": "ann, ann"}, "x-user-id")
    ['ann']
    """
    lines = headers.getlist(name) if isinstance(headers, HeaderLines) else [headers[name]]
    if len(lines) == 1 and "," not in lines[0]:
        return [lines[0].strip()]
    return list(dict.fromkeys(map(_once, lines)))


def own_value(headers: Mapping[str, str], name: str) -> str:
    """Return the value of a header field that was sent, stripped. Raises `BadRequest` for different
    ones."""
    value, *others = own_values(headers, name)
    if others:
        raise BadRequest(f"{name} is given twice, with different values", param=name)
    return value


def _once(line: str) -> str:
    first, *others = (part.strip() for part in line.split(","))
    return first if others.count(first) == len(others) else line.strip()


Headers = list[tuple[bytes, bytes]]


# RFC 9110 section 7.6.1: "Intermediaries ... MUST remove" fields of a single connection.
HOP_BY_HOP = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer "
    b"transfer-encoding upgrade".split()
)


AUTHORIZATION, X_API_KEY, API_KEY = b"authorization", b"x-api-key", b"api-key"
CREDENTIALS = frozenset({AUTHORIZATION, X_API_KEY, API_KEY, b"cookie"})
_ENDS_HERE = frozenset({b"host", b"content-length", b"expect"})
# With these a request may override the method or path that was checked.
_OVERRIDES = frozenset(
    b"x-http-method x-http-method-override x-method-override x-original-url x-rewrite-url".split()
)


def end_to_end(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Return the headers without those of a single connection, and without those that `Connection`
    names."""
    headers = list(headers)
    dropped = set(HOP_BY_HOP)
    for name, value in headers:
        if name.lower() == b"connection":
            dropped.update(token.strip().lower() for token in value.split(b","))
    return [(name, value) for name, value in headers if name.lower() not in dropped]


def value_of(headers: Headers, name: bytes) -> str:
    """Return the value of a header (`name` in lower case), stripped and in lower case; "" without
    one."""
    values = (value for key, value in headers if key.lower() == name)
    return next(values, b"").decode("latin-1").strip().lower()


def takes_server_key(
    posted: Iterable[tuple[bytes, bytes]], *, keyed: bool, api_key: str | None
) -> bool:
    """Return True if the configured key of the upstream is sent with a request, since its client
    sent none of its own. `keyed`: the credential was one of our keys."""
    if keyed or not api_key:
        return bool(api_key)
    sent = {name.lower() for name, _ in end_to_end(posted)} - {b"cookie"}
    return sent.isdisjoint(CREDENTIALS)


def request_headers(
    posted: Iterable[tuple[bytes, bytes]],
    *,
    keyed: bool,
    api_key: str | None,
    key_header: bytes = AUTHORIZATION,
    without: frozenset[bytes] = frozenset(),
) -> Headers:
    """Return the client's headers that are sent to the upstream. `keyed`: the credential was one of
    our keys and is removed. Otherwise the client's own is sent, and the configured key, in the
    header `key_header`, only if the client sent none. Clients of Azure get it sent as they send
    theirs.
    """
    posted = end_to_end(posted)
    ours = takes_server_key(posted, keyed=keyed, api_key=api_key)
    dropped = _ENDS_HERE | without | (CREDENTIALS if keyed else frozenset())
    dropped |= _OVERRIDES if ours else frozenset()
    lowered = ((name.lower(), (name, value)) for name, value in posted)
    kept = [field for name, field in lowered if name not in dropped and not is_own(name)]
    if ours and api_key:
        sent = {name.lower() for name, _ in posted}
        key_header = API_KEY if API_KEY in sent and AUTHORIZATION not in sent else key_header
        scheme = b"Bearer " if key_header == AUTHORIZATION else b""
        kept.append((key_header, scheme + api_key.encode()))
    return kept


DEFAULT_PORTS = {"http": 80, "https": 443}
MAX_LENGTH = 1_000  # of a text that is parsed; a name has at most 253 characters
_AUTHORITY = re.compile(
    r"(?P<host>\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?)(?::(?P<port>[0-9]{0,5}))?"
)


class Authority(NamedTuple):
    """A host in lower case (an IPv6 address without brackets), and its port if there is one."""

    host: str
    port: int | None

    @classmethod
    def parse(cls, text: str) -> Authority | None:
        """Parse `host` or `host:port`; None for anything else."""
        match = _AUTHORITY.fullmatch(text.lower()) if len(text) <= MAX_LENGTH else None
        if match is None:
            return None
        host, port = match["host"], int(match["port"]) if match["port"] else None
        if host.startswith("["):
            try:
                host = ipaddress.IPv6Address(host[1:-1]).compressed
            except ValueError:
                return None
        return None if port is not None and port > 65535 else cls(host, port)

    @property
    def is_address(self) -> bool:
        try:
            ipaddress.ip_address(self.host)
        except ValueError:
            return False
        return True

    def with_port(self, scheme: str) -> Authority:
        """Return this authority with the default port of `scheme`, if it has none."""
        return self if self.port is not None else Authority(self.host, DEFAULT_PORTS.get(scheme))


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
