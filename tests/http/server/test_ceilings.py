"""Five requests cost what `scripts/ceilings.toml` allows: no more, and little less."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import pytest

from scripts import ceilings
from tests import walks


@pytest.fixture(scope="module")
def counted() -> Mapping[str, Mapping[str, int]]:
    return {kind: counts for kind, (counts, _) in walks.walks().items()}


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="another Python calls otherwise")
@pytest.mark.slow
@pytest.mark.parametrize("kind", walks.KINDS)
def test_a_request_stays_below_its_ceilings(
    kind: str, counted: Mapping[str, Mapping[str, int]]
) -> None:
    wrong = list(ceilings.faults(kind, counted[kind], ceilings.now()))
    assert not wrong, "\n".join(wrong)
