"""Sessions of an agent over the Messages API, of everything that may stand in one: reminders,
system messages, deferred tools, tools of the provider, thinking whose signature is bound to what
was sent, markers that move from turn to turn, strings that become lists.

What the model says next depends on the request that it got, so a session is walked turn by turn:

    session = Session(seed)
    while session.goes_on:
        sent = ...session.body()...
        session.answer(sent)
"""

from __future__ import annotations

import copy
from random import Random
from typing import Any

from tests.properties.strategies import PNG, code, exotic, prose
from tests.wire.messages.messages_shorthand import called, result, text
from tests.wire.rule_break import Fields
from tests.wire.thinking import signature

SHORT, LONG = {"type": "ephemeral"}, {"type": "ephemeral", "ttl": "1h"}
DEFERRED = ("WebFetch", "Monitor", "CronList")


class Session:
    """`size`: about words of a text. `thinking`: the field of that name."""

    def __init__(self, seed: int, turns: int, size: int, thinking: str = "adaptive") -> None:
        self._rng = Random(seed)
        self._left = turns
        self._size = size
        self._bound = thinking != "enabled"
        self._ids = 0
        self._marker = self._rng.choice((None, SHORT, SHORT, LONG))
        self._messages: list[Fields] = []
        self._waiting = ""  # the call of a provider's tool that is not answered yet
        self._thinking: Fields = {"type": thinking}
        if thinking == "enabled":
            self._thinking |= {"budget_tokens": 2_000}
        self._begin()

    @property
    def goes_on(self) -> bool:
        return self._left > 0

    def body(self) -> Fields:
        """The request as the client posts it."""
        messages = copy.deepcopy(self._messages)
        if self._marker and self._rng.random() < 0.9:
            _mark(messages, self._marker)
        for message in messages:
            if self._rng.random() < 0.3:
                _shorten(message)
        billing = text("x-anthropic-billing-header: cc_version=2.1;")
        instructions = text("You are an agent. " + prose(1, 30))
        if self._marker:
            instructions["cache_control"] = self._marker
        return {
            "model": "claude-sonnet-5-5",
            "max_tokens": 4_096,
            "system": [billing, instructions],
            "tools": [_tool(name) for name in ("Read", "ToolSearch", *DEFERRED)],
            "thinking": self._thinking,
            "messages": messages,
        }

    def answer(self, sent: Fields) -> None:
        """Take the model's answer to a request, and go on as the client does then."""
        self._left -= 1
        made: list[Fields] = []
        if self._waiting:
            made.append(_found(self._waiting, prose(self._number(), self._size)))
            self._waiting = ""
        results = self._say(sent, made)
        self._messages.append({"role": "assistant", "content": made})
        if self._waiting:
            self._messages.append({"role": "user", "content": results})
            return
        if results and self._rng.random() < 0.3 and not _load(results):
            results.append(text(self._words()))
        self._messages.append({"role": "user", "content": results or self._asked()})
        if self._rng.random() < 0.25:
            self._messages.append(self._note())

    # -- the model

    def _say(self, sent: Fields, made: list[Fields]) -> list[Fields]:
        """Blocks of an answer are put into `made`; the results of its calls."""
        rng = self._rng
        if rng.random() < 0.7 or self._must_think():
            self._think(sent, made)
        if len(made) == 1 and made[0]["type"] == "thinking" and rng.random() < 0.05:
            return []  # nothing else
        if rng.random() < 0.6:
            made.append(text(self._words()))
        kind = rng.random()
        if kind < 0.1:
            self._ids += 1
            made.append(_search(f"srvtoolu_{self._ids}"))
            made.append(_found(f"srvtoolu_{self._ids}", prose(self._number(), self._size)))
            if rng.random() < 0.5:
                self._think(sent, made)
            made.append(text(self._words()))
        results = [self._call(made) for _ in range(rng.randint(1, 3))] if kind > 0.3 else []
        if results and rng.random() < 0.1 and not _load(results):
            self._ids += 1
            self._waiting = f"srvtoolu_{self._ids}"
            made.append(_search(self._waiting))
        if not made or (not results and made[-1]["type"] == "thinking"):
            made.append(text(self._words()))
        return results

    def _must_think(self) -> bool:
        """Return True if a turn begins that has to begin so."""
        talk = [one for one in self._messages if one["role"] != "system"]
        return not self._bound and all(b["type"] != "tool_result" for b in talk[-1]["content"])

    def _think(self, sent: Fields, made: list[Fields]) -> None:
        told = self._rng.choice((prose(self._number(), 12), ""))
        if self._rng.random() < 0.1:
            data = signature(sent, "", made) if self._bound else "ZGF0YQ=="
            made.append({"type": "redacted_thinking", "data": data})
            return
        signed = signature(sent, told, made) if self._bound else "c2ln"
        made.append({"type": "thinking", "thinking": told, "signature": signed})

    def _call(self, made: list[Fields]) -> Fields:
        self._ids += 1
        id_ = f"toolu_{self._ids}"
        late = made and made[0]["type"] == "web_search_tool_result"
        if self._rng.random() < 0.12 and not late:
            made.append(called(id_, "ToolSearch", {"query": "select"}))
            names = self._rng.sample(DEFERRED, self._rng.randint(1, 2))
            return result(id_, [{"type": "tool_reference", "tool_name": name} for name in names])
        given: Fields = {"path": f"src/{self._number()}.py"}
        if self._rng.random() < 0.3:
            given |= {"text": code(self._number(), self._size // 6), "n": 1.0, "é": [None, True]}
        made.append(called(id_, "Read", given))
        content: Any = code(self._number(), self._size // 4 + 1)
        if self._rng.random() < 0.2:
            content = [text(content), _image()] if self._rng.random() < 0.5 else [text(content)]
        more = {"is_error": False} if self._rng.random() < 0.5 else {}
        return {**result(id_, content), **more}

    # -- the client

    def _begin(self) -> None:
        first = [text(f"<system-reminder>{prose(n, 20)}</system-reminder>") for n in range(2)]
        first = first[: self._rng.randint(0, 2)]
        self._messages.append({"role": "user", "content": [*first, text(self._words())]})
        if self._rng.random() < 0.6:
            environment = f"# Environment\n{prose(3, 40)}"
            effort = {"output_config": {"effort": "medium"}}
            self._messages.append({"role": "system", "content": environment, **effort})

    def _asked(self) -> list[Fields]:
        words = [text(self._words())]
        if self._rng.random() < 0.2:
            words.insert(0, text(f"<system-reminder>{prose(self._number(), 6)}</system-reminder>"))
        if self._rng.random() < 0.1:
            words.append(_image())
        return words

    def _note(self) -> Fields:
        if self._rng.random() < 0.2:
            tool = {"type": "tool", "name": self._rng.choice(DEFERRED)}
            return {"role": "system", "content": [{"type": "tool_removal", "tool": tool}]}
        note: Fields = {"role": "system", "content": f"The list is empty. {self._number()}"}
        return note | ({"clear_at": "next_user_message"} if self._rng.random() < 0.3 else {})

    def _words(self) -> str:
        if self._rng.random() < 0.1:
            return "x" + exotic(self._number(), self._size)
        return prose(self._number(), self._rng.randint(1, self._size))

    def _number(self) -> int:
        return self._rng.randint(0, 9_999)


def _load(results: list[Fields]) -> bool:
    """Return True if a result loads tools: such rounds may stay, and hold nothing else then."""
    return any("tool_reference" in str(one["content"]) for one in results)


def _tool(name: str) -> Fields:
    later = {"defer_loading": True} if name in DEFERRED else {}
    return {"name": name, "description": "d", "input_schema": {"type": "object"}, **later}


def _image() -> Fields:
    kind, data = PNG.removeprefix("data:").split(";base64,")
    return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}


def _search(id_: str) -> Fields:
    return {"type": "server_tool_use", "id": id_, "name": "web_search", "input": {"query": "q"}}


def _found(id_: str, title: str) -> Fields:
    page = {"type": "web_search_result", "title": title, "url": "https://example.com"}
    page["encrypted_content"] = "RW5jcnlwdGVk"
    return {"type": "web_search_tool_result", "tool_use_id": id_, "content": [page]}


def _mark(messages: list[Fields], marker: Fields) -> None:
    """The newest block that may have a marker; one of an hour only where all are."""
    last = messages[-1]
    if last["role"] == "system" and isinstance(last["content"], str):
        last["content"] = [text(last["content"])]
    block = last["content"][-1]
    if block["type"] in ("text", "tool_result", "image"):
        block["cache_control"] = marker


def _shorten(message: Fields) -> None:
    """A single text without a marker as a string."""
    content = message["content"]
    if len(content) == 1 and isinstance(content[0], dict) and content[0].keys() == {"type", "text"}:
        message["content"] = content[0]["text"]
