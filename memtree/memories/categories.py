"""Tell from its text what a memory is about: a preference, an instruction or a fact.

An instruction says how to answer or to work: what `standing_rules` finds in a user's message, and
the same told of the user ("User wants short answers"). A preference says what the user likes; what
somebody else likes is a fact.

    >>> [category_of(text) for text in ("Always answer in French.", "User likes tea.", "It rains.")]
    ['instruction', 'preference', 'fact']

Categories of user memories: the five of the service whose API this is, and a user's own.

>>> checked_category(" Reading list ", "category")
'Reading list'
>>> user_category("User prefers tea."), user_category("The project deadline is March 15, 2026")
('preference', 'schedule')
"""

from __future__ import annotations

import re
from datetime import date

from memtree.errors import BadRequest
from memtree.language.word_file import WordFile, grouped
from memtree.memories.secret_check import refuse_secrets
from memtree.statements.schedule import LONGEST, is_schedule
from memtree.text.standing_rules import standing_rules

_DATA = WordFile("all", "memory_categories")

_READ = 600  # characters; what a memory is shows early
_INSTRUCTION = _DATA.pattern("instruction", shaped=grouped)
_PREFERENCE = _DATA.pattern("preference", shaped=grouped)


def category_of(text: str) -> str:
    """`preference`, `fact` or `instruction`."""
    head = text[:_READ]
    lower = " ".join(head.lower().replace("’", "'").split())
    if _INSTRUCTION.search(lower):
        return "instruction"
    if _PREFERENCE.search(lower):
        return "preference"
    return "instruction" if standing_rules(head) else "fact"


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


def user_category(text: str, said: date | None = None) -> str:
    """Tell what a text is about where nobody says: `preference` (also how someone wants to be
    answered), `schedule` or `fact`. `said`: the day on which it is saved, from which "tomorrow"
    counts."""
    if category_of(text) != "fact":
        return "preference"
    return "schedule" if is_schedule(text[:LONGEST], said) else "fact"
