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

from memtree.setting_values import OTHERS
from memtree.setting_values import window as window_entry
from memtree_proxy.chat.model_names import bare, beginning, by_model

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
