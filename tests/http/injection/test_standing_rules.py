"""The ledger of standing rules over HTTP: `explain` and the tree route name the rules that hold."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from tests.http.served.fakes import edge
from tests.programs.sessions import chat
from tests.properties.process import World

SAID = {
    4: "Never use emojis.",
    20: "Use pnpm, not npm, in this project.",
    40: "Actually, use yarn instead of pnpm from now on.",
    60: "You may use emojis again.",
    80: "Always cite a source in your answers.",
}


def posted(length: int = 301) -> list[dict[str, Any]]:
    made = chat(length, words=80)
    for at, rule in SAID.items():
        made[at] = {"role": "user", "content": f"Thank you. {rule} And now the rest."}
    return [{"role": "system", "content": "You are kind."}, *made]


def text_of(messages: list[dict[str, Any]], rule: dict[str, Any]) -> str:
    assert rule["part"] == "content"
    text = messages[rule["message"]]["content"][rule["start"] : rule["end"]]
    assert rule["sha256"] == sha256(text.encode()).hexdigest()
    return str(text)


async def test_explain_names_the_rules_that_hold():
    messages, world = posted(), World()
    async with edge(None, world.used) as client:
        body = {"messages": messages, "explain": True, "mode": "fresh", "target_tokens": 4_000}
        answer = await client.post("/context_memory", json=body)
    rules = answer.json()["explain"]["rules"]
    told = [(text_of(messages, rule), rule["replaces"], rule["pinned"]) for rule in rules]
    assert told == [(SAID[80], None, True), (SAID[60], 5, True), (SAID[40], 21, True)]
    memory = answer.json()["messages"][1]["content"]
    assert all(SAID[at] in memory for at in (40, 60, 80))


async def test_a_rule_that_found_no_room_is_not_called_pinned():
    messages = posted()
    many = [{"role": "user", "content": f"Always mention item number {n}."} for n in range(90)]
    messages[30:30] = many
    async with edge(None, World().used) as client:
        body = {"messages": messages, "explain": True, "mode": "fresh", "target_tokens": 2_000}
        answer = await client.post("/context_memory", json=body)
    rules = answer.json()["explain"]["rules"]
    memory = answer.json()["messages"][1]["content"]
    assert {rule["pinned"] for rule in rules} == {True, False}
    assert all(text_of(messages, rule) in memory for rule in rules if rule["pinned"])


async def test_the_tree_route_names_the_rules_of_the_whole_history():
    messages = [*posted(), {"role": "user", "content": "Always answer in French."}]
    async with edge(None, World().used) as client:
        answer = await client.post("/context_memory/tree", json={"messages": messages})
    rules = answer.json()["rules"]
    assert [(text_of(messages, rule), rule["replaces"]) for rule in rules] == [
        ("Always answer in French.", None), (SAID[80], None), (SAID[60], 5), (SAID[40], 21),
    ]  # fmt: skip
    assert set(rules[0]) == {"message", "part", "start", "end", "sha256", "replaces"}
