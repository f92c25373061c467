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
    *("coincurve", "nacl"),  # what only grants need
    *("rich", "asyncio"),  # what only a command that runs needs: a tenth of a second
)
OPENED = """
import asyncio
from memtree.jobs.runtime import open_runtime
from memtree.config import Settings
async def opened():
    async with open_runtime(Settings(store='memory:', {settings})):
        pass
asyncio.run(opened())
"""


def test_public_names():
    assert memtree.__all__ == [
        "Compressed", "MemTree", "MemTreeError", "MemTreeSync", "Message", "Passage",
        "SavedMemories", "SavedMemoriesSync", "__version__", "open", "open_sync", "read_messages",
    ]  # fmt: skip
    for name in memtree.__all__:
        assert getattr(memtree, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'opened'"):
        getattr(memtree, "opened")  # noqa: B009


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
        "from memtree_proxy.cli.main import build_parser; build_parser()",
    ],
)
def test_importing_loads_nothing_heavy(statement):
    assert loaded_by(statement) == []


def test_the_look_at_modules_sees_what_is_loaded():
    assert loaded_by("import numpy") == ["numpy"]


@pytest.mark.parametrize(
    "statement",
    [
        pytest.param(
            "import memtree_proxy.cli.running, memtree_proxy.server.serve\n"
            "import memtree_proxy.cli.history_commands",
            marks=pytest.mark.long,
        ),
        OPENED.format(settings=""),
    ],
)
def test_a_server_loads_no_sdk_that_it_does_not_use(statement):
    assert not {*REMOTE, "mcp", "coincurve", "nacl"} & set(loaded_by(statement))


def test_the_version_is_told_before_anything_is_loaded():
    """Modules are counted: a time would tell of the machine."""
    told = (
        "from memtree_proxy.cli.main import main\n"
        "try: main(['--version'])\n"
        "except SystemExit: pass\n"
        "import sys; print(*[n for n in {heavy!r} if n in sys.modules], len(sys.modules))"
    )
    run = [sys.executable, "-c", told.format(heavy=(*HEAVY, "memtree_indexer", "memtree.context"))]
    lines = subprocess.run(run, capture_output=True, text=True, check=True).stdout.split("\n")
    assert lines[0].startswith("memtree ")
    (count,) = lines[1].split()  # and no name of what is heavy
    assert int(count) < 300


def test_a_server_listens_before_its_models_are_loaded():
    """Neither the embedder nor the vocabulary, nor patterns that are seldom needed."""
    opened = (
        "import asyncio, sys, toktok\n"
        "from memtree.jobs.runtime import open_runtime\n"
        "from memtree.config import Settings\n"
        "from memtree.text import prose_runs\n"
        "async def opened():\n"
        "    async with open_runtime(Settings(store='memory:'), lasting=True) as runtime:\n"
        "        before = len(toktok._CACHE), 'match' in vars(prose_runs.TELLS)\n"
        "        await runtime.load()\n"
        "        print(*before, len(toktok._CACHE))\n"
        "asyncio.run(opened())\n"
    )
    run = subprocess.run([sys.executable, "-c", opened], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["0", "False", "1"]


@pytest.mark.long
def test_the_look_at_modules_sees_the_sdk_of_mcp():
    assert "mcp" in loaded_by("import memtree_proxy.mcp.sdk_http")


@pytest.mark.long
def test_a_server_with_a_remote_model_loads_it():
    remote = "embedding_base_url='http://127.0.0.1:1/v1', embedding_model='m'"
    assert set(REMOTE) <= set(loaded_by(OPENED.format(settings=remote)))
