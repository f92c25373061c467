"""Measure what a request costs on its way through, memory off, beside others between client and
API.

    make peers     # installs them apart, in benchmarks/speed/peers, and measures

LiteLLM's proxy, Portkey's gateway, awecompress (its compression never due) and a bare proxy of
twenty lines, behind them all the same upstream, asked by turns. Only ratios within one run are
judged. A program that is not installed is left out.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

from benchmarks.data import Data
from benchmarks.processes.server import free_port
from benchmarks.report import Row
from benchmarks.speed import released
from benchmarks.speed.clients.processes import Program, app, memtree, started
from benchmarks.speed.relayed import KINDS, Found, Way, measured, rows_of

HERE = Path(__file__).parent / "peers"
VENV = HERE / ".venv" / "bin"
GATEWAY = HERE / "node_modules" / "@portkey-ai" / "gateway" / "build" / "start-server.js"
CONNECTIONS = (1, 16)
# Ours to another program's. Kind of request, connections, program: goal
ADDED_GOALS = {("small", 1, "awecompress"): 1.0, ("100k tokens", 1, "awecompress"): 1.0}
CPU_GOALS = {("small", 16, "awecompress"): 1.2}
FIRST_GOALS = {("stream", 16, "proxy"): 1.5}


def parsed(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=5)
    released.parsed(parser)


def run(options: argparse.Namespace, _: Data | None) -> int:
    with ExitStack() as stack:
        upstream = stack.enter_context(app("upstream"))
        bare = app("proxy", "benchmarks.speed.clients.bare_proxy", {"BENCH_UPSTREAM": upstream.url})
        ours = memtree(upstream, "--embedder", "none")
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        ways = [
            Way(upstream),
            Way(stack.enter_context(bare)),
            Way(stack.enter_context(ours)),
            *(stack.enter_context(way) for way in _peers(upstream, folder)),
        ]
        found = measured(ways, CONNECTIONS, options.rounds, KINDS)
    rows = [*rows_of(found, ["memtree"]), *_ratios(found, [way.name for way in ways[3:]])]
    released.show(options, "peers", "beside peers, memory off", rows)
    return 0


def _ratios(found: Found, peers: Sequence[str]) -> Iterator[Row]:
    for kind, count, name in list(found):
        if name != "memtree":
            continue
        for peer in ("proxy", *peers):
            where, key = f"{kind}, {count} connections: ours to {peer}", (kind, count, peer)
            if key not in found:
                continue
            direct, mine = found[kind, count, "upstream"], found[kind, count, name]
            other = found[key]
            added = (mine.took() - direct.took()) / max(1e-6, other.took() - direct.took())
            if kind != KINDS[1]:
                yield Row(f"{where}, added p50", added, "x", ADDED_GOALS.get(key), True)
            cpu = mine.processor() / other.processor()
            yield Row(f"{where}, processor", cpu, "x", CPU_GOALS.get(key), True)
            if kind == KINDS[1]:
                first = mine.first() / other.first()
                yield Row(f"{where}, first byte", first, "x", FIRST_GOALS.get(key), True)


def _peers(upstream: Program, folder: Path) -> Iterator[AbstractContextManager[Way]]:
    if (VENV / "awecompress").exists():
        yield _awecompress(upstream, folder)
    if (VENV / "litellm").exists():
        yield _litellm(upstream, folder)
    if GATEWAY.exists() and shutil.which("node"):
        yield _portkey(upstream)


@contextmanager
def _awecompress(upstream: Program, folder: Path) -> Iterator[Way]:
    port = free_port()
    settings = {"port": port, "upstream": upstream.url, "thresholdTokens": 100_000_000}
    (folder / "config.json").write_text(json.dumps(settings), "utf-8")
    command = [str(VENV / "awecompress"), "serve"]
    where = {"AWECOMPRESS_CONFIG_DIR": str(folder)}
    with started("awecompress", command, port, variables=where, folder=folder) as program:
        yield Way(program)


@contextmanager
def _litellm(upstream: Program, folder: Path) -> Iterator[Way]:
    port = free_port()
    goes = {"model": "openai/m", "api_base": f"{upstream.url}/v1", "api_key": "k"}
    config = folder / "litellm.json"  # JSON is YAML
    # Without a key of its own, as ours: what is measured is the way through.
    own = {"dangerously_permit_weak_or_unset_master_key": True}
    models = [{"model_name": "m", "litellm_params": goes}]
    config.write_text(json.dumps({"model_list": models, "general_settings": own}), "utf-8")
    command = [str(VENV / "litellm"), "--config", str(config), "--port", str(port)]
    quiet = {"LITELLM_LOG": "ERROR", "PATH": f"{VENV}:{os.environ['PATH']}"}
    path = "/health/liveliness"
    with started("litellm", command, port, path=path, variables=quiet, folder=folder) as program:
        yield Way(program)


@contextmanager
def _portkey(upstream: Program) -> Iterator[Way]:
    port = free_port()
    command = ["node", str(GATEWAY), f"--port={port}", "--headless"]
    headers = {"x-portkey-provider": "openai", "x-portkey-custom-host": f"{upstream.url}/v1"}
    with started("portkey", command, port, path="/") as program:
        yield Way(program, headers)
