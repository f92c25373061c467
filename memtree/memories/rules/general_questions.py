"""Tells messages that ask for knowledge of the world, or for a text about anything, from those of
somebody who speaks of their own affairs: the first share a word with a memory by chance.

    >>> is_general("Why do leaves fall in autumn?"), is_general("Where do I move in autumn?")
    (True, False)
"""

from __future__ import annotations

from memtree.memories.background.sentences import languages_of
from memtree.memories.rules.language_patterns import pattern

READ = 400  # characters of a message


def is_general(message: str) -> bool:
    """Return True if nobody speaks of themselves in the message, and it begins as such questions
    do in its language."""
    lower = " ".join(message[:READ].lower().split()).lstrip("¿¡«„“\"'( ")
    languages = languages_of(lower)
    if pattern("general_questions", languages, "own").search(lower):
        return False
    return pattern("general_questions", languages, "general").search(lower) is not None
