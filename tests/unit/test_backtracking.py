"""No pattern tries all the ways to divide one text: that takes twice as long for each character
more, so a single line of a message would hold a processor for ever. A child process reads the
shapes, since a regular expression that has begun cannot be stopped."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SECONDS = 120  # of a processor, a hundred times what it takes; what goes wrong takes years
READ = f"""
import resource
resource.setrlimit(resource.RLIMIT_CPU, ({SECONDS}, {SECONDS}))
from memtree.text.pasted import lines
from memtree.text.statements import grammar
from tests.hostile_texts.backtracking import LIKES, PLACES, shapes

for text in shapes(PLACES):
    lines.kind(text)
for text in shapes(LIKES):
    grammar.is_preference(text)
"""


@pytest.mark.slow
def test_no_shape_of_a_line_is_read_in_all_ways() -> None:
    subprocess.run([sys.executable, "-c", READ], cwd=ROOT, check=True)


@pytest.mark.slow
@pytest.mark.long
def test_a_process_that_has_used_its_seconds_is_ended() -> None:
    endless = READ.replace(f"{SECONDS}", "1") + "\nwhile True: pass"
    ended = subprocess.run([sys.executable, "-c", endless], cwd=ROOT, check=False)
    assert ended.returncode < 0
