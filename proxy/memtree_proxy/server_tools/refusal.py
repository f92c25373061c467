"""Recognise an upstream's error about a model that supports no tools.

>>> is_about_tools(400, b'{"error": {"message": "gemma:2b does not support tools"}}')
True
"""

from __future__ import annotations

import re

STATUSES = frozenset({400, 404, 405, 422, 500, 501})
LONGEST = 16 * 1024  # bytes of an error that are searched

# Ollama, vLLM ("--enable-auto-tool-choice"), llama.cpp ("tools param requires --jinja flag"),
# OpenRouter ("No endpoints found that support tool use"), Gemini ("Function calling is not
# enabled"), DeepSeek ("does not support Function Calling"), and servers that find them too many or
# too long.
_WORDS = re.compile(r"\btools?\b|\btool[_ -]?(?:use|call|choice)|function[_ -]?call", re.IGNORECASE)


def may_be_about_tools(status: int) -> bool:
    """Return True if an answer with this status may be about tools."""
    return status in STATUSES


def is_about_tools(status: int, body: bytes) -> bool:
    """Return True if an error is about tools. `body`: decoded; its beginning is enough."""
    return may_be_about_tools(status) and bool(
        _WORDS.search(body[:LONGEST].decode("utf-8", "replace"))
    )
