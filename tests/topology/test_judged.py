"""The judges of the topology see what is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.made.summaries import Asked
from tests.topology import judged
from tests.topology.models import Call, Seen
from tests.topology.talks import Attempt, Talk


def talk_of(*sent: list[str], epochs: str = "aa") -> tuple[Talk, list[Seen]]:
    """A conversation whose requests reached the model with these texts of users."""
    talk, seen = Talk("somebody", 1, 3_000), []
    for number, (texts, epoch) in enumerate(zip(sent, epochs, strict=True), start=1):
        raw = json.dumps({"messages": [{"role": "user", "content": text} for text in texts]})
        talk.attempts.append(Attempt(number, raw.encode(), headers={"x-memtree-epoch": epoch}))
        seen.append(Seen(number, raw.encode()))
    return talk, seen


def call_of(text: str, at: float, **more: object) -> Call:
    prompt = f"Mark: @@1\n@@1 part 1: body <= 9 tokens\n@@1 user\n{text}\n@@1 end"
    call = Call(Asked({"messages": [{"role": "user", "content": prompt}]}), at, at + 1)
    call.bodies, call.good = {text: f"body of {text}"}, bool(more.get("good", True))
    return call


def test_a_request_that_is_not_what_was_posted():
    talk, seen = talk_of(["one"], epochs="a")
    assert list(judged.wrong_requests([talk], seen)) == []
    wrong = [Seen(1, seen[0].raw.replace(b"one", b"two"))]
    assert list(judged.wrong_requests([talk], wrong))


@pytest.mark.parametrize(
    ("second", "epochs", "wrong"),
    [
        (["one", "two"], "aa", False),
        (["won", "two"], "aa", True),
        (["won", "two"], "ab", False),
        ([], "aa", True),
    ],
)
def test_bytes_that_change_within_an_epoch(second, epochs, wrong):
    talk, seen = talk_of(["one"], second, epochs=epochs)
    assert bool(list(judged.wrong_epochs([talk], seen))) == wrong


def test_what_is_paid_again_without_a_reason():
    twice = [call_of("text", 10.0), call_of("text", 20.0)]
    assert len(judged.paid_again(twice, [])) == 1
    assert judged.paid_again(twice, [(12.0, 15.0)]) == []
    assert len(judged.paid_again(twice, [(1.0, 5.0), (21.0, 30.0)])) == 1
    assert judged.paid_again([call_of("text", 10.0, good=False), twice[1]], []) == []
    assert judged.paid_again([twice[0], call_of("other", 20.0)], []) == []


def test_what_is_asked_for_though_it_is_stored():
    calls = [call_of("text", 10.0), call_of("text", 20.0)]
    assert len(list(judged.asked_when_stored(calls, [("body of text", 15.0)]))) == 1
    assert list(judged.asked_when_stored(calls, [("body of text", 19.5)])) == []
    assert list(judged.asked_when_stored(calls, [("body of text", 1.0)] * 2)) == []


def test_texts_keys_and_tracebacks_in_a_log(tmp_path: Path):
    talk = Talk("somebody", 1, 3_000)
    text = next(str(m["content"]) for m in talk.messages if len(str(m["content"])) > 100)
    logs = {name: tmp_path / f"{name}.log" for name in ("calm", "key", "text", "broken")}
    logs["calm"].write_text("a request of somebody took 3 ms\n")
    logs["key"].write_text(f"who comes: {talk.key}\n")
    logs["text"].write_text(json.dumps({"said": text}))
    logs["broken"].write_text("Traceback (most recent call last):\n  KeyError\n")
    told = list(judged.told(logs, [talk]))
    assert {one.split(" tells")[0] for one in told} == {"key", "text"}
    assert [one.split(":")[0] for one in judged.tracebacks(logs)] == ["broken"]


def test_what_is_left_in_redis():
    class Keys:
        def scan_iter(self, _: str) -> list[bytes]:
            return [b"memtree:clock", b"memtree:payload:1", b"memtree:ledger:embed:t"]

    assert judged.left_in(Keys()) == ["memtree:ledger:embed:t", "memtree:payload:1"]
