"""Categories of user memories: the five of the service whose API this is, and a user's own.

>>> checked_category(" Reading list ", "category")
'Reading list'
>>> user_category("User prefers tea."), user_category("Always answer in French.")
('preference', 'preference')
"""

from __future__ import annotations

import re

from memtree.errors import BadRequest
from memtree.memories.rules.categories import category_of
from memtree.memories.rules.secret_check import refuse_secrets

MAX_CATEGORY = 64  # characters
# One line that can be shown in a sentence and typed into a query: words of any script.
_CATEGORY = re.compile(r"[^\W_](?:[\w .:/+-]{0,62}\w)?")


def checked_category(value: str, name: str) -> str:
    """A category as it is kept. Raises `BadRequest` naming the field, and `SecretRejected`."""
    category = value[: 4 * MAX_CATEGORY].strip()
    if len(value) > 4 * MAX_CATEGORY or not _CATEGORY.fullmatch(category):
        raise BadRequest(
            f"{name} must be 1 to {MAX_CATEGORY} letters, digits, spaces and . : / + - _, "
            "with a letter or a digit first and last",
            param=name,
        )
    refuse_secrets(category)
    return category


def user_category(text: str) -> str:
    """What a text is about where nobody says. How someone wants to be answered is a preference."""
    category = category_of(text)
    return "preference" if category == "instruction" else category
