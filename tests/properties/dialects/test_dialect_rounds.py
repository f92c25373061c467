"""Conversations in which a model calls tools of ours: whatever it does, no request of any round or
of a later turn breaks a rule of its API. The client sends back what it got, as SDKs do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from memtree.dialects.tool_definitions import CONTEXT_TOOLS
from memtree_proxy.dialects import messages_round, responses_round
from memtree_proxy.dialects.messages_stream import MessagesStream
from memtree_proxy.dialects.responses_stream import ResponsesStream
from tests.wire.messages import messages_events, messages_rules
from tests.wire.responses import responses_events, responses_rules
from tests.wire.rule_break import Fields, RuleBreak
from tests.wire.thinking import signature

THINK, SAY, OURS, THEIRS = "think", "say", "memory_search", "Read"
NAMES = CONTEXT_TOOLS.names
ROUND = st.lists(st.sampled_from([THINK, SAY, OURS, OURS, OURS, THEIRS]), min_size=1, max_size=4)
TURNS = st.lists(st.lists(ROUND, min_size=1, max_size=4), min_size=1, max_size=4)


def tool(name: str) -> Fields:
    return {"name": name, "description": "d", "input_schema": {"type": "object"}}


@dataclass(slots=True)
class MessagesChat:
    """A client, a model that does as it is told, and the rounds between them. `broken`: rules that
    a request broke."""

    broken: list[RuleBreak] = field(default_factory=list)
    made: int = 0
    body: Fields = field(default_factory=lambda: {
        "model": "claude-opus-5-5", "max_tokens": 9, "stream": True,
        "thinking": {"type": "adaptive"}, "tools": [*map(tool, (THEIRS, *sorted(NAMES)))],
        "messages": [],
    })  # fmt: skip

    def turn(self, rounds: list[list[str]]) -> None:
        messages: list[Fields] = self.body["messages"]
        if not messages or messages[-1]["role"] == "assistant":
            messages.append({"role": "user", "content": f"Question {len(messages)}?"})
        answer = self._answer(rounds)
        # What is empty or refused by the API is not sent again.
        content = [b for b in answer["content"] if b["type"] != "text" or b["text"].strip()]
        if content:
            messages.append({"role": "assistant", "content": content})
        calls = [block["id"] for block in content if block["type"] == "tool_use"]
        if calls:
            results = [{"type": "tool_result", "tool_use_id": id_, "content": "r"} for id_ in calls]
            messages.append({"role": "user", "content": results})

    def _answer(self, rounds: list[list[str]]) -> Fields:
        stream, out, body = MessagesStream(NAMES), b"", self.body
        for kinds in [*rounds, [SAY]]:
            self.broken += messages_rules.broken(body)
            reason = None if any(kind in (OURS, THEIRS) for kind in kinds) else "end_turn"
            blocks = list(self._blocks(kinds, body))
            script = messages_events.events(messages_events.message(*blocks, reason=reason))
            out += b"".join(map(stream.feed, script))
            rest, asked = stream.end()
            out += rest
            if asked is None:
                break
            more = [*asked.items, *messages_round.results(asked.calls, ["r"] * len(asked.calls))]
            body = {**body, "messages": [*body["messages"], *map(json.loads, more)]}
        return messages_events.read(out)

    def _blocks(self, kinds: list[str], body: Fields) -> Iterator[Fields]:
        """Thinking comes first, as prefixes within one message are not looked at."""
        self.made += 1
        if THINK in kinds:
            words = f"Thought {self.made}."
            yield {"type": "thinking", "thinking": words, "signature": signature(body, words)}
        for kind in kinds:
            self.made += 1
            if kind == SAY:
                yield messages_events.text(f"Words {self.made}.")
            elif kind != THINK:
                yield messages_events.tool_use(kind, f"toolu_{self.made}", query="q")


@dataclass(slots=True)
class ResponsesChat:
    """Chat of the Responses API, whose server knows what each item was made with."""

    store: bool
    broken: list[RuleBreak] = field(default_factory=list)
    made: int = 0
    needs: dict[str, str] = field(default_factory=dict)
    items: list[Fields] = field(default_factory=list)

    def turn(self, rounds: list[list[str]]) -> None:
        if not self.items or not str(self.items[-1]["type"]).endswith("_output"):
            words = [{"type": "input_text", "text": f"Question {self.made}?"}]
            self.items.append({"type": "message", "role": "user", "content": words})
        output = self._answer(rounds)["output"]
        while output and output[-1]["type"] == "reasoning":  # an answer that says nothing
            output.pop()
        self.items += output
        self.items += [
            {"type": "function_call_output", "call_id": item["call_id"], "output": "r"}
            for item in output
            if item["type"] == "function_call"
        ]

    def _answer(self, rounds: list[list[str]]) -> Fields:
        stream, out, items = ResponsesStream(NAMES), b"", self.items
        for kinds in [*rounds, [THINK, SAY]]:
            request = {"model": "m", "store": self.store, "stream": True, "input": items}
            self.broken += responses_rules.broken(request, self.needs)
            made = list(self._items(kinds))
            script = responses_events.events(responses_events.response(*made, store=self.store))
            out += b"".join(map(stream.feed, script))
            rest, asked = stream.end()
            out += rest
            if asked is None:
                break
            more = [*asked.items, *responses_round.results(asked.calls, ["r"] * len(asked.calls))]
            items = [*items, *map(json.loads, more)]
        return responses_events.read(out)

    def _items(self, kinds: list[str]) -> Iterator[Fields]:
        thought = ""
        for kind in kinds:
            self.made += 1
            item: Fields
            match kind:
                case "think":
                    thought = f"rs_{self.made}"
                    yield responses_events.reasoning(thought)
                    continue
                case "say":
                    item = responses_events.text(f"Words {self.made}.", f"msg_{self.made}")
                case _:
                    item = responses_events.call(kind, str(self.made), query="q")
            if thought:
                self.needs[item["id"]] = thought
            thought = thought if kind in (OURS, THEIRS) else ""  # calls at once share it
            yield item


def broken(chat: Any, turns: list[list[list[str]]]) -> list[RuleBreak]:
    for rounds in turns:
        chat.turn(rounds)
    chat.turn([[SAY]])
    return list(chat.broken)


@given(TURNS)
@example([[[THINK, OURS], [THINK, SAY, OURS], [THINK, THEIRS]], [[THINK, OURS, THEIRS]]])
def test_no_request_of_the_messages_api_breaks_a_rule(turns):
    assert broken(MessagesChat(), turns) == []


@given(TURNS, st.booleans())
@example([[[THINK, OURS], [THINK, SAY, OURS], [THINK, OURS, THEIRS]]], False)
@example([[[THINK, OURS], [THINK, OURS], [THINK, SAY]]], True)
def test_no_request_of_the_responses_api_breaks_a_rule(turns, store):
    assert broken(ResponsesChat(store), turns) == []
