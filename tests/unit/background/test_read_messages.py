"""Check which messages were read: by scope, bounded."""

from __future__ import annotations

from memtree.background.posted_messages import ROW_BYTES, KnownMessage, ReadMessages
from memtree.memories.scope import Scope


def test_keys_differ_by_scope_and_process() -> None:
    done = ReadMessages(1)
    raw = b'{"role":"user","content":"I live in Rome"}'
    keys = {
        done.keys(Scope.of_user("t"))(raw),
        done.keys(Scope.of_user("t", "a"))(raw),
        done.keys(Scope.of_user("u"))(raw),
        ReadMessages(2).keys(Scope.of_user("t"))(raw),
    }
    assert len(keys) == 4
    assert done.keys(Scope.of_user("t"))(raw) in keys


def test_those_that_were_used_least_lately_go_when_it_is_full() -> None:
    done = ReadMessages(1, most=10 * ROW_BYTES)
    for number in range(11):
        done.add(b"%d" % number, KnownMessage(by_user=True))
    known = [number for number in range(11) if done.known(b"%d" % number)]
    assert known == list(range(1, 11))
    assert done.nbytes == 10 * ROW_BYTES
