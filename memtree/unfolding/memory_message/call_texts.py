"""Parts that a quotation shows of the JSON that makes a call: its texts, such as a thought or what
is written into a file, without the fields and switches around them. Of an edit the new text is
shown, since it repeats most of the old one.

A call of the API has a label that tells what it is about. Where a client writes calls in prose, the
object ends its message and holds a thought beside a path or a command. Any other JSON is quoted as
it is.
What this file does not do: name calls (`labels.py`), or read what they did (`extraction.events`).

    >>> call = 'Running: make\\n{"command": "make", "thought": "Build it again.", "hidden": false}'
    >>> left = list(around_texts(call, 14, len(call), call[:14]))
    >>> [call[low:high] for low, high in left]
    ['{"command": "make", "thought": "', '", "hidden": false}']
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from memtree.conversation.message import Message
from memtree.unfolding.memory_message.labels import ARGUMENT, main_argument, shown_line

LONGEST = 40_000  # characters of a message that is looked at
BEFORE = 2_000  # characters before an object in which a value may stand already
LEAST = 8  # characters of a text
_STRING = re.compile(r'"((?:[^"\\]|\\.)*+)"(?P<key>\s{0,9}:)?')
_OLD = frozenset("old_str old_string old_text oldtext oldstring old_content search find".split())
_NEW = re.compile(
    r'"(?:new_(?:str|string|text|content)|new(?:Text|String)|replace(?:ment)?)"\s{0,9}:\s{0,9}"[^"]'
)
_THOUGHT = re.compile(r'"(?:thoughts?|reasoning|explanation)"\s{0,9}:', re.IGNORECASE)
_CALLS = re.compile(r'"(?:command|cmd|path|file_?path|code|tool|action)"\s{0,9}:', re.IGNORECASE)


def left_out(message: Message) -> list[tuple[int, int]]:
    """Characters of an assistant's posted text that quotations leave out, in order."""
    text = message.text
    if message.role != "assistant" or '"' not in text or len(text) > LONGEST:
        return []
    spans: list[tuple[int, int]] = []
    at = 0 if text.startswith('{"') else text.find('\n{"') + 1
    if at or text.startswith('{"'):
        end = message.segment_at(at).end
        if _is_call(text[at:end]):
            spans += around_texts(text, at, end, text[max(0, at - BEFORE) : at])
    for segment in message.segments:
        if segment.kind == "call" and text.startswith("{", segment.start):
            argument = main_argument(text[segment.start : segment.end])
            if argument:
                spans += around_texts(text, segment.start, segment.end, argument)
    return spans


def without_left_out(message: Message) -> str:
    """Return the posted text with blanks, as many as there were characters, in place of what
    quotations leave out."""
    kept, done = [], 0
    for start, end in left_out(message):
        kept += [message.text[done:start], " " * (end - start)]
        done = end
    return "".join([*kept, message.text[done:]])


def _is_call(text: str) -> bool:
    if not (text.rstrip().endswith("}") and _THOUGHT.search(text) and _CALLS.search(text)):
        return False
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def around_texts(text: str, start: int, end: int, known: str) -> Iterator[tuple[int, int]]:
    """Yield what stands around the texts of a JSON object, text[start:end). `known`: what a reader
    knows of it already; a value that stands there is left out, too."""
    at, name = start, ""
    edits = _NEW.search(text, start, end) is not None
    for match in _STRING.finditer(text, start, end):
        if match["key"] is not None:
            name = match[1].lower()
        elif not (edits and name in _OLD) and _is_text(match[1], known):
            yield at, match.start(1)
            at = match.end(1)
    yield at, end


def _is_text(value: str, known: str) -> bool:
    if len(value) <= LEAST or not (" " in value or "\\n" in value):
        return False
    if value in known or value.replace('\\"', '"') in known:
        return False
    return len(value) > ARGUMENT or shown_line(value, ARGUMENT) != known
