"""Reading the values of a call, and the edits that a client reports, takes time linear in how many
there are."""

from __future__ import annotations

import json

import pytest

from memtree.conversation import history
from memtree.conversation.call_arguments import argument_values
from memtree.conversation.history import History
from memtree.conversation.message import Message
from memtree.unfolding.work_log.work_events import work_events
from tests.hostile_texts import hostile
from tests.hostile_texts.linear_time import Subject, slow


def events(posted: History) -> object:
    return list(work_events(posted, len(posted)))


def reported(text: str) -> History:
    said = "\n".join(f"Applied edit to src/{at}.py" for at in range(len(text) // 16))
    return history.read("t", (Message(hostile.fields("assistant", said)),), hostile.VOLATILE)


SUBJECTS = {
    "values below a long key": Subject(
        argument_values, lambda text: json.dumps({text: [1] * (len(text) // 4), "a": "b"})
    ),
    "edits that a client reports": Subject(events, reported),
}


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", SUBJECTS)
def test_more_work_takes_no_more_than_its_share_of_time(name):
    assert list(slow(SUBJECTS[name], {"words": "ab c"}, 1 << 17)) == []
