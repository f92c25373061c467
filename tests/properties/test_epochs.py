"""The promises of DESIGN section 2 over epochs: a client that walks through its history, on two
processes over one store, while time passes and summaries land.

The first process reads each history from where the one before ended; the second one reads every
history anew, with hardly any room for caches. Beside what `examine` finds in each answer: within an
epoch what is sent only grows, asking twice gives the same bytes, an answer shows nothing of another
branch, and after a deletion neither process holds anything of the tenant.
"""

from __future__ import annotations

import asyncio
import gc
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from random import Random

import pytest
from hypothesis import event, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from memtree.budget.prices import Prices
from memtree.context.context_memory import CompressRequest
from memtree.context.warm_conversations import Conversation
from memtree.history.message import SYSTEM_ROLES, Message
from memtree.history.message_list import EarlierList
from memtree.process.bounded import CacheLimits
from memtree.stores import RamStore
from memtree.tree.node import Summary
from tests.answered import Answered, compressed
from tests.made.listed_messages import ListedMessages
from tests.properties.examined import examine, unmarked
from tests.properties.strategies import (
    FixedClock,
    Turn,
    World,
    conversation,
    history_of,
    open_world,
    prose,
    rewritten,
    turns,
)

LITTLE = CacheLimits.of(1)  # megabytes
MARK = re.compile(r"\bmk\d{6}\b")
seeds = st.integers(0, 9_999)
places = st.floats(0, 1)
forms = st.fixed_dictionaries(
    {"alternate": st.booleans(), "keep_first": st.booleans(), "markers": st.sampled_from([0, 1, 4])}
)
TARGETS = [1_000, 2_000, 4_000, 4_000, 8_000, 8_000, 20_000, 60_000]


@dataclass(frozen=True, slots=True)
class Sent:
    """An answer of the past: what was posted, as bytes, and what went out."""

    epoch: str
    posted: tuple[bytes, ...]
    messages: tuple[bytes, ...]


def begins(longer: Sequence[bytes], shorter: Sequence[bytes]) -> bool:
    return list(longer[: len(shorter)]) == list(shorter)


def marks_in(messages: Sequence[bytes]) -> set[str]:
    return {mark for raw in messages for mark in MARK.findall(raw.decode())}


class Walk(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.clock, self.marks = FixedClock(), 0
        self.posted: list[Message] = []
        self.past: list[list[Message]] = []
        self.sent: list[Sent] = []
        self.versions = 0

    async def opened(self, caches: CacheLimits | None = None) -> World:
        return open_world(
            embedding=self.embedding, store=self.store, clock=self.clock, caches=caches
        )

    @initialize(
        seed=seeds,
        size=st.sampled_from([9_000, 12_000, 16_000]),
        tokens=st.sampled_from(TARGETS),
        hard=st.booleans(),
        mode=st.sampled_from(["stable", "stable", "auto"]),
        embedding=st.booleans(),
        read=st.sampled_from([0.1, 0.5]),
        form=forms,
    )
    def begin(self, seed, size, tokens, hard, mode, embedding, read, form):
        self.store, self.embedding = RamStore(), embedding
        prices = Prices(1.25, read)
        self.options = {"target": tokens, "hard": hard, "mode": mode, "prices": prices, **form}
        self.listed: ListedMessages | None = None
        self.worlds = [self.runner.run(self.opened(each)) for each in (None, LITTLE)]
        self.post(self.marked(conversation(seed, size) + Turn("user", seed, 9).messages()))

    # -- what a client does ------------------------------------------------------------------

    @rule(more=st.lists(turns, min_size=1, max_size=4))
    def append(self, more):
        self.post(self.posted + self.marked([m for one in more for m in one.messages()]))

    @rule(seed=seeds, words=st.sampled_from([5, 60, 400]))
    def chat(self, seed, words):
        made = Turn("assistant", seed, words).messages() + Turn("user", seed + 1, 12).messages()
        self.post(self.posted + self.marked(made))

    @rule(at=places, seed=seeds, parts=st.booleans())
    def ask_back(self, at, seed, parts):
        """Something that an older message answers."""
        history = history_of(self.posted)
        words = history.view(int(at * (len(history) - 1))).text.split()[:12]
        text = f"What about {' '.join(words)}?"
        content = [{"type": "text", "text": text}] if parts else text
        said = Turn("assistant", seed, 30).messages()
        asked = [Message.of({"role": "user", "content": content})]
        self.post(self.posted + self.marked(said) + asked)

    @rule(seed=seeds)
    def work(self, seed):
        """A tool loop."""
        rounds = [m for n in range(3) for m in Turn("tools", seed + n, 90).messages()]
        self.post(self.posted + self.marked(rounds))

    @rule(at=places, more=turns)
    def branch(self, at, more):
        self.post(self.posted[: self.border(at)] + self.marked(more.messages()))

    @rule(back=st.integers(1, 6), more=turns)
    def branch_near_the_end(self, back, more):
        self.post(self.posted[: self.border_before(back)] + self.marked(more.messages()))

    @rule(back=st.integers(1, 6))
    def ask_again_from_before(self, back):
        """The client takes back its newest rounds, and wants another answer."""
        self.post(self.posted[: self.border_before(back)])

    @precondition(lambda self: self.past)
    @rule(back=st.integers(0, 5))
    def revert(self, back):
        self.post(list(self.past[-1 - back % len(self.past)]))

    @rule(at=places, seed=seeds)
    def edit(self, at, seed):
        history = history_of(self.posted)
        asked = [i for i, fact in enumerate(history.facts) if fact.role == "user"]
        if not asked:
            return
        index = history.posted[asked[int(at * (len(asked) - 1))]]
        edited = Turn("user", seed, 20).messages()
        self.post(self.posted[:index] + self.marked(edited) + self.posted[index + 1 :])

    @rule()
    def clone(self):
        """Another session posts the same with other ids and volatile blocks."""
        self.post(rewritten(self.posted))

    # -- what happens meanwhile --------------------------------------------------------------

    @rule()
    def the_other_takes_over(self):
        self.worlds.reverse()

    @rule(steps=st.integers(0, 40), seed=seeds)
    def hang_up(self, steps, seed):
        """The client goes away while its next request is answered, and never sends it again."""
        made = Turn("assistant", seed, 60).messages() + Turn("user", seed, 30).messages()
        said = tuple(self.posted + self.marked(made))

        async def cut_short() -> None:
            ask = replace(self.ask(), messages=said)
            work = asyncio.ensure_future(compressed(self.worlds[0].memory, ask))
            for _ in range(steps):
                await asyncio.sleep(0)
            work.cancel()
            with suppress(asyncio.CancelledError):
                await work

        self.runner.run(cut_short())

    @rule()
    def forget(self):
        async def forgotten() -> None:
            for world in self.worlds:
                await world.settle()
            await self.worlds[0].memory.forget_tenant("t")
            self.worlds[1].memory.forgotten("t")

        self.runner.run(forgotten())
        self.sent.clear()
        for world in self.worlds:
            assert world.memory.cached_tenants == set()
        gc.collect()
        kept = [each for each in gc.get_objects() if isinstance(each, Conversation)]
        assert [each for each in kept if each.tenant == "t"] == []

    @rule()
    def restart(self):
        self.runner.run(self.worlds[0].stop())
        self.worlds[0] = self.runner.run(self.opened())

    @rule()
    def finish_indexing(self):
        for world in self.worlds:
            self.runner.run(asyncio.wait_for(world.settle(), 60))

    @rule(seconds=st.sampled_from([30, 100, 2_000, 4_000]))
    def wait(self, seconds):
        self.clock.time += seconds

    @rule(seed=seeds)
    def summaries_land(self, seed):
        """A new version for some nodes of the tree; old plans keep to the old ones."""

        async def land() -> None:
            _, _, nodes = await self.worlds[0].memory.outline(self.ask())
            self.versions += 1
            chosen = Random(seed).sample(sorted(nodes), k=len(nodes) // 2)
            summary = Summary(f"VERSION {self.versions}", prose(seed, 20), (), self.versions)
            await self.store.put_summaries("t", dict.fromkeys(chosen, summary))

        self.runner.run(land())

    # -- what must hold ----------------------------------------------------------------------

    def post(self, messages: list[Message]) -> None:
        if not any(message.role not in SYSTEM_ROLES for message in messages):
            return
        self.posted = messages
        self.past.append(messages)
        ask = replace(self.ask(), messages=self.continued())
        answer, problems = self.runner.run(examine(self.worlds[0], ask))
        self.runner.run(self.worlds[0].memory.close())
        event(f"state: {answer.state}, epoch: {answer.epoch is not None}")
        event(f"recall block: {answer.recall_tokens > 0}")
        assert problems == [], problems
        self.grows(answer)
        self.is_that_of_the_other(answer)
        raws = [message.raw for message in messages]
        assert marks_in(answer.messages) <= marks_in(raws), "an answer shows another branch"
        assert answer.address == history_of(messages).addresses[-1]

    def grows(self, answer: Answered) -> None:
        """Promise 5."""
        if answer.epoch is None:
            return
        posted = tuple(message.raw for message in self.posted)
        for before in self.sent:
            if before.epoch == answer.epoch and begins(posted, before.posted):
                event("an epoch went on" if len(posted) > len(before.posted) else "repeated")
                sent, sent_before = unmarked(answer.messages), unmarked(before.messages)
                assert begins(sent, sent_before), "what was sent did not only grow"
        self.sent.append(Sent(answer.epoch, posted, answer.messages))

    def is_that_of_the_other(self, answer: Answered) -> None:
        """Same store contents, same bytes: without an epoch, what is indexed may grow meanwhile."""
        again = self.runner.run(compressed(self.worlds[1].memory, self.ask()))
        assert again.epoch == answer.epoch
        if answer.epoch or not answer.changed:
            assert again.messages == answer.messages

    def continued(self) -> ListedMessages:
        """Return what is posted as a list that knows how much of the one before it begins with."""
        before, posted = self.listed, tuple(self.posted)
        if before is None:
            self.listed = ListedMessages(posted)
            return self.listed
        pairs = enumerate(zip(posted, before, strict=False))
        equal = next((at for at, (new, old) in pairs if new.raw != old.raw), len(before))
        known = EarlierList(before.number, min(equal, len(posted)))
        self.listed = ListedMessages(posted, known)
        return self.listed

    def ask(self) -> CompressRequest:
        return CompressRequest("t", tuple(self.posted), **self.options)

    def marked(self, messages: list[Message]) -> list[Message]:
        """Return the messages, each with a mark that no other message has."""
        made = []
        for message in messages:
            fields = dict(message.fields)
            if isinstance(fields.get("content"), str) and len(fields["content"]) > 9:
                self.marks += 1
                fields["content"] += f" mk{self.marks:06d}"
            made.append(Message.of(fields))
        return made

    def border(self, at: float) -> int:
        """A place where a client may cut: never inside a round, never at the beginning."""
        history = history_of(self.posted)
        rounds = history.rounds[1:] or (len(history),)
        index = rounds[int(at * (len(rounds) - 1))]
        return history.posted[index] if index < len(history) else len(self.posted)

    def border_before(self, back: int) -> int:
        history = history_of(self.posted)
        return history.posted[history.rounds[-min(back, len(history.rounds))]] or len(self.posted)

    def teardown(self) -> None:
        if hasattr(self, "store"):
            problems = self.runner.run(self.store.check())
            for world in self.worlds:
                self.runner.run(world.close())
            assert problems == []
        self.runner.close()


LOOKS = settings().max_examples  # of the profile that was chosen


class TestWalk(Walk.TestCase):  # type: ignore[misc, valid-type]
    settings = settings(max_examples=LOOKS // 5, stateful_step_count=8, deadline=None)


@pytest.mark.long
@pytest.mark.slow
class TestWalkAtLength(Walk.TestCase):  # type: ignore[misc, valid-type]
    settings = settings(max_examples=LOOKS // 8, stateful_step_count=20, deadline=None)
