"""The programs of `make deploytools`, and how to ask them.

Without them tests are skipped at the desk and fail in CI.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.programs.server import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
HERE = Path(__file__).parent
BIN = HERE / ".venv" / "bin"


def program(name: str) -> Path:
    """A program of the tools' environment."""
    path = BIN / name
    if path.exists():
        return path
    missing = f"there is no {name}: make deploytools"
    if "CI" in os.environ:
        pytest.fail(missing)
    pytest.skip(missing)


def run(*command: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command],
        env=os.environ | env,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def ask(script: str, question: object) -> Any:
    """Return what a script of `tooled/` answers: JSON in, JSON out. It reads nothing but the
    question and files of the checkout, so an equal question is not asked twice."""
    return json.loads(_answered(program("python"), script, json.dumps(question)))


@functools.cache
def _answered(python: Path, script: str, question: str) -> str:
    done = subprocess.run(
        [python, HERE / "tooled" / script],
        input=question,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
