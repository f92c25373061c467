"""The soft limit of open files is raised as far as the hard one allows."""

from __future__ import annotations

import subprocess
import sys

import pytest

resource = pytest.importorskip("resource")

SCRIPT = """
import resource
from memtree_proxy.server.listener import allow_many_files
resource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, {hard}))
allow_many_files()
allow_many_files()
print(*resource.getrlimit(resource.RLIMIT_NOFILE))
"""


@pytest.mark.parametrize(("soft", "hard", "wanted"), [(256, 1024, 1024), (512, 512, 512)])
def test_the_limit_is_raised(soft: int, hard: int, wanted: int) -> None:
    script = SCRIPT.format(soft=soft, hard=hard)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [str(wanted), str(hard)]
