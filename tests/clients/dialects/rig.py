"""client -> tap -> `memtree serve` -> scripted upstream of Messages and Responses; the verdict."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests import project
from tests.clients.dialects.upstream import DialectScript, DialectStep, DialectUpstream, is_messages
from tests.http.served.running import running
from tests.made.scripted import Say, Seen
from tests.programs.server import Server
from tests.programs.server import running as serving
from tests.programs.tap import NUMBER, Exchange, Tap
from tests.wire.messages import messages_changes, messages_rules
from tests.wire.responses import responses_changes, responses_rules
from tests.wire.rule_break import RuleBreak, rules

FOLDED = ("packed", "provisional")
MEMORY = "<context_memory>"
TARGET = 8_000
_LINE = re.compile(r"limit_\d+ = \d+  # [a-z ]+[a-z]")


@dataclass(frozen=True, slots=True)
class DialectRig:
    """`url`: the base URL with its `/v1`."""

    upstream: DialectUpstream
    server: Server
    tap: Tap
    url: str

    def script(self, key: str, steps: Sequence[DialectStep], **more: Any) -> DialectScript:
        return self.upstream.script(key, steps, **more)

    def verdict(self, key: str) -> SessionVerdict:
        return judge(self.tap.of(key), self.upstream.scripts[key])

    def check(
        self,
        key: str,
        *,
        folds: int = 2,
        alike: bool = True,
        said: Sequence[DialectStep] | None = None,
    ) -> SessionVerdict:
        """Fails unless the script came to its end with memory used, no invalid request, every
        answer as the upstream gave it, and the whole session in what the client posted last.

        `alike`: whether the client has to get the very bytes of the upstream. `said`: the steps
        that it has to remember, all where None."""
        script, verdict = self.upstream.scripts[key], self.verdict(key)
        problems = verdict.problems if alike else verdict.invalid
        assert not problems, "\n".join(problems[:20])
        assert script.done, f"the client stopped at step {script.at} of {len(script.steps)}"
        assert script.over == 0
        assert sum(verdict.states[state] for state in FOLDED) >= 3, verdict.states
        assert len(verdict.epochs) >= folds, verdict.epochs
        assert MEMORY in verdict.last_sent
        steps = script.steps[: script.at] if said is None else said
        assert forgotten(self.tap.of(key), steps) == []
        assert script.compactions == 0
        return verdict


@contextmanager
def dialect_rig(folder: Path, *flags: str, target: int = TARGET) -> Iterator[DialectRig]:
    upstream = DialectUpstream()
    with running(upstream) as above:
        upstreams = ("--upstream", f"{above}/v1", "--anthropic-upstream", above)
        flags = (*upstreams, "--target-tokens", str(target), *flags)
        with serving(folder / "dialects.db", *flags) as server:
            tap = Tap(server.url)
            with running(tap) as url:
                yield DialectRig(upstream, server, tap, f"{url}/v1")


@dataclass(slots=True)
class SessionVerdict:
    """`invalid`: rules that requests to the upstream broke: of the API, and of what memory may
    change. `relayed`: answers that came back changed. `biggest`: bytes of the longest request that
    was posted, `biggest_sent` of the longest that was sent."""

    requests: int = 0
    states: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)  # with the states
    epochs: list[str] = field(default_factory=list)
    invalid: list[str] = field(default_factory=list)
    relayed: list[str] = field(default_factory=list)
    last_sent: str = ""
    biggest: int = 0
    biggest_sent: int = 0

    @property
    def problems(self) -> list[str]:
        return [*self.invalid, *self.relayed]


def judge(exchanges: Sequence[Exchange], script: DialectScript) -> SessionVerdict:
    verdict = SessionVerdict(requests=len(exchanges))
    sent: dict[int, list[Seen]] = {}
    for seen in script.seen:
        sent.setdefault(int(seen.headers[NUMBER]), []).append(seen)
    own = {one.number: _own_breaks(one, script) for one in exchanges}
    for number, broken in script.broken:
        of = int(script.seen[number].headers[NUMBER])
        if broken.rule.startswith("own-") or broken.rule not in own[of]:
            verdict.invalid.append(f"sent {number}: {broken}")
    for one in exchanges:
        verdict.states[one.state or f"status {one.status}"] += 1
        reason = one.answer_headers.get("x-memtree-reason", "").partition(";")[0]
        verdict.reasons[f"{one.state} ({reason})" if reason else one.state] += 1
        if one.epoch and one.epoch not in verdict.epochs:
            verdict.epochs.append(one.epoch)
        verdict.relayed += [f"request {one.number}: {text}" for text in _wrong(one, sent)]
        verdict.invalid += [
            f"request {one.number}: {text}"
            for seen in sent.get(one.number, [])[:1]
            for text in _changed(one, seen, script)
        ]
        verdict.biggest = max(verdict.biggest, len(one.raw))
    verdict.biggest_sent = max((len(seen.raw) for seen in script.seen), default=0)
    turns = [seen for seen in script.seen if seen.step is not None]
    if turns:
        verdict.last_sent = json.dumps(turns[-1].body, ensure_ascii=False)
    return verdict


def _own_breaks(one: Exchange, script: DialectScript) -> set[str]:
    """Return what the client got wrong itself."""
    if not one.is_chat:
        return set()
    if is_messages(one.path):
        betas = dict(one.headers).get("anthropic-beta", "").split(",")
        return rules(messages_rules.broken(one.body, betas))
    return rules(responses_rules.broken(one.body, script.needs))


def _changed(one: Exchange, seen: Seen, script: DialectScript) -> Iterator[RuleBreak]:
    """Return the changes that memory may not make. Of further requests for one answer only the
    rules are known."""
    if is_messages(seen.path):
        betas = seen.headers.get("anthropic-beta", "").split(",")
        yield from messages_changes.changed(one.body, seen.body, betas)
    else:
        yield from responses_changes.changed(one.body, seen.body, script.needs)


def _wrong(one: Exchange, sent: dict[int, list[Seen]]) -> Iterator[str]:
    seen = sent.get(one.number, [])
    if not seen:
        yield f"it did not reach the upstream; {one.status} {one.answered[:200]!r}"
        return
    if one.status != seen[-1].status:
        yield f"status {one.status}, the upstream said {seen[-1].status}"
    if one.whole and one.from_upstream != seen[-1].answered:
        yield "the answer is not what the upstream said"
    if not one.whole and not seen[-1].answered.startswith(one.from_upstream):
        yield "what came of the cut answer is not what the upstream said"


def forgotten(exchanges: Sequence[Exchange], steps: Sequence[DialectStep]) -> list[str]:
    """Return what is missing from the longest request of all that the model said."""
    longest = max((one.raw for one in exchanges), key=len, default=b"{}")
    posted = "\n".join(strings(json.loads(longest)))
    said = [step.text for step in steps if isinstance(step, Say) and step.calls]
    return [text for text in said if text and text not in posted]


def unread(exchanges: Sequence[Exchange], files: Mapping[str, str], parts: Sequence[int]) -> int:
    """How many lines of these parts are in no posted request's longest form."""
    longest = max((one.raw for one in exchanges), key=len, default=b"{}")
    known = set(_LINE.findall("\n".join(strings(json.loads(longest)))))
    wanted = {line for n in parts for line in _LINE.findall(files[project.part(n)])}
    return len(wanted - known)


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from strings(one)
    elif isinstance(value, list):
        for one in value:
            yield from strings(one)
