"""Parsers of the long-running commands (`serve`, `worker`, `mcp`), and of `ui`, which opens the
pages of a running server."""

from __future__ import annotations

import argparse
from dataclasses import fields

from memtree.config import Settings
from memtree_proxy.cli.parsers.arguments import CommandGroups, add_settings, named_settings

EPILOG = (
    "Each setting is also a variable MEMTREE_* and a line of memtree.toml; "
    "flags win over variables, variables over the file."
)
# Settings that a server for memories alone uses.
MCP_SETTINGS = ("home", "store", "embedder", "embedding_", "max_text_chars", "max_memories",
                "deleted_days", "memories_cache_mb", "strict_embedding", "sessions",
                "log_")  # fmt: skip
WORKER_SETTINGS = ("home", "store", "queue", "embedder", "worker_", "embedding_", "summary_",
                   "cache_mb", "log_")  # fmt: skip


def add_serve(commands: CommandGroups) -> None:
    sub = commands.add(
        "serve",
        "run the proxy",
        usage="memtree serve [SETTINGS]",
        description="Run the proxy. Without settings: on http://127.0.0.1:8787, before OpenAI's "
        "API, for the programs of this machine.",
        epilog=EPILOG,
    )
    # `memtree wrap` starts its server with this: it ends after so many seconds without a run.
    sub.add_argument("--for-wraps", type=float, metavar="SECONDS", help=argparse.SUPPRESS)
    add_settings(sub, [setting.name for setting in fields(Settings)])
    sub.set_defaults(run="memtree_proxy.server.serve:run", runs_on=True)


def add_ui(commands: CommandGroups) -> None:
    sub = commands.add(
        "ui",
        "open the web pages of the server that runs, as this machine's user",
        usage="memtree ui [--port N] [--print] [--home VALUE]",
        description="Open the web pages in a browser. On a server without access keys the page "
        "shows what `memtree mcp` and `memtree memories` save, by a code that is good once and for "
        "a minute; on one with keys it asks which key.",
    )
    sub.add_argument("--port", dest="only_port", type=int, metavar="N", help="of several servers")
    shown = "print the address instead of opening a browser"
    sub.add_argument("--print", dest="only_print", action="store_true", help=shown)
    add_settings(sub, ["home"])
    sub.set_defaults(run="memtree_proxy.cli.ui:run")


def add_status(commands: CommandGroups) -> None:
    sub = commands.add(
        "status",
        "what memory does for this session and today",
        usage="memtree status [--line] [--home VALUE]",
    )
    shown = "one line, for the status line of an agent that `memtree wrap` started"
    sub.add_argument("--line", action="store_true", help=shown)
    add_settings(sub, ["home"])
    sub.set_defaults(run="memtree_proxy.cli.status:run", wraps=True)


def add_worker(commands: CommandGroups) -> None:
    sub = commands.add(
        "worker",
        "embed and summarise what proxies have put into Redis",
        usage="memtree worker [OPTIONS] [SETTINGS]",
        epilog=EPILOG,
    )
    burst = "do what is there now, waits between attempts aside, and end"
    sub.add_argument("--burst", action="store_true", help=burst)
    port = "serve /health and /metrics on this port (default: neither)"
    sub.add_argument("--health-port", type=int, metavar="N", help=port)
    host = "address that this port listens on (default: the setting host)"
    sub.add_argument("--health-host", metavar="HOST", help=host)
    add_settings(sub, named_settings(*WORKER_SETTINGS))
    sub.set_defaults(run="memtree_proxy.server.worker:run", runs_on=True)


def add_mcp(commands: CommandGroups) -> None:
    sub = commands.add(
        "mcp",
        "the memory tools for an MCP client that starts its servers itself",
        usage="memtree mcp [SETTINGS]",
        description="Speaks MCP on standard input and output until the input ends. A client that "
        "speaks HTTP needs no process of its own: `memtree serve` has the same tools at /mcp.",
    )
    add_settings(sub, named_settings(*MCP_SETTINGS))
    sub.set_defaults(run="memtree_proxy.cli.mcp:run", runs_on=True)
