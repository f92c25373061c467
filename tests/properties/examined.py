"""Examine every answer from all sides for what must hold.

`examine` asks a `Memory` about a history and returns all broken promises, one line each; the state
machines share it with the mutants that it must notice.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import product
from typing import Any

import msgspec

from benchmarks.invariants import labelled, named_part
from memtree.budget import epoch, packing
from memtree.context.context_memory import CompressRequest
from memtree.history.chat_history import History
from memtree.history.message import SYSTEM_ROLES, Message
from memtree.text import tokens
from memtree.tree import growth
from memtree.tree.node import Frontier, Node, Summary
from tests import outgoing
from tests.answered import Answered, compressed
from tests.made.trees import tree_problems
from tests.properties.strategies import (
    VOLATILE_MARK,
    Turn,
    World,
    a_world,
    conversation,
    history_of,
    history_text,
    leaf_text,
    leaves_of,
    open_world,
    prose,
    readable,
    rewritten,
    tail_of,
)
from tests.verbatim import after_preamble, split_memories

OPENING = b"<context_memory>"
LINE = msgspec.json.encode({"role": "assistant", "content": packing.LINE})


def own_count(raw: bytes) -> int:
    """Tokens of a message's content, counted without the product's arithmetic."""
    content = msgspec.json.decode(raw).get("content") or ""
    if isinstance(content, list):
        content = "".join(part.get("text", "") for part in content)
    return tokens.count(content) + 4


async def examine(world: World, ask: CompressRequest) -> tuple[Answered, list[str]]:
    """Post a history, and look at answer and tree from all sides."""
    answer = await compressed(world.memory, ask)
    history, frontier, nodes = await world.memory.outline(ask)
    problems = tree_problems(frontier, nodes)
    if not problems:
        problems += list(broken_tree(history, frontier, nodes))
        problems += list(broken_answer(ask, history, answer))
        stored = await world.store.frontiers(ask.tenant, history.addresses)  # type: ignore[attr-defined]
        known = {one: found.frontier for one, found in stored.items()}
        problems += list(broken_batch(world, history, known, frontier, nodes))
    return answer, problems


def broken_tree(history: History, frontier: Frontier, nodes: Mapping[bytes, Node]) -> Iterator[str]:
    """Lossless: final leaves and the open one give the history's text again."""
    rest = growth.grow(tail_of(history, frontier, {id_: nodes[id_] for id_ in frontier.nodes}))
    if rest.nodes:
        yield f"{len(rest.nodes)} nodes were final and not indexed"
    leaves = leaves_of(frontier, nodes)
    text = leaf_text(history, [*leaves, rest.open] if rest.open else leaves)
    if text != history_text(history):
        yield "the leaves' texts are not the history's text"
    if len(leaves) != frontier.leaves:
        yield "the frontier miscounts its leaves"
    if VOLATILE_MARK in text:
        yield "a volatile block stands in a leaf"


def broken_batch(
    world: World,
    history: History,
    known: dict[bytes, Frontier],
    frontier: Frontier,
    nodes: Mapping[bytes, Node],
) -> Iterator[str]:
    """Return a fault where what grew turn by turn is not what grows at once."""
    whole = world.batch(history)
    if whole.frontier != frontier:
        yield "the frontier is not that of indexing at once"
    # An address at which nothing became final need not be stored: a shorter prefix says the same.
    if any(whole.frontiers.get(one) != found for one, found in known.items()):
        yield "an address has another frontier than after indexing at once"
    made = {node.id: node for node in whole.nodes}
    if any(_extracted(node, made) != made.get(id_) for id_, node in nodes.items()):
        yield "a node is not that of indexing at once"


def _extracted(node: Node, made: Mapping[bytes, Node]) -> Node:
    """The node with version 0 of its summary."""
    if not node.summary.version or node.id not in made:
        return node
    return msgspec.structs.replace(node, summary=made[node.id].summary)


def broken_answer(ask: CompressRequest, history: History, answer: Answered) -> Iterator[str]:
    posted = [message.raw for message in ask.messages]
    if not answer.changed:
        if list(answer.messages) != posted:
            yield "passed through, but not byte for byte"
        return
    system = [one.raw for one in ask.messages if one.role in SYSTEM_ROLES]
    given = [raw for raw in answer.messages if raw in set(system)]
    if given != system:
        yield "system messages are not what was posted"
    memory, recent = split(answer, posted)
    if memory is None and answer.cached_tokens:
        yield "no memory message"
    kept = [raw for raw in recent if Message(raw).role not in SYSTEM_ROLES]
    blocks = blocks_of(history, kept)
    yield from _broken_recent(history, kept, blocks)
    if memory is not None:
        yield from _broken_memory(ask, answer, memory, list(blocks.values()))
        yield from _broken_labels(history, len(history) - len(kept), memory, *blocks.values())
    yield from _broken_size(ask, history, answer, blocks)
    yield from broken_request(ask, answer)


def broken_request(ask: CompressRequest, answer: Answered) -> list[str]:
    """Return what the validator of outgoing requests says."""
    tools = [{"name": "t", "cache_control": {"type": "ephemeral"}}] * ask.markers
    posted, sent = (
        {"model": "m", "tools": tools, "messages": [msgspec.json.decode(raw) for raw in raws]}
        for raws in ([message.raw for message in ask.messages], answer.messages)
    )
    # A hard target may be too small for anything beside the newest round.
    options = {"alternate": ask.alternate, "keep_first": ask.keep_first, "bare": ask.hard}
    return outgoing.problems(posted, sent, **options)


def unmarked(messages: Sequence[bytes]) -> list[bytes]:
    """Return the messages with memory messages in one form: their cache marker may come and go."""
    return [_unmarked(raw) if OPENING in raw else raw for raw in messages]


def _unmarked(raw: bytes) -> bytes:
    content = msgspec.json.decode(raw)["content"]
    text = content if isinstance(content, str) else "\n\n".join(part["text"] for part in content)
    return msgspec.json.encode({"role": "user", "content": text})


def split(answer: Answered, posted: Sequence[bytes]) -> tuple[str | None, list[bytes]]:
    """The memory message's text and everything behind it."""
    for index, raw in enumerate(answer.messages):
        if raw not in set(posted) and raw != LINE:
            content = msgspec.json.decode(raw)["content"]
            text = content if isinstance(content, str) else content[-1]["text"]
            text, _ = split_memories(text)
            text = after_preamble(text) or text
            behind = list(answer.messages[index + 1 :])
            return text, behind[1:] if behind[:1] == [LINE] else behind
    return None, [raw for raw in answer.messages if Message(raw).role not in SYSTEM_ROLES]


def blocks_of(history: History, kept: Sequence[bytes]) -> dict[int, str]:
    """Recall blocks by message, taken off what was sent; nothing else of a message may change."""
    first = len(history) - len(kept)
    found = {}
    for at, raw in enumerate(kept, start=max(0, first)):
        block = _block(Message(raw), history.messages[at])
        if block is not None:
            found[at] = block
    return found


def _block(sent: Message, posted: Message) -> str | None:
    fields, content = dict(sent.fields), posted.content
    own: Any = sent.content
    if sent.raw == posted.raw or posted.role != "user" or content is None:
        return None
    if isinstance(content, str):
        block = str(own).removesuffix(content)
        fields["content"] = content
    else:
        block = own[0]["text"] if own else ""
        fields["content"] = own[1:]
    recall, lines = split_memories(block.removesuffix("\n\n"))
    whole = recall.startswith("<recalled_context>\n") and recall.endswith("\n</recalled_context>")
    whole = (whole or bool(lines and not recall)) and block.endswith("\n\n")
    same = fields == posted.fields and list(fields) == list(posted.fields)
    return block.removesuffix("\n\n") if whole and same else None


def _broken_recent(history: History, kept: list[bytes], blocks: Mapping[int, str]) -> Iterator[str]:
    """A contiguous suffix of whole rounds, bytes as posted but for recall blocks, the newest
    message last."""
    cut = len(history) - len(kept)
    bare = [
        history.messages[at].raw if at in blocks else raw for at, raw in enumerate(kept, start=cut)
    ]
    if not kept or bare != [message.raw for message in history.messages[cut:]]:
        yield "the recent part is no suffix of what was posted"
    elif cut not in history.rounds:
        yield "the cut splits a round"
    calls: set[str] = set()
    for raw in kept:
        message = Message(raw)
        calls |= {call.id or call.name for call in message.calls}
        if message.role in ("tool", "function"):
            key = message.fields.get("tool_call_id") or message.fields.get("name")
            if key and key not in calls:
                yield "an orphan tool result"


def _broken_memory(
    ask: CompressRequest, answer: Answered, memory: str, blocks: Sequence[str]
) -> Iterator[str]:
    shown = "\n".join((memory, *blocks))
    if VOLATILE_MARK in shown:
        yield "a volatile block stands in what is quoted"
    why = answer.explain()
    for excerpt in why["excerpts"]:
        message = ask.messages[excerpt["message"]]
        piece = named_part(message.fields, excerpt["part"])[excerpt["start"] : excerpt["end"]]
        if sha256(piece.encode()).hexdigest() != excerpt["sha256"]:
            yield "an excerpt's hash is not that of the posted text"
        if not piece.strip():
            continue  # listed, though nothing of it is shown: tests/unit/unfolding/test_plan.py
        where = blocks if excerpt["reason"] == "recalled" else [memory]
        standing = [text for text in where if piece in text]
        if not standing:
            yield f"an excerpt does not stand where it is said to: {piece[:60]!r}"
        elif not any(labelled(excerpt["message"], message.role, text) for text in standing):
            yield "an excerpt has no label"
    labels = re.findall(r"^¶\d+", shown, re.MULTILINE)
    if not labels and any(one["tokens"] > 2 for one in why["excerpts"]):
        yield "no labels at all"


def _broken_labels(history: History, cut: int, *shown: str) -> Iterator[str]:
    """Labels are of what lies before the cut; no line of quoted text reads like one."""
    kept = {history.posted[at] for at in range(cut, len(history))}
    for text in shown:
        for label in re.findall(r"^(?: *- )?¶(\d+)", text, re.MULTILINE):
            if int(label) in kept:
                yield f"¶{label} stands behind the cut"


def _preamble_tokens(raw: bytes) -> int:
    """Tokens of the client's standing context in a memory message: they count as system text."""
    text, _ = split_memories(Message(raw).text)
    memory = after_preamble(text) if OPENING in raw else None
    return tokens.count(text[: len(text) - len(memory)]) if memory else 0


def _broken_size(
    ask: CompressRequest, history: History, answer: Answered, blocks: Mapping[int, str]
) -> Iterator[str]:
    """Within the target, or what the newest round and the least memory take; recall blocks count
    where the target is hard, and are small."""
    sent = [raw for raw in answer.messages if Message(raw).role not in SYSTEM_ROLES]
    size = sum(own_count(raw) for raw in sent) - sum(_preamble_tokens(raw) for raw in sent)
    newest = sum(fact.tokens for fact in history.facts[history.rounds[-1] :])
    limit = max(ask.target, newest + max(ask.target // 4, min(1_000, ask.target // 2)))
    if not ask.hard and answer.epoch:
        limit = max(limit, 4 * ask.target)
        size -= sum(tokens.count(block) for block in blocks.values())
    if size > limit:
        yield f"{size} tokens for a target of {ask.target} (newest round {newest})"
    most = ask.target if ask.hard else epoch.block_size(ask.target)
    recalled = (split_memories(block)[0] for block in blocks.values())
    if any(tokens.count(f"{block}\n\n") > most for block in recalled):
        yield "a recall block is larger than blocks may be"


async def scenario(seed: int = 7, size: int = 14_000) -> AsyncGenerator[str, None]:
    """Walk through append, edit, revert and a second tenant; yield each broken promise."""
    base = conversation(seed, size)
    for problem in broken_addresses(base):
        yield problem
    async with a_world() as world:
        ask = CompressRequest("t", tuple(base), target=4_000, hard=True)
        for step in (base, base + Turn("tools", 5, 200).messages(), base + conversation(3, 3_000)):
            for problem in await problems(world, replace(ask, messages=tuple(step))):
                yield problem
        edited = [*base[:20], *Turn("user", 77, 50).messages(), *base[21:]]
        while edited and not readable(edited):
            del edited[21]
        for problem in await problems(world, replace(ask, messages=tuple(edited))):
            yield problem
        for problem in await problems(world, replace(ask, tenant="u")):
            yield problem
        if await world.store.frontiers("v", history_of(base).addresses):  # type: ignore[attr-defined]
            yield "a tenant met another's address"
        await asyncio.wait_for(world.settle(), 60)
        for problem in await problems(world, ask):
            yield problem


async def problems(world: World, ask: CompressRequest) -> list[str]:
    """Return all broken promises of one answer."""
    _, found = await examine(world, ask)
    return found


def broken_addresses(messages: Sequence[Message]) -> Iterator[str]:
    """Equal histories have equal addresses, unequal ones differ from the first difference on."""
    mine = history_of(messages).addresses
    if history_of(rewritten(messages)).addresses != mine:
        yield "an address depends on ids, cache markers or volatile blocks"
    if set(history_of(messages, "other").addresses) & set(mine):
        yield "two tenants share an address"
    plain = [Message.of({"role": role, "content": "same"}) for role in ("user", "assistant")]
    one, two = history_of([plain[0]]).addresses, history_of([plain[1]]).addresses
    if one[-1] == two[-1]:
        yield "an address does not depend on the role"


async def lasting_scenario(seed: int = 7, size: int = 14_000) -> AsyncGenerator[str, None]:
    """Ask two processes in turn about the past through an epoch, with summaries that land and a
    soft target beside the hard one; yield each broken promise, those of growth included."""
    async with a_world() as world:
        worlds = (world, open_world(store=world.store))
        for hard in (True, False):
            posted = conversation(seed, size)
            ask = CompressRequest("t", tuple(posted), target=8_000, hard=hard, mode="stable")
            before: Answered | None = None
            epochs = set()
            for step in range(8):
                process = worlds[step % 2]
                answer, found = await examine(process, replace(ask, messages=tuple(posted)))
                for problem in found:
                    yield problem
                if before and before.epoch == answer.epoch:
                    begun = unmarked(answer.messages[: len(before.messages)])
                    if begun != unmarked(before.messages):
                        yield "what was sent changed"
                before = answer
                epochs.add(answer.epoch)
                _, _, nodes = await world.memory.outline(ask)
                later = Summary(f"LATER {step}", "LATER", (), 1 + step + 20 * (not hard))
                await world.store.put_summaries("t", dict.fromkeys(nodes, later))
                asked = " ".join(history_of(posted).view(3 * step + 2).text.split()[:20])
                said = Turn("assistant", step, 1_100).messages()
                posted = [*posted, *said, Message.of({"role": "user", "content": f"{asked}?"})]
            if not 2 <= len(epochs) <= 6:
                yield f"{len(epochs)} epochs in 8 requests"
        await worlds[1].stop()
        await asyncio.wait_for(world.settle(), 60)


async def forms_scenario(seed: int = 7, size: int = 14_000) -> AsyncGenerator[str, None]:
    """Ask for answers of every form (lines, a first message that stays, cache markers) in two
    modes, over histories that begin with a card, that hold users in a row, and that move their
    markers; yield each broken promise."""
    words = f"You are Marigold. Always answer in rhyme. {prose(seed, 250)}"
    card = Message.of({"role": "user", "content": words})
    made = [card, *conversation(seed, size)]
    alone = [Message.of({"role": "user", "content": prose(n, 70)}) for n in range(150)]
    async with a_world() as world:
        for mode, form in product(("fresh", "stable"), FORMS):
            for base in (made, [card, *alone]):
                async for problem in _form(world, base, mode, form):
                    yield problem
        await asyncio.wait_for(world.settle(), 60)


async def _form(
    world: World, base: Sequence[Message], mode: str, form: dict[str, Any]
) -> AsyncGenerator[str, None]:
    """Ask three times for answers of one form while the history grows."""
    posted = list(base)
    for step in range(3):
        marked = [*posted[:-2], *map(_cached, posted[-2:])] if form["markers"] else posted
        ask = CompressRequest("t", tuple(marked), target=4_000, hard=True, mode=mode, **form)
        answer, found = await examine(world, ask)
        for problem in found:
            yield problem
        if not answer.changed:
            yield "nothing was packed"
        question = Message.of({"role": "user", "content": "Marigold in rhyme, please?"})
        posted = [*posted, *Turn("assistant", step, 40).messages(), question]


FORMS: tuple[dict[str, Any], ...] = (
    {"alternate": True, "keep_first": False, "markers": 0},
    {"alternate": False, "keep_first": True, "markers": 1},
    {"alternate": True, "keep_first": True, "markers": 2},
)


def _cached(message: Message) -> Message:
    return Message.of({**message.fields, "cache_control": {"type": "ephemeral"}})
