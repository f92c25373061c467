"""Conversations that run through the topology, as clients lead them: they grow, call tools, are
streamed or not, and post again what was not answered."""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

import httpx

from tests.programs.server import PATIENCE
from tests.programs.sessions import coding
from tests.programs.tap import NUMBER
from tests.topology.models import LOOK, expected, sentences

ANSWER_SECONDS = 300.0  # an attempt that is not over by then hangs
GIVE_UP_SECONDS = 900.0  # for a turn with all its attempts
AGAIN_SECONDS = 0.25
THINKS_SECONDS = 0.3  # whoever asks
SENTENCES_ASKED, SENTENCES_FOUND = 5, 20
_numbers = itertools.count(1)


@dataclass(slots=True)
class Attempt:
    """One request. `status` is 0 and `error` an exception's name where no head came, or where the
    answer broke off (`status` is that of the head then)."""

    number: int
    raw: bytes
    status: int = 0
    error: str = ""
    seconds: float = 0.0
    headers: dict[str, str] = field(default_factory=dict)
    said: dict[str, Any] | None = None

    @property
    def answered(self) -> bool:
        return self.status == 200 and self.said is not None

    @property
    def clear(self) -> bool:
        """Answered, or an error that says what it is, or a connection that visibly broke."""
        return self.answered or bool(self.error)


class Talk:
    """One tenant's conversation. Only one thread leads it at a time."""

    def __init__(self, name: str, seed: int, opening: int, streams: float = 0.6) -> None:
        """`opening`: tokens of the history that it begins with. `streams`: share of requests."""
        self._streams = streams
        self.key = f"sk-{name}-{seed}"
        self._random = Random(f"{name} {seed}")
        system = {"role": "system", "content": f"You are {name}.\n  Never lose a  byte: é\u00a0."}
        self.messages = [system, *coding(opening, self._random.randrange(10**9))[1:]]
        self.attempts: list[Attempt] = []
        self.problems: list[str] = []

    @property
    def headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.key}"}

    def turn(self, url: str) -> None:
        """Ask something and take what is answered, tools and all."""
        asked = f"{len(self.messages)}: {sentences(self._random, SENTENCES_ASKED)}"
        looks = self._random.random() < 0.3
        self.messages.append({"role": "user", "content": f"{asked} {LOOK}" if looks else asked})
        said = self._answered(url)
        while said.get("tool_calls"):
            for call in said["tool_calls"]:
                found = sentences(self._random, SENTENCES_FOUND)
                result = {"role": "tool", "tool_call_id": call["id"], "content": found}
                self.messages.append(result)
            said = self._answered(url)

    def post(self, url: str) -> Attempt:
        """The history as it stands, once."""
        body = {
            "model": "m",
            "messages": self.messages,
            "stream": self._random.random() < self._streams,
        }
        attempt = Attempt(next(_numbers), json.dumps(body, ensure_ascii=False).encode())
        self.attempts.append(attempt)
        begun = time.monotonic()
        try:
            _fill(attempt, url, self.headers, bool(body["stream"]))
        except httpx.TimeoutException as error:
            self.problems.append(f"request {attempt.number} hangs: {error!r}")
        except httpx.HTTPError as error:
            attempt.error = type(error).__name__
        attempt.seconds = time.monotonic() - begun
        return attempt

    def _answered(self, url: str) -> dict[str, Any]:
        end = time.monotonic() + GIVE_UP_SECONDS
        while time.monotonic() < end:
            attempt = self.post(url)
            if not attempt.clear:
                self.problems.append(f"request {attempt.number}: no answer, no error")
            if attempt.answered and attempt.said:
                wanted = expected(self.messages[-1])
                if attempt.said != wanted:
                    self.problems.append(f"request {attempt.number}: not the answer to it")
                self.messages.append(wanted)
                return wanted
            time.sleep(AGAIN_SECONDS)
        raise AssertionError(f"{self.key} was not answered: {self.attempts[-1]}")


def _fill(attempt: Attempt, url: str, headers: dict[str, str], streams: bool) -> None:
    own = {
        NUMBER: str(attempt.number),
        "x-polychat-memory": "on",
        "x-memtree-mode": "stable",
        "content-type": "application/json",
    }
    where = f"{url}/v1/chat/completions"
    timeout = httpx.Timeout(ANSWER_SECONDS)
    with (
        httpx.Client(trust_env=False, timeout=timeout) as client,
        client.stream("POST", where, headers={**headers, **own}, content=attempt.raw) as answer,
    ):
        attempt.status, attempt.headers = answer.status_code, dict(answer.headers)
        text = answer.read().decode()
    if attempt.status != 200:
        attempt.error = _told(text) or f"status {attempt.status} without a word"
    elif streams:
        attempt.said, attempt.error = _streamed(text)
    else:
        attempt.said = json.loads(text)["choices"][0]["message"]


def _told(text: str) -> str:
    """Return what an error says; a balancer that reaches nobody has no words."""
    try:
        return str(json.loads(text)["error"]["code"])
    except (ValueError, KeyError, TypeError):
        return ""


def _streamed(text: str) -> tuple[dict[str, Any] | None, str]:
    """The message that the events make, or the error among them."""
    said: dict[str, Any] = {"role": "assistant", "content": ""}
    for line in text.splitlines():
        if line == "data: [DONE]":
            return said, ""
        if not line.startswith("data: "):
            continue
        event = json.loads(line.removeprefix("data: "))
        if "error" in event:
            return None, str(event["error"].get("code"))
        delta = event["choices"][0]["delta"]
        said["content"] += delta.get("content", "")
        for call in delta.get("tool_calls", ()):
            own = {name: value for name, value in call.items() if name != "index"}
            said.setdefault("tool_calls", []).append(own)
    return None, "the stream has no end"


class Chatter:
    """Threads that lead conversations, turn after turn, until told to stop."""

    def __init__(self, url: str, talks: list[Talk]) -> None:
        self._url, self._talks = url, talks
        self._stop = threading.Event()
        self.failed: list[BaseException] = []
        self.turns = 0
        self._threads = [threading.Thread(target=self._lead, args=(talk,)) for talk in talks]

    def _lead(self, talk: Talk) -> None:
        try:
            while not self._stop.is_set():
                talk.turn(self._url)
                self.turns += 1
                self._stop.wait(THINKS_SECONDS)
        except BaseException as error:  # noqa: BLE001  told by the thread that waits for it
            self.failed.append(error)

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Every turn comes to its end."""
        self._stop.set()
        for thread in self._threads:
            thread.join(GIVE_UP_SECONDS + ANSWER_SECONDS)
        assert not any(thread.is_alive() for thread in self._threads), "a client hangs"
        assert not self.failed, self.failed


@contextmanager
def talking(url: str, talks: list[Talk]) -> Iterator[Chatter]:
    """Conversations go on while the block runs, and each has had a turn when it begins."""
    chatter = Chatter(url, talks)
    chatter.start()
    try:
        until(lambda: chatter.turns >= len(talks) or bool(chatter.failed))
        yield chatter
    finally:
        chatter.stop()


def until(condition: Any, seconds: float = PATIENCE) -> None:
    """Wait for what other processes do."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.02)
