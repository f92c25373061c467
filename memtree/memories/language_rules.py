"""Rules about the words of a memory or a message, kept by language.

Memories that may be out of date once they are old: job, place, version, port, plan.

    >>> may_change("User works at Initech."), may_change("User's blood type is A.")
    (True, False)
    >>> may_change("Der Nutzer plant einen Umzug."), may_change("User waters the plant.")
    (True, False)

A wish stays what it is until somebody takes it back, and so does a taste.

The patterns of a rule: whole words in languages that set spaces
between them, parts of words in the others.

    >>> bool(pattern("memory_changing", ("de",)).search("der nutzer plant einen umzug"))
    True

Messages that ask for knowledge of the world, or for a text about anything, are told from those of
somebody who speaks of their own affairs: the first share a word with a memory by chance.

    >>> is_general("Why do leaves fall in autumn?"), is_general("Where do I move in autumn?")
    (True, False)
    >>> is_general("Write an apology to a customer"), is_general("Write a letter to Mr Brandt")
    (True, False)
"""

from __future__ import annotations

import re
from functools import lru_cache

from memtree.language.everyday_sentences import LATIN, languages_of
from memtree.language.word_file import WordFile
from memtree.memories.memory import Memory

SPACED = (*LATIN, "ru")


@lru_cache(maxsize=128)
def pattern(
    file: str, languages: tuple[str, ...], *names: str, also: str = "(?!)"
) -> re.Pattern[str]:
    """Compile what `file` has in any of these languages in these sections (none: in all). `also`:
    what counts in every language."""
    alternatives = [also]
    for language in languages:
        data = WordFile(language, file)
        known = data.names()
        words = "|".join(data.part(name) for name in names or known if name in known)
        if words:
            alternatives.append(rf"\b(?:{words})\b" if language in SPACED else words)
    return re.compile("|".join(alternatives))


_READ = 400  # characters of a message


def is_general(message: str) -> bool:
    """Return True if nobody speaks of themselves in the message, and it begins as such questions
    do in its language, or asks for a text that is about nobody with a name."""
    head = " ".join(message[:_READ].split()).lstrip("¿¡«„“\"'( ")
    lower = head.lower()
    languages = languages_of(lower)
    if _question_pattern(languages, "own").search(lower):
        return False
    if _question_pattern(languages, "general").search(lower):
        return True
    named = any(word[0].isupper() for word in head.split()[1:])
    return not named and _question_pattern(languages, "writing").search(lower) is not None


def _question_pattern(languages: tuple[str, ...], name: str) -> re.Pattern[str]:
    return pattern("memory_general_questions", languages, name)


READ = 400  # characters
_LASTING = ("preference", "instruction")  # categories
_PLAN = "schedule"  # a category

_NUMBERED = r"\bv\d{1,4}\b|\b\d{1,3}\.\d{1,4}\.\d{1,5}\b"  # versions, in any language


def ages(memory: Memory, stale: float) -> float | None:
    """Unix seconds from which a memory may be out of date, None for never. `stale`: seconds after
    which those that change are, 0 for never."""
    if not stale or not may_change(memory.text, memory.category, memory.standing):
        return None
    return memory.said + stale


def is_outdated(memory: Memory, stale: float, now: float) -> bool:
    """Return True if a memory may be out of date at that time (unix seconds)."""
    since = ages(memory, stale)
    return since is not None and now >= since


def may_change(text: str, category: str | None = None, standing: str = "") -> bool:
    """Return True if a fact is of a kind that changes with the months. `standing`: its topic."""
    if category in _LASTING or standing.startswith("wish"):
        return False
    if category == _PLAN:
        return True
    lower = " ".join(text[:READ].lower().split())
    return pattern("memory_changing", languages_of(lower), also=_NUMBERED).search(lower) is not None
