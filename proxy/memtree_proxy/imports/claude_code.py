"""Sessions of Claude Code (`~/.claude/projects/PROJECT/SESSION.jsonl`).

The lines are a tree: each names its parent. Several lines make up one assistant message, and
results of parallel calls are children of different lines of it, so the path back from the last line
does not visit them all. A compaction begins a new root that names the line before it; messages that
it keeps follow its summary, though their own lines may name the parents of before. Left out: work
of other agents (side chains), thoughts, the program's own error notes, and lines that were never
sent.

Messages are assembled as the program does before it sends them, and read like those of a live
request, so that the conversation has the same address: results stand in the order in which they
arrived, and the user's lines without an answer between them are one message. Messages to which the
program adds reminders are in the session a second time, as they were sent.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

import msgspec

from memtree.dialects import messages_blocks
from memtree.errors import BadRequest
from memtree_proxy.imports.blocks import image_part
from memtree_proxy.imports.conversation import (
    Conversation,
    Fields,
    branch,
    fields,
    listed,
    moment,
    newest,
    paired,
    raw_message,
    text,
    titled,
)

_SENT = "api-request-blob"
_REMARK = "<system-reminder>"  # begins a block that the program added, without a word of the user's
_TITLES = {"custom-title": "customTitle", "ai-title": "aiTitle"}


def read(lines: Sequence[Fields], id_: str, whole: bool) -> Conversation:
    """Read a session. `id_`: its id if no line names one. `whole`: include the messages before
    compactions."""
    unique = {text(line.get("uuid")) or str(at): line for at, line in enumerate(lines)}
    spoken = {key: line for key, line in unique.items() if _sent(line)}
    main = {key: line for key, line in spoken.items() if line.get("isSidechain") is not True}
    main = main or spoken
    order = [key for key, line in unique.items() if key in main or _is_boundary(line)]
    path, notes = branch(*_linked(unique, main, whole), order) if main else ([], ())
    chosen = [main[key] for key in path if key in main]
    posted = _messages(chosen, main, unique)
    made = paired(part for message in posted for part in _canonical(message))
    everything = branch(*_linked(unique, main, True), order)[0] if main and not whole else path
    dropped = sum(key in main for key in everything) - len(chosen)
    times = [line["timestamp"] for line in main.values() if text(line.get("timestamp"))]
    ids = [line["sessionId"] for line in main.values() if text(line.get("sessionId"))]
    return Conversation(
        "claude-code",
        ids[0] if ids else id_,
        titled(_title(lines), _of_people(made)),
        moment(times[-1] if times else ""),
        tuple(made),
        dropped,
        notes=notes,
    )


def _is_boundary(line: Fields) -> bool:
    return line.get("type") == "system" and line.get("subtype") == "compact_boundary"


def _linked(
    unique: dict[str, Fields], main: dict[str, Fields], whole: bool
) -> tuple[str, dict[str, str]]:
    """Return the last line of the conversation, and the parents as the program links them when it
    loads a session: messages kept by the newest compaction stand behind its summary. `whole`: a
    compaction is no root."""
    parents = {key: text(line.get("parentUuid")) for key, line in unique.items()}
    boundaries = [key for key, line in unique.items() if _is_boundary(line)]
    kept, anchor = _kept(unique[boundaries[-1]], parents) if boundaries else ([], "")
    if kept:
        anchor = anchor if anchor in parents else boundaries[-1]
        inside = {anchor, *kept}
        behind = [key for key, parent in parents.items() if parent == anchor and key not in inside]
        parents.update(dict.fromkeys(behind, kept[-1]))
        parents.update(zip(kept, [anchor, *kept], strict=False))
    for key in boundaries:
        before = text(unique[key].get("logicalParentUuid"))
        parents[key] = (parents[key] or before) if whole else ""
    return newest(list(main), parents), parents


def _kept(boundary: Fields, parents: dict[str, str]) -> tuple[list[str], str]:
    """Return the lines that a compaction keeps, in their order, and the one that they follow."""
    notes = fields(boundary.get("compactMetadata"))
    messages = fields(notes.get("preservedMessages"))
    segment = fields(notes.get("preservedSegment"))
    anchor = text(messages.get("anchorUuid")) or text(segment.get("anchorUuid"))
    named = messages.get("uuids")
    if isinstance(named, list):
        kept = list(dict.fromkeys(filter(None, map(text, named))))
    else:
        path, _ = branch(text(segment.get("tailUuid")), parents, ())
        head = text(segment.get("headUuid"))
        kept = path[path.index(head) :] if head in path else []
    return [key for key in kept if key in parents and key != anchor], anchor


def _of_people(messages: Iterable[Fields]) -> list[Fields]:
    """Return the user's messages without the blocks that the program added."""
    return [
        {
            "role": "user",
            "content": [
                part
                for part in listed(message["content"])
                if not text(part.get("text")).startswith(_REMARK)
            ],
        }
        for message in messages
        if message["role"] == "user"
    ]


def _sent(line: Fields) -> bool:
    if line.get("type") not in ("user", "assistant"):
        return False
    return line.get("isApiErrorMessage") is not True and isinstance(line.get("message"), dict)


def _title(lines: Sequence[Fields]) -> str:
    """Return the newest title; a title that the user gave takes precedence."""
    for kind, field in _TITLES.items():
        given = [text(line.get(field)) for line in lines if line.get("type") == kind]
        if given and given[-1]:
            return given[-1]
    return ""


def _messages(
    chain: Sequence[Fields], main: dict[str, Fields], unique: dict[str, Fields]
) -> list[Fields]:
    """Return Anthropic messages: lines of one message joined, each followed by its calls' results.
    A result whose call was lost stands where its line does."""
    parts: dict[str, list[Fields]] = {}
    results: dict[str, tuple[int, Fields]] = {}
    for at, line in enumerate(main.values()):
        blocks = _blocks(fields(line.get("message")))
        if line.get("type") == "assistant":
            parts.setdefault(_message_id(line), []).extend(blocks)
        else:
            results.update(
                (text(block.get("tool_use_id")), (at, block))
                for block in blocks
                if block.get("type") == "tool_result"
            )
    calls = {text(block.get("id")) for content in parts.values() for block in content
             if block.get("type") == "tool_use"}  # fmt: skip
    made = _Made()
    done: set[str] = set()
    for line in chain:
        if line.get("type") != "assistant":
            content = [
                block
                for block in _blocks(fields(line.get("message")))
                if block.get("type") != "tool_result" or text(block.get("tool_use_id")) not in calls
            ]
            made.of_user(content, apart=text(line.get("parentUuid")) not in unique)
        elif _message_id(line) not in done:
            done.add(_message_id(line))
            content = parts[_message_id(line)]
            if content:
                made.messages.append({"role": "assistant", "content": list(content)})
            used = [text(block.get("id")) for block in content if block.get("type") == "tool_use"]
            # Use each result once: in a hostile file ten thousand calls name one large result.
            answers = [results.pop(id_) for id_ in used if id_ in results]
            made.of_user([block for _, block in sorted(answers, key=lambda answer: answer[0])])
    sent = SentMessages(unique.values())
    for message in made.messages:
        if message["role"] == "user":
            message["content"] = sent.content(message["content"])
    return made.messages


class _Made:
    """Messages built so far; consecutive texts of the user are joined, as the program does."""

    def __init__(self) -> None:
        self.messages: list[Fields] = []

    def of_user(self, content: list[Fields], apart: bool = False) -> None:
        """Add to the last message of the user. `apart`: what stood between may be lost."""
        if not content:
            return
        if apart or not self.messages or self.messages[-1]["role"] != "user":
            self.messages.append({"role": "user", "content": []})
        known: list[Fields] = self.messages[-1]["content"]
        if known and known[-1].get("type") == content[0].get("type") == "text":
            known[-1] = {**known[-1], "text": text(known[-1].get("text")) + "\n"}
        known += content


class SentMessages:
    """Changed messages, in the form in which the program recorded that it sent them."""

    def __init__(self, lines: Iterable[Fields]) -> None:
        self._found: dict[str, deque[list[Fields]]] = {}
        seen: set[str] = set()
        for line in lines:
            if line.get("type") != _SENT or text(line.get("hash")) in seen:
                continue
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


def _message_id(line: Fields) -> str:
    return text(fields(line.get("message")).get("id")) or text(line.get("uuid"))


def _blocks(message: Fields) -> list[Fields]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return [block for block in listed(content) if _is_sent(block)]


def _is_sent(block: Fields) -> bool:
    kind = block.get("type")
    if kind == "text":
        return bool(text(block.get("text")))
    return isinstance(kind, str) and kind not in messages_blocks.THINKING


def _canonical(posted: Fields) -> list[Fields]:
    """Convert a message to canonical messages; none if no request can have held it."""
    raw = raw_message(posted)
    try:
        read = messages_blocks.read(raw, "")
    except BadRequest:
        return []
    made: list[Fields] = [msgspec.json.decode(message.raw or raw) for message in read.messages]
    for message in made:
        message.pop("reasoning_content", None)
        message["content"] = _content(message)
    return made


def _content(message: Fields) -> object:
    """Return the content with images in chat form, and with text alone joined into a string except
    in user messages."""
    content = message.get("content")
    if not isinstance(content, list):
        return content
    parts = [image_part(part) if part.get("type") == "image" else part for part in content]
    if message["role"] == "user" or any(part.get("type") != "text" for part in parts):
        return parts
    return "".join(part["text"] for part in parts)
