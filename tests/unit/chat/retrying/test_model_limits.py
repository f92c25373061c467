"""Check what is kept of models that refused something."""

from __future__ import annotations

from memtree_proxy.chat.retrying.model_limits import LIFETIME, MAX_KEPT, ModelLimits


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


def test_what_was_learned_expires():
    now = [1_000.0]
    learned = ModelLimits(lambda: now[0])
    learned.learn("a", "m" * 300, 8_000)
    learned.learn_toolless("a", "m")
    now[0] += LIFETIME - 1
    assert learned.window("a", "m" * 300) == 8_000
    assert not learned.takes_tools("a", "m")
    now[0] += 1
    assert learned.window("a", "m" * 300) is None
    assert learned.takes_tools("a", "m")
    learned.learn("a", "m" * 300, 9_000)
    assert learned.window("a", "m" * 300) == 9_000


def test_a_window_is_forgotten_for_one_tenant_and_model():
    learned = ModelLimits()
    for tenant, model in (("a", "m"), ("a", "n"), ("b", "m")):
        learned.learn(tenant, model, 8_000)
    learned.forget_window("a", "m")
    learned.forget_window("a", "unknown")
    assert learned.window("a", "m") is None
    assert learned.window("a", "n") == learned.window("b", "m") == 8_000


def test_a_named_window_gets_smaller_only_after_a_prompt_was_accepted():
    now = [1_000.0]
    learned = ModelLimits(lambda: now[0])
    for window in (6_000, 4_000, 7_000, 5_000):
        learned.learn_named("a", "m", window)
    assert learned.window("a", "m") == 7_000
    learned.confirm("a", "m")
    learned.learn_named("a", "m", 5_000)
    learned.learn_named("a", "m", 3_000)
    assert learned.window("a", "m") == 5_000
    learned.learn("a", "m", 3_000)  # it was accepted
    learned.learn_named("a", "m", 2_000)
    assert learned.window("a", "m") == 2_000
    now[0] += LIFETIME
    learned.learn_named("a", "m", 1_000)
    assert learned.window("a", "m") == 1_000, "what has expired says nothing"


def test_a_window_is_untested_until_a_prompt_was_accepted():
    learned = ModelLimits()
    learned.confirm("a", "m")
    assert not learned.is_untested("a", "m")
    learned.learn_named("a", "m", 6_000)
    assert learned.is_untested("a", "m")
    assert not learned.is_untested("b", "m")
    learned.confirm("a", "m")
    assert not learned.is_untested("a", "m")
    learned.learn("a", "n", 6_000)
    assert not learned.is_untested("a", "n")
