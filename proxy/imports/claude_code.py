"""Sessions of Claude Code (`~/.claude/projects/PROJECT/SESSION.jsonl`).

The lines are a tree: each names its parent. Several lines make up one message of the assistant, and
the results of parallel calls hang on different lines of it, so the way back from the last line does
not pass them all. A compaction begins a new root that names the line before it. Left out: what
other agents did (side chains), thoughts, error notes of the program's own, and what was never sent.
"""

from __future__ import annotations

from collections.abc import Sequence

from proxy.imports import blocks
from proxy.imports.conversation import Conversation, Fields, fields, listed, moment, text, titled
from proxy.imports.pairing import paired

_TITLES = ("custom-title", "ai-title", "summary")
_TITLE_FIELDS = ("customTitle", "aiTitle", "summary")


def read(lines: Sequence[Fields], id_: str, whole: bool) -> Conversation:
    """`id_`: of the session where no line names it."""
    unique = {text(one.get("uuid")) or str(at): one for at, one in enumerate(lines)}
    spoken = [one for one in unique.values() if _sent(one)]
    main = [one for one in spoken if one.get("isSidechain") is not True] or spoken
    members = {id(one) for one in main}
    by_uuid = {text(one["uuid"]): one for one in unique.values() if one.get("uuid")}
    chain = _chain(main[-1], by_uuid, whole) if main else []
    chosen = [one for one in chain if id(one) in members]
    made = paired(blocks.converted(_messages(chosen, main), blocks.CLAUDE))
    everything = _chain(main[-1], by_uuid, True) if main else []
    dropped = sum(id(one) in members for one in everything) - len(chosen)
    last = next((text(one["timestamp"]) for one in reversed(main) if one.get("timestamp")), "")
    session = next((text(one["sessionId"]) for one in main if one.get("sessionId")), id_)
    return Conversation(
        "claude-code", session, titled(_title(lines), made), moment(last), tuple(made), dropped
    )


def _sent(line: Fields) -> bool:
    if line.get("type") not in ("user", "assistant"):
        return False
    return line.get("isApiErrorMessage") is not True and isinstance(line.get("message"), dict)


def _title(lines: Sequence[Fields]) -> str:
    """The newest title, one that the user gave before others."""
    for kind, field in zip(_TITLES, _TITLE_FIELDS, strict=True):
        given = [text(one.get(field)) for one in lines if one.get("type") == kind]
        if given and given[-1]:
            return given[-1]
    return ""


def _chain(leaf: Fields, by_uuid: dict[str, Fields], whole: bool) -> list[Fields]:
    """The lines from the root to `leaf`; over compactions where `whole`."""
    found: list[Fields] = []
    met: set[str] = set()
    line: Fields | None = leaf
    while line is not None and text(line.get("uuid")) not in met:
        found.append(line)
        met.add(text(line.get("uuid")))
        parent = text(line.get("parentUuid"))
        if not parent and whole:
            parent = text(line.get("logicalParentUuid"))
        line = by_uuid.get(parent)
    return found[::-1]


def _messages(chain: Sequence[Fields], main: Sequence[Fields]) -> list[Fields]:
    """Anthropic messages: lines of one message joined, results of its calls directly behind it."""
    parts: dict[str, list[Fields]] = {}
    results: dict[str, list[Fields]] = {}
    for line in main:
        message = fields(line.get("message"))
        if line.get("type") == "assistant":
            parts.setdefault(_message_id(line), []).extend(_blocks(message))
        else:
            for block in _blocks(message):
                if block.get("type") == "tool_result":
                    results.setdefault(text(block.get("tool_use_id")), []).append(block)
    made: list[Fields] = []
    done: set[str] = set()
    for line in chain:
        if line.get("type") != "assistant":
            made += _of_user(line)
            continue
        if _message_id(line) in done:
            continue
        done.add(_message_id(line))
        content = parts[_message_id(line)]
        made.append({"role": "assistant", "content": content})
        used = [text(one.get("id")) for one in content if one.get("type") == "tool_use"]
        answers = [results[id_][-1] for id_ in used if id_ in results]
        if answers:
            made.append({"role": "user", "content": answers})
    return [one for one in made if one["content"]]


def _of_user(line: Fields) -> list[Fields]:
    """What the user said; results have gone to their calls already."""
    message = fields(line.get("message"))
    content = [one for one in _blocks(message) if one.get("type") != "tool_result"]
    return [{"role": "user", "content": content}]


def _message_id(line: Fields) -> str:
    return text(fields(line.get("message")).get("id")) or text(line.get("uuid"))


def _blocks(message: Fields) -> list[Fields]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return [
        one for one in listed(content) if one.get("type") not in ("thinking", "redacted_thinking")
    ]
