"""`memtree`: the command line (API section 6). Parsing here, what commands do in `commands.py`."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from memtree import __version__
from memtree.config import Settings, variable
from memtree.errors import MemTreeError
from proxy.cli import (
    audit,
    commands,
    demo,
    doctor,
    documents,
    import_command,
    keys,
    mcp,
    report,
    store_copy,
    tenants,
)
from proxy.cli.memories import commands as memory_commands
from proxy.imports.recognise import FORMATS
from proxy.observability import log
from proxy.server import worker
from proxy.server.serve import serve

FILE_HELP = "JSON or JSONL of messages, or - for standard input"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is 0, 1 for a problem found or reported, 130 for Ctrl-C."""
    options = build_parser().parse_args(argv)
    flags = {setting.name: getattr(options, setting.name, None) for setting in fields(Settings)}
    try:
        settings = Settings.from_env(flags)
        log.to_stderr(settings.log_level, settings.log_format)
        return int(asyncio.run(options.run(options, settings)) or 0)
    except MemTreeError as error:
        print(f"memtree: {error.message}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 0


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="memtree", description="Endless conversations for any LLM client."
    )
    parser.add_argument("--version", action="version", version=f"memtree {__version__}")
    subs = parser.add_subparsers(metavar="COMMAND", required=True)
    _serve(subs)
    _worker(subs)
    _compress(subs)
    _index(subs)
    _tree(subs)
    _audit(subs)
    _import(subs)
    _delete(subs)
    keys.register(subs, add_settings)
    _tenants(subs)
    _store(subs)
    memory_commands.register(subs, add_settings)
    documents.register(subs, add_settings)
    mcp.register(subs, add_settings)
    _demo(subs)
    _report(subs)
    _simple(subs, "check", "check the integrity of the store", commands.check)
    _simple(subs, "doctor", "what is configured, what is reachable", doctor.run)
    return parser


def _serve(subs: Any) -> None:
    epilog = (
        "Each setting is also a variable MEMTREE_* and a line of memtree.toml; "
        "flags win over variables, variables over the file."
    )
    sub = subs.add_parser("serve", help="run the proxy", epilog=epilog)
    add_settings(sub, [setting.name for setting in fields(Settings)])
    sub.set_defaults(run=lambda _, settings: serve(settings))


def _worker(subs: Any) -> None:
    help_ = "embed and summarise what proxies have put into Redis"
    sub = subs.add_parser("worker", help=help_)
    burst = "do what is there now, waits between attempts aside, and end"
    sub.add_argument("--burst", action="store_true", help=burst)
    port = "serve /health and /metrics on this port (default: neither)"
    sub.add_argument("--health-port", type=int, metavar="N", help=port)
    host = "address that this port listens on (default: the setting host)"
    sub.add_argument("--health-host", metavar="HOST", help=host)
    names = ("store", "queue", "embedder", "worker_", "embedding_", "summary_", "log_")
    add_settings(
        sub, [setting.name for setting in fields(Settings) if setting.name.startswith(names)]
    )
    sub.set_defaults(run=worker.run)


def _compress(subs: Any) -> None:
    sub = _on_file(subs, "compress", "compress a history: messages in, fewer messages out")
    sub.add_argument(
        "--target", type=int, metavar="TOKENS", help="size of the answer, a hard limit"
    )
    sub.add_argument("--query", help="what to unfold for, instead of the newest user message")
    sub.add_argument(
        "--explain", action="store_true", help="say on standard error what was chosen and why"
    )
    _mode(sub)
    sub.set_defaults(run=commands.compress)


def _index(subs: Any) -> None:
    sub = _on_file(subs, "index", "index a history, with a progress bar")
    estimate = "tell what summaries by a model would cost, and do nothing"
    sub.add_argument("--estimate", action="store_true", help=estimate)
    sub.set_defaults(run=commands.index)


def _audit(subs: Any) -> None:
    sub = _on_file(subs, "audit", "show parts of a history with their summaries, side by side")
    count = f"how many parts (default {audit.SAMPLE})"
    sub.add_argument("--sample", type=int, default=audit.SAMPLE, metavar="N", help=count)
    form = sub.add_mutually_exclusive_group()
    form.add_argument("--html", metavar="PATH", help="write a page that needs nothing else")
    form.add_argument("--json", action="store_true", help="all of it as JSON")
    sub.set_defaults(run=audit.run)


def _tree(subs: Any) -> None:
    sub = _on_file(subs, "tree", "draw the tree over a history")
    sub.add_argument("--query", help="unfold for this; without it the whole tree is drawn")
    sub.add_argument("--target", type=int, metavar="TOKENS", help="size to unfold to")
    _mode(sub)
    sub.set_defaults(run=commands.tree)


def _on_file(subs: Any, name: str, help_: str) -> Any:
    sub = subs.add_parser(name, help=help_)
    sub.add_argument("file", metavar="FILE", help=FILE_HELP)
    add_settings(sub, ["store", "embedder"])
    return sub


def _import(subs: Any) -> None:
    sub = subs.add_parser(
        "import",
        help="turn what other programs keep of conversations into histories",
        description="Without options: lists the conversations where there are several, writes the "
        "messages of the only one.",
    )
    sub.add_argument("path", metavar="PATH", help="a file, a folder of them, a zip, or -")
    sub.add_argument("--format", choices=FORMATS, help="the program; told from the content if not")
    which = sub.add_mutually_exclusive_group()
    which.add_argument("--pick", metavar="WHICH", help="a number of the list, an id, or a title")
    which.add_argument("--all", action="store_true", help="every conversation, a file for each")
    whole = "also what the program itself has condensed or cut away, and does not send any more"
    sub.add_argument("--whole", action="store_true", help=whole)
    sub.add_argument("-o", "--output", metavar="PATH", help="file to write; with --all a folder")
    warm = "index it, so that the session's first request finds its memory"
    sub.add_argument("--warm", action="store_true", help=warm)
    key = "the client's API key, whose memory it will be; - asks for it or reads standard input"
    sub.add_argument("--key", metavar="KEY", help=key)
    sub.add_argument("--key-file", metavar="FILE", help="a file that holds the key")
    server = "index by this running server, not in the store"
    sub.add_argument("--server", metavar="URL", help=server)
    add_settings(sub, ["store", "embedder", "expiration_days"])
    sub.set_defaults(run=import_command.run)


def _mode(sub: Any) -> None:
    # Not the setting's own flag: that one is about a server, whose conversations go on.
    help_ = "stable, auto or fresh (default fresh: for this one question)"
    sub.add_argument("--mode", metavar="MODE", help=help_)


def _delete(subs: Any) -> None:
    sub = subs.add_parser("delete", help="forget what was indexed by compress, index and tree")
    target = sub.add_mutually_exclusive_group(required=True)
    target.add_argument("file", nargs="?", metavar="FILE", help=FILE_HELP)
    target.add_argument("--address", metavar="HEX", help="an address as answers name it")
    target.add_argument("--all", action="store_true", help="everything")
    add_settings(sub, ["store"])
    sub.set_defaults(run=commands.delete)


def _store(subs: Any) -> None:
    sub = subs.add_parser("store", help="copy a store into another one")
    actions = sub.add_subparsers(metavar="ACTION", required=True)
    copy = actions.add_parser(
        "copy",
        help="make TO what FROM is; a copy that was stopped goes on where it is run again",
        description="Stores are named as by --store: sqlite:///PATH or postgresql://... TO may be "
        "empty or hold a part of FROM; let nobody else write to it meanwhile. FROM may be in use: "
        "what comes later is not copied.",
    )
    copy.add_argument("source", metavar="FROM")
    copy.add_argument("target", metavar="TO")
    copy.set_defaults(run=store_copy.run)


def _tenants(subs: Any) -> None:
    sub = subs.add_parser("tenants", help="whose memory is kept; move it to another credential")
    actions = sub.add_subparsers(metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="who has memory, how much, and which keys reach it")
    listing.set_defaults(run=tenants.show)
    move = actions.add_parser(
        "move",
        help="let TO go on with the memory of FROM",
        description="FROM and TO: a key (id or label), a tenant as `tenants list` shows it, or - "
        "for a credential that is asked for (read from standard input, FROM first). FROM itself "
        "begins anew. Memory is found by the tenant's name and what was said, so that of two "
        "tenants cannot be merged.",
    )
    move.add_argument("source", metavar="FROM")
    move.add_argument("target", metavar="TO")
    move.add_argument("--share", action="store_true", help="let FROM go on with it, too")
    move.add_argument("--replace", action="store_true", help="forget first what TO has")
    move.set_defaults(run=tenants.move)
    for action in (listing, move):
        add_settings(action, ["store"])


def _demo(subs: Any) -> None:
    sub = subs.add_parser(
        "demo", help="a long made-up coding session through the real path, no key needed"
    )
    sub.add_argument(
        "--tokens", type=int, default=200_000, help="size of the session (default 200000)"
    )
    sub.add_argument("--query", help="ask this instead of the demo's own questions")
    sub.set_defaults(run=demo.run)


def _report(subs: Any) -> None:
    sub = subs.add_parser(
        "report", help="what shadow mode measured and what summaries cost, by tenant"
    )
    sub.add_argument("--days", type=int, default=30, help="how far back (default 30, UTC)")
    sub.add_argument(
        "--tenant", metavar="WHICH", help="the beginning of a tenant's hash, or a key's label"
    )
    sub.add_argument("--json", action="store_true", help="as JSON")
    add_settings(sub, ["store"])
    sub.set_defaults(run=report.run)


def _simple(subs: Any, name: str, help_: str, run: Any) -> None:
    sub = subs.add_parser(name, help=help_)
    add_settings(sub, ["store", "embedder", "upstream"] if name == "doctor" else ["store"])
    sub.set_defaults(run=run)


def add_settings(parser: argparse.ArgumentParser, names: Sequence[str]) -> None:
    """A flag for each of these settings, with its help, variable and default."""
    group = parser.add_argument_group("settings")
    for setting in fields(Settings):
        if setting.name not in names:
            continue
        flag = f"--{setting.name.replace('_', '-')}"
        default = (
            ",".join(setting.default) if isinstance(setting.default, tuple) else setting.default
        )
        default = "none" if default in (None, "") else default
        text = f"{setting.metadata['help']} ({variable(setting.name)}; default {default})".replace(
            "%", "%%"
        )
        if setting.type == "bool":
            group.add_argument(
                flag,
                dest=setting.name,
                action=argparse.BooleanOptionalAction,
                default=None,
                help=text,
            )
        else:
            group.add_argument(flag, dest=setting.name, metavar="VALUE", help=text)
