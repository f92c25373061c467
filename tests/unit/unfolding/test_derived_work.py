"""Findings of earlier turns are those of the whole history, however it grew."""

from __future__ import annotations

import json
from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from memtree.history import chat_history
from memtree.history.chat_history import LATE, History
from memtree.history.derived import Derived
from memtree.history.message import Message, Volatile
from memtree.unfolding.files_in_hand import files_in_hand
from memtree.unfolding.work_events import WorkEvent, work_events
from tests.work_counts import counting

PATCH = "a.py\n```\n<<<<<<< SEARCH\nx = 1\n=======\nx = 2\n>>>>>>> REPLACE\n```"
KINDS = ("ask", "edit", "run", "two", "late", "patch", "applied", "fence", "output", "words")
VOLATILE = Volatile()


def messages(kinds: list[str]) -> list[Message]:
    """Return the messages of each kind of step; a late result comes with a later step."""
    made: list[dict[str, object]] = []
    waiting: list[str] = []
    ids = (f"c{number}" for number in count())
    for number, kind in enumerate(kinds):
        if kind in ("edit", "run", "two", "late"):
            path = f"src/part{number % 4}.py"
            edit = ("Edit", {"path": path, "old_string": "x = 0", "new_string": f"x = {number}"})
            run = ("Bash", {"command": f"cd /srv && pytest {path}"})
            chosen = {"edit": [edit], "run": [run], "two": [edit, run], "late": [run, edit]}[kind]
            named = [(next(ids), *each) for each in chosen]
            made.append(
                {"role": "assistant", "content": None, "tool_calls": list(map(call, named))}
            )
            here = named[:-1] if kind == "late" else named
            made += [answer(id_, number) for id_, *_ in here]
            waiting += [id_ for id_, *_ in named[len(here) :]]
            continue
        said = {
            "ask": ("user", "Go on."),
            "patch": ("assistant", PATCH),
            "applied": ("user", "Applied edit to a.py"),
            "fence": ("assistant", f"Next:\n```bash\npytest part{number}.py\n```"),
            "output": ("user", f"exit code: {number % 2}\n{number} failed"),
            "words": ("assistant", "Done."),
        }
        role, text = said[kind]
        made.append({"role": role, "content": text})
        if kind == "ask" and waiting:
            made.append(answer(waiting.pop(), number))
    return [Message.of(each) for each in made]


def call(named: tuple[str, str, dict[str, str]]) -> dict[str, object]:
    id_, name, arguments = named
    return {"id": id_, "function": {"name": name, "arguments": json.dumps(arguments)}}


def answer(id_: str, number: int) -> dict[str, object]:
    text = f"{number} failed" if number % 3 else "The file has been updated."
    return {"role": "tool", "tool_call_id": id_, "content": text}


def found(said: History, cut: int) -> tuple[list[WorkEvent], list[tuple[str, int, list[int]]]]:
    files = [(file.path, file.age, file.messages) for file in files_in_hand(said)]
    return list(work_events(said, cut)), files


@given(
    st.lists(st.sampled_from(KINDS), min_size=1, max_size=60),
    st.lists(st.sampled_from(KINDS), max_size=30),
    st.lists(st.integers(1, 40), min_size=1, max_size=5),
    st.floats(0, 1),
)
def test_a_history_that_grew_says_what_it_says_at_once(kinds, other, steps, at):
    every = messages(kinds)
    branch = messages([*kinds[: int(at * len(kinds))], *other])
    said, length = chat_history.nothing_read("t", VOLATILE), 0
    for step in steps:
        before, length = length, min(len(every), length + step)
        if length:
            said = said.first(before).extended(every[:length])
            whole = chat_history.read("t", every[:length], VOLATILE)
            for cut in {*said.cuts[-3:], len(said)}:
                assert found(said, cut) == found(whole, cut)
    same = next(
        (n for n, (a, b) in enumerate(zip(every[:length], branch, strict=False)) if a.raw != b.raw),
        min(length, len(branch)),
    )
    if branch:
        said = said.first(same).extended(branch)
        whole = chat_history.read("t", branch, VOLATILE)
        assert found(said, len(said)) == found(whole, len(whole))
        assert found(said, said.cuts[-1]) == found(whole, said.cuts[-1])


def test_a_turn_looks_at_its_own_messages_and_the_last_ones_alone():
    every = messages(["ask", "edit", "run"] * 200)
    said = chat_history.read("t", every, VOLATILE)
    found(said, len(said))
    later = said.first(len(every)).extended([*every, *messages(["ask"])])
    with counting() as work:
        assert list(work_events(later, len(later)))
    assert 0 < work.messages <= LATE + 8


def test_values_of_messages_that_a_later_one_may_change_are_not_kept():
    derived = Derived()
    row = derived.row("a", 10)
    row[:] = range(10)
    derived.found_bytes += 1_000
    kept = derived.first(4, 4)
    assert kept.row("a", 6) == [0, 1, 2, 3, None, None]
    assert kept.row("other", 2) == [None, None]
    assert 400 <= kept.nbytes < derived.nbytes
