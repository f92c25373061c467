"""`import memtree` is cheap, and its public names are a decision."""

from __future__ import annotations

import subprocess
import sys

import pytest

import memtree

# What only a remote model needs: half a second and 25 MB
REMOTE = ("openai", "httpx2", "pydantic")
HEAVY = (
    *("numpy", "onnxruntime", "httpx", "starlette", "aiohttp", "tokenizers", "uvicorn"),
    *REMOTE,
    "mcp",  # what only a server that is asked for the memory tools needs: 33 MB
)
OPENED = """
import asyncio
from indexer.runtime import open_runtime
from memtree.config import Settings
async def opened():
    async with open_runtime(Settings(store='memory:', {settings})):
        pass
asyncio.run(opened())
"""


def test_public_names():
    assert memtree.__all__ == ["MemTreeError", "Message", "__version__", "read_messages"]
    assert all(hasattr(memtree, name) for name in memtree.__all__)


def loaded_by(statement: str) -> list[str]:
    found = f"{statement}\nimport sys; print(*[n for n in {HEAVY!r} if n in sys.modules])"
    run = subprocess.run([sys.executable, "-c", found], capture_output=True, text=True, check=True)
    return run.stdout.split()


@pytest.mark.parametrize(
    "statement",
    [
        "import memtree",
        "import memtree.config, memtree.errors",
        "import memtree.tree.btree, memtree.tree.chunking",
    ],
)
def test_importing_loads_nothing_heavy(statement):
    assert loaded_by(statement) == []


def test_the_look_at_modules_sees_what_is_loaded():
    assert loaded_by("import numpy") == ["numpy"]


@pytest.mark.parametrize(
    "statement",
    [
        "import proxy.cli.main, proxy.server.serve, proxy.cli.commands",
        OPENED.format(settings=""),
    ],
)
@pytest.mark.slow
def test_a_server_loads_no_sdk_that_it_does_not_use(statement):
    assert not {*REMOTE, "mcp"} & set(loaded_by(statement))


@pytest.mark.slow
def test_the_look_at_modules_sees_the_sdk_of_mcp():
    assert "mcp" in loaded_by("import proxy.mcp.sdk_http")


@pytest.mark.slow
def test_a_server_with_a_remote_model_loads_it():
    remote = "embedding_base_url='http://127.0.0.1:1/v1', embedding_model='m'"
    assert set(REMOTE) <= set(loaded_by(OPENED.format(settings=remote)))
