"""Checks of settings that depend on each other: upstreams, remote models, traces.

Each raises `BadRequest` that names the setting, and never shows the content of a URL or a key.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from ipaddress import ip_network
from typing import Any

from memtree.errors import BadRequest
from memtree.settings.setting_values import (
    check_choice,
    input_price,
    is_plain_url,
    passthrough_route,
    price,
    window,
)

# `config.Settings`, without importing it: that file imports this one. A misspelt attribute fails as
# soon as any settings are created, since every check runs then.
Settings = Any

AUTO = "auto"
CHOICES: Mapping[str, tuple[Any, ...]] = {
    "embedder": ("auto", "local", "remote", "none"),
    "memories_placement": ("system", "user"),
    "memories_extraction": ("auto", "model", "rules", "off"),
    "memories_standing": ("on", "off"),
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
