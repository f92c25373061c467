"""Needles in a million tokens: identifiers asked for by name, facts in other words.

Facts of our own stand as paragraphs in long messages. Those of the data set are planted twice: as
short messages of the role that they belong to, and as a sentence inside a longer text. Beside them
stands what the day's work finds (`plain_rival`).
"""

from __future__ import annotations

import json
import random
import re
from collections import defaultdict
from collections.abc import Callable, Sequence

from benchmarks.data import Needle
from benchmarks.recall.plain_rival import CHAT_OVERHEAD, PlainRival
from benchmarks.report import Row, promises
from benchmarks.subject import Bench, Subject, open_subject, percent
from memtree.history.message import Message

IDENTIFIERS, IDENTIFIER_TARGET = 50, 2_000
PARAPHRASE_GOALS = {4_000: 85, 8_000: 92}  # by target
HARD_GOALS = {4_000: 80.0}
PLANTINGS = 3  # places differ; what is not touched is indexed once
LONG, LONGEST = 600, 3_000  # characters of a text that is called long
HOST = 30  # lines of a long output
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"

_CARRIERS = (
    "The replacement pump carries the serial number {}.",
    "Their ticket for the refund is {}, filed last week.",
    "Note to self: the locker code is {}.",
    "Shipment {} left the warehouse this morning.",
    "Badge {} was handed to the new contractor.",
)

# Question and fact share no word that says what they are about.
PARAPHRASES = (
    ("My sister moved to Lisbon to open a bakery.", "What does my sibling do for a living abroad?"),
    ("I cannot eat peanuts, they make my throat swell.", "Which food allergy do I have?"),
    ("Our dog is called Biscuit and he is eleven now.", "What is the name and age of my pet?"),
    ("I broke my left wrist while skiing in February.", "What winter sports injury did I suffer?"),
    ("We are getting married on the ninth of September.", "When is my wedding date?"),
    ("My boss Ingrid leaves at the end of the quarter.", "Which manager is about to resign?"),
    ("I drive a rusty green Volvo from 1994.", "What kind of car do I own?"),
    ("Grandfather worked as a lighthouse keeper near Bergen.", "What job did my ancestor hold?"),
    ("The landlord raised our rent by two hundred euros.", "How much more does my flat cost?"),
    (
        "I play the cello in an amateur orchestra on Tuesdays.",
        "Which musical instrument am I learning?",
    ),
    (
        "My flight to Nairobi takes off at six in the morning.",
        "When does my plane depart for Kenya?",
    ),
    (
        "We paint the nursery yellow because the baby comes in May.",
        "When are we expecting our child?",
    ),
    ("I stopped smoking three years ago after a scare.", "How long since I quit cigarettes?"),
    ("The burglar took my laptop and my late mother's ring.", "What was stolen from my home?"),
    ("I owe my cousin four thousand for the roof.", "What debt do I have to a relative?"),
    ("Doctor Okafor said my blood pressure is too high.", "What did the physician diagnose?"),
    ("I studied marine biology before I wrote software.", "What was my university major?"),
    ("My son failed chemistry and has to repeat the year.", "Why is my child held back at school?"),
    ("I run every dawn along the canal, ten kilometres.", "What is my morning exercise routine?"),
    ("Our cottage by the lake has no electricity.", "What utility is missing at my holiday house?"),
)


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    session = bench.data.coding_session()
    exact: list[float] = []
    other_words: dict[int, list[float]] = {target: [] for target in PARAPHRASE_GOALS}
    async with open_subject(bench.keep, "needles") as subject:
        for number in range(PLANTINGS if bench.long else 1):
            dice = random.Random(number)
            asked = _identifiers(dice) if not number else []
            pairs = [*asked, *((fact, question) for fact, question in PARAPHRASES)]
            history = plant(session, [fact for fact, _ in pairs], dice)
            await subject.learn("needles", history)
            exact += await _found(subject, history, asked, IDENTIFIER_TARGET)
            for target, found in other_words.items():
                found += await _found(subject, history, PARAPHRASES, target)
        hard = [
            row
            for name, planting in (("short messages", as_messages), ("in long texts", as_sentences))
            for row in await _hard(bench, subject, session, name, planting)
        ]
    rows = [
        Row(f"identifier needles at {IDENTIFIER_TARGET}", percent(exact), "%", 100),
        *(
            Row(f"paraphrased needles at {target}", percent(other_words[target]), "%", goal)
            for target, goal in PARAPHRASE_GOALS.items()
        ),
        *hard,
    ]
    return [
        *rows,
        *promises(subject.tally.answers, len(subject.tally.broken)),
    ], subject.tally.broken


Planting = Callable[[Sequence[Message], Sequence[Needle], random.Random], tuple[Message, ...]]


async def _hard(
    bench: Bench, subject: Subject, session: Sequence[Message], name: str, planting: Planting
) -> list[Row]:
    """Short facts of the data set, by role, with what the rival finds of them."""
    needles = bench.data.hard_needles()
    history = planting(session, needles, random.Random(name))
    await subject.learn("needles", history)
    assert subject.runtime.embedder
    embedder = subject.runtime.embedder
    rival = await PlainRival.of(history, embedder, bench.keep, CHAT_OVERHEAD)
    rows = []
    for target in PARAPHRASE_GOALS:
        ours: dict[str, list[float]] = defaultdict(list)
        theirs: list[float] = []
        for needle in needles:
            reply = await subject.question("needles", history, needle.question, target)
            found = float(needle.text in reply.visible)
            ours["all"].append(found)
            ours[needle.role].append(found)
            theirs.append(float(needle.text in await rival.shown(needle.question, target)))
        label = f"hard needles, {name}, at {target}"
        rows.append(Row(label, percent(ours.pop("all")), "%", HARD_GOALS.get(target)))
        rows += [Row(f"  {label}, {role}", percent(ours[role]), "%") for role in sorted(ours)]
        rows.append(Row(f"  instead: the day's work, {label}", percent(theirs), "%"))
    return rows


async def _found(
    subject: Subject,
    history: Sequence[Message],
    pairs: Sequence[tuple[str, str]],
    target: int,
) -> list[float]:
    return [
        float(fact in (await subject.question("needles", history, question, target)).visible)
        for fact, question in pairs
    ]


def plant(
    session: Sequence[Message], facts: Sequence[str], dice: random.Random
) -> tuple[Message, ...]:
    """The session with each fact as a paragraph of its own somewhere in a message."""
    messages = list(session)
    for fact, index in zip(facts, dice.sample(range(len(messages)), len(facts)), strict=True):
        fields = json.loads(messages[index].raw)
        borders = [match.end() for match in re.finditer(r"\n\s*\n|\Z", fields["content"])]
        at = dice.choice(borders)
        before, after = fields["content"][:at].rstrip(), fields["content"][at:].lstrip("\n")
        fields["content"] = f"{before}\n\n{fact}\n\n{after}".strip()
        messages[index] = Message.of(fields)
    return tuple(messages)


def as_messages(
    session: Sequence[Message], needles: Sequence[Needle], dice: random.Random
) -> tuple[Message, ...]:
    """The session with each needle as a message of its own; a tool's one follows its call."""
    places = dict(zip(_places(session, needles, dice), needles, strict=True))
    made: list[Message] = []
    for number, message in enumerate(session):
        if number in places:
            made += _own(places[number].role, places[number].text, number)
        made.append(message)
    return tuple(made)


def as_sentences(
    session: Sequence[Message], needles: Sequence[Needle], dice: random.Random
) -> tuple[Message, ...]:
    """The session with each needle inside a longer text: a message of its role that is there, or
    a long output with the needle's lines in the middle."""
    messages = list(session)
    outputs: dict[int, Needle] = {}
    for needle in needles:
        hosts = [
            number
            for number, message in enumerate(session)
            if LONG < len(message.text) < LONGEST
            and "```" not in message.text
            and message is messages[number]
            and (needle.role == "tool" or message.role == needle.role)
        ]
        host = dice.choice(hosts)
        if needle.role == "tool":
            outputs[host] = needle
            continue
        fields = json.loads(messages[host].raw)
        ends = [match.end() for match in re.finditer(r"[.!?](?=\s)", fields["content"])]
        at = dice.choice(ends or [0])
        before, after = fields["content"][:at], fields["content"][at:]
        fields["content"] = f"{before} {needle.text} {after.lstrip(' ')}".strip()
        messages[host] = Message.of(fields)
    made: list[Message] = []
    for number, message in enumerate(messages):
        if number in outputs:
            lines = session[number].text.splitlines()[:HOST]
            lines.insert(len(lines) // 2, outputs[number].text)
            made += _own("tool", "\n".join(lines), number)
        made.append(message)
    return tuple(made)


def _places(
    session: Sequence[Message], needles: Sequence[Needle], dice: random.Random
) -> list[int]:
    """Numbers of user messages, before which a message of any role may stand."""
    asked = [number for number, m in enumerate(session) if m.role == "user" and number]
    return dice.sample(asked, len(needles))


def _own(role: str, text: str, number: int) -> list[Message]:
    if role != "tool":
        return [Message.of({"role": role, "content": text})]
    function = {"name": "run_command", "arguments": '{"command": "make"}'}
    call = {"id": f"needle_{number}", "type": "function", "function": function}
    return [
        Message.of({"role": "assistant", "content": None, "tool_calls": [call]}),
        Message.of({"role": "tool", "tool_call_id": f"needle_{number}", "content": text}),
    ]


def _identifiers(dice: random.Random) -> list[tuple[str, str]]:
    """Fifty sentences, each with an identifier like E7F-48213-QX, and a question naming it."""
    pairs = []
    for index in range(IDENTIFIERS):
        letters = [dice.choice(_LETTERS) for _ in range(4)]
        head = f"{letters[0]}{dice.randrange(10)}{letters[1]}"
        name = f"{head}-{dice.randrange(10_000, 100_000)}-{letters[2]}{letters[3]}"
        pairs.append((_CARRIERS[index % 5].format(name), f"What was {name} about?"))
    return pairs
