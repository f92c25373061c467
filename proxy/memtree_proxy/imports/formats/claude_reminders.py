"""Recognise the reminders that Claude Code adds to the user's messages before it sends them.

Their text is left out of a conversation's address, the white space around them is not. Newer
versions (2.1.2xx on) write into the session each message that they changed so; what older ones did
is done here again, with a remark in the place of each reminder:

    first message    [a reminder for each attachment behind it..., the context, what the user said]
    result of a tool its text, an empty line, the reminder

A text that another one follows ends with a new line.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from memtree_proxy.imports.conversation import Fields, fields, listed, text

BLOB = "api-request-blob"
_TAG = "<system-reminder>"
REMARK = f"{_TAG}\nA reminder that Claude Code did not keep.\n</system-reminder>"
_KIND = "_reminder"


class SentMessages:
    """Messages that were changed, as the program wrote them down."""

    def __init__(self, lines: Iterable[Fields]) -> None:
        self._found: dict[str, deque[list[Fields]]] = {}
        self.known = False
        seen: set[str] = set()
        for line in lines:
            if line.get("type") != BLOB or text(line.get("hash")) in seen:
                continue
            self.known = True
            seen.add(text(line.get("hash")))
            message = fields(line.get("message"))
            content = listed(message.get("content"))
            if content and message.get("role") == "user":
                self._found.setdefault(_name(content), deque()).append(content)

    def content(self, content: list[Fields]) -> list[Fields]:
        """Return the sent form of a message: it begins with the same result, or ends with the same
        text, and no block of it is missing. Each is given once: in a hostile file ten thousand
        messages name one large one."""
        written = self._found.get(_name(content))
        sent = written.popleft() if written else []
        return sent if len(sent) >= len(content) else content


def _name(content: list[Fields]) -> str:
    """Return what identifies the content: a change of a reminder leaves it as it is."""
    first, last = content[0], content[-1]
    if first.get("type") == "tool_result":
        return f"result {text(first.get('tool_use_id'))}"
    return f"text {text(last.get('text'))}"


def with_context(content: list[Fields], attachments: int) -> list[Fields]:
    """The first message of the user, as versions send it that write nothing down."""
    before = [_text(f"{REMARK}\n")] * attachments
    return [*before, _text(f"{REMARK}\n\n"), *content]


def is_reminder(attachment: Fields) -> bool:
    return text(attachment.get("type")).endswith(_KIND)


def is_remark(block: Fields) -> bool:
    """Return True if no word in a block of a message is the user's."""
    return text(block.get("text")).startswith(_TAG)


def reminded(result: Fields) -> Fields:
    """A result of a tool with a reminder behind it; one that is not text alone stays."""
    content = result.get("content")
    if not isinstance(content, str):
        return result
    said = content.strip()
    return {**result, "content": f"{said}\n\n{REMARK}" if said else REMARK}


def _text(said: str) -> Fields:
    return {"type": "text", "text": said}
