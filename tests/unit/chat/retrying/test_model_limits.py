"""What is kept of models that refused something."""

from __future__ import annotations

from memtree_proxy.chat.retrying.model_limits import MAX_KEPT, ModelLimits


def test_models_without_tools_are_kept_by_tenant_and_bounded():
    learned = ModelLimits()
    learned.learn_toolless("a", "m" * 300)
    assert not learned.takes_tools("a", "m" * 300)
    assert learned.takes_tools("b", "m" * 300)
    assert learned.takes_tools("a", "n")
    for number in range(MAX_KEPT):
        learned.learn_toolless("c", str(number))
    assert learned.takes_tools("a", "m" * 300)
    assert not learned.takes_tools("c", str(MAX_KEPT - 1))
