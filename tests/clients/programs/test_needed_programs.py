"""A missing agent is a skipped test, unless `make agents` has installed the others beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clients.driven import needed


def test_a_missing_program_skips_and_a_broken_install_fails(tmp_path: Path) -> None:
    program = tmp_path / "node_modules" / ".bin" / "agent"
    with pytest.raises(pytest.skip.Exception, match="make agents"):
        needed("agent", program)
    program.parent.mkdir(parents=True)
    (tmp_path / "node_modules" / ".installed").touch()
    with pytest.raises(pytest.fail.Exception, match="did not install agent"):
        needed("agent", program)
    program.touch()
    needed("agent", program)
