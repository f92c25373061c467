"""Places in recorded sessions at which is asked what the agent needs next: evenly spread, before
edits that quote old text, and before look-ups of what the history held."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256

from benchmarks.data import Data
from benchmarks.recall.agent_needs import Session, Wanted
from memtree.history.message import Message
from memtree.text import tokens

BEHIND = 20_000  # tokens before a cut
LARGE = 90_000  # tokens of histories that are reported apart
PART = 150_000  # tokens: longer sessions end there, and the long log is read in such parts
FEW = 450_000  # tokens of the sessions without arguments that are read, but for `--long`
SETS = ("sessions", "edits", "trajectories", "coding", "coding-whole")
FAST = ("sessions", "edits", "trajectories", "coding")
POINTS = 9  # of a session
PARTS = 1  # of the long log are read, but for `--long`


@dataclass(frozen=True, slots=True)
class Point:
    """A place before a message of the agent, with what it used next. `behind`: tokens of the
    history."""

    id: str
    cut: int
    behind: int
    kind: str
    wanted: Wanted

    @property
    def large(self) -> bool:
        return self.behind > LARGE

    @property
    def digest(self) -> str:
        """Name what is wanted: figures of an earlier run count while it is the same."""
        needs = [(need.text, round(need.weight, 6), need.back) for need in self.wanted.needs]
        return sha256(repr((needs, self.wanted.old, self.wanted.again)).encode()).hexdigest()[:16]


def sessions(
    data: Data, sets: Sequence[str], half: str | None, *, whole: bool
) -> Iterator[Session]:
    """Yield each session that is long enough. `whole`: all of them, to their ends."""
    for name in sets:
        room = FEW
        for id_, messages in _recorded(data, name, whole):
            if half is not None and half_of(id_) != half:
                continue
            session = Session(id_, messages if whole else _beginning(messages))
            size = session.before(len(session.messages))
            room -= size if name == "sessions" else 0
            if size > BEHIND and (whole or room > 0):
                yield session


def _beginning(messages: Sequence[Message]) -> Sequence[Message]:
    total = 0
    for index, message in enumerate(messages):
        total += tokens.count(message.text)
        if total > PART:
            return messages[:index]
    return messages


def half_of(id_: str) -> str:
    """Return the half that a session belongs to: `dev` to tune on, or `held`, which is kept
    aside."""
    return ("dev", "held")[sha256(id_.encode()).digest()[0] % 2]


def _recorded(data: Data, name: str, whole: bool) -> Iterator[tuple[str, Sequence[Message]]]:
    if name in ("sessions", "edits"):
        talks = data.agent_sessions(f"agent_{name}_dev")
        for talk in sorted(talks, key=lambda talk: sha256(talk.id.encode()).digest()):
            yield talk.id, talk.messages
    elif name == "trajectories":
        for talk in data.trajectories():
            yield talk.id, talk.messages
    elif name == "coding":
        yield from list(_parts(data.coding_session()))[: None if whole else PARTS]
    else:
        yield "coding/whole", data.coding_session()


def _parts(messages: Sequence[Message]) -> Iterator[tuple[str, Sequence[Message]]]:
    begin = total = number = 0
    for index, message in enumerate(messages):
        total += tokens.count(message.text)
        if total > PART and message.role == "user":
            yield f"coding/{number}", messages[begin:index]
            begin, total, number = index, 0, number + 1
    yield f"coding/{number}", messages[begin:]


def points(session: Session, number: int) -> list[Point]:
    """Return about `number` points: a third of each kind, where the session has as many."""
    cuts = [
        cut
        for cut in range(1, len(session.messages))
        if session.is_cut(cut) and session.before(cut) >= BEHIND
    ]
    edits = [cut for cut in cuts if session.edits(cut)]
    look_ups = [cut for cut in cuts if session.looks_up(cut)]
    share = max(1, number // 3)
    chosen: dict[int, Point] = {}
    for kind, places in (("edit", edits), ("look-up", look_ups), ("even", cuts)):
        left = share if kind != "even" else max(share, number - len(chosen))
        for cut in spread(places, 4 * left):
            if left and cut not in chosen:
                wanted = session.wanted(cut)
                fits = {"edit": wanted.old, "look-up": wanted.again, "even": wanted.needs}[kind]
                if fits:
                    chosen[cut] = Point(
                        f"{session.id}@{cut}", cut, session.before(cut), kind, wanted
                    )
                    left -= 1
    return [chosen[cut] for cut in sorted(chosen)]


def spread(places: Sequence[int], number: int) -> list[int]:
    """Return at most `number` of the places, evenly spread, so ordered that its beginning is evenly
    spread as well.

    >>> spread([0, 1, 2, 3, 4, 5, 6, 7], 4)
    [1, 5, 3, 7]
    """
    number = min(number, len(places))
    even = [places[(2 * at + 1) * len(places) // (2 * number)] for at in range(number)]
    return [even[at] for at in sorted(range(number), key=_reversed_bits)]


def _reversed_bits(number: int) -> int:
    return int(f"{number:016b}"[::-1], 2)
