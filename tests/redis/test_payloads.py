"""Check what a job carries: enough for its work, nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.jobs.embedding import segment_texts
from memtree.tree.summary_batches import sources
from memtree_indexer.payloads import (
    SHORT,
    contains,
    job_id,
    pack,
    payload_of,
    shorts,
    tenant_name,
    unpack,
)
from tests.contracts.queues import Chat
from tests.properties.strategies import conversation


@given(st.integers(0, 10**6), st.integers(2, 30), st.data())
def test_work_reads_the_same_from_a_payload_as_from_its_history(seed, size, data):
    chat = Chat("a tenant", conversation(seed, size * 10))
    if not chat.work:
        return
    first = data.draw(st.integers(0, len(chat.work) - 1))
    end = data.draw(st.integers(first + 1, len(chat.work)))
    leaves = chat.work[first:end]
    found = unpack(pack(payload_of(chat.history, b"start", leaves)))
    assert (found.tenant, found.start, found.end) == (
        "a tenant",
        b"start",
        chat.history.addresses[-1],
    )
    assert found.leaves(chat.nodes) == leaves
    assert segment_texts(found.history(), leaves) == segment_texts(chat.history, leaves)
    parts = [one for one in chat.parts if not one.node.children][first:end]
    found = unpack(pack(payload_of(chat.history, b"start", parts)))
    assert found.nodes(chat.nodes) == parts
    for part in parts:
        assert sources(found.history(), part) == sources(chat.history, part)


def test_messages_that_no_work_touches_are_left_out():
    chat = Chat("t", conversation(3, 600))
    last = chat.work[-1]
    payload = payload_of(chat.history, b"start", [last])
    assert {one.index for one in payload.said} == set(
        range(last.first, last.first + last.leaf.messages + bool(last.leaf.tail))
    )
    assert len(pack(payload)) < len(pack(payload_of(chat.history, b"start", chat.work)))


WHOLE = pack(payload_of(Chat("t", conversation(1, 9)).history, b"", []))


@pytest.mark.parametrize("data", [b"", b"text", WHOLE[:-3], WHOLE[5:]])
def test_what_is_no_payload_is_a_value_error(data):
    with pytest.raises(ValueError, match="not a payload"):
        unpack(data)


def test_names_differ_by_each_part_and_tell_nothing():
    names = {
        job_id(tenant, stage, start)
        for tenant in ("a", "b")
        for stage in ("embed", "summaries")
        for start in (b"1", b"2")
    }
    assert len(names) == 8
    assert tenant_name("t_secret") not in names
    assert "secret" not in tenant_name("t_secret")


def test_whether_one_job_holds_anothers_work():
    ids = [bytes([n]) * 2 * SHORT for n in range(4)]
    assert contains(shorts(ids), shorts(ids[1:3]))
    assert not contains(shorts(ids[1:]), shorts(ids[:2]))
