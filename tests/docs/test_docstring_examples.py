"""Run the examples in docstrings of the product: what they show is what comes out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_examples_in_docstrings_hold() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", "0", "--doctest-modules", "-p",
         "no:cacheprovider", "memtree", "indexer", "proxy"],
        cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout
