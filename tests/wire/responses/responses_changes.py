"""Rules for what memory may change about a Responses request: `changed(posted, sent)` names all
else.

    leading system items (up to the newest compaction) | items of standing context, with their ids |
    memory item | rounds that load tools | kept rounds, from their reasoning to the last output

A part of text may stand before the words of the newest user message.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.wire.messages.messages_changes import added_breaks, changed_fields
from tests.wire.messages.messages_match import OURS, SEAM, MatchedMessage, dump
from tests.wire.responses.responses_items import OUTPUTS, is_of_model, kind_of
from tests.wire.responses.responses_rules import MEMORY, broken
from tests.wire.rule_break import Fields, RuleBreak, texts

SYSTEM_ITEMS = ("additional_tools", "configuration_update")
CONTEXT = ("<", "# AGENTS.md")  # how the text of a part with standing context begins
LOADING = ("tool_search_call", "tool_search_output", "mcp_list_tools", "additional_tools")


def changed(
    posted: Fields, sent: Fields, needs: Mapping[str, str] | None = None
) -> list[RuleBreak]:
    """Every rule that `sent` breaks and `posted` does not, and every change that is not ours to
    make."""
    found = added_breaks(broken(posted, needs), broken(sent, needs))
    found += changed_fields(posted, sent, {"input", "tools"})
    before, after = posted.get("tools") or [], sent.get("tools") or []
    if dump(after[: len(before)]) != dump(before):
        found.append(RuleBreak("tools-changed", "tools"))
    if dump(posted.get("input")) == dump(sent.get("input")):
        return found
    own, mine = as_items(posted.get("input")), as_items(sent.get("input"))
    carried = _carried(own, mine)
    matched = {at: one for at, one in match(own, mine).items() if at not in carried}
    found += _changed_history(own, mine, matched, carried)
    found += _changed_rounds(own, {one.posted for one in matched.values()})
    found += _changed_context(own, mine, {one.posted for one in matched.values()})
    return found


def as_items(history: Any) -> list[Fields]:
    """A string is one user message."""
    return [{"role": "user", "content": history}] if isinstance(history, str) else list(history)


def is_system(item: Fields) -> bool:
    return kind_of(item) in SYSTEM_ITEMS or item.get("role") in ("system", "developer")


def match(posted: Sequence[Fields], sent: Sequence[Fields]) -> dict[int, MatchedMessage]:
    """For each item that was sent, the posted one that it is; from the end backwards. What is the
    system's may stand further in front than it was posted."""
    found: dict[int, MatchedMessage] = {}
    moved = [place for place, item in enumerate(posted) if is_system(item)]
    bound = len(posted)
    own = [dump(item) for item in posted]
    for index in range(len(sent) - 1, -1, -1):
        if is_system(sent[index]):
            if moved and dump(posted[moved[-1]]) == dump(sent[index]):
                found[index] = MatchedMessage(moved.pop(), ())
            continue
        mine = dump(sent[index])
        for place in range(bound - 1, -1, -1):
            added = () if own[place] == mine else _added(posted[place], sent[index])
            if added is not None:
                found[index], bound = MatchedMessage(place, added), place
                break
    return found


def _added(posted: Fields, sent: Fields) -> tuple[Fields, ...] | None:
    if posted.get("role") != "user" or sent.get("role") != "user":
        return None
    own, mine = posted.get("content"), sent.get("content")
    if isinstance(own, str) and isinstance(mine, str):
        fits = mine.endswith(SEAM + own) and mine.startswith(OURS)
        return ({"type": "input_text", "text": mine},) if fits else None
    if isinstance(own, list) and isinstance(mine, list):
        ours = tuple(part for part in mine if str(part.get("text", "")).startswith(OURS))
        rest = {**sent, "content": [part for part in mine if part not in ours]}
        return ours if ours and dump(rest) == dump(posted) else None
    return None


def _words(item: Fields) -> str:
    return "".join(texts(item.get("content"), ("input_text", "output_text")))


def _carried(posted: Sequence[Fields], sent: Sequence[Fields]) -> set[int]:
    """Return the items before the memory item that are posted items of the user, or the parts of
    one that hold standing context."""
    memory = next((at for at, item in enumerate(sent) if MEMORY in _words(item)), 0)
    compacted = [at for at, item in enumerate(sent) if kind_of(item) == "compaction"]
    return {
        at
        for at in range(max(compacted, default=-1) + 1, memory)
        if not is_system(sent[at]) and any(_is_context_of(sent[at], own) for own in posted)
    }


def _is_context_of(sent: Fields, posted: Fields) -> bool:
    own, mine = posted.get("content"), sent.get("content")
    if not isinstance(own, list) or not isinstance(mine, list) or posted.get("role") != "user":
        return False
    parts = iter(_unmarked(part) for part in own)
    return (
        bool(mine)
        and {**sent, "content": 0} == {**posted, "content": 0}
        and all(str(part.get("text", "")).startswith(CONTEXT) for part in mine)
        and all(part in parts for part in mine)
    )


def _unmarked(part: Fields) -> Fields:
    return {name: part[name] for name in part if name != "prompt_cache_breakpoint"}


def _changed_history(
    posted: Sequence[Fields],
    sent: Sequence[Fields],
    matched: Mapping[int, MatchedMessage],
    carried: set[int],
) -> Iterator[RuleBreak]:
    ours = [index for index in range(len(sent)) if index not in matched and index not in carried]
    memories = [index for index in ours if MEMORY in _words(sent[index])]
    if len(memories) > 1:
        yield RuleBreak("memory-twice", f"input[{memories[1]}]")
    for index in ours:
        item, where = sent[index], f"input[{index}]"
        if index not in memories:
            yield RuleBreak("item-not-posted", where)
        elif set(item) != {"type", "role", "content"} or item.get("role") != "user":
            yield RuleBreak("memory-form", where)
    if memories:
        before = [sent[index] for index in range(memories[0]) if index not in carried]
        last = max((i for i, one in enumerate(before) if kind_of(one) == "compaction"), default=-1)
        if not all(is_system(item) for item in before[last + 1 :]):
            yield RuleBreak("memory-misplaced", f"input[{memories[0]}]")
    kept = {one.posted for one in matched.values()}
    if not posted or len(posted) - 1 not in kept:
        yield RuleBreak("newest-lost", f"input[{len(posted) - 1}]")
    start = min(kept - _standing(posted), default=len(posted))
    for index in range(start, len(posted)):
        if index not in kept:
            yield RuleBreak("history-gap", f"input[{index}]")


def _standing(posted: Sequence[Fields]) -> set[int]:
    """Return the items that are sent, whatever is folded."""
    last = max((i for i, one in enumerate(posted) if kind_of(one) == "compaction"), default=-1)
    alone = {
        index
        for index, item in enumerate(posted)
        if index <= last or is_system(item) or kind_of(item) in LOADING
    }
    return alone.union(*(span for span in _together(posted) if _loads(posted, span)))


def run_of(items: Sequence[Fields], index: int) -> range:
    """The round around an item: what the model made between two inputs, and its outputs."""
    start = end = index
    while start and kind_of(items[start]) in OUTPUTS:
        start -= 1
    while start and is_of_model(items[start]) and is_of_model(items[start - 1]):
        start -= 1
    while end + 1 < len(items) and is_of_model(items[end + 1]):
        end += 1
    while end + 1 < len(items) and kind_of(items[end + 1]) in OUTPUTS:
        end += 1
    return range(start, end + 1)


def _loads(items: Sequence[Fields], span: range) -> bool:
    """Return True if one of the items loads tools."""
    return any(kind_of(items[index]) in LOADING for index in span)


def _together(items: Sequence[Fields]) -> list[range]:
    """Items that are sent together or not at all: a run of the model, a call with all up to its
    output, and what was made with one reasoning."""
    spans = [run_of(items, at) for at, item in enumerate(items) if is_of_model(item)]
    called: dict[object, int] = {}
    thought: int | None = None
    for at, item in enumerate(items):
        if kind_of(item) in OUTPUTS:
            spans.append(range(called.get(item.get("call_id"), at), at + 1))
        elif not is_of_model(item):
            thought = thought if is_system(item) else None
            continue
        elif kind_of(item) == "reasoning":
            thought = at if item.get("id") else None
        called[item.get("call_id")] = at
        if thought is not None:
            spans.append(range(thought, at + 1))
    merged: list[range] = []
    for span in sorted(spans, key=lambda one: one.start):
        if merged and span.start < merged[-1].stop:
            merged[-1] = range(merged[-1].start, max(span.stop, merged[-1].stop))
        else:
            merged.append(span)
    return merged


def _changed_rounds(posted: Sequence[Fields], kept: set[int]) -> Iterator[RuleBreak]:
    """Return rounds that are sent in part: what the model made in one go is sent whole, or not at
    all."""
    for index, item in enumerate(posted):
        if is_of_model(item):
            run = [i for i in run_of(posted, index) if is_of_model(posted[i])]
            if index not in kept and kept & set(run):
                rule = "reasoning-lost" if kind_of(item) == "reasoning" else "round-split"
                yield RuleBreak(rule, f"input[{index}]")


def _loaded(item: Fields) -> set[str]:
    """Names of the tools that the model may use because of the item."""
    loads = kind_of(item) in ("tool_search_output", "mcp_list_tools")
    return {str(tool.get("name")) for tool in item.get("tools") or ()} if loads else set()


def _changed_context(
    posted: Sequence[Fields], sent: Sequence[Fields], kept: set[int]
) -> Iterator[RuleBreak]:
    """Return changes of what stays in view although its items are folded."""
    last = max((i for i, one in enumerate(posted) if kind_of(one) == "compaction"), default=-1)
    leading = True
    loaded = set().union(*(_loaded(posted[index]) for index in kept))
    for index, item in enumerate(posted):
        leading = leading and is_system(item)
        if index in kept:
            continue
        if leading or index <= last or kind_of(item) in SYSTEM_ITEMS:
            yield RuleBreak("system-item-lost", f"input[{index}]")
        elif not _loaded(item) <= loaded:
            yield RuleBreak("tool-load-lost", f"input[{index}]")
    for index, item in enumerate(posted[:3]):
        context = "<environment_context>" in _words(item) and item.get("role") == "user"
        lost = index not in kept and not any(_is_context_of(one, item) for one in sent)
        if context and lost:
            yield RuleBreak("preamble-lost", "input")
