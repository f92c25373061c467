"""Preferences in English: what the user likes, and what they decided on."""

from __future__ import annotations

from memtree.language.word_file import WordFile

_DATA = WordFile("en", "memory_preferences")

# What is liked in a chat is often the last answer, which nobody sees later.
_LIKES = _DATA.pattern("likes")
_DECIDED = _DATA.pattern("decided")


def is_preference(lower: str) -> bool:
    return _LIKES.match(lower) is not None


def is_decision(lower: str) -> bool:
    return _DECIDED.match(lower) is not None
