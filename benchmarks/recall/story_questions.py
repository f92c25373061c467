"""Questions about stories: what changed hands, who learned what, promises, places. Is the sentence
that answers visible in the answer's context, or told in words of a summary?

Each story is the generator's (`stories`), with facts planted as sentences of its teller or its
player. A third story is told in the past and in paragraphs, without marks of play.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks import facts, stories
from benchmarks.facts import Fact
from benchmarks.recall.midepoch import WINDOW
from benchmarks.report import Row, promises
from benchmarks.subject import Bench, asked, open_subject, percent
from memtree.history.message import Message

SIZE = 30_000  # tokens of a story
GOALS = {4_000: 80.0, 8_000: None}
MODES = ("fresh", "stable")

# words of a planted fact | question
_FIRST = """\
left hand|Which part of his body does Corvane miss, and where did that happen?
Hesper|How did old Hesper die, and by whom?
Treaty of Vant|What became of the treaty that I carried?
astrolabe|Who has the brass instrument that I owned?
three teeth|Who keeps the odd key?
opal ring|Where did I put the ring away?
nineteen|How much money do we still have?
first snow|By when did I say that I would be back with Tamsin?
Ludo|What has the baron sworn for the hostage?
Margrave|Whose child is Corvane in truth?
poisoned|Is it safe to drink from the cellar of Thrane?
Saltgate|Where and when do we all come together again?
"""
_CASES = Path(__file__).parents[1] / "cases" / "story_questions.txt"


@dataclass(frozen=True, slots=True)
class Asked:
    fact: Fact
    question: str


def first() -> list[Asked]:
    """Questions about the facts of `stories`."""
    rows = (line.split("|") for line in _FIRST.splitlines())
    return [
        Asked(next(fact for fact in stories.FACTS if word in fact.sentence.lower() or
                   word in fact.sentence), question)
        for word, question in rows
    ]  # fmt: skip


def second() -> list[Asked]:
    """Questions about facts that nothing was chosen on: role, sentence, keys, question."""
    rows = (line.split("|") for line in _CASES.read_text("utf-8").splitlines())
    return [
        Asked(Fact("second", "fiction", role, sentence, tuple(keys.split(","))), question)
        for role, sentence, keys, question in rows
    ]


def told_story(size: int, seed: int) -> list[Message]:
    """A story in the past: who plays says what happens next, in plain words."""
    made = []
    for message in stories.story(size, seed):
        text = message.text.replace("*", "").replace("“", "").replace("”", "")
        if message.role == "user":
            text = f"Go on with the story. {text.partition('.')[0]}."
        made.append(Message.of({"role": message.role, "content": text}))
    return made


def tales() -> Iterator[tuple[str, list[Message], list[Asked]]]:
    yield "first", stories.story(SIZE, 3), first()
    yield "second", stories.story(SIZE, 11), second()
    yield "told", told_story(SIZE, 7), second()


def is_told(fact: Fact, visible: str) -> bool:
    """Return True if the sentence stands there, or a line holds all that tells it."""
    return fact.sentence in visible or any(facts.kept(fact, line) for line in visible.split("\n"))


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    rows: list[Row] = []
    async with open_subject(bench.keep, "story_questions") as subject:
        for name, story, questions in tales():
            posted: Sequence[Message] = facts.plant(story, [one.fact for one in questions])
            await subject.learn(name, posted)
            for target, goal in GOALS.items():
                for mode in MODES:
                    hits, missed = [], []
                    for one in questions:
                        ask = asked(name, posted, one.question, target)
                        ask = replace(ask, mode=mode, window=WINDOW)
                        reply = await subject.answer(ask, f"{name} at {target}, {mode}")
                        hits.append(float(is_told(one.fact, reply.visible)))
                        missed += [one.question] * (not hits[-1])
                    label = f"{name} at {target}, {mode}: answers visible or told, of {len(hits)}"
                    rows.append(Row(label, percent(hits), "%", goal))
        tally = subject.tally
    return [*rows, *promises(tally.answers, len(tally.broken))], tally.broken
