"""client -> tap -> `memtree serve` (a process of its own) -> scripted upstream; and the verdict."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests import replayed
from tests.http.served.running import running
from tests.made.scripted import Fail, Script, Scripted, Seen, Step
from tests.outgoing import problems_of_bytes
from tests.programs.server import Server
from tests.programs.server import running as serving
from tests.programs.tap import NUMBER, Exchange, Tap

PACKED = ("packed", "provisional")
TARGET = 4_000  # tokens: small, so that a session of some ten rounds is folded more than once


@dataclass(frozen=True, slots=True)
class Rig:
    """`url`: what a client takes for its base URL."""

    upstream: Scripted
    server: Server
    tap: Tap
    url: str

    def script(self, key: str, steps: Sequence[Step], *, tools_only: bool = False) -> Script:
        return self.upstream.script(key, steps, tools_only=tools_only)

    def verdict(self, key: str) -> Verdict:
        return judge(self.tap.of(key), self.upstream.scripts[key])

    def check(self, key: str, *, target: int = TARGET) -> Verdict:
        """Fails unless the script came to its end with memory used, folded at least twice, no
        invalid request and every answer as the upstream gave it; then the same requests again in
        every mode."""
        verdict = self.verdict(key)
        assert verdict.problems == [], verdict.problems
        script = self.upstream.scripts[key]
        assert script.done, f"the client stopped at step {script.at} of {len(script.steps)}"
        assert script.over == 0
        assert sum(verdict.states[state] for state in PACKED) >= 3, verdict.states
        assert len(verdict.epochs) >= 2, verdict.epochs
        again = asyncio.run(replayed.replay_all(key, verdict.posted, target))
        assert again.problems == [], again.problems
        assert again.states["packed"] or again.states["provisional"]
        return verdict


@contextmanager
def rigged(folder: Path, *flags: str, target: int = TARGET) -> Iterator[Rig]:
    upstream = Scripted()
    with running(upstream) as above:
        flags = ("--upstream", f"{above}/v1", "--target-tokens", str(target), *flags)
        with serving(folder / "clients.db", *flags) as server:
            tap = Tap(server.url)
            with running(tap) as url:
                yield Rig(upstream, server, tap, f"{url}/v1")


@dataclass(slots=True)
class Verdict:
    """Verdict on a client's session. `epochs`: the names, in order of their first use."""

    requests: int = 0
    states: Counter[str] = field(default_factory=Counter)
    epochs: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    posted: list[replayed.Posted] = field(default_factory=list)


def judge(exchanges: Sequence[Exchange], script: Script) -> Verdict:
    verdict = Verdict()
    sent: dict[int, list[Seen]] = {}
    for seen in script.seen:
        sent.setdefault(int(seen.headers[NUMBER]), []).append(seen)
    for one in exchanges:
        verdict.requests += 1
        verdict.states[one.state or f"status {one.status}"] += 1
        if one.epoch and one.epoch not in verdict.epochs:
            verdict.epochs.append(one.epoch)
        verdict.posted.append(replayed.Posted(one.raw, dict(one.headers)))
        verdict.problems += [f"request {one.number}: {text}" for text in _wrong(one, sent)]
    verdict.problems += _unanswered(script)
    return verdict


def _wrong(one: Exchange, sent: dict[int, list[Seen]]) -> Iterator[str]:
    """Each request that left for this one is valid, and the last answer is what came back."""
    seen = sent.get(one.number, [])
    if not seen:
        yield f"it did not reach the upstream; {one.status} {one.answered[:200]!r}"
        return
    for request in seen:
        yield from problems_of_bytes(one.raw, request.raw)
    if one.status != seen[-1].status:
        yield f"status {one.status}, the upstream said {seen[-1].status}"
    if one.whole and one.from_upstream != seen[-1].answered:
        yield "the answer is not what the upstream said"
    if not one.whole and not seen[-1].answered.startswith(one.from_upstream):
        yield "what came of the cut answer is not what the upstream said"


def _unanswered(script: Script) -> Iterator[str]:
    """Each request after a step brings the results of that step's calls, in the rounds kept."""
    waiting: tuple[str, ...] = ()
    for seen in script.seen:
        if seen.step is None:
            continue
        results = {m.get("tool_call_id") for m in seen.body["messages"] if m["role"] == "tool"}
        for id_ in set(waiting) - results:
            yield f"step {seen.step}: the result of {id_} did not arrive"
        if not isinstance(script.steps[seen.step], Fail) and seen.ids:
            waiting = seen.ids
        elif seen.status == 200 and seen.answered.endswith((b"[DONE]\n\n", b"}")):
            waiting = ()
