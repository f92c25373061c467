"""Judge from outside what must hold after everything: requests that reached the model, trees,
vectors and summaries in the store, calls that were paid for, logs, and Redis."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import msgspec
from redis import Redis

from tests.outgoing import problems_of_bytes
from tests.topology.models import Call, Seen
from tests.topology.talks import Attempt, Talk

# Of a key in Redis: what may stay when all work is done.
LASTING = ("clock", "life", "forgot", "workers", "looking", "state", "turn", "channel")
PREPARED = 1.0  # seconds between a look into the store and the arrival of a call


def wrong_requests(talks: Sequence[Talk], seen: Sequence[Seen]) -> Iterator[str]:
    """Whatever reached the model was made from what its client posted, truthfully."""
    posted = {one.number: one for talk in talks for one in talk.attempts}
    for request in seen:
        if request.number not in posted:
            continue  # of another test
        for problem in problems_of_bytes(posted[request.number].raw, request.raw):
            yield f"request {request.number}: {problem}"


def wrong_epochs(talks: Sequence[Talk], seen: Sequence[Seen]) -> Iterator[str]:
    """Within an epoch each request begins with the bytes of the one before, whichever proxy
    sent it."""
    sent = {request.number: _messages(request.raw) for request in seen}
    for talk in talks:
        before: dict[str, tuple[Attempt, list[bytes]]] = {}
        for attempt in talk.attempts:
            epoch, messages = attempt.headers.get("x-memtree-epoch"), sent.get(attempt.number)
            if not epoch or messages is None:
                continue
            if epoch in before:
                old, begun = before[epoch]
                if messages[: len(begun)] != begun:
                    yield f"requests {old.number} and {attempt.number} differ within {epoch}"
            before[epoch] = attempt, messages


def epochs(talks: Sequence[Talk]) -> Counter[str]:
    """Requests by epoch."""
    named = (one.headers.get("x-memtree-epoch") for talk in talks for one in talk.attempts)
    return Counter(name for name in named if name)


def states(talks: Sequence[Talk]) -> Counter[str]:
    """Attempts by what became of them."""
    return Counter(
        one.headers.get("x-memtree-state", "no state") if one.answered else one.error
        for talk in talks
        for one in talk.attempts
    )


def paid_again(calls: Sequence[Call], faults: Sequence[tuple[float, float]]) -> list[str]:
    """Parts of histories that were asked for again without a reason: there was a good answer, and
    no fault ((begin, end), unix seconds) between the first question and the second."""
    asked: dict[str, list[Call]] = defaultdict(list)
    for call in calls:
        for part in call.asked.parts:
            asked[part.text].append(call)
    found = []
    for text, each in asked.items():
        for one, other in pairwise(each):
            excused = any(begin < other.at and end > one.at for begin, end in faults)
            if one.good and one.ended and not excused:
                found.append(f"asked {other.at - one.at:.1f} s after its answer: {text[:60]!r}")
    return found


def asked_when_stored(calls: Sequence[Call], stored: Sequence[tuple[str, float]]) -> Iterator[str]:
    """Parts that were asked for when their summary (body, unix seconds) was stored already.

    Who asks has looked into the store before, for as long as a call is prepared. Bodies that
    stand for several parts tell nothing."""
    times = Counter(body for body, _ in stored)
    of = defaultdict(set)
    for call in calls:
        for text, body in call.bodies.items():
            of[body].add(text)
    at = {body: when for body, when in stored if times[body] == 1 and len(of[body]) == 1}
    for call in calls:
        for body in at.keys() & set(call.bodies.values()):
            if call.at - at[body] > PREPARED:
                yield f"asked {call.at - at[body]:.2f} s after it was stored: {body[:60]!r}"


def told(logs: Mapping[str, Path], talks: Sequence[Talk]) -> Iterator[str]:
    """Texts and keys that stand in a log."""
    secret = {talk.key for talk in talks}
    for talk in talks:
        words = [str(one["content"]) for one in talk.messages if one.get("content")]
        secret |= {word[at : at + 40] for word in words[-40:] for at in (0, 60) if len(word) > 100}
    for name, path in logs.items():
        text = path.read_text("utf-8", "replace") if path.exists() else ""
        for one in secret:
            if one in text or json.dumps(one)[1:-1] in text:
                yield f"{name} tells {one!r}"


def tracebacks(logs: Mapping[str, Path]) -> Iterator[str]:
    """Errors that nobody foresaw."""
    for name, path in logs.items():
        text = path.read_text("utf-8", "replace") if path.exists() else ""
        at = text.find("Traceback (most recent call last)")
        if at >= 0:
            yield f"{name}: {text[max(0, at - 300) : at + 3_000]}"


def left_in(client: Redis) -> list[str]:
    """Keys of work that was not taken away."""
    names = sorted(key.decode() for key in client.scan_iter("memtree:*"))
    return [name for name in names if name.split(":")[1] not in LASTING]


def _messages(raw: bytes) -> list[bytes]:
    body = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
    return [bytes(one) for one in msgspec.json.decode(body["messages"], type=list[msgspec.Raw])]
