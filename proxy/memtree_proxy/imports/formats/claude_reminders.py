"""Recognise the reminders that Claude Code adds to the user's messages before it sends them.

A conversation's address leaves out the text of reminders, but not the white space around them.
Newer versions (2.1.2xx on) write each message that they changed so into the session. For older
versions the change is repeated here, with a remark in place of each reminder:

    first message    [a reminder for each attachment behind it..., the context, the user's text]
    result of a tool its text, an empty line, the reminder

A text that is followed by another text ends with a line break.
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
    """Changed messages, in the form in which the program recorded that it sent them."""

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
        """Return the sent form of a message: its first result or its last text is the same, and it
        has no fewer blocks. Returns the content itself if no such form is left. Each recorded
        message is used once, since in a hostile file ten thousand messages may name one large
        one."""
        written = self._found.get(_name(content))
        sent = written.popleft() if written else []
        return sent if len(sent) >= len(content) else content


def _name(content: list[Fields]) -> str:
    """Return a key of the content that added reminders do not change."""
    first, last = content[0], content[-1]
    if first.get("type") == "tool_result":
        return f"result {text(first.get('tool_use_id'))}"
    return f"text {text(last.get('text'))}"


def with_context(content: list[Fields], attachments: int) -> list[Fields]:
    """Return the user's first message as sent by versions that do not record sent messages."""
    before = [_text(f"{REMARK}\n")] * attachments
    return [*before, _text(f"{REMARK}\n\n"), *content]


def is_reminder(attachment: Fields) -> bool:
    return text(attachment.get("type")).endswith(_KIND)


def is_remark(block: Fields) -> bool:
    """Return True if a block was added by the program and holds no word of the user's."""
    return text(block.get("text")).startswith(_TAG)


def reminded(result: Fields) -> Fields:
    """Append a reminder to a tool result; a result with anything but text is returned unchanged."""
    content = result.get("content")
    if not isinstance(content, str):
        return result
    said = content.strip()
    return {**result, "content": f"{said}\n\n{REMARK}" if said else REMARK}


def _text(said: str) -> Fields:
    return {"type": "text", "text": said}
