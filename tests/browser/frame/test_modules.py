"""Modules of the pages that need no document, run by Node: `modules/*.test.mjs`."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

FILES = sorted((Path(__file__).parents[1] / "modules").glob("*.test.mjs"))
MARKDOWN = Path(__file__).parents[1] / "modules" / "markdown.test.mjs"


@pytest.mark.slow
@pytest.mark.parametrize(
    "files",
    [
        pytest.param([one for one in FILES if one != MARKDOWN], id="others"),
        pytest.param([MARKDOWN], id="markdown", marks=pytest.mark.long),
    ],
)
def test_modules_of_the_pages(files: list[Path]):
    node = shutil.which("node")
    if node is None and os.environ.get("CI"):
        pytest.fail("node is missing")
    if node is None:
        pytest.skip("no node here")
    done = subprocess.run(
        [node, "--no-warnings", "--test", *map(str, files)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"# tests {len(files)}\n" not in done.stdout, "the files were run, not their tests"
