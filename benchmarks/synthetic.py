"""Chats of any length made by a seeded generator: long answers to short asks, on many subjects.

A chat wanders between threads (a module, its files, a person, an error, numbers that only this
thread has) and comes back to old ones, so that there is something to recall. Sizes are tokens.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from memtree.history.message import Message
from memtree.text import tokens

USER, ASSISTANT, SYSTEM = 150, 1_350, 6_000
STAY, RETURN = 0.7, 0.5  # go on with the thread; else back to an old one, else a new one

_AREAS = {
    "billing": "invoice ledger refund currency rounding dunning statement balance",
    "search": "index shard query ranking synonym tokenizer facet snapshot",
    "mobile": "gesture layout keyboard battery notification crash splash offline",
    "garden": "tomato compost seedling trellis aphid mulch frost greenhouse",
    "travel": "ferry visa hostel itinerary luggage platform timetable border",
    "network": "router packet latency firewall handshake certificate gateway mirror",
    "music": "chord tempo rehearsal reverb soprano score interval cadence",
    "kitchen": "sourdough saffron oven marinade broth knife pantry zest",
    "storage": "bucket replica checksum compaction snapshot quota volume tombstone",
    "design": "palette contrast grid serif margin prototype icon spacing",
    "research": "sample cohort variance placebo protocol survey citation outlier",
    "legal": "clause deposit tenancy notice signature annex liability arbitration",
    "hardware": "solder sensor voltage enclosure firmware resistor bracket probe",
    "school": "essay lecture exam syllabus tutor algebra seminar deadline",
}
_PEOPLE = (
    "Amara Bjorn Chidi Dagny Elif Farid Greta Hiroshi Ines Jarek Kaia Lamar Mirela Nuru Oskar "
    "Priya Quentin Rosa Sunil Tova Umar Vera Wanda Xavier Yara Zoltan"
).split()
_VERBS = "replace measure retry postpone split verify cache archive rename limit document".split()
_ENDS = "Timeout Mismatch Overflow NotFound Conflict Truncated Refused Expired".split()
_SYLLABLES = "ka lo mi ren tas vo del fir gan hep jor lun nim pod qui sor tev wax yol zim".split()

_ASKED = (
    "I looked at {file} again and the {noun} still behaves as it did before {who} went on leave.",
    "Could you {verb} the {noun} part without touching what {function} does for {other}?",
    "We agreed on {number} as the limit for the {noun}, please keep to that.",
    "Yesterday it failed with {error} after about {seconds} seconds.",
    "{who} says that the {other} was meant to come first, and I think so too.",
    "What did we settle about the {noun} when the {other} broke?",
)
_BACK = (
    "Going back to {module}: what was the reason we chose {number} for the {noun}?",
    "Remember {error} in {file}? It came up again in the {area} work.",
    "Before I answer {who}, remind me how {function} treats the {other}.",
)
_ANSWERED = (
    "The {noun} depends on the {other}, so a change in {file} reaches {function} as well.",
    "I would {verb} the {noun} first, because the {other} can only be judged after that.",
    "With a limit of {number} the {noun} stays below what {who} measured for the {other}.",
    "The cause of {error} is that {function} reads the {other} before the {noun} is complete.",
    "This took {seconds} seconds in the last run and should take about half of that now.",
    "Decision: {verb} the {other} and leave the {noun} as it is, since {who} relies on it.",
    "Nothing else in {area} refers to {module}, which keeps the risk of this step small.",
    "If the {other} is missing, {function} falls back to the {noun} and logs {error}.",
    "One open point remains: whether {who} wants the {noun} reported per {other} or in sum.",
)
_CODE = (
    "def {function}({noun}, {other}=None, limit={number}):",
    "    if {other} is None:",
    "        raise {error}(f'no {other} for {{{noun}}}')",
    "    {noun}_total = sum(one.{other} for one in {noun}[:limit])",
    "    log.info('{module}.{verb} %s', {noun}_total)",
    "    return {verb}({noun}_total, seconds={seconds})",
)


@dataclass(frozen=True, slots=True)
class Thread:
    """A subject with names that no other subject has."""

    area: str
    fixed: dict[str, str]

    def line(self, template: str, dice: random.Random) -> str:
        noun, other = dice.sample(_AREAS[self.area].split(), 2)
        verb, seconds = dice.choice(_VERBS), str(dice.randrange(2, 900))
        return template.format(
            area=self.area, noun=noun, other=other, verb=verb, seconds=seconds, **self.fixed
        )


def chat(seed: int, size: int) -> Iterator[tuple[Message, Message]]:
    """(user, assistant) messages, together of about `size` tokens."""
    dice = random.Random(seed)
    threads = [_thread(dice)]
    thread = threads[0]
    for _ in range(size // (USER + ASSISTANT)):
        back = False
        if dice.random() > STAY:
            back = dice.random() < RETURN
            if not back:
                threads.append(_thread(dice))
            thread = dice.choice(threads) if back else threads[-1]
        yield _ask(thread, back, dice), _answer(thread, dice)


def system(seed: int) -> Message:
    """A long system prompt."""
    dice = random.Random(seed)
    thread = _thread(dice)
    text = _filled("You are a careful assistant.\n", SYSTEM, thread, _ANSWERED, dice, "\n- ")
    return Message.of({"role": "system", "content": text})


def _thread(dice: random.Random) -> Thread:
    area = dice.choice(list(_AREAS))
    module = "".join(dice.choices(_SYLLABLES, k=3))
    fixed = {
        "module": module,
        "file": f"{area}/{module}/{dice.choice(_AREAS[area].split())}.py",
        "function": f"{dice.choice(_VERBS)}_{module}",
        "error": f"{module.capitalize()}{dice.choice(_ENDS)}",
        "number": str(dice.randrange(100, 100_000)),
        "who": dice.choice(_PEOPLE),
    }
    return Thread(area, fixed)


def _ask(thread: Thread, back: bool, dice: random.Random) -> Message:
    opening = thread.line(dice.choice(_BACK), dice) if back else ""
    return Message.of(
        {"role": "user", "content": _filled(opening, USER, thread, _ASKED, dice).strip()}
    )


def _answer(thread: Thread, dice: random.Random) -> Message:
    code = "\n".join(thread.line(line, dice) for line in _CODE)
    text = _filled("", ASSISTANT // 3, thread, _ANSWERED, dice).strip()
    text += f"\n\n```python\n{code}\n```\n\nStep by step:\n"
    text = _filled(text, 2 * ASSISTANT // 3, thread, _ANSWERED, dice, "\n- ")
    return Message.of(
        {"role": "assistant", "content": _filled(text + "\n\n", ASSISTANT, thread, _ANSWERED, dice)}
    )


def _filled(
    text: str,
    size: int,
    thread: Thread,
    templates: tuple[str, ...],
    dice: random.Random,
    joint: str = " ",
) -> str:
    """Sentences after the text until it has `size` tokens, about."""
    have = tokens.count(text)
    while have < size:
        line = joint + thread.line(dice.choice(templates), dice)
        text += line
        have += tokens.count(line)
    return text
