"""`import memtree` is cheap, and its public names are a decision."""

from __future__ import annotations

import subprocess
import sys

import pytest

import memtree

HEAVY = ("numpy", "faiss", "onnxruntime", "httpx", "starlette", "aiohttp", "tokenizers", "uvicorn")


def test_public_names():
    assert memtree.__all__ == ["MemTreeError", "Message", "__version__", "read_messages"]
    assert all(hasattr(memtree, name) for name in memtree.__all__)


def loaded_by(statement: str) -> list[str]:
    found = f"{statement}; import sys; print(*[n for n in {HEAVY!r} if n in sys.modules])"
    run = subprocess.run([sys.executable, "-c", found], capture_output=True, text=True, check=True)
    return run.stdout.split()


@pytest.mark.parametrize(
    "statement",
    [
        "import memtree",
        "import memtree.config, memtree.errors",
        "import memtree.tree, memtree.chunk",
    ],
)
def test_importing_loads_nothing_heavy(statement):
    assert loaded_by(statement) == []


def test_the_look_at_modules_sees_what_is_loaded():
    assert loaded_by("import numpy") == ["numpy"]
