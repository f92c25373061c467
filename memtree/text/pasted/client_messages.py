"""Recognise text that programs write in the user's name: an agent's first message, notes about
files, summaries of earlier conversations. Some of it says "I".

Such text is recognised by its beginning, as found in the clients of `docs/clients.md`, including
aider and the Qwen and Gemini command lines.
"""

from __future__ import annotations

from memtree.language.word_file import WordFiles, lazily

_DATA = WordFiles("client_messages")

READ = 400  # characters of a message or a line

# The program wrote the whole message.
_MESSAGE = lazily(lambda: rf"\s{{0,20}}(?:{_DATA.part('messages')})")
# The program wrote a paragraph within the message.
_PARAGRAPH = lazily(lambda: rf"\s{{0,20}}(?:{_DATA.part('paragraphs')})")


def is_by_client(text: str) -> bool:
    """Return True if a message of the user was written by a program."""
    return _MESSAGE.match(text) is not None


def begins_note(line: str) -> bool:
    """Return True if a line begins a paragraph that a program wrote."""
    return _PARAGRAPH.match(line[:READ]) is not None
