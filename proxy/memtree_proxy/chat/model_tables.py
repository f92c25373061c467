"""Know the context windows and the prices of models by their names.

A model is found in a table by the longest known prefix of its name:

    >>> beginning("openai/gpt-4-0613:online", {"gpt-4", "gpt-4-turbo"})
    'gpt-4'
    >>> beginning("bedrock/us.anthropic.claude-opus-4-6-v1:0", {"claude", "claude-opus-4-6"})
    'claude-opus-4-6'

A prefix ends at a separator, so `gpt-4o` is not `gpt-4`. Additions to a name are ignored: routers'
and clients' prefixes (`openai/`, `models/`, `openai:`, `ft:`), regions and vendors as clouds write
them (`us.anthropic.`, `databricks-`), suffixes (`:online`, `@20250929`), and case.

`WINDOWS` has the most tokens that a prompt may have: if a vendor limits the input separately from
the window (OpenAI from gpt-5 on: 272,000 of 400,000 and 922,000 of 1,050,000), that limit is
listed. From the model pages of OpenAI, Anthropic, Google, xAI, DeepSeek, Moonshot, Z.ai, Alibaba
Cloud, MiniMax and Mistral as of 22 November 2026, the catalogue inside the `litellm` package (1.83)
for older names, and the catalogues of gateways for grok-4.7, qwen3.6 on, mistral-large-4 and
minimax-m3.1.

Too large a number costs a refused request, too small a number only some room. So if sources
disagree, or hosts of an open model differ, the smaller number is listed, and a model that is not
listed gets 128,000: right for gpt-oss, Llama 3.1 to 4 and most hosts of open models; locally run
models often have less. Hosted models of 128,000 are listed so that `*` in the setting `window`,
which is meant for unlisted models, does not change them. The setting wins over this table, and a
smaller window that the upstream names when it refuses a prompt wins over both.

`PRICES` has the prices of cached input, relative to uncached input, and the lifetimes of caches.
From the vendors' price and caching pages as of 22 November 2026, at their standard tier and up to
their first size step; for gemini-4, minimax-m3, kimi-k3.1 and qwen4-max from gateways that sell at
list price, for minimax-m2, the turbo of kimi-k2, glm-5 and grok-code-fast from the catalogue inside
the `litellm` package (1.83). Ratios stay valid during promotions, which reduce all prices alike.
Lifetimes count from the last use. Where a vendor names none or a range, the longest is listed,
because a cache assumed to be alive is never discarded.

A model is listed only where its prices were found; the setting `prices` wins over the table. Any
other model is `LOCAL` at a local upstream, else `UNKNOWN`. The name takes precedence over the
location: a gateway on localhost sells the models that its names say.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from functools import lru_cache
from typing import TypeVar

from memtree.budget.prices import LOCAL, UNKNOWN, Prices
from memtree.setting_values import OTHERS, input_price, price
from memtree.setting_values import window as window_entry

T = TypeVar("T")

_LONGEST = 200  # characters that are read
_MARKS = "-@"
# Before a colon, unless it is a model: the owner of the model after it, or the route
_ROUTES = frozenset(
    """
    anthropic azure bedrock chat completion deepseek ft gemini google google-gla google-vertex groq
    mistral moonshotai openai openai-chat openai-responses openrouter responses vertex xai
    """.split()
)
# Before a separator: the region, the vendor, the cloud that sells it
_OWNER = re.compile(
    r"(?:us-gov|us|eu|uk|ca|sa|ap|apac|au|jp|in|me|af|global"
    r"|amazon|anthropic|deepseek|google|meta|minimax|mistral|mistralai|moonshot|moonshotai|openai"
    r"|qwen|x-ai|xai|z-ai|zai"
    r"|aws|azure|bedrock|copilot|databricks|gcp|github|litellm|openrouter|vertex|vertexai)"
    r"(?:\.|--|-|_)"
)


def bare(model: str) -> str:
    """Return the name without additions of routers, in lower case."""
    return _parts(model)[0]


def beginning(model: str, known: Container[str]) -> str | None:
    """Return the longest of the `known` names (in lower case) that is a prefix of the model's name;
    if there is none, of the name without routes, regions and vendors in front."""
    for name in _parts(model):
        if longest := _longest(name, known):
            return longest
        if name not in _ROUTES:
            break
    return None


def by_model(*rows: tuple[T, str]) -> dict[str, T]:
    """Return a table by name, given a value and the names that have it in each row.

    >>> by_model((8_192, "gpt-4 llama-3-8b"), (128_000, "gpt-4o"))
    {'gpt-4': 8192, 'llama-3-8b': 8192, 'gpt-4o': 128000}
    """
    table = {name: value for value, names in rows for name in names.split()}
    assert len(table) == sum(len(names.split()) for _, names in rows), "a name stands twice"
    return table


def _parts(model: str) -> list[str]:
    """Split the last segment of a path at its colons."""
    return model[:_LONGEST].strip().lower().rstrip("/").rpartition("/")[2].split(":")


def _longest(name: str, known: Container[str]) -> str | None:
    while name:
        for end in range(len(name), 0, -1):
            if (end == len(name) or name[end] in _MARKS) and name[:end] in known:
                return name[:end]
        owner = _OWNER.match(name)
        name = name[owner.end() :] if owner else ""
    return None


DEFAULT = 128_000
_MILLION, _BINARY_MILLION = 1_000_000, 1_048_576
_GPT_5, _GPT_5_4 = 272_000, 922_000
_KIMI, _CLAUDE = 262_144, 200_000

WINDOWS = by_model(
    # OpenAI
    (16_385, "gpt-3.5-turbo"),
    (4_096, "gpt-3.5-turbo-instruct"),
    (8_192, "gpt-4"),
    (32_768, "gpt-4-32k"),
    (128_000, "gpt-4-turbo gpt-4-1106 gpt-4-0125 gpt-5-chat gpt-5-pro gpt-5.1-chat gpt-5.2-chat"),
    (128_000, "gpt-5.3-chat o1-mini o1-preview"),
    (DEFAULT, "gpt-4o gpt-4.5 chatgpt-4o"),
    (1_047_576, "gpt-4.1"),
    (_GPT_5, "gpt-5 gpt-5.1 gpt-5.2 gpt-5.3 gpt-5.4-mini gpt-5.4-nano"),
    (_GPT_5_4, "gpt-5.4 gpt-5.5 gpt-5.6 gpt-6 gpt-6.1"),
    (32_000, "gpt-realtime"),
    (200_000, "codex-mini o1 o3 o3-mini o4-mini"),
    # Anthropic: a million without a beta header from 4.6 on, Haiku from 5.5 on
    (_CLAUDE, "claude"),
    (100_000, "claude-2 claude-instant"),
    (_MILLION, "claude-opus-4-6 claude-opus-4.6 claude-opus-4-7 claude-opus-4.7 claude-opus-4-8"),
    (_MILLION, "claude-opus-4.8 claude-opus-5 claude-opus-5.5 claude-sonnet-4-6 claude-sonnet-4.6"),
    (_MILLION, "claude-sonnet-5 claude-sonnet-5.5 claude-haiku-5-5 claude-haiku-5.5 claude-fable"),
    (_MILLION, "claude-mythos"),
    # Google
    (_BINARY_MILLION, "gemini-1.5-flash gemini-2.0 gemini-2.5 gemini-3 gemini-3.1 gemini-3.5"),
    (_BINARY_MILLION, "gemini-3.6 gemini-3.7 gemini-3.8 gemini-4 gemini-flash-latest"),
    (_BINARY_MILLION, "gemini-flash-lite-latest gemini-pro-latest"),
    (2_097_152, "gemini-1.5-pro"),
    (128_000, "gemini-2.5-computer-use gemini-3.1-flash-live"),
    (8_192, "gemma-2"),
    # xAI
    (32_768, "grok-2-vision"),
    (DEFAULT, "grok-3 grok-3-mini"),
    (256_000, "grok-4 grok-build grok-code-fast"),
    (2 * _MILLION, "grok-4-fast grok-4-1-fast grok-4.1-fast"),
    (_MILLION, "grok-4.20 grok-4.3"),
    (500_000, "grok-4.5 grok-4.6 grok-4.7"),
    # DeepSeek: the first ones with the vendor's own limits
    (DEFAULT, "deepseek-chat deepseek-reasoner"),
    (_MILLION, "deepseek-flash deepseek-v4 deepseek-v4-flash deepseek-v4-pro"),
    (65_536, "deepseek-r1 deepseek-v3"),
    # Moonshot
    (DEFAULT, "kimi-k2"),
    (_KIMI, "kimi-k2-0905 kimi-k2-thinking kimi-k2-turbo kimi-k2.5 kimi-k2.6"),
    (256_000, "kimi-k2.7-code"),
    (_MILLION, "kimi-k3 kimi-k3.1"),
    (8_192, "kimi-latest-8k moonshot-v1-8k"),
    (32_768, "kimi-latest-32k moonshot-v1-32k"),
    # Alibaba Cloud; open models of the first Qwen 3 have 40,960 unless they were extended
    (_MILLION, "qwen-coder"),
    (997_952, "qwen-flash qwen3-coder-flash qwen3-coder-plus"),
    (30_720, "qwen-max"),
    (DEFAULT, "qwen-plus qwen-turbo"),
    (40_960, "qwen3-4b qwen3-8b qwen3-14b qwen3-32b qwen3-30b-a3b qwen3-235b-a22b"),
    (258_048, "qwen3-max"),
    (991_808, "qwen3.5-plus qwen3.6-plus qwen3.7-plus qwen4-max"),
    (991_000, "qwen3.7-max qwen3.8-max"),
    (32_768, "qwq"),
    (98_304, "qwq-plus"),
    # Z.ai
    (DEFAULT, "glm-4.5"),
    (200_000, "glm-4.6 glm-4.7 glm-5 glm-5.1"),
    (_MILLION, "glm-5.2 glm-5.3"),
    # MiniMax; the vendor limits M3 to half of its million
    (200_000, "minimax-m2 minimax-m2.1 minimax-m2.5 minimax-m2.7"),
    (500_000, "minimax-m3"),
    (_MILLION, "minimax-m3.1"),
    # Mistral: names without a date mean the newest model, a name without a version may be of any
    # age
    (32_000, "codestral mistral-large-2402 mistral-medium-2312 mistral-small-2402 mistral-tiny"),
    (32_000, "open-mistral-7b open-mixtral-8x7b"),
    (256_000, "codestral-2508 devstral-2512 devstral-latest"),
    (40_000, "magistral magistral-medium magistral-small"),
    (32_768, "mistral-7b mixtral-8x7b"),
    (DEFAULT, "mistral-large mistral-medium"),
    (262_144, "mistral-large-2512 mistral-large-3 mistral-large-latest"),
    (_MILLION, "mistral-large-4"),
    (65_536, "mixtral-8x22b open-mixtral-8x22b"),
    # Meta
    (4_096, "llama-2"),
    (8_192, "llama-3-8b llama-3-70b meta-llama-3-8b meta-llama-3-70b"),
)


@lru_cache(maxsize=256)
def window_of(model: str, setting: tuple[str, ...] = ()) -> int:
    """Return the window of a model in tokens: by the setting, else by the table, else
    `assumed_window`. `setting`: entries as `memtree.setting_values.window` reads them.
    """
    named = known_window(model, setting)
    return assumed_window(setting) if named is None else named


def known_window(model: str, setting: tuple[str, ...] = ()) -> int | None:
    """Return the window of a model by the setting or the table; None if neither names it."""
    own = {bare(name): tokens for name, tokens in map(window_entry, setting)}
    if name := beginning(model, own):
        return own[name]
    if name := beginning(model, WINDOWS):
        return WINDOWS[name]
    return None


def assumed_window(setting: tuple[str, ...] = ()) -> int:
    """Return the window of all other models: the setting's `*`, else `DEFAULT`."""
    return dict(map(window_entry, setting)).get(OTHERS, DEFAULT)


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
def prices_of(model: str, setting: tuple[str, ...] = (), *, local: bool = False) -> Prices:
    """Return the prices of a model: from the setting, else from the table, else from the setting's
    `*`, else those of an unknown model, which depend on its location. `setting`: entries as
    `memtree.setting_values.price` reads them. `local`: the upstream is local.
    """
    known = known_prices(model, setting) or dict(map(price, setting)).get(OTHERS)
    return known or (LOCAL if local else UNKNOWN)


def known_prices(model: str, setting: tuple[str, ...] = ()) -> Prices | None:
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
