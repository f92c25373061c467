"""The invariant check must notice a broken core: each mutant here is one plausible mistake."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from hashlib import sha256
from itertools import count, pairwise
from typing import Any

import msgspec
import pytest

from memtree.budget import epoch, packing
from memtree.context import answer, index_lookup, retrieval
from memtree.context.folded_answers import EpochAnswers
from memtree.context.turn_request import TurnRequest
from memtree.dialects import openai_chat
from memtree.history import address_chain, cache_control, chat_history
from memtree.history.message import Volatile
from memtree.history.message_list import NumberedMessages
from memtree.history.view_pieces import Piece, PostedSpan
from memtree.tree import btree, chunking, growth
from memtree.unfolding import explain, memory_text, recall_block
from tests.properties.examined import forms_scenario, lasting_scenario, scenario

pytestmark = pytest.mark.slow

# A mutant that dies late: the scenario goes on for half a second or more until a promise is broken.
long = partial(pytest.param, marks=pytest.mark.long)


def blocks_lose_a_character(original):
    def mutant(text, **named):
        found = list(original(text, **named))
        *rest, (start, end, border, code) = found
        return [*rest, (start, end - (end - start > 20), border, code)]

    return mutant


def leaves_overlap(original):
    def mutant(found):
        for one, other in pairwise(list(original(found))):
            yield one
            if other.first == one.end and one.end - one.first > 2:
                yield replace(other, first=one.end - 1)
                return

    return mutant


def covering_finds_another_branch(original):
    longest = []

    async def mutant(store, posted):
        found = await original(store, posted)
        longest.append(found)
        fitting = (one for one in longest if one and one[1].messages < len(posted))
        return max(fitting, key=lambda one: one[1].messages, default=found)

    return mutant


def quotes_have_no_label(original):
    return lambda *args: original(*args).removeprefix("¶")


def cut_splits_a_round(original):
    def mutant(posted, *limits):
        cut, recent = original(posted, *limits)
        splits = [i for i in range(cut + 1, len(posted)) if posted.facts[i].answers is not None]
        return (splits[0] if splits else min(cut + 1, len(posted) - 1)), recent

    return mutant


def digest_ignores_the_role(original):
    def mutant(message, volatile):
        fields = {**message.fields, "role": "assistant"}
        return original(type(message).of(fields), volatile)

    return mutant


def digest_sees_ids(original):
    return lambda message, volatile: sha256(original(message, volatile) + message.raw).digest()


def root_ignores_the_tenant(original):
    return lambda tenant: original("")


def volatile_blocks_are_hashed(original):
    return lambda self, text: text


def view_forgets_what_was_cut(original):
    def mutant(piece, start, end):
        low, high = max(start, piece.start), min(end, piece.end)
        return PostedSpan(low, low, high)

    return mutant


def explain_is_off_by_one(original):
    def mutant(*args):
        excerpt = original(*args)
        return replace(excerpt, end=excerpt.end - 1)

    return mutant


def nodes_miscount(original):
    def mutant(children, summarise):
        node = original(children, summarise)
        return msgspec.structs.replace(node, messages=node.messages + 1)

    return mutant


def nodes_have_two_children(original):
    return lambda nodes: 2


def sealing_depends_on_what_was_done_before(original):
    calls = count()
    return lambda nodes: 4 + next(calls) % 9


def frontiers_come_too_early(original):
    def mutant(tail, changes, first):
        return original(tail, [(message - 1, frontier) for message, frontier in changes], first)

    return mutant


def budget_is_ignored(original):
    def mutant(*args, **named):
        packed = original(*args, **named)
        return replace(packed, memory=packed.memory * 2)

    return mutant


def last_system_message_is_lost(original):
    def mutant(known, posted, *args):
        read = original(known, posted, *args)
        fewer = NumberedMessages(posted, read.system.indexes[:-1], read.system.markers)
        return replace(read, system=fewer)

    return mutant


def plans_look_behind_their_cut(original):
    def mutant(*args, **named):
        decision = original(*args, **named)
        return replace(decision, cut=max(1, decision.cut - 4)) if decision.cut > 4 else decision

    return mutant


def blocks_show_what_is_visible(original):
    return lambda corpus, plan, earlier: corpus.tokens > 0


def blocks_are_not_labelled(original):
    def mutant(*args, **named):
        return re.sub(r"(?m)^¶\d+ \w+[^\n]*\n", "", original(*args, **named))

    return mutant


def blocks_replace_the_message(original):
    return lambda raw, text: original(raw, text).replace(b"?", b"!")


def blocks_take_any_room(original):
    return lambda *args: 9_000


def an_epoch_never_ends(original):
    return lambda *args: True


def turns_are_never_found(original):
    async def mutant(self, *args):
        return replace(await original(self, *args), previous=None)

    return mutant


def earlier_blocks_are_dropped(original):
    return lambda self: {}


def the_newest_summaries_are_shown(original):
    async def mutant(self, request, index, outline):
        newest = await self._indexing.newest(request.posted, index)
        return {(shown.id, shown.version): newest.all_nodes[shown.id] for shown in outline}

    return mutant


def no_line_is_put_between(original):
    return lambda posted, cut, head: (False, False)


def a_line_stands_anywhere(original):
    return lambda posted, cut, head: (head > 0, True)


def memory_is_not_marked(original):
    return lambda *args: None


def memory_is_always_marked(original):
    return lambda *args: {"type": "ephemeral"}


def the_first_message_is_quoted_as_well(original):
    return lambda ranked, tree, window, split: original(
        ranked, tree, replace(window, head=0), split
    )


def the_first_message_is_lost(original):
    return lambda posted, ask, layout, *more: original(posted, ask, layout, *more)[layout.head :]


def the_first_message_stands_behind_memory(original):
    return lambda *args: original(*args)[::-1]


def the_first_message_is_not_counted(original):
    return lambda *args: 0


FORM_MUTANTS: list[Any] = [
    long(answer, "lines_at", no_line_is_put_between),
    (answer, "lines_at", a_line_stands_anywhere),
    (cache_control, "of_memory", memory_is_not_marked),
    long(cache_control, "of_memory", memory_is_always_marked),
    long(retrieval, "unfold", the_first_message_is_quoted_as_well),
    long(answer, "_memory_items", the_first_message_is_lost),
    long(answer, "_memory_items", the_first_message_stands_behind_memory),
    long(packing, "_beside", the_first_message_is_not_counted),
]

LASTING_MUTANTS: list[Any] = [
    (packing, "begin", plans_look_behind_their_cut),
    (recall_block, "unsent", blocks_show_what_is_visible),
    (recall_block, "text_of", blocks_are_not_labelled),
    (openai_chat, "_before", blocks_replace_the_message),
    (epoch, "block_room", blocks_take_any_room),
    long(epoch, "stays", an_epoch_never_ends),
    long(EpochAnswers, "_looked_up", turns_are_never_found),
    long(TurnRequest, "blocks", earlier_blocks_are_dropped),
    long(EpochAnswers, "_named", the_newest_summaries_are_shown),
]

MUTANTS: list[Any] = [
    (chunking, "text_spans", blocks_lose_a_character),
    (chunking, "cuts", leaves_overlap),
    long(index_lookup, "covering", covering_finds_another_branch),
    (memory_text, "label", quotes_have_no_label),
    (packing, "_cut", cut_splits_a_round),
    (address_chain, "digest", digest_ignores_the_role),
    (address_chain, "digest", digest_sees_ids),
    (address_chain, "root", root_ignores_the_tenant),
    (Volatile, "strip", volatile_blocks_are_hashed),
    (Piece, "clipped", view_forgets_what_was_cut),
    (explain, "_excerpt", explain_is_off_by_one),
    (btree, "seal", nodes_miscount),
    (btree, "weakest_link", nodes_have_two_children),
    (btree, "weakest_link", sealing_depends_on_what_was_done_before),
    long(growth, "_by_address", frontiers_come_too_early),
    (packing, "pack", budget_is_ignored),
    (chat_history.History, "extended", last_system_message_is_lost),
]


async def all_of(problems: AsyncGenerator[str, None]) -> list[str]:
    return [problem async for problem in problems]


async def first_of(problems: AsyncGenerator[str, None]) -> str | None:
    """Return the first broken promise: one is enough to kill a mutant."""
    async with aclosing(problems):
        return await anext(problems, None)


@pytest.mark.parametrize("walk", [scenario, lasting_scenario, forms_scenario])
def test_the_core_as_it_is_breaks_no_promise(walk):
    assert asyncio.run(all_of(walk())) == []


@pytest.mark.parametrize(
    ("owner", "name", "make"), MUTANTS, ids=lambda one: getattr(one, "__name__", one)
)
def test_mutants_die(owner, name, make, monkeypatch):
    monkeypatch.setattr(owner, name, make(getattr(owner, name)))
    try:
        problem = asyncio.run(first_of(scenario()))
    except IndexError as error:  # a tree of more messages than were posted
        problem = str(error)
    assert problem is not None


@pytest.mark.parametrize(
    ("owner", "name", "make"), LASTING_MUTANTS, ids=lambda one: getattr(one, "__name__", one)
)
def test_mutants_of_epochs_die(owner, name, make, monkeypatch):
    monkeypatch.setattr(owner, name, make(getattr(owner, name)))
    assert asyncio.run(first_of(lasting_scenario())) is not None


@pytest.mark.parametrize(
    ("owner", "name", "make"), FORM_MUTANTS, ids=lambda one: getattr(one, "__name__", one)
)
def test_mutants_of_forms_die(owner, name, make, monkeypatch):
    monkeypatch.setattr(owner, name, make(getattr(owner, name)))
    assert asyncio.run(first_of(forms_scenario())) is not None
