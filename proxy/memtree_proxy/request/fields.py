"""Read the fields of API section 1 strictly: a wrong type is a 400, a number out of range is
clamped, null means absent.

`context_ask` and `chat_ask` make the `CompressRequest` for memory. They differ in two rules: on
`/context_memory` a posted target is hard, and only requested output is reserved; on the chat routes
targets are soft, and 4,096 tokens are reserved if a request does not limit its output.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import msgspec

from memtree.budget.prices import Prices
from memtree.config import MODES, Settings
from memtree.context.context_memory import CompressRequest
from memtree.conversation.address_chain import DIGEST_BYTES
from memtree.conversation.keep_options import PATTERNS, TOOLS, KeepOptions, kept_texts
from memtree.conversation.message import Message
from memtree.dialects.fragment_counts import markers, tools_tokens
from memtree.dialects.posted_history import OUTPUT_FIELDS
from memtree.errors import BadRequest
from memtree.wire.json_body import Body
from memtree_proxy.http.headers import EXPIRATION_HEADERS, KEEP_HEADER, MODE_HEADER
from memtree_proxy.request import context_windows, price_table
from memtree_proxy.request.clients import client_of
from memtree_proxy.request.local_upstream import is_local
from memtree_proxy.request.wait_timeout import patience

# Defaults without a field or setting: a caller of /context_memory wants memory, a chat through the
# proxy wants it if it costs no more than sending everything.
CONTEXT_MODE, CHAT_MODE = "stable", "auto"
MIN_WINDOW, MAX_WINDOW = 10_000, 1_000_000_000  # API section 1: values under 10,000 are raised
MIN_TARGET = 1_000
MAX_DAYS = 365
DEFAULT_RESERVE = 4_096  # for a chat that does not limit its answer

_ADDRESS = re.compile(rf"[0-9a-fA-F]{{{2 * DIGEST_BYTES}}}")
_INTEGER = re.compile(r"\s*+([+-]?)([0-9]++)\s*+", re.ASCII)
NUMBER_PATTERN = r"[+-]?[0-9]{1,40}(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,4})?"
_NUMBER = re.compile(NUMBER_PATTERN)
_SWITCH = {"true": True, "1": True, "false": False, "0": False}


def integer(value: object, name: str, low: int, high: int) -> int | None:
    """Return an int, also from a numeric string, clamped to [low, high]. Raises `BadRequest` that
    names the field."""
    if value is None:
        return None
    if isinstance(value, str) and (match := _INTEGER.fullmatch(value)):
        sign, digits = match[1], match[2].lstrip("0") or "0"
        if len(digits) > 18:  # beyond any limit here, and Python refuses 4,300 digits
            return low if sign == "-" else high
        value = int(sign + digits)
    if isinstance(value, float) and value.is_integer():  # 2e4 is an integer in JSON
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise BadRequest(f"{name} must be an integer", param=name)
    return max(low, min(high, value))


def number(value: object, name: str, low: float, high: float) -> float | None:
    """Return a number, also from a numeric string, clamped to [low, high]. Raises `BadRequest` that
    names the field."""
    if value is None:
        return None
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadRequest(f"{name} must be a number", param=name)
    return float(max(low, min(high, value)))


def boolean(value: object, name: str) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    raise BadRequest(f"{name} must be a boolean", param=name)


def switch(query: Mapping[str, str], name: str) -> bool | None:
    """Read a boolean from a query; None if it is absent."""
    value = query.get(name)
    if value is None:
        return None
    if value.lower() not in _SWITCH:
        raise BadRequest(f"{name} must be true or false", param=name)
    return _SWITCH[value.lower()]


def text(value: object, name: str) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise BadRequest(f"{name} must be a string", param=name)


def choice(value: object, name: str, among: Sequence[str]) -> str | None:
    if value is None or (isinstance(value, str) and value in among):
        return value
    raise BadRequest(f"{name} must be one of {', '.join(among)}", param=name)


def address(value: object, name: str) -> bytes:
    """Return the bytes of an address in the form of `memory.address`."""
    if isinstance(value, str) and _ADDRESS.fullmatch(value):
        return bytes.fromhex(value)
    raise BadRequest(f"{name} must be a string of {2 * DIGEST_BYTES} hex digits", param=name)


def check_array(body: Body, name: str) -> None:
    """Raise `BadRequest` unless the field is an array or absent; nothing is decoded."""
    if (fragment := body.fragment(name)) and fragment != b"null" and fragment[:1] != b"[":
        raise BadRequest(f"{name} must be an array", param=name)


def expiration_days(body: Body, headers: Mapping[str, str], default: int) -> int:
    """Return for how many days memory is kept. The header takes precedence over the body, the body
    over the default."""
    posted = integer(body.value("expiration_days"), "expiration_days", 1, MAX_DAYS)
    for name in EXPIRATION_HEADERS:
        if (days := integer(headers.get(name), name, 1, MAX_DAYS)) is not None:
            return days
    return posted or max(1, min(MAX_DAYS, default))


def mode(body: Body, headers: Mapping[str, str], default: str) -> str:
    """Return the mode. The header takes precedence over the body, the body over the default."""
    posted = choice(body.value("mode"), "mode", MODES)
    return choice(headers.get(MODE_HEADER), MODE_HEADER, MODES) or posted or default


def keep(body: Body, headers: Mapping[str, str], settings: Settings) -> KeepOptions:
    """Read the passages to keep in each memory message: for each field the header, else the body,
    else the setting."""
    setting = KeepOptions(settings.keep_patterns, settings.protected_tools)
    header = headers.get(KEEP_HEADER)
    if header is None and PATTERNS not in body.spans and TOOLS not in body.spans:
        return setting  # the usual case
    named = _kept_by(header or "")

    def texts(name: str, otherwise: tuple[str, ...]) -> tuple[str, ...]:
        if named.get(name) is not None:
            return kept_texts(named[name], f"{KEEP_HEADER}: {name}")
        posted = body.value(name)
        return otherwise if posted is None else kept_texts(posted, name)

    return KeepOptions(texts(PATTERNS, setting.patterns), texts(TOOLS, setting.tools))


def _kept_by(header: str) -> Mapping[str, object]:
    """Parse the fields in the header, a JSON object."""
    if not (given := header.strip()):
        return {}
    try:
        said = msgspec.json.decode(given, type=dict[str, object])
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadRequest(f"{KEEP_HEADER} must be a JSON object", param=KEEP_HEADER) from error
    if unknown := said.keys() - {PATTERNS, TOOLS}:
        name = sorted(unknown)[0][:64]
        raise BadRequest(f"{KEEP_HEADER} has no field {name!r}", param=KEEP_HEADER)
    return said


def window(body: Body, settings: Settings) -> int:
    """Return the posted limit, else the known window of the model. Only a posted one has a
    minimum."""
    posted = integer(
        body.value("model_context_limit"), "model_context_limit", MIN_WINDOW, MAX_WINDOW
    )
    return posted or context_windows.of(model(body), settings.window)


def prices_of(body: Body, settings: Settings) -> Prices:
    """Return the prices of cached input at the provider of the posted model, as far as they are
    known."""
    return price_table.of(model(body), settings.prices, local=is_local(settings.upstream))


def vendors_prices(prices: Prices, body: Body) -> Prices:
    """Return the prices when the vendor's own API is used, as far as they are known for the posted
    model."""
    return replace(prices, minimum=price_table.shortest_cached(model(body)))


def input_price(body: Body, settings: Settings) -> float | None:
    """Return the price in money of a million uncached input tokens of the posted model, None if it
    is not configured. Raises `BadRequest` if the field cannot be read."""
    return price_table.input_price_of(model(body), settings.input_prices)


def wanted_output(body: Body, names: Sequence[str] = OUTPUT_FIELDS) -> int:
    """Return the tokens that a caller of `/context_memory` reserves for the answer; 0 if none are
    given: the limit is then the caller's own. Raises `BadRequest` that names the field."""
    posted = [integer(body.value(name), name, 0, MAX_WINDOW) for name in names]
    return next((tokens for tokens in posted if tokens), 0)


def chat_output(body: Body, names: Sequence[str] = OUTPUT_FIELDS) -> int:
    """Return the tokens to reserve for the answer of a chat, from these fields. A wrong type is
    left for the upstream to judge."""
    for name in names:
        value = body.value(name)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return min(value, MAX_WINDOW)
    return DEFAULT_RESERVE


def context_ask(
    tenant: str,
    body: Body,
    headers: Mapping[str, str],
    settings: Settings,
    messages: Sequence[Message] | None = None,
    output_fields: Sequence[str] = OUTPUT_FIELDS,
) -> CompressRequest:
    """Build the request to memory for `/context_memory`. `messages`: as the body's dialect reads
    them, None for a chat. Raises `BadRequest` that names the field."""
    if messages is None:
        messages = body.messages(settings.max_messages)
    text(body.value("model"), "model")
    check_array(body, "tools")
    limit = window(body, settings)
    target = integer(body.value("target_tokens"), "target_tokens", MIN_TARGET, limit)
    return CompressRequest(
        tenant=tenant,
        messages=messages,
        target=target or min(settings.target_tokens, limit),
        hard=target is not None,
        window=limit,
        reserve=min(wanted_output(body, output_fields), limit - MIN_TARGET),
        tools_tokens=tools_tokens(body),
        query=text(body.value("query"), "query"),
        mode=mode(body, headers, settings.mode or CONTEXT_MODE),
        prices=prices_of(body, settings),
        expiration_days=expiration_days(body, headers, settings.expiration_days),
        patience=patience(headers, settings, silent=True),
        alternate=settings.alternate,
        keep_first=settings.keep_first_message,
        markers=markers(body),
        client=client_of(headers),
        keep=keep(body, headers, settings),
    )


def chat_ask(
    tenant: str,
    body: Body,
    headers: Mapping[str, str],
    settings: Settings,
    days: int | None,
    output_fields: Sequence[str] = OUTPUT_FIELDS,
) -> CompressRequest:
    """Build the request to memory for a chat route, without the dialect's parts (messages, tools,
    cache markers): an unreadable history is not an error there. `days`: from the model's suffix."""
    limit = window(body, settings)
    target = integer(body.value("target_tokens"), "target_tokens", MIN_TARGET, limit)
    return CompressRequest(
        tenant=tenant,
        messages=(),
        target=target or min(settings.target_tokens, limit),
        hard=False,
        window=limit,
        # Some clients request the model's maximum: then the upstream decides what it can give.
        reserve=min(chat_output(body, output_fields), limit // 2),
        query=text(body.value("query"), "query"),
        mode=mode(body, headers, settings.mode or CHAT_MODE),
        prices=prices_of(body, settings),
        expiration_days=expiration_days(
            body, headers, settings.expiration_days if days is None else days
        ),
        alternate=settings.alternate,
        keep_first=settings.keep_first_message,
        client=client_of(headers),
        keep=keep(body, headers, settings),
    )


def model(body: Body) -> str:
    """Return the posted model's name, "" if the field is absent or has another type, which the
    upstream judges."""
    named = body.value("model")
    return named if isinstance(named, str) else ""
