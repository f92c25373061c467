"""Context windows of models by their names.

The numbers are the most tokens that a prompt may have: if a vendor limits the input separately from
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
"""

from __future__ import annotations

from functools import lru_cache

from memtree.settings.setting_values import OTHERS
from memtree.settings.setting_values import window as window_entry
from memtree_proxy.request.model_names import bare, beginning

DEFAULT = 128_000
_MILLION, _BINARY_MILLION = 1_000_000, 1_048_576
_GPT_5, _GPT_5_4 = 272_000, 922_000
_KIMI, _CLAUDE = 262_144, 200_000

WINDOWS = {
    # OpenAI
    "gpt-3.5-turbo": 16_385,
    "gpt-3.5-turbo-instruct": 4_096,
    "gpt-4": 8_192,
    "gpt-4-32k": 32_768,
    "gpt-4-turbo": 128_000,
    "gpt-4-1106": 128_000,
    "gpt-4-0125": 128_000,
    "gpt-4o": DEFAULT,
    "gpt-4.5": DEFAULT,
    "chatgpt-4o": DEFAULT,
    "gpt-4.1": 1_047_576,
    "gpt-5": _GPT_5,
    "gpt-5-chat": 128_000,
    "gpt-5-pro": 128_000,
    "gpt-5.1": _GPT_5,
    "gpt-5.1-chat": 128_000,
    "gpt-5.2": _GPT_5,
    "gpt-5.2-chat": 128_000,
    "gpt-5.3": _GPT_5,
    "gpt-5.3-chat": 128_000,
    "gpt-5.4": _GPT_5_4,
    "gpt-5.4-mini": _GPT_5,
    "gpt-5.4-nano": _GPT_5,
    "gpt-5.5": _GPT_5_4,
    "gpt-5.6": _GPT_5_4,
    "gpt-6": _GPT_5_4,
    "gpt-6.1": _GPT_5_4,
    "gpt-realtime": 32_000,
    "codex-mini": 200_000,
    "o1": 200_000,
    "o1-mini": 128_000,
    "o1-preview": 128_000,
    "o3": 200_000,
    "o3-mini": 200_000,
    "o4-mini": 200_000,
    # Anthropic: a million without a beta header from 4.6 on, Haiku from 5.5 on
    "claude": _CLAUDE,
    "claude-2": 100_000,
    "claude-instant": 100_000,
    "claude-opus-4-6": _MILLION,
    "claude-opus-4.6": _MILLION,
    "claude-opus-4-7": _MILLION,
    "claude-opus-4.7": _MILLION,
    "claude-opus-4-8": _MILLION,
    "claude-opus-4.8": _MILLION,
    "claude-opus-5": _MILLION,
    "claude-opus-5.5": _MILLION,
    "claude-sonnet-4-6": _MILLION,
    "claude-sonnet-4.6": _MILLION,
    "claude-sonnet-5": _MILLION,
    "claude-sonnet-5.5": _MILLION,
    "claude-haiku-5-5": _MILLION,
    "claude-haiku-5.5": _MILLION,
    "claude-fable": _MILLION,
    "claude-mythos": _MILLION,
    # Google
    "gemini-1.5-flash": _BINARY_MILLION,
    "gemini-1.5-pro": 2_097_152,
    "gemini-2.0": _BINARY_MILLION,
    "gemini-2.5": _BINARY_MILLION,
    "gemini-2.5-computer-use": 128_000,
    "gemini-3": _BINARY_MILLION,
    "gemini-3.1": _BINARY_MILLION,
    "gemini-3.1-flash-live": 128_000,
    "gemini-3.5": _BINARY_MILLION,
    "gemini-3.6": _BINARY_MILLION,
    "gemini-3.7": _BINARY_MILLION,
    "gemini-3.8": _BINARY_MILLION,
    "gemini-4": _BINARY_MILLION,
    "gemini-flash-latest": _BINARY_MILLION,
    "gemini-flash-lite-latest": _BINARY_MILLION,
    "gemini-pro-latest": _BINARY_MILLION,
    "gemma-2": 8_192,
    # xAI
    "grok-2-vision": 32_768,
    "grok-3": DEFAULT,
    "grok-3-mini": DEFAULT,
    "grok-4": 256_000,
    "grok-4-fast": 2 * _MILLION,
    "grok-4-1-fast": 2 * _MILLION,
    "grok-4.1-fast": 2 * _MILLION,
    "grok-4.20": _MILLION,
    "grok-4.3": _MILLION,
    "grok-4.5": 500_000,
    "grok-4.6": 500_000,
    "grok-4.7": 500_000,
    "grok-build": 256_000,
    "grok-code-fast": 256_000,
    # DeepSeek: the first ones with the vendor's own limits
    "deepseek-chat": DEFAULT,
    "deepseek-reasoner": DEFAULT,
    "deepseek-flash": _MILLION,
    "deepseek-r1": 65_536,
    "deepseek-v3": 65_536,
    "deepseek-v4": _MILLION,
    "deepseek-v4-flash": _MILLION,
    "deepseek-v4-pro": _MILLION,
    # Moonshot
    "kimi-k2": DEFAULT,
    "kimi-k2-0905": _KIMI,
    "kimi-k2-thinking": _KIMI,
    "kimi-k2-turbo": _KIMI,
    "kimi-k2.5": _KIMI,
    "kimi-k2.6": _KIMI,
    "kimi-k2.7-code": 256_000,
    "kimi-k3": _MILLION,
    "kimi-k3.1": _MILLION,
    "kimi-latest-8k": 8_192,
    "kimi-latest-32k": 32_768,
    "moonshot-v1-8k": 8_192,
    "moonshot-v1-32k": 32_768,
    # Alibaba Cloud; open models of the first Qwen 3 have 40,960 unless they were extended
    "qwen-coder": _MILLION,
    "qwen-flash": 997_952,
    "qwen-max": 30_720,
    "qwen-plus": DEFAULT,
    "qwen-turbo": DEFAULT,
    "qwen3-4b": 40_960,
    "qwen3-8b": 40_960,
    "qwen3-14b": 40_960,
    "qwen3-32b": 40_960,
    "qwen3-30b-a3b": 40_960,
    "qwen3-235b-a22b": 40_960,
    "qwen3-coder-flash": 997_952,
    "qwen3-coder-plus": 997_952,
    "qwen3-max": 258_048,
    "qwen3.5-plus": 991_808,
    "qwen3.6-plus": 991_808,
    "qwen3.7-plus": 991_808,
    "qwen3.7-max": 991_000,
    "qwen3.8-max": 991_000,
    "qwen4-max": 991_808,
    "qwq": 32_768,
    "qwq-plus": 98_304,
    # Z.ai
    "glm-4.5": DEFAULT,
    "glm-4.6": 200_000,
    "glm-4.7": 200_000,
    "glm-5": 200_000,
    "glm-5.1": 200_000,
    "glm-5.2": _MILLION,
    "glm-5.3": _MILLION,
    # MiniMax; the vendor limits M3 to half of its million
    "minimax-m2": 200_000,
    "minimax-m2.1": 200_000,
    "minimax-m2.5": 200_000,
    "minimax-m2.7": 200_000,
    "minimax-m3": 500_000,
    "minimax-m3.1": _MILLION,
    # Mistral: names without a date mean the newest model, a name without a version may be of any
    # age
    "codestral": 32_000,
    "codestral-2508": 256_000,
    "devstral-2512": 256_000,
    "devstral-latest": 256_000,
    "magistral": 40_000,
    "magistral-medium": 40_000,
    "magistral-small": 40_000,
    "mistral-7b": 32_768,
    "mistral-large": DEFAULT,
    "mistral-large-2402": 32_000,
    "mistral-large-2512": 262_144,
    "mistral-large-3": 262_144,
    "mistral-large-4": _MILLION,
    "mistral-large-latest": 262_144,
    "mistral-medium": DEFAULT,
    "mistral-medium-2312": 32_000,
    "mistral-small-2402": 32_000,
    "mistral-tiny": 32_000,
    "mixtral-8x7b": 32_768,
    "mixtral-8x22b": 65_536,
    "open-mistral-7b": 32_000,
    "open-mixtral-8x7b": 32_000,
    "open-mixtral-8x22b": 65_536,
    # Meta
    "llama-2": 4_096,
    "llama-3-8b": 8_192,
    "llama-3-70b": 8_192,
    "meta-llama-3-8b": 8_192,
    "meta-llama-3-70b": 8_192,
}


@lru_cache(maxsize=256)
def of(model: str, setting: tuple[str, ...] = ()) -> int:
    """Return the window of a model in tokens: by the setting, else by the table, else `assumed`.
    `setting`: entries as `memtree.config.window` reads them.
    """
    named = known(model, setting)
    return assumed(setting) if named is None else named


def known(model: str, setting: tuple[str, ...] = ()) -> int | None:
    """Return the window of a model by the setting or the table; None if neither names it."""
    own = {bare(name): tokens for name, tokens in map(window_entry, setting)}
    if name := beginning(model, own):
        return own[name]
    if name := beginning(model, WINDOWS):
        return WINDOWS[name]
    return None


def assumed(setting: tuple[str, ...] = ()) -> int:
    """Return the window of all other models: the setting's `*`, else `DEFAULT`."""
    return dict(map(window_entry, setting)).get(OTHERS, DEFAULT)
