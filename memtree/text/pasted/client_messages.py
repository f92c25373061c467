"""Recognise what programs write in the name of the user: the first message of an agent, notes about
files, summaries of conversations that went before. Some of it says "I".

Told by how it begins, as found in the clients of `docs/clients.md`, aider and the Qwen and Gemini
command lines among them.
"""

from __future__ import annotations

from memtree.language.lazy_patterns import lazily
from memtree.language.word_file import WordFiles

_DATA = WordFiles("client_messages")

READ = 400  # characters of a message or a line

# The whole message is a program's.
_MESSAGE = lazily(lambda: rf"\s{{0,20}}(?:{_DATA.part('messages')})")
# A paragraph within a message is.
_PARAGRAPH = lazily(lambda: rf"\s{{0,20}}(?:{_DATA.part('paragraphs')})")


def is_by_client(text: str) -> bool:
    """Return True if a message of the user was written by a program."""
    return _MESSAGE.match(text) is not None


def begins_note(line: str) -> bool:
    """Return True if a line begins a paragraph that a program wrote."""
    return _PARAGRAPH.match(line[:READ]) is not None
