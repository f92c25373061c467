"""One request of a user, and hundreds of rounds of tools to fulfil it."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from memtree.conversation.message import Message
from tests.programs.sessions import chat
from tests.properties.process import World, assistant, begins, user

ROUNDS = 140
ASK = "Rename the parameter limit to ceiling in every module of the shop, then run all tests."


def tool_round(number: int, words: int) -> list[dict[str, Any]]:
    name = f"shop/module_{number}.py"
    call = {
        "id": f"c{number}",
        "type": "function",
        "function": {"name": "edit", "arguments": json.dumps({"path": name})},
    }
    told = chat(1, seed=number, words=words)[0]["content"]
    return [
        {"role": "assistant", "content": f"Next is {name}.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": f"edited {name}: {told}"},
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "hard"), [(60, False), pytest.param(60, True, marks=pytest.mark.long), (1_200, False)]
)
async def test_the_ask_and_the_last_rounds_stay_in_sight(words: int, hard: bool) -> None:
    world = World()
    posted = [user("Hello."), assistant("Hello, what is there to do?"), user(ASK)]
    rounds = ROUNDS if words < 1_000 else 40
    answers = []
    for number in range(rounds):
        posted += tool_round(number, words)
        answer = await world.ask(list(posted), hard=hard)
        if not answer.changed:
            continue
        answers.append(answer)
        assert answer.epoch
        raws = [Message.of(one).raw for one in posted]
        # Two rounds always, three where they are small: all but the ask's are tool rounds.
        kept = 6 if words < 1_000 else 4
        assert list(answer.messages[-kept:]) == raws[-kept:]
        assert ASK in "\n".join(Message(raw).text for raw in answer.messages)
        assert answer.recall_tokens == 0
    assert len(answers) > rounds // 4
    epochs = len({answer.epoch for answer in answers})
    assert 1 < epochs < len(answers) // 2
    assert all(begins(two, one) for one, two in pairwise(answers) if one.epoch == two.epoch)
