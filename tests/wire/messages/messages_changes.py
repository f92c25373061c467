"""Rules for what memory may change about a Messages request: `changed(posted, sent)` names all
else.

    user       [leading context of the first message] [memory text] [blocks of a kept user message]
    system     the messages behind the first user message, later ones that change tools
    ...        rounds that load tools, then the kept rounds as they were posted

Of kept messages the thinking may be missing, oldest first, and a block of text may stand before
the text of the newest user message. What the client got wrong itself is not held against us.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from memtree.history.json_body import OWN_FIELDS
from tests.wire.messages.messages_blocks import THINKING
from tests.wire.messages.messages_match import SEAM, MatchedMessage, dump, match, sent_places
from tests.wire.messages.messages_rules import MEMORY, blocks, broken, markers, of_type
from tests.wire.rule_break import Fields, RuleBreak

_SUFFIX = re.compile(r":memory(?:-[0-9]{1,9})?(?=:|$)")
_REMINDER = re.compile(r"\s*<system-reminder>.*</system-reminder>\s*", re.DOTALL)


def changed(posted: Fields, sent: Fields, betas: Collection[str] = ()) -> list[RuleBreak]:
    """Every rule that `sent` breaks and `posted` does not, and every change that is not ours to
    make."""
    found = added_breaks(broken(posted, betas), broken(sent, betas))
    found += changed_fields(posted, sent, {"messages", "tools"})
    found += _changed_tools(posted, sent)
    if dump(posted.get("messages")) == dump(sent.get("messages")):
        return found
    matched = match(posted["messages"], sent["messages"])
    found += _changed_history(posted, sent, matched)
    found += _changed_thinking(posted, sent, matched)
    found += _changed_context(posted["messages"], sent["messages"], matched)
    found += _changed_markers(posted, sent, matched)
    return found


def added_breaks(before: list[RuleBreak], after: list[RuleBreak]) -> list[RuleBreak]:
    """Return what is ours alone is never the client's."""
    own = Counter(one.rule for one in before if not one.rule.startswith("own-"))
    found = []
    for one in after:
        if own[one.rule] > 0:
            own[one.rule] -= 1
        else:
            found.append(one)
    return found


def changed_fields(posted: Fields, sent: Fields, apart: Collection[str]) -> Iterator[RuleBreak]:
    for name in sorted(set(sent) - set(posted) - set(apart)):
        yield RuleBreak("field-added", name)
    for name, value in posted.items():
        if name in OWN_FIELDS or name in apart:
            continue
        if name == "model" and isinstance(value, str):
            value = _SUFFIX.sub("", value, count=1)
        if name not in sent:
            yield RuleBreak("field-lost", name)
        elif dump(sent[name]) != dump(value):
            yield RuleBreak("field-changed", name)


def _changed_tools(posted: Fields, sent: Fields) -> Iterator[RuleBreak]:
    """Ours may stand behind the client's."""
    before, after = posted.get("tools") or [], sent.get("tools") or []
    if dump(after[: len(before)]) != dump(before):
        yield RuleBreak("tools-changed", "tools")


# ---------------------------------------------------------------- what may be wrong


def _changed_history(
    posted: Fields, sent: Fields, matched: Mapping[int, MatchedMessage]
) -> Iterator[RuleBreak]:
    """Memory in the first message, once; then posted messages, the kept ones without a gap."""
    before, after = posted["messages"], sent["messages"]
    texts = [str(block.get("text", "")) for m in after for block in blocks(m)]
    known = {str(block.get("text", "")) for m in before for block in blocks(m)}
    memories = [one for one in texts if MEMORY in one and one not in known]
    folded = len(sent_places(matched)) < len(before)
    if len(memories) > 1:
        yield RuleBreak("memory-twice", "messages")
    for index in range(len(after)):
        if index not in matched and index:
            yield RuleBreak("message-not-posted", f"messages[{index}]")
    last, merged = matched.get(len(after) - 1), _merged(before, after, matched)
    newest = max((i for i, m in enumerate(before) if m.get("role") == "user"), default=0)
    if last is None and len(after) > 1:
        yield RuleBreak("newest-lost", f"messages[{len(after) - 1}]")
    if len(after) > 1 and newest not in {*sent_places(matched), merged}:
        yield RuleBreak("newest-lost", f"messages[{newest}]")
    if folded:
        yield from _gaps(before, matched, merged=merged)
    for index, one in matched.items():
        yield from _misplaced(after[index], one, f"messages[{index}]")


def _merged(
    posted: Sequence[Fields], sent: Sequence[Fields], matched: Mapping[int, MatchedMessage]
) -> int | None:
    """The posted user message whose blocks stand behind the memory text, where there is one."""
    kept = sent_places(matched)
    for place in range(len(posted) - 1, -1, -1):
        user = posted[place].get("role") == "user" and place not in kept
        if 0 not in matched and user and _ends_with(sent[0], posted[place]):
            return place
    return None


def _ends_with(sent: Fields, own: Fields) -> bool:
    if isinstance(sent.get("content"), str) and isinstance(own.get("content"), str):
        return str(sent["content"]).endswith(SEAM + own["content"])
    last = [dump(block) for block in blocks(own)]
    return bool(last) and [dump(block) for block in blocks(sent)][-len(last) :] == last


def _gaps(
    posted: Sequence[Fields], matched: Mapping[int, MatchedMessage], merged: int | None
) -> Iterator[RuleBreak]:
    kept = sent_places(matched) | ({merged} if merged is not None else set())
    free = [i for i in kept if posted[i].get("role") == "system" or _loads(posted, i)]
    start = min((i for i in kept if i not in free), default=len(posted))
    for index in range(start, len(posted)):
        empty = all(block.get("type") in THINKING for block in blocks(posted[index]))
        if index not in kept and not empty:
            yield RuleBreak("history-gap", f"messages[{index}]")


def _loads(posted: Sequence[Fields], index: int) -> bool:
    """Return True if the message is of a round that loads tools."""
    near = posted[index : index + 2] if posted[index]["role"] == "assistant" else [posted[index]]
    return any(loaded_by(message) for message in near)


def loaded_by(message: Fields) -> set[str]:
    inside = [r.get("content") for r in of_type(message, "tool_result")]
    parts = [part for content in inside if isinstance(content, list) for part in content]
    return {str(p["tool_name"]) for p in parts if p.get("type") == "tool_reference"}


def _misplaced(message: Fields, one: MatchedMessage, where: str) -> Iterator[RuleBreak]:
    """A block of ours stands behind all results and before the first text."""
    if not one.added or isinstance(message.get("content"), str):
        return
    kinds = [(block in one.added, block.get("type")) for block in blocks(message)]
    first = kinds.index((True, "text"))
    if any(kind == "tool_result" for _, kind in kinds[first:]):
        yield RuleBreak("recall-misplaced", where)
    if any(not ours and kind == "text" for ours, kind in kinds[:first]):
        yield RuleBreak("recall-misplaced", where)


def _changed_thinking(
    posted: Fields, sent: Fields, matched: Mapping[int, MatchedMessage]
) -> Iterator[RuleBreak]:
    """Thinking is sent as posted or not at all, and nothing is missing behind what is sent."""
    enabled = (posted.get("thinking") or {}).get("type") == "enabled"
    begun = False
    for index in sorted(matched):
        own = of_type(posted["messages"][matched[index].posted], *THINKING)
        mine = of_type(sent["messages"][index], *THINKING)
        where = f"messages[{index}]"
        if not all(block in own for block in mine):
            yield RuleBreak("thinking-changed", where)
        if enabled and len(mine) < len(own):
            yield RuleBreak("thinking-lost", where)
        if begun and len(mine) < len(own):
            yield RuleBreak("thinking-window", where)
        if mine and dump(mine) != dump(own[len(own) - len(mine) :]):
            yield RuleBreak("thinking-window", where)
        begun = begun or bool(mine)


def _changed_context(
    posted: Sequence[Fields], sent: Sequence[Fields], matched: Mapping[int, MatchedMessage]
) -> Iterator[RuleBreak]:
    """Return changes of what stays in view although its messages are folded."""
    kept = sent_places(matched)
    leading = [b for b in blocks(posted[0]) if _REMINDER.fullmatch(str(b.get("text", "")))]
    view = [str(block.get("text")) for block in blocks(sent[0])]
    if any(str(block["text"]) not in "\n".join(view) for block in leading):
        yield RuleBreak("preamble-lost", "messages[0]")
    standing = True
    for index, message in enumerate(posted[1:], 1):
        system = message.get("role") == "system"
        standing = standing and system
        changes = bool(of_type(message, "tool_addition", "tool_removal")) and system
        if index not in kept and (standing or changes):
            yield RuleBreak("system-message-lost", f"messages[{index}]")
    loaded = {name for message in posted for name in loaded_by(message)}
    if loaded - {name for message in sent for name in loaded_by(message)}:
        yield RuleBreak("tool-load-lost", "messages")


def _changed_markers(
    posted: Fields, sent: Fields, matched: Mapping[int, MatchedMessage]
) -> Iterator[RuleBreak]:
    """One more at most, and not on a system message, where it is never read."""
    before, after = len(list(markers(posted))), len(list(markers(sent)))
    if after > before + 1:
        yield RuleBreak("markers-added", "messages")
    for index, message in enumerate(sent["messages"]):
        mine = len(list(markers({"messages": [message]})))
        known = matched.get(index)
        sources = [known.posted, known.results] if known else []
        own = [
            marker
            for place in sources
            if place is not None
            for marker in markers({"messages": [posted["messages"][place]]})
        ]
        where = f"messages[{index}]"
        if mine > len(own) and not before:
            yield RuleBreak("marker-not-asked-for", where)
        if mine > len(own) and message["role"] == "system":
            yield RuleBreak("marker-on-system", where)
