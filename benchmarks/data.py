"""Readers of the data sets, which are no part of this repository (their licences differ).

Everything becomes a `Conversation`: messages in the shape that a client posts, and probes.

The coding session has four roles and no tool calls. A `session` line (a banner with a date) goes
in front of the text that follows it. A `tool` line (what the terminal printed) is appended to the
assistant message before it; after a user message it is an assistant message of its own. So roles
stay within user and assistant, and no text is lost.

The agent trajectories have tool messages without ids: each takes the next open call of the
assistant message before it, and where there is none it is a user message. A call that nothing
answers is left out, as no client would send it.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memtree.history.message import Message
from memtree.text import tokens

BEAM_SIZES = ("100k", "500k", "1m")
ADVERSARIAL = "adversarial"
_CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: ADVERSARIAL}
_CUES = {1: "causal", 2: "state", 3: "goal", 4: "value"}
TALKS = {  # talks between two people: their file, and the names of its categories
    "locomo": ("locomo_dev", _CATEGORIES),
    "realtalk": ("realtalk_dev", _CATEGORIES),
    "plus": ("locomo_plus_dev", _CUES),
}
_TURN = re.compile(r"D(\d+):(\d+)")


class MissingData(Exception):
    """The data directory, or a file in it, is not there."""


@dataclass(frozen=True, slots=True)
class Probe:
    """A question and the texts that answer it, by the role of who wrote them; `answer`: in the
    words of the data set, empty where it has none."""

    question: str
    kind: str
    evidence: dict[str, tuple[str, ...]]
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Conversation:
    id: str
    messages: tuple[Message, ...]
    probes: tuple[Probe, ...] = ()


@dataclass(frozen=True, slots=True)
class Capture:
    """Recording of one client: the messages of each request, in order, and tokens of its tools."""

    client: str
    requests: tuple[tuple[Message, ...], ...]
    tools: int


@dataclass(frozen=True, slots=True)
class Needle:
    """A message to plant in a long history; `role`: user, assistant or tool."""

    role: str
    text: str
    question: str


@dataclass(frozen=True, slots=True)
class Data:
    root: Path

    def locomo(self) -> Iterator[Conversation]:
        yield from self.talks("locomo")

    def talks(self, name: str) -> Iterator[Conversation]:
        """Read the talks of one set; all of them have LoCoMo's form."""
        file, categories = TALKS[name]
        for talk in self._read(file):
            yield _talk(talk, categories)

    def madial(self) -> Any:
        """Read MADial-Bench: by language `memories` {id, text} and `dialogues` {messages,
        relevant}."""
        return self._read("madial_dev")

    def hard_needles(self) -> list[Needle]:
        """Read short messages to plant, each with a question in other words."""
        path = self.root / "needles_hard.json"
        try:
            return [Needle(*fields) for fields in json.loads(path.read_text("utf-8"))]
        except FileNotFoundError as error:
            raise MissingData(f"there is no {path}") from error

    def beam(self, size: str) -> Iterator[Conversation]:
        yield from map(_beam, self._read(f"beam_{size}_dev"))

    def coding_session(self) -> tuple[Message, ...]:
        return _coding(self._read("coding_session_1m"))

    def trajectories(self) -> Iterator[Conversation]:
        for one in self._read("agent_trajectories"):
            yield Conversation(one["id"], tuple(map(Message.of, _trajectory(one["messages"]))))

    def agent_sessions(self, name: str) -> Iterator[Conversation]:
        """Read recorded sessions of agents, whose messages are those of a client."""
        for one in self._read(name):
            yield Conversation(one["id"], tuple(map(Message.of, one["messages"])))

    def captures(self) -> Iterator[Capture]:
        """Side requests (titles, the client's own compaction) are sent to the server as well."""
        paths = sorted((self.root / "captures").glob("*.json.gz"))
        if not paths:
            raise MissingData(f"there are no captures in {self.root / 'captures'}")
        for path in paths:
            recorded = self._read(f"captures/{path.name[:-8]}")
            bodies = [one["body"] for one in recorded if is_chat(one)]
            if not bodies:
                continue
            posted = [body["messages"] for body in bodies]
            requests = tuple(tuple(map(Message.of, messages)) for messages in posted)
            tools = tokens.count(json.dumps(bodies[-1].get("tools") or []))
            yield Capture(path.name[:-8], requests, tools)

    def _read(self, name: str) -> Any:
        path = self.root / f"{name}.json.gz"
        try:
            with gzip.open(path) as file:
                return json.load(file)
        except FileNotFoundError as error:
            raise MissingData(f"there is no {path}") from error


def is_chat(recorded: dict[str, Any]) -> bool:
    """Return True if a recorded request is one of chat completions: there are other dialects."""
    return str(recorded["path"]).endswith("/chat/completions")


def turns(messages: Sequence[Message]) -> Iterator[tuple[Message, ...]]:
    """A history as it stood before each assistant message, and as it stands at the end."""
    for index in range(1, len(messages)):
        if messages[index].role == "assistant" and messages[index - 1].role in ("user", "tool"):
            yield tuple(messages[:index])
    yield tuple(messages)


def joined(parts: Iterable[Sequence[Message]]) -> tuple[Message, ...]:
    """Several histories one after the other: one system prompt, call ids made unique."""
    found: list[Message] = []
    for index, part in enumerate(parts):
        for message in part:
            if message.role not in ("system", "developer"):
                found.append(_renumbered(message, index))
            elif not index:
                found.append(message)
    return tuple(found)


def _renumbered(message: Message, index: int) -> Message:
    if not message.calls and message.role != "tool":
        return message
    fields = json.loads(message.raw)
    for call in fields.get("tool_calls") or ():
        call["id"] = f"{call['id']}.{index}"
    if message.role == "tool":
        fields["tool_call_id"] = f"{fields['tool_call_id']}.{index}"
    return Message.of(fields)


def _talk(one: dict[str, Any], categories: dict[int, str]) -> Conversation:
    talk = one["conversation"]
    messages: list[Message] = []
    texts: dict[tuple[int, int], tuple[str, str]] = {}
    numbers = sorted(int(key[8:]) for key in talk if re.fullmatch(r"session_\d+", key))
    for number in numbers:
        opening = f"[{talk[f'session_{number}_date_time']}]\n"
        for turn in talk[f"session_{number}"]:
            role = "user" if turn["speaker"] == talk["speaker_a"] else "assistant"
            photo = f" [photo: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            content = f"{opening}{turn['speaker']}: {turn['text']}{photo}"
            opening = ""
            texts[_turn_ids(turn["dia_id"])[0]] = (role, turn["text"])
            messages.append(Message.of({"role": role, "content": content}))
    probes = tuple(
        Probe(qa["question"], categories[qa["category"]], _by_role(found), _answer(qa))
        for qa in one["qa"]
        if (found := [texts[id_] for id_ in _evidence_ids(qa["evidence"]) if id_ in texts])
    )
    return Conversation(one["sample_id"], tuple(messages), probes)


def _answer(asked: dict[str, Any]) -> str:
    """Adversarial questions have none, and of some it is a number."""
    return str(asked.get("answer", ""))


def _evidence_ids(evidence: Iterable[str]) -> list[tuple[int, int]]:
    return list(dict.fromkeys(id_ for text in evidence for id_ in _turn_ids(text)))


def _turn_ids(text: str) -> list[tuple[int, int]]:
    """Some strings name several turns, some have leading zeros."""
    return [(int(session), int(turn)) for session, turn in _TURN.findall(text)]


def _beam(one: dict[str, Any]) -> Conversation:
    by_id = {m["id"]: (m["role"], m["content"].strip()) for m in one["messages"]}
    messages = (Message.of({"role": m["role"], "content": m["content"]}) for m in one["messages"])
    probes = tuple(
        Probe(probe["question"], kind, _by_role([by_id[id_] for id_ in ids]), _answer(probe))
        for kind, asked in one["questions"].items()
        for probe in asked
        if (ids := [id_ for id_ in _ids(probe.get("source_chat_ids")) if id_ in by_id])
    )
    return Conversation(one["id"], tuple(messages), probes)


def _ids(sources: Any) -> list[int]:
    """Numbers, in whatever lists and dicts they come."""
    if sources is None or isinstance(sources, int):
        return [] if sources is None else [sources]
    parts = sources.values() if isinstance(sources, dict) else sources
    return list(dict.fromkeys(id_ for part in parts for id_ in _ids(part)))


def _by_role(found: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    sides: dict[str, list[str]] = {}
    for role, text in found:
        sides.setdefault(role, []).append(text)
    return {role: tuple(texts) for role, texts in sides.items()}


def _coding(lines: Iterable[dict[str, str]]) -> tuple[Message, ...]:
    made: list[dict[str, str]] = []
    banner = ""
    for line in lines:
        if line["role"] == "session":
            banner += line["content"] + "\n\n"
            continue
        content, banner = banner + line["content"], ""
        if line["role"] == "tool" and made and made[-1]["role"] == "assistant":
            made[-1]["content"] += "\n\n" + content
        else:
            role = "user" if line["role"] == "user" else "assistant"
            made.append({"role": role, "content": content})
    if banner:
        made.append({"role": "user", "content": banner.rstrip()})
    return tuple(map(Message.of, made))


def _trajectory(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    waiting: list[str] = []
    for index, one in enumerate(messages):
        if one["role"] == "tool" and waiting:
            id_ = waiting.pop(0)
            made.append({"role": "tool", "tool_call_id": id_, "content": one["content"]})
            continue
        role = "user" if one["role"] == "tool" else one["role"]
        fields: dict[str, Any] = {"role": role, "content": one["content"]}
        answers = _answers_after(messages, index)
        calls = [_call(call, index, at) for at, call in enumerate(one.get("tool_calls") or ())]
        if calls[:answers]:
            fields["tool_calls"] = calls[:answers]
        waiting = [call["id"] for call in calls[:answers]]
        made.append(fields)
    return made


def _answers_after(messages: Sequence[dict[str, Any]], index: int) -> int:
    count = 0
    while index + 1 + count < len(messages) and messages[index + 1 + count]["role"] == "tool":
        count += 1
    return count


def _call(call: dict[str, Any], index: int, at: int) -> dict[str, Any]:
    body = call.get("function") or call
    arguments = body.get("arguments") or ""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    function = {"name": str(body.get("name") or "tool"), "arguments": text}
    return {"id": f"call_{index}_{at}", "type": "function", "function": function}
