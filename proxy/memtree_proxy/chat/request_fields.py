"""Make requests for memory of what a body and its headers say, for chats and `/context_memory`.

`context_ask` and `chat_ask` make the `CompressRequest` for memory. They differ in two rules: on
`/context_memory` a posted target is hard, and only requested output is reserved; on the chat routes
targets are soft, and if a request does not limit its output, 4,096 tokens are reserved, at most a
quarter of the window.

`is_local` decides from its URL alone if an upstream is local; no name is resolved.

>>> is_local("http://localhost:11434/v1"), is_local("http://192.168.1.7:8000/v1")
(True, True)
>>> is_local("https://api.openai.com/v1")
False
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from urllib.parse import urlsplit

from memtree.budget import first_fold
from memtree.budget.packing import TokenLimits
from memtree.budget.prices import Prices
from memtree.config import Settings
from memtree.context.context_memory import CompressRequest
from memtree.dialects.fragment_caches import markers, tools_tokens
from memtree.dialects.posted_history import OUTPUT_FIELDS
from memtree.errors import BadRequest
from memtree.history import json_body
from memtree.history.address_chain import DIGEST_BYTES
from memtree.history.json_body import Body
from memtree.history.keep_options import PATTERNS, TOOLS, KeepOptions, kept_texts
from memtree.history.message import Message
from memtree_proxy.chat import model_tables
from memtree_proxy.http.decoding import decode, header
from memtree_proxy.http.headers import (
    EXPIRATION_HEADERS,
    KEEP_HEADER,
    MODE_HEADER,
    client_of,
    own_value,
)
from memtree_proxy.wire.request_options import (
    MAX_DAYS,
    MAX_WINDOW,
    MIN_TARGET,
    ChatOptions,
    ContextOptions,
    Days,
    KeepFields,
    Mode,
    chat_options,
    context_options,
)

# MemTree's own, and those of chat completions, `/messages` and `/responses` as their references
# listed them in 2026.
REQUEST_FIELDS = json_body.OWN_FIELDS | {
    *"dialect explain index_only cache_control".split(),
    *"""audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens
    max_tokens metadata modalities model moderation n parallel_tool_calls prediction
    presence_penalty prompt_cache_key prompt_cache_options prompt_cache_retention reasoning_effort
    response_format safety_identifier seed service_tier stop store stream stream_options
    temperature tool_choice tools top_logprobs top_p user verbosity web_search_options""".split(),
    *"""container context_management inference_geo mcp_servers output_config output_format speed
    stop_sequences system thinking top_k""".split(),
    *"""background conversation include instructions max_output_tokens max_tool_calls
    previous_response_id prompt reasoning text truncation""".split(),
    # Fields of other providers that speak these dialects.
    *"""best_of chat_template_kwargs extra_body guided_json keep_alive min_p models num_ctx options
    plugins provider reasoning_format reasoning_split repetition_penalty route safe_prompt
    search_parameters think top_a transforms usage web_search""".split(),
}


_NAMES = frozenset({"localhost", "host.docker.internal"})
_ENDINGS = (".localhost", ".local")
# Not `is_private`, which also includes addresses of documentation and of carriers
_PRIVATE = tuple(
    ipaddress.ip_network(block)
    for block in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")
)

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


@lru_cache(maxsize=64)
def is_local(url: str | None) -> bool:
    """Return True for loopback, private and link-local addresses, names without a dot (Docker, a
    LAN), `*.localhost`, `*.local` and `host.docker.internal`; False for a malformed URL."""
    try:
        host = urlsplit(url or "").hostname or ""
    except ValueError:  # unclosed brackets
        return False
    host = host.rstrip(".")
    address = _address(host)
    if address is not None:
        # As an upstream `0.0.0.0` and `::` mean this machine.
        return (
            address.is_loopback
            or address.is_link_local
            or address.is_unspecified
            or any(address in block for block in _PRIVATE)
        )
    if not host or ":" in host:
        return False
    return "." not in host or host in _NAMES or host.endswith(_ENDINGS)


def _address(host: str) -> Address | None:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return _loose_address(host)
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def _loose_address(host: str) -> ipaddress.IPv4Address | None:
    """Parse IPv4 as clients do, also `127.1`, one number, octal, hexadecimal. Its last part is a
    number, which no host name ends with."""
    if not host.rpartition(".")[2][:1].isdecimal() or not host.isascii():
        return None
    try:
        return ipaddress.IPv4Address(socket.inet_aton(host))
    except (OSError, ValueError):
        return None


# Defaults without a field or setting: a caller of /context_memory wants memory, a chat through the
# proxy wants it if it costs no more than sending everything.
CONTEXT_MODE, CHAT_MODE = "stable", "auto"
_UNSAID = KeepFields()
STAINLESS = "x-stainless-read-timeout"  # seconds that an OpenAI SDK waits for the answer
STAINLESS_MARGIN = 5.0
SILENT_SECONDS = 280.0  # the shortest default of a client that gives up on silence is 294
DEFAULT_RESERVE = 4_096  # for a chat that does not limit its answer
RESERVE_PART = 4  # of a small window that is at most one part in this many

_ADDRESS = re.compile(rf"[0-9a-fA-F]{{{2 * DIGEST_BYTES}}}")


def address(value: object, name: str) -> bytes:
    """Return the bytes of an address in the form of `memory.address`."""
    if isinstance(value, str) and _ADDRESS.fullmatch(value):
        return bytes.fromhex(value)
    raise BadRequest(f"{name} must be a string of {2 * DIGEST_BYTES} hex digits", param=name)


def expiration_days(posted: int | None, headers: Mapping[str, str], default: int) -> int:
    """Return for how many days memory is kept. The header takes precedence over the body, the body
    over the default."""
    for name in EXPIRATION_HEADERS:
        if name in headers:
            days: int = header(Days, headers, name)
            return days
    return posted or max(1, min(MAX_DAYS, default))


def mode(posted: str | None, headers: Mapping[str, str], default: str) -> str:
    """Return the mode. The header takes precedence over the body, the body over the default."""
    if MODE_HEADER in headers:
        said: str = header(Mode, headers, MODE_HEADER)
        return said
    return posted or default


def keep(posted: KeepFields, headers: Mapping[str, str], settings: Settings) -> KeepOptions:
    """Read the passages to keep in each memory message: for each field the header, else the body,
    else the setting."""
    setting = KeepOptions(settings.keep_patterns, settings.protected_tools)
    said = own_value(headers, KEEP_HEADER) if KEEP_HEADER in headers else ""
    try:
        named = decode(KeepFields, said.encode()) if said else _UNSAID
    except BadRequest as error:
        raise BadRequest(f"{KEEP_HEADER}: {error.message}", param=KEEP_HEADER) from None

    def texts(name: str, otherwise: tuple[str, ...]) -> tuple[str, ...]:
        in_header, in_body = getattr(named, name), getattr(posted, name)
        if in_header is not None:
            return kept_texts(in_header, f"{KEEP_HEADER}: {name}")
        return otherwise if in_body is None else kept_texts(in_body, name)

    return KeepOptions(texts(PATTERNS, setting.patterns), texts(TOOLS, setting.tools))


def window(body: Body, options: ChatOptions, settings: Settings) -> int:
    """Return the posted limit, else the known window of the model."""
    return options.window or model_tables.window_of(model(body), settings.window)


def prices_of(body: Body, settings: Settings) -> Prices:
    """Return the prices of cached input at the provider of the posted model, as far as they are
    known."""
    return model_tables.prices_of(model(body), settings.prices, local=is_local(settings.upstream))


def vendors_prices(prices: Prices, body: Body) -> Prices:
    """Return the prices when the vendor's own API is used, as far as they are known for the posted
    model."""
    return replace(prices, minimum=model_tables.shortest_cached(model(body)))


def input_price(body: Body, settings: Settings) -> float | None:
    """Return the price in money of a million uncached input tokens of the posted model, None if it
    is not configured. Raises `BadRequest` if the field cannot be read."""
    return model_tables.input_price_of(model(body), settings.input_prices)


def chat_output(body: Body, names: Sequence[str] = OUTPUT_FIELDS) -> int | None:
    """Return the posted limit of a chat's answer in tokens, from these fields. None without one, or
    for a wrong type, which the upstream judges."""
    for name in names:
        value = body.value(name)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return min(value, MAX_WINDOW)
    return None


def answer_reserve(output: int | None, window: int) -> int:
    """Return the tokens of a window to keep free for a chat's answer. `output`: its posted limit.
    Some clients request the model's maximum: then the upstream decides what it can give."""
    most, part = reserve_limits(output)
    return min(most, window // part)


def reserve_limits(output: int | None) -> tuple[int, int]:
    """Return the most tokens to keep free for an answer, and into how many parts of the window at
    most one is kept."""
    return (DEFAULT_RESERVE, RESERVE_PART) if output is None else (output, 2)


def chat_folds_at(model: str, settings: Settings) -> int:
    """Estimate the tokens at which a usual chat with this model, without system messages and tools,
    is folded for the first time; rounded to thousands."""
    limit = model_tables.window_of(model, settings.window)
    target, reserve = min(settings.target_tokens, limit), answer_reserve(None, limit)
    limits = TokenLimits.of(target=target, hard=False, window=limit, reserve=reserve)
    prices = model_tables.prices_of(model, settings.prices, local=is_local(settings.upstream))
    begins = first_fold.in_a_usual_chat(limits, prices, settings.mode or CHAT_MODE)
    return round(begins / 1_000) * 1_000


def context_ask(
    tenant: str,
    body: Body,
    headers: Mapping[str, str],
    settings: Settings,
    messages: Sequence[Message] | None = None,
    output_fields: Sequence[str] = OUTPUT_FIELDS,
    options: ContextOptions | None = None,
) -> CompressRequest:
    """Build the request to memory for `/context_memory`. `messages`: as the body's dialect reads
    them, None for a chat. Raises `BadRequest` that names the field."""
    if messages is None:
        messages = body.messages(settings.max_messages)
    options = options or context_options(body)
    if (tools := body.fragment("tools")) and tools != b"null" and tools[:1] != b"[":
        raise BadRequest("tools must be an array", param="tools")
    limit = window(body, options, settings)
    # Without one the limit is the caller's own.
    output = next((size for name in output_fields if (size := getattr(options, name))), 0)
    return CompressRequest(
        tenant=tenant,
        messages=messages,
        target=min(options.target_tokens or settings.target_tokens, limit),
        hard=options.target_tokens is not None,
        window=limit,
        reserve=min(output, limit - MIN_TARGET),
        tools_tokens=tools_tokens(body),
        query=options.query,
        mode=mode(options.mode, headers, settings.mode or CONTEXT_MODE),
        prices=prices_of(body, settings),
        expiration_days=expiration_days(options.expiration_days, headers, settings.expiration_days),
        patience=patience(headers, settings, silent=True),
        alternate=settings.alternate,
        keep_first=settings.keep_first_message,
        markers=markers(body),
        client=client_of(headers),
        keep=keep(options, headers, settings),
    )


def chat_ask(
    tenant: str,
    body: Body,
    headers: Mapping[str, str],
    settings: Settings,
    days: int | None,
    output_fields: Sequence[str] = OUTPUT_FIELDS,
    options: ChatOptions | None = None,
) -> CompressRequest:
    """Build the request to memory for a chat route, without the dialect's parts (messages, tools,
    cache markers): an unreadable history is not an error there. `days`: from the model's suffix."""
    options = options or chat_options(body)
    limit = window(body, options, settings)
    return CompressRequest(
        tenant=tenant,
        messages=(),
        target=min(options.target_tokens or settings.target_tokens, limit),
        hard=False,
        window=limit,
        reserve=answer_reserve(chat_output(body, output_fields), limit),
        query=options.query,
        mode=mode(options.mode, headers, settings.mode or CHAT_MODE),
        prices=prices_of(body, settings),
        expiration_days=expiration_days(
            options.expiration_days, headers, settings.expiration_days if days is None else days
        ),
        alternate=settings.alternate,
        keep_first=settings.keep_first_message,
        client=client_of(headers),
        keep=keep(options, headers, settings),
    )


def model(body: Body) -> str:
    """Return the posted model's name, "" if the field is absent or has another type, which the
    upstream judges."""
    named = body.value("model")
    return named if isinstance(named, str) else ""


def patience(headers: Mapping[str, str], settings: Settings, *, silent: bool) -> float:
    """Return how many seconds a request may wait. `silent`: the client sees nothing before the
    answer, so it might give up."""
    longest = float(settings.wait_seconds)
    if not silent:
        return longest
    try:
        given = float(headers.get(STAINLESS, ""))
    except ValueError:
        given = 0.0
    # `not >` would also be true of nan
    allowed = given - STAINLESS_MARGIN if given > STAINLESS_MARGIN else SILENT_SECONDS
    return max(1.0, min(longest, SILENT_SECONDS, allowed))
