"""Tells messages that ask for knowledge of the world, or for a text about anything, from those of
somebody who speaks of their own affairs: the first share a word with a memory by chance.

    >>> is_general("Why do leaves fall in autumn?"), is_general("Where do I move in autumn?")
    (True, False)
    >>> is_general("Write an apology to a customer"), is_general("Write a letter to Mr Brandt")
    (True, False)
"""

from __future__ import annotations

import re

from memtree.language.everyday_sentences import languages_of
from memtree.memories.injection.language_patterns import pattern

READ = 400  # characters of a message


def is_general(message: str) -> bool:
    """Return True if nobody speaks of themselves in the message, and it begins as such questions
    do in its language, or asks for a text that is about nobody with a name."""
    head = " ".join(message[:READ].split()).lstrip("¿¡«„“\"'( ")
    lower = head.lower()
    languages = languages_of(lower)
    if _pattern(languages, "own").search(lower):
        return False
    if _pattern(languages, "general").search(lower):
        return True
    named = any(word[0].isupper() for word in head.split()[1:])
    return not named and _pattern(languages, "writing").search(lower) is not None


def _pattern(languages: tuple[str, ...], name: str) -> re.Pattern[str]:
    return pattern("memory_general_questions", languages, name)
