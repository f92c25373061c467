"""A strict look at a chat request that went to the model, beside the one that was posted.

`problems` takes both bodies as objects, `problems_of_bytes` as they went over the wire. What a
client got wrong itself (an unanswered call, user after user) is not held against us where it
comes through unchanged. The form of an answer, as API section 1 and CLIENTS have it:

    system messages before the cut | [first message] | memory message | [line] | rounds behind it

`[first message]` with `keep_first`, `[line]`: an assistant message of ours, with `alternate`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import msgspec

from memtree.history.json_body import OWN_FIELDS
from tests import verbatim

Fields = dict[str, Any]

ROLES = {"system", "developer", "user", "assistant", "tool", "function"}
SYSTEM, ANSWERING = {"system", "developer"}, {"tool", "function"}
MOST_MARKERS = 4
LONGEST_LINE = 200  # characters of the assistant message of ours
_SUFFIX = re.compile(r":memory(?:-[0-9]{1,9})?(?=:|$)")
_SEAM = "\n\n"


def problems(
    posted_body: Fields,
    sent_body: Fields,
    *,
    alternate: bool = False,
    keep_first: bool = False,
    bare: bool = False,
) -> list[str]:
    """Everything that is wrong with what was sent, one line each; empty where all is well.

    `bare`: the newest round fills the target alone, so older ones may go without a memory message.
    """
    found = [*_broken_json(sent_body), *_broken_fields(posted_body, sent_body)]
    posted, sent = posted_body.get("messages"), sent_body.get("messages")
    if not isinstance(sent, list) or not sent or not all(isinstance(m, dict) for m in sent):
        return [*found, "messages is no list of messages"]
    if _same(posted, sent):
        return found
    assert isinstance(posted, list), "what no one can read goes on as it came"
    parts = _Parts.of(posted, sent, alternate)
    found += _broken_roles(sent)
    found += _broken_pairs(posted, sent)
    found += _broken_front(posted, parts, alternate=alternate, keep_first=keep_first)
    found += _broken_memory(posted, parts, bare)
    found += _broken_rounds(posted, parts)
    found += _broken_markers(posted_body, sent_body, parts)
    if alternate:
        found += _broken_turns(sent, parts)
    return found


def problems_of_bytes(posted: bytes, sent: bytes, **options: Any) -> list[str]:
    """Return the problems, and the bytes of all that is kept."""
    try:
        bodies = [json.loads(raw.decode(), object_pairs_hook=_once) for raw in (posted, sent)]
    except ValueError as error:
        return [f"no JSON object in UTF-8 without double keys: {error}"]
    before, after = (
        msgspec.json.decode(raw, type=dict[str, msgspec.Raw]) for raw in (posted, sent)
    )
    found = problems(*bodies, **options)
    for name in after:
        if name not in ("messages", "model") and bytes(after[name]) != bytes(before.get(name, b"")):
            found.append(f"{name} has other bytes than posted")
    raws = [[bytes(one) for one in msgspec.json.decode(b["messages"], type=list[msgspec.Raw])]
            for b in (before, after)]  # fmt: skip
    known = set(raws[0])
    objects = [json.dumps(one) for one in bodies[0]["messages"]]
    for raw, one in zip(raws[1], bodies[1]["messages"], strict=True):
        if raw not in known and json.dumps(one) in objects:
            found.append(f"a kept message has other bytes than posted: {raw[:60]!r}")
    return found


# ---------------------------------------------------------------- the parts of an answer


@dataclass(slots=True)
class _Parts:
    """`front`: all before the memory message. `border`: number of the first posted message that
    is kept. `lines`: how many messages of ours stand between memory and `kept`."""

    front: list[Fields]
    memory: list[Fields]
    line: Fields | None
    kept: list[Fields]
    border: int

    @classmethod
    def of(cls, posted: Sequence[Fields], sent: Sequence[Fields], alternate: bool) -> _Parts:
        known = {_dump(one) for one in posted}
        places = [i for i, one in enumerate(sent) if _is_memory(one) and _dump(one) not in known]
        if places:
            at = places[0]
            front, after = list(sent[:at]), list(sent[at + 1 :])
            others = [sent[place] for place in places[1:]]
        else:
            leading = next((i for i, m in enumerate(sent) if m.get("role") not in SYSTEM), 0)
            front, after, others = list(sent[:leading]), list(sent[leading:]), []
        line = None
        if alternate and places and len(after) > 1 and _is_line(after[0]):
            border = len(posted) - len(after)
            if border < 0 or not _same(posted[border], after[0]):
                line, after = after[0], after[1:]
        memory = [sent[places[0]], *others] if places else []
        return cls(front, memory, line, after, len(posted) - len(after))


def _is_memory(message: Fields) -> bool:
    text, _ = verbatim.split_memories(_text(message.get("content")))
    return message.get("role") == "user" and verbatim.after_preamble(text) is not None


def _is_line(message: Fields) -> bool:
    content = message.get("content")
    return (
        message.get("role") == "assistant"
        and set(message) == {"role", "content"}
        and isinstance(content, str)
        and 0 < len(content.strip()) <= LONGEST_LINE
    )


def _text(content: Any) -> str:
    """The text of a content: a string, or one list of text parts."""
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _dump(value: Any) -> str:
    """Write JSON as strictly as it allows: the order of keys and 1 beside 1.0 count."""
    return json.dumps(value)


def _same(one: Any, other: Any) -> bool:
    return _dump(one) == _dump(other)


def _once(pairs: list[tuple[str, Any]]) -> Fields:
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("a key stands twice")
    return dict(pairs)


# ---------------------------------------------------------------- what may be wrong


def _broken_json(sent: Fields) -> Iterator[str]:
    try:
        json.dumps(sent, ensure_ascii=False, allow_nan=False).encode()
    except ValueError as error:  # half a surrogate pair, or not a number
        yield f"no JSON in UTF-8: {error}"


def _broken_fields(posted: Fields, sent: Fields) -> Iterator[str]:
    """Every top-level field but the messages, in its place and with its value."""
    kept = [name for name in posted if name not in OWN_FIELDS]
    for name in sorted(OWN_FIELDS & set(sent)):
        yield f"our field {name} leaks"
    for name in kept:
        if name not in sent:
            yield f"{name} is lost"
    for name in sent:
        if name not in posted:
            yield f"{name} was not posted"
    if [name for name in sent if name in kept] != [name for name in kept if name in sent]:
        yield "the fields stand in another order"
    for name in kept:
        value = posted[name]
        if name == "model" and isinstance(value, str):
            value = _SUFFIX.sub("", value, count=1)
        if name != "messages" and name in sent and not _same(value, sent[name]):
            yield f"{name} has another value than posted"


def _broken_roles(sent: Sequence[Fields]) -> Iterator[str]:
    for index, message in enumerate(sent):
        if message.get("role") not in ROLES:
            yield f"message {index} has the role {message.get('role')!r}"


def _broken_pairs(posted: Sequence[Fields], sent: Sequence[Fields]) -> Iterator[str]:
    """No orphan results and no unanswered calls but those that the client posted."""
    own = set(_unpaired(posted))
    yield from (text for back, text in _unpaired(sent) if (back, text) not in own)


def _unpaired(messages: Sequence[Fields]) -> Iterator[tuple[int, str]]:
    """(place counted from the end, what is wrong with it)."""
    waiting: Counter[tuple[str, str]] = Counter()
    asked = 0
    for index, message in enumerate(messages):
        role, back = message.get("role"), len(messages) - index
        if role in SYSTEM:
            continue
        if role in ANSWERING:
            call = _answered(message, waiting)
            if waiting[call] <= 0:
                yield back, f"an orphan {role} message {call[1]!r}, {back} from the end"
            waiting[call] -= 1
            continue
        yield from ((asked, text) for text in _unanswered(waiting, asked))
        waiting, asked = Counter(_calls(message)), back
    yield from ((asked, text) for text in _unanswered(waiting, asked))


def _answered(message: Fields, waiting: Counter[tuple[str, str]]) -> tuple[str, str]:
    """The call that a message answers; one without an id answers any."""
    role = str(message["role"])
    name = str(message.get("name" if role == "function" else "tool_call_id") or "")
    if not name:
        return next((call for call in waiting if call[0] == role and waiting[call] > 0), (role, ""))
    return role, name


def _unanswered(waiting: Counter[tuple[str, str]], back: int) -> Iterator[str]:
    for (_, name), number in waiting.items():
        if number > 0:
            yield f"no result of call {name!r}, {back} from the end"


def _calls(message: Fields) -> Iterator[tuple[str, str]]:
    for call in message.get("tool_calls") or ():
        yield "tool", str(call.get("id") or "")
    if legacy := message.get("function_call"):
        yield "function", str(legacy.get("name", ""))


def _broken_front(
    posted: Sequence[Fields], parts: _Parts, *, alternate: bool, keep_first: bool
) -> Iterator[str]:
    """System messages before the cut as posted, then the first message where it may stand."""
    early = posted[: max(0, parts.border)]
    system = [one for one in early if one.get("role") in SYSTEM]
    if not _same(parts.front[: len(system)], system):
        yield "the system messages are not those that were posted"
    rest = parts.front[len(system) :]
    first = next((one for one in early if one.get("role") not in SYSTEM), None)
    if rest and keep_first and first and first["role"] == "user" and _same(rest[0], first):
        rest = rest[1:]
        if alternate and rest and _is_line(rest[0]):
            rest = rest[1:]
    for one in rest:
        yield f"before the memory message stands {_dump(one)[:80]}"


def _broken_memory(posted: Sequence[Fields], parts: _Parts, bare: bool) -> Iterator[str]:
    """Exactly one memory message, of its form, that tells the truth."""
    if len(parts.memory) > 1:
        yield "more than one memory message"
    if not parts.memory:
        if not bare and parts.border > sum(one.get("role") in SYSTEM for one in parts.front):
            yield "messages are left out, and there is no memory message"
        return
    memory = parts.memory[0]
    content = memory.get("content")
    if list(memory) != ["role", "content"]:
        yield f"the memory message has the fields {sorted(memory)}"
    if isinstance(content, list):
        keys = [set(part) - {"cache_control"} for part in content]
        texts = all(key == {"type", "text"} for key in keys)
        if not texts or not content[-1]["text"].startswith(verbatim.OPENING):
            yield "the memory message is no string and no list of text parts"
            return
    text, _ = verbatim.split_memories(_text(content))
    yield from verbatim.preamble_of(text, posted)
    memory_text = verbatim.after_preamble(text) or ""
    yield from verbatim.in_memory(memory_text, posted, _quotable(posted, parts))


def _quotable(posted: Sequence[Fields], parts: _Parts) -> range:
    """Numbers of the messages that are not sent whole."""
    first = next((i for i, one in enumerate(posted) if one.get("role") not in SYSTEM), 0)
    front = [_dump(one) for one in parts.front if one.get("role") not in SYSTEM]
    return range(first + bool(front), max(0, parts.border))


def _broken_rounds(posted: Sequence[Fields], parts: _Parts) -> Iterator[str]:
    """Whole rounds as posted up to the newest message; recall blocks are taken off."""
    if parts.border < 0:
        yield "more messages are sent than were posted"
        return
    newest = len(parts.kept) - 1
    for at, (one, original) in enumerate(zip(parts.kept, posted[parts.border :], strict=True)):
        block, rest = _unblocked(one, original)
        if not _same(rest, original):
            what = "the newest message" if at == newest else "a kept message"
            yield f"{what} is not as posted: {_dump(rest)[:80]}"
        elif block is not None:
            block, lines = verbatim.split_memories(block)
            if lines and not block:
                continue
            yield from verbatim.in_block(block, posted, _quotable(posted, parts))
    if not parts.kept:
        yield "the newest message is lost"
        return
    opening = next((m for m in parts.kept if m.get("role") not in SYSTEM), None)
    if opening is None or opening.get("role") in ANSWERING:
        yield "what is kept does not begin with a round"
    elif parts.kept[0] is not opening and parts.border:
        yield "a system message before the cut stands behind the memory message"


def _unblocked(sent: Fields, posted: Fields) -> tuple[str | None, Fields]:
    """The recall block of a user message, and the message without it."""
    own, content = sent.get("content"), posted.get("content")
    if sent.get("role") != "user" or _same(own, content):
        return None, sent
    if isinstance(own, str) and isinstance(content, str) and own.endswith(_SEAM + content):
        return own.removesuffix(_SEAM + content), {**sent, "content": content}
    if isinstance(own, list) and own and isinstance(content, list):
        first = own[0]
        if list(first) == ["type", "text"] and str(first["text"]).endswith(_SEAM):
            return first["text"].removesuffix(_SEAM), {**sent, "content": own[1:]}
    return None, sent


def _broken_turns(sent: Sequence[Fields], parts: _Parts) -> Iterator[str]:
    """Nothing of ours makes a user message follow another; the client's own may."""
    ours = [*parts.front[-2:], *parts.memory[:1]]
    talk = [one for one in sent if one.get("role") not in SYSTEM]
    for one, other in pairwise(talk):
        mine = any(one is m or other is m for m in ours) or one is parts.line
        if mine and one["role"] == other["role"]:
            yield f"{one['role']} follows {other['role']} at a message of ours"
    needed = bool(parts.memory) and next(
        (one["role"] == "user" for one in parts.kept if one.get("role") not in SYSTEM), False
    )
    if parts.line is not None and not needed:
        yield "an assistant line of ours stands where none is needed"


# ---------------------------------------------------------------- cache markers


def _broken_markers(posted: Fields, sent: Fields, parts: _Parts) -> Iterator[str]:
    before, after = _markers(posted), _markers(sent)
    if len(after) > max(MOST_MARKERS, len(before)):
        yield f"{len(after)} cache markers, where {len(before)} were posted"
    if len(after) > len(before) + 1:
        yield "more than one cache marker was added"
    own = _markers({"messages": parts.memory})
    others = len(after) - len(own)
    if posted.get("cache_control"):  # the provider sets its own
        others = MOST_MARKERS
    if parts.memory and before and others < MOST_MARKERS and not own:
        yield "the memory message lacks its cache marker"
    if own and (not before or others >= MOST_MARKERS):
        yield "the memory message has a cache marker that it must not have"
    if _falling(before) and not _falling(after):
        yield "a longer ttl of a cache marker follows a shorter one"


def _markers(body: Fields) -> list[Any]:
    """Cache markers in the order of the prompt: tools, then messages."""
    found = []
    for owner in (*(body.get("tools") or ()), *body.get("messages", ())):
        if not isinstance(owner, dict):
            continue
        content = owner.get("content")
        inner = content if isinstance(content, list) else []
        places = [*inner, *(owner.get("tool_calls") or ()), owner.get("function"), owner]
        found += [one["cache_control"] for one in places
                  if isinstance(one, dict) and one.get("cache_control")]  # fmt: skip
    return found


def _falling(markers: Sequence[Any]) -> bool:
    hours = [isinstance(one, dict) and one.get("ttl") == "1h" for one in markers]
    return hours == sorted(hours, reverse=True)


# ---------------------------------------------------------------- tools of ours


def without_recall(posted: Fields, sent: Fields) -> tuple[Fields, list[str]]:
    """A request without the tools that the proxy offers and the rounds in which they were called,
    and what is wrong with these."""
    rest, found = dict(sent), []
    own = [tool for tool in sent.get("tools") or () if _tool_name(tool) in _RECALL]
    theirs = [tool for tool in sent.get("tools") or () if _tool_name(tool) not in _RECALL]
    if own:
        if not _same([*theirs, *own], sent["tools"]) or len(own) != len(_RECALL):
            found.append("our tools do not stand at the end, each once")
        if theirs or "tools" in posted:
            rest["tools"] = theirs or posted.get("tools")
        else:
            del rest["tools"]
        if "tool_choice" not in posted:
            rest.pop("tool_choice", None)
    messages = list(sent["messages"])
    while (start := _last_recall(messages)) is not None:
        asked, answers = messages[start], messages[start + 1 :]
        if [call["id"] for call in asked["tool_calls"]] != [m.get("tool_call_id") for m in answers]:
            found.append("calls of our tools are not answered in order")
        if not all(isinstance(one["content"], str) and one["content"] for one in answers):
            found.append("an answer of our tools is no text")
        messages = messages[:start]
    return {**rest, "messages": messages}, found


_RECALL = {"memory_search", "memory_read"}


def _tool_name(tool: Any) -> Any:
    return (tool.get("function") or {}).get("name") if isinstance(tool, dict) else None


def _last_recall(messages: Sequence[Fields]) -> int | None:
    """Where the last round begins, if it calls tools of ours alone."""
    at = len(messages) - 1
    while at >= 0 and messages[at].get("role") == "tool":
        at -= 1
    calls = messages[at].get("tool_calls") if 0 <= at < len(messages) - 1 else None
    if not calls or any(call["function"]["name"] not in _RECALL for call in calls):
        return None
    return at
