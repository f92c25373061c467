"""Remember what the upstreams of one dialect have refused, as far as it affects later requests."""

from __future__ import annotations

from dataclasses import dataclass, field

from memtree_proxy.chat.retrying.model_limits import ModelLimits
from memtree_proxy.chat.retrying.thinking_marks import ThinkingMarks


@dataclass(frozen=True, slots=True)
class LearnedRefusals:
    """Refusals that one process has seen."""

    limits: ModelLimits = field(default_factory=ModelLimits)
    thinking: ThinkingMarks = field(default_factory=ThinkingMarks)
