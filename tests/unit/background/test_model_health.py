"""Who is not asked for: a model that is down or of no use."""

from __future__ import annotations

from memtree.background.summary_calls import CallOutcome
from memtree.background.summary_scheduler import USELESS, ModelHealth

NODES = [bytes([n]) for n in range(2 * USELESS)]


def written(*nodes: bytes) -> CallOutcome:
    return CallOutcome(done=frozenset(nodes))


def kept(*nodes: bytes) -> CallOutcome:
    """Both drafts of these were rejected."""
    return CallOutcome(done=frozenset(nodes), kept=frozenset(nodes))


def test_a_model_is_useless_to_a_tenant_after_so_many_nodes_in_a_row():
    health = ModelHealth()
    assert [health.observe("t", kept(node)) for node in NODES[:USELESS]] == [
        *[False] * (USELESS - 1),
        True,
    ]
    assert health.useless("t")
    assert not health.useless("other")


def test_one_summary_that_is_accepted_ends_the_row():
    health = ModelHealth()
    health.observe("t", kept(*NODES[: USELESS - 1]))
    mixed = CallOutcome(done=frozenset(NODES[:2]), kept=frozenset(NODES[:1]))
    assert not health.observe("t", mixed)
    assert not health.observe("t", kept(*NODES[: USELESS - 1]))
    assert not health.useless("t")


def test_first_drafts_that_are_rejected_do_not_count():
    health = ModelHealth()
    for node in NODES:
        assert not health.observe("t", CallOutcome(rejected={node: (1, 1)}))
    assert not health.useless("t")


def test_a_model_that_is_down_is_up_again_once_it_answers():
    health = ModelHealth()
    health.down = True
    health.observe("t", CallOutcome(leased=frozenset(NODES)))
    assert health.down, "it was not asked"
    health.observe("t", CallOutcome(rejected={NODES[0]: (1, 1)}))
    assert not health.down
