"""Values of settings with a special form: prices, windows, addresses. Parses an entry, reports its
errors, and shows it without its password.

Below stand the checks of whole settings, some of which depend on each other: upstreams, remote
models, traces. Each raises `BadRequest` that names the setting, and never shows the content of a
URL or a key.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import fields
from difflib import get_close_matches
from ipaddress import ip_network
from typing import Any
from urllib.parse import urlsplit

from memtree.budget.prices import UNKNOWN, Prices
from memtree.errors import BadRequest

OTHERS = "*"  # in `prices` and `window`: every model that no other entry names
MAX_PRICE = 100.0  # times the price of uncached input; more is a typing error
MAX_INPUT_PRICE = 1_000_000.0  # of a million tokens, in any currency
LEAST_WINDOW, LARGEST_WINDOW = 1_000, 1_000_000_000  # tokens that an entry of `window` may give
_METHOD, _PATH = (
    re.compile(r"[A-Z]+|\*"),
    re.compile(r"(?:/(?:[\w@~-][\w.:@~-]*|\{id\}))*(?:/\*)?", re.ASCII),
)
_SEGMENT = r"[\w@~+-][\w.:@~+-]*+"  # path segment that no server interprets as another path
# Routes at the end of a base URL. `/models` alone may be a part of one, as in Azure's.
_ROUTE = re.compile(
    r"(?:/++(?:chat/++completions|chat_completions|completions|embeddings|responses)"
    r"|/++messages(?:/++count_tokens)?|(?<=/v[0-9])/++(?:models|chat))/*+\Z"
)
LONGEST_NAME = 60  # characters of a misspelt name that are compared
# Routes that generate, count or list models, and those of a tenant's own stored answers.
PASSTHROUGH_ROUTES = (
    *(
        f"POST /{path}"
        for path in """
        chat/completions completions embeddings responses responses/compact responses/input_tokens
        messages messages/count_tokens audio/speech audio/transcriptions audio/translations
        images/generations images/edits images/variations moderations rerank
        """.split()
    ),
    *("GET /models", "GET /models/*", "GET /hello"),  # the last one: a probe of Claude Code
    *(
        f"{method} /{path}"
        for path, methods in {
            "responses/{id}": ("GET", "DELETE"),
            "responses/{id}/cancel": ("POST",),
            "responses/{id}/input_items": ("GET",),
            "chat/completions/{id}": ("GET", "POST", "DELETE"),
            "chat/completions/{id}/messages": ("GET",),
            "containers/{id}/files/{id}/content": ("GET",),
            "files/{id}": ("GET", "DELETE"),
            "files/{id}/content": ("GET",),
        }.items()
        for method in methods
    ),
)
INPROCESS = "inprocess"  # a queue without further processes
# By the type of a setting: the parser of its text, and the other accepted values.
READERS: dict[str, Callable[[str], Any]] = {
    "int": int,
    "float": float,
    "bool": lambda text: {"1": True, "true": True, "on": True, "yes": True,
                          "0": False, "false": False, "off": False, "no": False}[text.lower()],
    "str": str,
    "str | None": lambda text: None if text.lower() in ("", "none") else text,
    "tuple[str, ...]": lambda text: tuple(part.strip() for part in text.split(",") if part.strip()),
}  # fmt: skip
TYPES: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (float, int),
    "bool": (bool,),
    "str": (str,),
    "str | None": (str, type(None)),
    "tuple[str, ...]": (tuple,),
}


def price(entry: str) -> tuple[str, Prices]:
    """Parse one entry of `prices`: the model's name as given, and its prices.

    Raises `BadRequest` naming the setting for anything but `NAME=WRITE/READ[/SECONDS]`, both prices
    above 0 (free reads: write 0.01) and up to `MAX_PRICE`, and a lifetime above 0 seconds.

    >>> price("gpt-5=1/0.1")[1].read
    0.1
    """
    name, _, numbers = entry.rpartition("=")
    try:
        write, read, *rest = (float(part) for part in numbers.split("/"))
        (lifetime,) = rest or (UNKNOWN.lifetime,)
    except ValueError:
        write = read = lifetime = math.nan
    name = name.strip()
    if not (name and 0 < write <= MAX_PRICE and 0 < read <= MAX_PRICE and 0 < lifetime < math.inf):
        raise BadRequest(
            f"prices: {entry!r} is not NAME=WRITE/READ or NAME=WRITE/READ/SECONDS with prices "
            f"above 0 and up to {MAX_PRICE:.0f}, as in gpt-5=1/0.1/3600",
            param="prices",
        )
    return name, Prices(write, read, lifetime)


def input_price(entry: str) -> tuple[str, float]:
    """Parse one entry of `input_prices`: the model's name as given, and what a million tokens of
    its uncached input cost. Raises `BadRequest` naming the setting for anything but `NAME=PRICE`,
    from 0 to `MAX_INPUT_PRICE`. `OTHERS` is not accepted: no price is assumed for unnamed models.

    >>> input_price("gpt-5=1.25")
    ('gpt-5', 1.25)
    """
    name, _, number = entry.rpartition("=")
    name = name.strip()
    try:
        cost = float(number)
    except ValueError:
        cost = math.nan
    if name == OTHERS:
        raise BadRequest(
            f"input_prices: {entry!r} names no model; savings are shown in money for models that "
            "are named, as in gpt-5=1.25",
            param="input_prices",
        )
    if not (name and 0 <= cost <= MAX_INPUT_PRICE):
        raise BadRequest(
            f"input_prices: {entry!r} is not NAME=PRICE with a price from 0 to "
            f"{MAX_INPUT_PRICE:.0f}, as in gpt-5=1.25",
            param="input_prices",
        )
    return name, cost


def window(entry: str) -> tuple[str, int]:
    """Parse one entry of `window`: the model's name as given, and the tokens that its prompt and
    answer may have together. Raises `BadRequest` naming the setting for anything but `NAME=TOKENS`.

    >>> window("llama3.2=32768")
    ('llama3.2', 32768)
    """
    name, _, number = entry.rpartition("=")
    name = name.strip()
    tokens = int(number) if number.strip().isdecimal() and len(number) < 20 else 0
    if not (name and LEAST_WINDOW <= tokens <= LARGEST_WINDOW):
        raise BadRequest(
            f"window: {entry!r} is not NAME=TOKENS with {LEAST_WINDOW} to {LARGEST_WINDOW} tokens, "
            "as in llama3.2=32768 or *=32768",
            param="window",
        )
    return name, tokens


def passthrough_route(entry: str) -> re.Pattern[str]:
    """Parse one entry of `passthrough_routes` into a pattern of `METHOD /path`, with the path
    decoded. Its groups are the ids in a request's path. Raises `BadRequest` naming the setting for
    anything but `METHOD /path`.

    >>> bool(passthrough_route("GET /models/*").fullmatch("GET /models/org/model"))
    True
    >>> passthrough_route("DELETE /files/{id}").fullmatch("DELETE /files/file-1").groups()
    ('file-1',)
    """
    method, _, path = entry.strip().partition(" ")
    path = path.strip()
    if not (path and _METHOD.fullmatch(method) and _PATH.fullmatch(path)):
        raise BadRequest(
            f"passthrough_routes: {entry!r} is not METHOD /path, as in POST /embeddings, "
            "GET /files/{id} or GET /models/*",
            param="passthrough_routes",
        )
    method_pattern = "[A-Z]++" if method == OTHERS else method.replace("GET", "(?:GET|HEAD)")
    head, rest = (path[:-2], f"(?:/{_SEGMENT})++") if path.endswith("/*") else (path, "")
    fixed = re.escape(head).replace(re.escape("{id}"), f"({_SEGMENT})")
    return re.compile(f"{method_pattern} {fixed}{rest}", re.ASCII)


def base_url(url: str) -> str:
    """Return the base URL of an API that may have been given with a route of it at the end.

    >>> base_url("https://llm.example.com/v1/chat/completions/")
    'https://llm.example.com/v1'
    """
    return _ROUTE.sub("", url)


def is_plain_url(url: str) -> bool:
    """Return True for a URL without user, query or fragment."""
    try:
        parts = urlsplit(url)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return sound and parts.username is None and not parts.query and not parts.fragment


def check_queue(url: str) -> None:
    """Check the setting `queue`. The error does not show the value: it may contain a password."""
    if url == INPROCESS:
        return
    try:
        parts = urlsplit(url)
        place = parts.path if parts.scheme == "unix" else parts.hostname
        sound = parts.scheme in ("redis", "rediss", "unix") and bool(place) and parts.port != 0
    except ValueError:
        sound = False
    if not sound:
        raise BadRequest(
            "queue must be inprocess, or a URL beginning with redis://, rediss:// or unix://",
            param="queue",
        )


def without_password(url: str) -> str:
    """Return a URL as messages may show it.

    >>> without_password("redis://:secret@10.0.0.7:6379/0")
    'redis://***@10.0.0.7:6379/0'
    >>> without_password("inprocess")
    'inprocess'
    """
    head, mark, rest = url.partition("://")
    place, query, _ = rest.partition("?")
    if "@" in place:  # split at the last one: an unquoted password may contain more, and slashes
        place = "***@" + place.rpartition("@")[2]
    return f"{head}{mark}{place}{'?***' * bool(query)}"


def check_choice(name: str, value: Any, allowed: tuple[Any, ...]) -> None:
    if value not in allowed:
        known = ", ".join(str(choice) for choice in allowed)
        raise BadRequest(f"{name} must be one of {known}, not {value!r}", param=name)


def nearest(name: str, names: Collection[str]) -> str:
    """Return the most similar name, for a misspelt one; "" if none is similar."""
    near = get_close_matches(name[:LONGEST_NAME], sorted(names), n=1, cutoff=0.8)
    return near[0] if near else ""


# ---------------------------------------------------------------- whole settings

# `config.Settings`, without importing it: that file imports this one. A misspelt attribute fails as
# soon as any settings are created, since every check runs then.
Settings = Any

AUTO = "auto"
CHOICES: Mapping[str, tuple[Any, ...]] = {
    "embedder": ("auto", "local", "remote", "none"),
    "memories_placement": ("system", "user"),
    "memories_extraction": ("auto", "model", "rules", "off"),
    "memories_standing": ("on", "off"),
    "memories_users": ("on", "off"),
    "requests_log": ("on", "off"),
    "sessions": ("on", "off"),
    "memories_branches": ("same", "strict", "off"),
    "agent_secrets": ("refuse", "allow"),
    "overflow_status": (413, 400),
    "json_wait": ("silent", "spaces"),
    "log_level": ("debug", "info", "warning", "error"),
    "log_format": ("text", "json"),
}


MAY_BE_ZERO = frozenset(
    """
    port deleted_days memories_stale_days requests_per_minute import_seconds failed_keys_per_minute
    embedding_dimensions summary_requests_per_minute summary_tokens_per_minute
    summary_tokens_per_day
    """.split()
)
MAX_PORT = 65535
# Settings whose value is a list: each entry is checked by itself.
ENTRIES: Mapping[str, Callable[[str], object]] = {
    "prices": price,
    "input_prices": input_price,
    "window": window,
    "passthrough_routes": passthrough_route,
}


def check_entries(settings: Settings) -> None:
    for name, read in ENTRIES.items():
        for entry in getattr(settings, name):
            read(entry)


def check_numbers(settings: Settings) -> None:
    for setting in fields(settings):
        if setting.type != "int":
            continue
        name, value = setting.name, getattr(settings, setting.name)
        if not isinstance(value, int) or value < (0 if name in MAY_BE_ZERO else 1):
            raise BadRequest(f"{name} must be a positive number, not {value!r}", param=name)
    if settings.port > MAX_PORT:
        raise BadRequest(f"port must be at most {MAX_PORT}, not {settings.port}", param="port")


def check_choices(settings: Settings) -> None:
    for name, choices in CHOICES.items():
        check_choice(name, getattr(settings, name), choices)


def check_proxies(settings: Settings) -> None:
    for network in settings.trusted_proxies:
        try:
            ip_network(network)
        except ValueError as error:
            raise BadRequest(
                f"trusted_proxies: {network!r} is neither an address nor a network: {error}",
                param="trusted_proxies",
            ) from error


def check_upstreams(settings: Settings) -> None:
    for name, url in (
        ("upstream", settings.upstream),
        ("anthropic_upstream", settings.anthropic_upstream),
    ):
        if url is None or (name != "upstream" and url == AUTO):
            continue
        if url and not (url.startswith(("http://", "https://")) and url.isprintable()):
            raise BadRequest(
                f"{name} must be a URL beginning with http:// or https://, or none", param=name
            )
    _check_key("anthropic_upstream_api_key", settings.anthropic_upstream_api_key)


def check_embedding(settings: Settings) -> None:
    if not 0 <= settings.embedding_relevant < 1:
        raise BadRequest(
            f"embedding_relevant must be 0 or a cosine below 1, not {settings.embedding_relevant}",
            param="embedding_relevant",
        )
    if not 0 < settings.embedding_seconds < math.inf:
        raise BadRequest(
            f"embedding_seconds must be a positive number, not {settings.embedding_seconds}",
            param="embedding_seconds",
        )
    named = sum(1 for value in (settings.embedding_base_url, settings.embedding_model) if value)
    wanted = settings.embedder == "remote" or (settings.embedder == "auto" and named == 1)
    _check_endpoint(settings, "embedding", "the remote embedder", wanted)


def check_summaries(settings: Settings) -> None:
    check_choice("summary_text", settings.summary_text, ("model", "both"))
    if settings.memories_extraction == "model" and not settings.summary_model:
        raise BadRequest(
            "memories_extraction needs summary_base_url and summary_model for `model`",
            param="memories_extraction",
        )
    for name in ("money_per_day", "input_price", "cached_price", "output_price"):
        value = getattr(settings, f"summary_{name}")
        if not 0 <= value < math.inf:
            raise BadRequest(
                f"summary_{name} must be 0 or above, not {value}", param=f"summary_{name}"
            )
    if settings.summary_money_per_day and not (
        settings.summary_input_price or settings.summary_output_price
    ):
        raise BadRequest(
            "summary_money_per_day needs summary_input_price and summary_output_price",
            param="summary_money_per_day",
        )
    named = settings.summary_base_url or settings.summary_model
    _check_endpoint(settings, "summary", "a model for summaries", bool(named))


def check_traces(settings: Settings) -> None:
    if settings.otel_endpoint is not None and not is_plain_url(settings.otel_endpoint):
        raise BadRequest(
            "otel_endpoint must be a URL beginning with http:// or https://, without credentials "
            "(OTEL_EXPORTER_OTLP_HEADERS is for these), query and fragment",
            param="otel_endpoint",
        )
    if settings.otel_propagate and settings.otel_endpoint is None:
        raise BadRequest("otel_propagate needs otel_endpoint", param="otel_propagate")


def _check_endpoint(settings: Settings, kind: str, what: str, wanted: bool) -> None:
    """Check the settings that a remote model needs. Values are not shown: a URL may carry a
    password."""
    url, model, key = (
        getattr(settings, f"{kind}_{name}") for name in ("base_url", "model", "api_key")
    )
    if url is not None and not is_plain_url(url):
        raise BadRequest(
            f"{kind}_base_url must be a URL beginning with http:// or https://, without "
            f"credentials ({kind}_api_key is for these), query and fragment",
            param=f"{kind}_base_url",
        )
    given = {f"{kind}_base_url": url, f"{kind}_model": model}
    missing = [name for name, value in given.items() if not value]
    if wanted and missing:
        raise BadRequest(f"{what} needs {' and '.join(missing)}", param=missing[0])
    _check_key(f"{kind}_api_key", key)


def _check_key(name: str, key: str | None) -> None:
    if key is not None and not (key.isascii() and key.isprintable() and key == key.strip()):
        raise BadRequest(f"{name} contains characters that are not allowed in a header", param=name)


CHECKS: tuple[Callable[[Settings], None], ...] = (
    check_entries, check_choices, check_numbers,
    check_proxies, check_upstreams, check_embedding, check_summaries, check_traces,
)  # fmt: skip
