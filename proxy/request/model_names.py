"""Finding a model in a table of names: by the longest known beginning.

    >>> beginning("openai/gpt-4-0613:online", {"gpt-4", "gpt-4-turbo"})
    'gpt-4'

A beginning ends at a mark, so `gpt-4o` is not `gpt-4`. Routers' prefixes (`openai/`) and suffixes
(`:online`) do not count, and neither does case.
"""

from __future__ import annotations

from collections.abc import Container

_LONGEST = 200  # characters that are looked at
_MARKS = "-@"


def bare(model: str) -> str:
    return model[:_LONGEST].lower().rpartition("/")[2].partition(":")[0]


def beginning(model: str, known: Container[str]) -> str | None:
    """The longest of the `known` names (in lower case) that the model's name begins with."""
    name = bare(model)
    for end in range(len(name), 0, -1):
        if (end == len(name) or name[end] in _MARKS) and name[:end] in known:
            return name[:end]
    return None
