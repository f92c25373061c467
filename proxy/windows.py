"""Context windows of models whose window is not 128,000 tokens, by the vendors' model pages."""

from __future__ import annotations

from functools import lru_cache

from proxy.model_name import beginning

DEFAULT = 128_000

WINDOWS = {
    "gpt-3.5-turbo": 16_385,
    "gpt-3.5-turbo-instruct": 4_096,
    "gpt-4": 8_192,
    "gpt-4-32k": 32_768,
    "gpt-4-turbo": 128_000,
    "gpt-4-1106": 128_000,
    "gpt-4-0125": 128_000,
    "gpt-4.1": 1_047_576,
    "gpt-5": 400_000,
    "gpt-5-chat": 128_000,
    "gpt-5.1": 400_000,
    "gpt-5.2": 400_000,
    "o1": 200_000,
    "o1-mini": 128_000,
    "o1-preview": 128_000,
    "o3": 200_000,
    "o3-mini": 200_000,
    "o4-mini": 200_000,
    "claude": 200_000,
    "gemini-1.5-flash": 1_048_576,
    "gemini-1.5-pro": 2_097_152,
    "gemini-2.0": 1_048_576,
    "gemini-2.5": 1_048_576,
    "gemini-3": 1_048_576,
    "llama-3-8b": 8_192,
    "llama-3-70b": 8_192,
    "mistral-7b": 32_768,
    "mixtral-8x7b": 32_768,
    "mixtral-8x22b": 65_536,
}


@lru_cache(maxsize=256)
def of(model: str) -> int:
    """The window of a model in tokens, `DEFAULT` where it is not known."""
    known = beginning(model, WINDOWS)
    return WINDOWS[known] if known else DEFAULT
