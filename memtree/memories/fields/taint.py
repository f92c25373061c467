"""Taint: which memories are shown as facts only, until a person confirms them.

Whoever writes a web page or a tool's output can have a model save what they like. A model's word
that something is to be done is not the user's word either.
"""

from __future__ import annotations


def tainted(*, source_type: str, category: str | None, after_tool: bool) -> bool:
    """Return True if a memory is to be saved as tainted. `after_tool`: a tool or a web page spoke
    earlier in the turn. What a person saved is never tainted.

    >>> tainted(source_type="model", category="instruction", after_tool=False)
    True
    >>> tainted(source_type="user", category="instruction", after_tool=True)
    False
    """
    return source_type != "user" and (after_tool or category == "instruction")
