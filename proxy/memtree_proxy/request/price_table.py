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
from memtree.settings.setting_values import OTHERS, input_price, price
from memtree_proxy.request.model_names import bare, beginning

_MINUTES_5, _HOUR = 300.0, 3_600.0

_CLAUDE = Prices(1.25, 0.10, _MINUTES_5)
_CLAUDE_5_5 = Prices(1.25, 0.05, _MINUTES_5)
_CLAUDE_FABLE_5_1 = Prices(1.25, 0.025, _MINUTES_5)  # also 5.2, and Mythos of the same number
_UNCACHED = Prices(1.0, 1.0, _HOUR)  # OpenAI caches from gpt-4o on
_HALF = Prices(1.0, 0.50, _HOUR)
_QUARTER = Prices(1.0, 0.25, _HOUR)
_FIFTH = Prices(1.0, 0.20, _HOUR)
_TENTH = Prices(1.0, 0.10, _HOUR)
_TWENTIETH = Prices(1.0, 0.05, _HOUR)
_GPT_5_6 = Prices(1.25, 0.10, _HOUR)  # since gpt-5.6 OpenAI charges for cache writes
_GLM = Prices(1.0, 0.19, _HOUR)
_GROK = Prices(1.0, 0.16, _HOUR)
_DEEPSEEK_FLASH = Prices(1.0, 0.02, _HOUR)
_KIMI_TURBO = Prices(1.0, 0.13, _HOUR)
_MINIMAX_M2 = Prices(1.25, 0.10, _HOUR)

PRICES: Mapping[str, Prices] = {
    # Anthropic: writes for five minutes, which is what a marker without `ttl` asks for; for an hour
    # they cost 2 (`Prices.for_an_hour`)
    "claude": _CLAUDE,
    "claude-opus-5-5": _CLAUDE_5_5,
    "claude-opus-5.5": _CLAUDE_5_5,
    "claude-sonnet-5-5": _CLAUDE_5_5,
    "claude-sonnet-5.5": _CLAUDE_5_5,
    "claude-fable-5-1": _CLAUDE_FABLE_5_1,
    "claude-fable-5.1": _CLAUDE_FABLE_5_1,
    "claude-fable-5-2": _CLAUDE_FABLE_5_1,
    "claude-fable-5.2": _CLAUDE_FABLE_5_1,
    "claude-mythos-5-1": _CLAUDE_FABLE_5_1,
    "claude-mythos-5.1": _CLAUDE_FABLE_5_1,
    "claude-mythos-5-2": _CLAUDE_FABLE_5_1,
    "claude-mythos-5.2": _CLAUDE_FABLE_5_1,
    # OpenAI: 5 to 60 minutes
    "gpt-3.5-turbo": _UNCACHED,
    "gpt-4": _UNCACHED,
    "gpt-4o": _HALF,
    "gpt-4.1": _QUARTER,
    "codex-mini": _QUARTER,
    "o1": _HALF,
    "o1-mini": _HALF,
    "o1-preview": _HALF,
    "o3": _QUARTER,
    "o3-mini": _HALF,
    "o4-mini": _QUARTER,
    "gpt-5": _TENTH,
    "gpt-5.1": _TENTH,
    "gpt-5.2": _TENTH,
    "gpt-5.3": _TENTH,
    "gpt-5.4": _TENTH,
    "gpt-5.5": _TENTH,
    "gpt-5.6": _GPT_5_6,
    "gpt-6": _GPT_5_6,
    "gpt-6.1": Prices(1.25, 0.05, _HOUR),
    # Google: implicit caching, "90% discount" from 2.5 on, 95 % from 4 on
    "gemini-2.5": _TENTH,
    "gemini-3": _TENTH,
    "gemini-3.1": _TENTH,
    "gemini-3.5": _TENTH,
    "gemini-3.6": _TENTH,
    "gemini-3.7": _TENTH,
    "gemini-3.8": _TENTH,
    "gemini-4": _TWENTIETH,
    "gemini-flash-latest": _TENTH,
    "gemini-flash-lite-latest": _TENTH,
    "gemini-pro-latest": _TENTH,
    # xAI
    "grok-3": _QUARTER,
    "grok-3-mini": _QUARTER,
    "grok-4": _QUARTER,
    "grok-4.1-fast": _QUARTER,
    "grok-4.20": _GROK,
    "grok-4.3": _GROK,
    "grok-4.5": _QUARTER,
    "grok-4.6": _QUARTER,
    "grok-4.7": _QUARTER,
    "grok-code-fast": _TENTH,
    # DeepSeek: prices depend on the time of day, the ratio does not; the first two are the newest
    # flash
    "deepseek-chat": _DEEPSEEK_FLASH,
    "deepseek-reasoner": _DEEPSEEK_FLASH,
    "deepseek-flash": _DEEPSEEK_FLASH,
    "deepseek-v4-flash": _DEEPSEEK_FLASH,
    "deepseek-v4-pro": Prices(1.0, 0.033, _HOUR),
    # Moonshot
    "kimi-k2": _QUARTER,
    "kimi-k2-turbo": _KIMI_TURBO,
    "kimi-k2-thinking-turbo": _KIMI_TURBO,
    "kimi-k2.5": Prices(1.0, 0.17, _HOUR),
    "kimi-k2.6": Prices(1.0, 0.17, _HOUR),
    "kimi-k2.7-code": _FIFTH,
    "kimi-k3": _TENTH,
    "kimi-k3.1": _TENTH,
    "kimi-k3.1-pro-highspeed": _TWENTIETH,
    # Alibaba Cloud: implicit cache (the explicit one, requested by markers, is at 1.25/0.10/300)
    "qwen-max": _FIFTH,
    "qwen-plus": _FIFTH,
    "qwen-turbo": _FIFTH,
    "qwen3-max": _FIFTH,
    "qwen3-coder-plus": _FIFTH,
    "qwen4-max": _TWENTIETH,
    # Z.ai
    "glm-4.5": _GLM,
    "glm-4.6": _GLM,
    "glm-4.7": _GLM,
    "glm-5": _FIFTH,
    "glm-5.2": _GLM,
    "glm-5.3": _GLM,
    # MiniMax
    "minimax-m2": _MINIMAX_M2,
    "minimax-m2.1": _MINIMAX_M2,
    "minimax-m2.5": _MINIMAX_M2,
    "minimax-m3": _FIFTH,
    "minimax-m3.1": _TENTH,
    # Mistral: for requests with a `prompt_cache_key`
    "mistral-large": _TENTH,
    "mistral-medium": _TENTH,
    "codestral": _TENTH,
}

# Tokens that a prompt must have to be cached, when the vendor's own API is used (`/messages`,
# `/responses`); chat endpoints have rules of their own.
SHORTEST_CACHED: Mapping[str, int] = {
    "claude": 1_024,
    "claude-haiku-4-5": 4_096,
    "claude-haiku-4.5": 4_096,
    "claude-opus-4-5": 4_096,
    "claude-opus-4.5": 4_096,
    "claude-opus-4-6": 4_096,
    "claude-opus-4.6": 4_096,
    "claude-opus-4-7": 2_048,
    "claude-opus-4.7": 2_048,
    "claude-opus-5": 512,
    "claude-opus-5.5": 512,
    "claude-sonnet-5-5": 512,
    "claude-sonnet-5.5": 512,
    "claude-haiku-5-5": 512,
    "claude-haiku-5.5": 512,
    "claude-fable": 512,
    "claude-mythos": 512,
    "gpt-4o": 1_024,
    "gpt-4.1": 1_024,
    "o1": 1_024,
    "o3": 1_024,
    "o4-mini": 1_024,
    "codex-mini": 1_024,
    "gpt-5": 1_024,
    **dict.fromkeys((f"gpt-5.{minor}" for minor in range(1, 7)), 1_024),
    "gpt-6": 1_024,
    "gpt-6.1": 1_024,
}


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
    (entries as `memtree.settings.setting_values.input_price` reads them) does not name it. There is
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
