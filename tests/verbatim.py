"""Whether what a memory message or a recall block quotes stands in the posted messages.

Quotes are entries `[number role] text`, one a message; `[...]` on a line of its own stands where
text was left out, and a code fence may be closed and opened again around a piece. Quoted text may
itself hold such lines, so every way of reading a quote is tried before it counts as untrue.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

OPENING, CLOSING = "<context_memory>", "</context_memory>"
BLOCK_OPENING, BLOCK_CLOSING = "<recalled_context>", "</recalled_context>"
RECORD = re.compile(
    r"Record of this conversation's earlier messages \(up to number (\d+)\), "
    r"compressed from the original\. It is a record, not an instruction\."
)
OUTLINE, RULES, EXCERPTS = (
    "Outline [message numbers]:",
    "Standing requests, verbatim:",
    "Excerpts, verbatim:",
)
_PREAMBLE_ENDS = ("</system-reminder>", "</environment_context>", "</INSTRUCTIONS>")
_BLOCK = re.compile(
    r"(?:# AGENTS\.md instructions[^\n]*\n\s*)?"
    r"<(?:system-reminder|environment_context|INSTRUCTIONS)\b[^<>]*>.*?"
    r"</(?:system-reminder|environment_context|INSTRUCTIONS)>",
    re.DOTALL,
)
_LABEL = re.compile(r"^\[(\d+) (\w+)\] ", re.MULTILINE)
_LINE = re.compile(r"^ *- \[(\d+)(?:-(\d+))?\] ", re.MULTILINE)
_GAP = "\n[...]\n"
_FENCES = ("```", "~~~")


def after_preamble(text: str) -> str | None:
    """The memory text behind the client's standing context; None where there is no memory text."""
    before, opening, rest = text.partition(f"{OPENING}\n")
    if not opening or not rest.endswith(CLOSING):
        return None
    closed = before.rstrip().endswith(_PREAMBLE_ENDS)
    return opening + rest if closed or not before.strip() else None


def preamble_of(text: str, posted: Sequence[dict[str, Any]]) -> list[str]:
    """What is wrong with the part of a memory message before its memory text: it stands in the
    client's first messages, letter for letter."""
    before = text[: len(text) - len(after_preamble(text) or "")]
    texts = [part["text"] for message in posted for part in _text_parts(message)]
    blocks = _BLOCK.findall(before)
    found = [] if not _BLOCK.sub("", before).strip() else ["the preamble holds more than blocks"]
    lost = [block for block in blocks if not any(block in text for text in texts)]
    return found + [f"a preamble block is not as posted: {block[:60]!r}" for block in lost]


def _text_parts(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    if isinstance(content, list):
        return [part for part in content if isinstance(part.get("text"), str)]
    return [{"text": content or ""}]


def in_memory(text: str, posted: Sequence[dict[str, Any]], quotable: range) -> list[str]:
    """What is wrong with a memory message's text. `quotable`: numbers of the messages that it may
    quote; the outline may speak of those before them, too."""
    head, _, rest = text.removeprefix(f"{OPENING}\n").partition("\n")
    record = RECORD.fullmatch(head)
    if not record or not text.endswith(CLOSING) or not text.startswith(f"{OPENING}\n"):
        return ["the memory message has not its form"]
    found = [] if int(record[1]) in quotable else ["the record line names a message that is sent"]
    rest = f"\n{rest}".removesuffix(CLOSING).removesuffix("\n")
    rest, excerpts = _section(rest, EXCERPTS)
    rest, rules = _section(rest, RULES)
    rest, outline = _section(rest, OUTLINE)
    if rest:
        found.append(f"the memory message holds {rest[:60]!r} outside of its sections")
    for match in _LINE.finditer(outline):
        if not all(int(number) < quotable.stop for number in match.groups() if number):
            found.append(f"the outline speaks of message {match[0].strip()}")
    return found + in_quotes(rules, posted, quotable) + in_quotes(excerpts, posted, quotable)


def in_block(text: str, posted: Sequence[dict[str, Any]], quotable: range) -> list[str]:
    """What is wrong with a recall block."""
    lines = text.split("\n")
    if len(lines) < 4 or lines[0] != BLOCK_OPENING or lines[-1] != BLOCK_CLOSING:
        return ["a recall block has not its form"]
    return in_quotes("\n".join(lines[2:-1]), posted, quotable)


def in_quotes(text: str, posted: Sequence[dict[str, Any]], quotable: range) -> list[str]:
    """What is wrong with the entries of `text`."""
    if not text:
        return []
    labels = list(_LABEL.finditer(text))
    if not labels or labels[0].start():
        return [f"a quote without a label: {text[:60]!r}"]
    ends = [match.start() - 1 for match in labels[1:]] + [len(text)]
    at, last = 0, -1
    while at < len(labels):
        number, role = int(labels[at][1]), labels[at][2]
        if number not in quotable or posted[number].get("role") != role or number <= last:
            return [f"a quote has a wrong label: {labels[at][0]!r}"]
        texts = _texts(posted[number])
        whole = (
            end
            for end in range(at, len(labels))
            if _told(text[labels[at].end() : ends[end]], texts)
        )
        end = next(whole, None)
        if end is None:
            piece = text[labels[at].end() : ends[at]]
            return [f"not what message {number} says: {piece[:80]!r}"]
        at, last = end + 1, number
    return []


def _section(text: str, title: str) -> tuple[str, str]:
    """What stands before a section, and in it."""
    before, _, inside = text.partition(f"\n{title}\n")
    return before, inside


def _texts(message: dict[str, Any]) -> list[str]:
    """The texts of a message that may be quoted: its words, and the arguments of each call."""
    content = message.get("content")
    if isinstance(content, list):
        content = "".join(part["text"] for part in content if isinstance(part.get("text"), str))
    bodies = [
        call.get("function") or call.get("custom") for call in message.get("tool_calls") or ()
    ]
    bodies.append(message.get("function_call"))
    arguments = [body.get("arguments", body.get("input")) for body in bodies if body]
    return [one for one in (content, *arguments) if isinstance(one, str)]


def _told(quote: str, texts: Sequence[str]) -> bool:
    """Whether the quote is made of pieces of the texts, with a mark between each two."""
    gaps = [match.start() for match in re.finditer(re.escape(_GAP), quote)]
    starts, ends = [0, *(gap + len(_GAP) for gap in gaps)], [*gaps, len(quote)]
    reached = {0}
    for at, start in enumerate(starts):
        if at in reached:
            for end in range(at, len(ends)):
                if _stands(quote[start : ends[end]], texts):
                    reached.add(end + 1)
    return len(starts) in reached


def _stands(piece: str, texts: Sequence[str]) -> bool:
    """Whether the piece stands in a text as it is, or without the fences put around it."""
    forms = [piece]
    forms += [piece[len(fence) + 1 :] for fence in _FENCES if piece.startswith(f"{fence}\n")]
    forms += [
        form.removesuffix(f"\n{fence}")
        for form in forms
        for fence in _FENCES
        if form.endswith(f"\n{fence}")
    ]
    return any(form.strip() and form in text for form in forms for text in texts)
