"""Check what the profile `ci` draws is the same in each process, whatever ran there before."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
DRAW = """
import os, sys
os.environ["HYPOTHESIS_PROFILE"] = sys.argv[1]
import tests.conftest
from hypothesis import given, strategies
drawn = []
@given(strategies.text(), strategies.integers(), strategies.floats(), strategies.binary())
def draw(a, b, c, d):
    drawn.append((a, b, c, d))
{before}
draw()
print(drawn)
"""


def drawn(profile: str, before: str) -> str:
    command = [sys.executable, "-c", DRAW.format(before=before), profile]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def test_what_is_loaded_changes_no_example():
    alone = drawn("ci", "")
    assert alone.count("(") >= 50
    assert (
        drawn(
            "ci",
            "import memtree.config, memtree.text.anchors, memtree_proxy.http.known_bodies",
        )
        == alone
    )
