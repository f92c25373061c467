"""Prices of cached input, relative to uncached input, and lifetimes of caches, by model.

From the vendors' price and caching pages as of 22 November 2026, at their standard tier and up to
their first size step; for gemini-4, minimax-m3, kimi-k3.1 and qwen4-max from gateways that sell at
list price, for minimax-m2, the turbo of kimi-k2, glm-5 and grok-code-fast from the catalogue inside
the `litellm` package (1.83). Ratios stay valid during promotions, which reduce all prices alike.

A model is listed only where its prices were found; the setting `prices` wins over the table. Any
other model is `LOCAL` at a local upstream, else `UNKNOWN`. The name takes precedence over the
location: a gateway on localhost sells the models that its names say.

Lifetimes count from the last use. Where a vendor names none or a range, the longest is listed,
because a cache assumed to be alive is never discarded.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from memtree.budget.prices import LOCAL, UNKNOWN, Prices
from memtree.setting_values import OTHERS, input_price, price
from memtree_proxy.chat.model_names import bare, beginning, by_model

_MINUTES_5, _HOUR = 300.0, 3_600.0

_CLAUDE_FABLE_5_1 = Prices(1.25, 0.025, _MINUTES_5)  # also 5.2, and Mythos of the same number
_HALF = Prices(1.0, 0.50, _HOUR)
_QUARTER = Prices(1.0, 0.25, _HOUR)
_FIFTH = Prices(1.0, 0.20, _HOUR)
_TENTH = Prices(1.0, 0.10, _HOUR)
_TWENTIETH = Prices(1.0, 0.05, _HOUR)
_GLM = Prices(1.0, 0.19, _HOUR)
_GROK = Prices(1.0, 0.16, _HOUR)

PRICES = by_model(
    # Anthropic: writes for five minutes, which is what a marker without `ttl` asks for; for an hour
    # they cost 2 (`Prices.for_an_hour`)
    (Prices(1.25, 0.10, _MINUTES_5), "claude"),
    (
        Prices(1.25, 0.05, _MINUTES_5),
        "claude-opus-5-5 claude-opus-5.5 claude-sonnet-5-5 claude-sonnet-5.5",
    ),
    (_CLAUDE_FABLE_5_1, "claude-fable-5-1 claude-fable-5.1 claude-fable-5-2 claude-fable-5.2"),
    (_CLAUDE_FABLE_5_1, "claude-mythos-5-1 claude-mythos-5.1 claude-mythos-5-2 claude-mythos-5.2"),
    # OpenAI: 5 to 60 minutes; it caches from gpt-4o on
    (Prices(1.0, 1.0, _HOUR), "gpt-3.5-turbo gpt-4"),
    (_HALF, "gpt-4o o1 o1-mini o1-preview o3-mini"),
    (_QUARTER, "gpt-4.1 codex-mini o3 o4-mini"),
    (_TENTH, "gpt-5 gpt-5.1 gpt-5.2 gpt-5.3 gpt-5.4 gpt-5.5"),
    # since gpt-5.6 OpenAI charges for cache writes
    (Prices(1.25, 0.10, _HOUR), "gpt-5.6 gpt-6"),
    (Prices(1.25, 0.05, _HOUR), "gpt-6.1"),
    # Google: implicit caching, "90% discount" from 2.5 on, 95 % from 4 on
    (_TENTH, "gemini-2.5 gemini-3 gemini-3.1 gemini-3.5 gemini-3.6 gemini-3.7 gemini-3.8"),
    (_TENTH, "gemini-flash-latest gemini-flash-lite-latest gemini-pro-latest"),
    (_TWENTIETH, "gemini-4"),
    # xAI
    (_QUARTER, "grok-3 grok-3-mini grok-4 grok-4.1-fast grok-4.5 grok-4.6 grok-4.7"),
    (_GROK, "grok-4.20 grok-4.3"),
    (_TENTH, "grok-code-fast"),
    # DeepSeek: prices depend on the time of day, the ratio does not; the first two are the newest
    # flash
    (Prices(1.0, 0.02, _HOUR), "deepseek-chat deepseek-reasoner deepseek-flash deepseek-v4-flash"),
    (Prices(1.0, 0.033, _HOUR), "deepseek-v4-pro"),
    # Moonshot
    (_QUARTER, "kimi-k2"),
    (Prices(1.0, 0.13, _HOUR), "kimi-k2-turbo kimi-k2-thinking-turbo"),
    (Prices(1.0, 0.17, _HOUR), "kimi-k2.5 kimi-k2.6"),
    (_FIFTH, "kimi-k2.7-code"),
    (_TENTH, "kimi-k3 kimi-k3.1"),
    (_TWENTIETH, "kimi-k3.1-pro-highspeed"),
    # Alibaba Cloud: implicit cache (the explicit one, requested by markers, is at 1.25/0.10/300)
    (_FIFTH, "qwen-max qwen-plus qwen-turbo qwen3-max qwen3-coder-plus"),
    (_TWENTIETH, "qwen4-max"),
    # Z.ai
    (_GLM, "glm-4.5 glm-4.6 glm-4.7 glm-5.2 glm-5.3"),
    (_FIFTH, "glm-5"),
    # MiniMax
    (Prices(1.25, 0.10, _HOUR), "minimax-m2 minimax-m2.1 minimax-m2.5"),
    (_FIFTH, "minimax-m3"),
    (_TENTH, "minimax-m3.1"),
    # Mistral: for requests with a `prompt_cache_key`
    (_TENTH, "mistral-large mistral-medium codestral"),
)

# Tokens that a prompt must have to be cached, when the vendor's own API is used (`/messages`,
# `/responses`); chat endpoints have rules of their own.
SHORTEST_CACHED = by_model(
    (1_024, "claude gpt-4o gpt-4.1 o1 o3 o4-mini codex-mini gpt-5 gpt-5.1 gpt-5.2 gpt-5.3 gpt-5.4"),
    (1_024, "gpt-5.5 gpt-5.6 gpt-6 gpt-6.1"),
    (4_096, "claude-haiku-4-5 claude-haiku-4.5 claude-opus-4-5 claude-opus-4.5 claude-opus-4-6"),
    (4_096, "claude-opus-4.6"),
    (2_048, "claude-opus-4-7 claude-opus-4.7"),
    (512, "claude-opus-5 claude-opus-5.5 claude-sonnet-5-5 claude-sonnet-5.5 claude-haiku-5-5"),
    (512, "claude-haiku-5.5 claude-fable claude-mythos"),
)


@lru_cache(maxsize=256)
def shortest_cached(model: str) -> int:
    """Return the tokens that a prompt of this model must have to be cached; 0 if unknown."""
    return SHORTEST_CACHED.get(beginning(model, SHORTEST_CACHED) or "", 0)


@lru_cache(maxsize=256)
def of(model: str, setting: tuple[str, ...] = (), *, local: bool = False) -> Prices:
    """Return the prices of a model: from the setting, else from the table, else from the setting's
    `*`, else those of an unknown model, which depend on its location. `setting`: entries as
    `memtree.config.price` reads them. `local`: the upstream is local.
    """
    return known(model, setting) or _others(setting) or (LOCAL if local else UNKNOWN)


def known(model: str, setting: tuple[str, ...] = ()) -> Prices | None:
    """Return the prices; None for a model that neither the setting nor the table names."""
    own = {bare(name): prices for name, prices in map(price, setting)}
    if name := beginning(model, own):
        return own[name]
    if name := beginning(model, PRICES):
        return PRICES[name]
    return None


@lru_cache(maxsize=256)
def input_price_of(model: str, setting: tuple[str, ...]) -> float | None:
    """Return the price of a million uncached input tokens of a model in money, None if the setting
    (entries as `memtree.setting_values.input_price` reads them) does not name it. There is
    no built-in table: list prices change from month to month, and few pay them."""
    named = {bare(name): cost for name, cost in map(input_price, setting)}
    name = beginning(model, named)
    return named[name] if name else None


def by_subscription(headers: Mapping[str, str]) -> bool:
    """Return True if a request uses the login of a subscription (Anthropic's, or Codex with a
    ChatGPT account): its tokens are not paid for individually."""
    scheme, _, value = headers.get("authorization", "").partition(" ")
    bearer = scheme.lower() == "bearer" and value.strip().startswith("sk-ant-oat")
    return bearer or "chatgpt-account-id" in headers


def _others(setting: tuple[str, ...]) -> Prices | None:
    return dict(map(price, setting)).get(OTHERS)
