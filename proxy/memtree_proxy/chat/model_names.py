"""Find a model in a table of names: by the longest known prefix.

    >>> beginning("openai/gpt-4-0613:online", {"gpt-4", "gpt-4-turbo"})
    'gpt-4'
    >>> beginning("bedrock/us.anthropic.claude-opus-4-6-v1:0", {"claude", "claude-opus-4-6"})
    'claude-opus-4-6'

A prefix ends at a separator, so `gpt-4o` is not `gpt-4`. Additions to a name are ignored: routers'
and clients' prefixes (`openai/`, `models/`, `openai:`, `ft:`), regions and vendors as clouds write
them (`us.anthropic.`, `databricks-`), suffixes (`:online`, `@20250929`), and case.
"""

from __future__ import annotations

import re
from collections.abc import Container
from typing import TypeVar

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
