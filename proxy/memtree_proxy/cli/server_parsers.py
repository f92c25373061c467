"""Parsers of the commands for servers (`serve`, `worker`, `mcp`, `wrap`, `ui`, `status`) and for a
store (`keys`, `tenants`, `store`, `check`, `requests`, `doctor`).

The arguments of `wrap` end where those of the wrapped program begin.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from memtree.memories.user_memories import PLANS
from memtree_proxy.cli.parser_parts import (
    EMBEDDED,
    STORE,
    WHOSE_HELP,
    Actions,
    CommandGroups,
    json_switch,
    named_settings,
    runs,
    switch,
)

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
WRAP = "wrap"
_VALUE = "use this value instead of a new one; several mean one tenant; - asks for it"
_PLAN = (
    "free: no memories are made of conversations, or shown unasked; auto: they are for all users "
    "who have not switched that off; pro: for those who switch it on (default: as it was, or pro)"
)


def add_serve(commands: CommandGroups) -> None:
    sub = commands.add(
        "serve",
        "run the proxy",
        usage="memtree serve [SETTINGS]",
        description="Run the proxy. Without settings: on http://127.0.0.1:8787, before OpenAI's "
        "API, for the programs of this machine. Below, to fold means to send the older messages of "
        "a long conversation as summaries and excerpts.",
        epilog=EPILOG,
    )
    # `memtree wrap` starts its server with this: it ends after so many seconds without a run.
    sub.add_argument("--for-wraps", type=float, metavar="SECONDS", help=argparse.SUPPRESS)
    runs(sub, "memtree_proxy.server.serve:run", named_settings(""), runs_on=True)  # all of them


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
    runs(sub, "memtree_proxy.cli.own_server:run", ["home"])


def add_status(commands: CommandGroups) -> None:
    sub = commands.add(
        "status",
        "what memory does for this session and today",
        usage="memtree status [--line | --json] [--home VALUE]",
    )
    how = sub.add_mutually_exclusive_group()
    switch(how, "--line", "one line, for the status line of an agent that `memtree wrap` started")
    json_switch(how)
    runs(sub, "memtree_proxy.cli.status:run", ["home"], wraps=True)


def add_completion(commands: CommandGroups) -> None:
    sub = commands.add(
        "completion",
        "a script that completes commands and options in your shell",
        description="Print a script that completes commands and options. For bash: "
        'eval "$(memtree completion bash)" in ~/.bashrc; for zsh the same with zsh in ~/.zshrc, '
        "behind compinit; for fish: memtree completion fish > "
        "~/.config/fish/completions/memtree.fish",
    )
    sub.add_argument("shell", choices=("bash", "zsh", "fish"))
    runs(sub, "memtree_proxy.cli.main:print_completion", ())


def add_worker(commands: CommandGroups) -> None:
    sub = commands.add(
        "worker",
        "embed and summarise what proxies have put into Redis",
        usage="memtree worker [OPTIONS] [SETTINGS]",
        epilog=EPILOG,
    )
    switch(sub, "--burst", "do what is there now, waits between attempts aside, and end")
    port = "serve /health and /metrics on this port (default: neither)"
    sub.add_argument("--health-port", type=int, metavar="N", help=port)
    host = "address that this port listens on (default: the setting host)"
    sub.add_argument("--health-host", metavar="HOST", help=host)
    runs(sub, "memtree_proxy.server.worker:run", named_settings(*WORKER_SETTINGS), runs_on=True)


def add_mcp(commands: CommandGroups) -> None:
    sub = commands.add(
        "mcp",
        "the memory tools for an MCP client that starts its servers itself",
        usage="memtree mcp [SETTINGS]",
        description="Speaks MCP on standard input and output until the input ends. A client that "
        "speaks HTTP needs no process of its own: `memtree serve` has the same tools at /mcp.",
    )
    runs(sub, "memtree_proxy.cli.mcp_command:run", named_settings(*MCP_SETTINGS), runs_on=True)


def add_wrap(commands: CommandGroups) -> None:
    sub = commands.add(
        WRAP,
        "start a coding agent with memory before its model",
        usage="memtree wrap [--print | --alias] [--home VALUE] AGENT [ARGUMENTS]\n"
        "       memtree wrap [--print] [--home VALUE] -- COMMAND [ARGUMENTS]",
        description="Start claude, codex, opencode, qwen, pi, continue, aider, cline, openclaw or "
        "hermes with a base URL of a server that is started for it, and ends after it. None of "
        "your files is changed. Behind `--`: any program on the SDKs of OpenAI or Anthropic.",
    )
    how = sub.add_mutually_exclusive_group()
    shown = "print what would be done, and do nothing"
    how.add_argument("--print", dest="only_print", action="store_true", help=shown)
    alias = "print a line for your shell's settings, so that AGENT alone starts it so"
    switch(how, "--alias", alias)
    runs(sub, "memtree_proxy.cli.wrap_command:run", ["home"], wraps=True)


def split_wrapped(words: Sequence[str]) -> tuple[list[str], list[str], bool]:
    """Split the arguments of `memtree` into its own words, the program's words, and True if a `--`
    stands between them. The program's words are not parsed.

    >>> split_wrapped(["wrap", "--home", "x", "claude", "-p", "hi"])
    (['wrap', '--home', 'x'], ['claude', '-p', 'hi'], False)
    >>> split_wrapped(["wrap", "--print", "--", "python", "app.py"])
    (['wrap', '--print'], ['python', 'app.py'], True)
    """
    place = 1
    while place < len(words):
        if words[place] == "--":
            return list(words[:place]), list(words[place + 1 :]), True
        if not words[place].startswith("-"):
            break
        place += 2 if words[place] == "--home" else 1
    return list(words[:place]), list(words[place:]), False


def add_keys(commands: CommandGroups) -> None:
    actions = Actions(
        commands.add("keys", "create, rotate, list and revoke access keys; their plans"),
        "memtree_proxy.cli.key_commands",
    )
    new = actions.add("create", "make a key and print it once", "create", STORE)
    new.add_argument("label")
    new.add_argument("--value", action="append", metavar="SECRET", help=_VALUE)
    new.add_argument("--plan", choices=PLANS, help=_PLAN)
    whose = new.add_mutually_exclusive_group()
    whose.add_argument(
        "--tenant", metavar="NAME", help="give it the memory of this key (id or label) or tenant"
    )
    whose.add_argument(
        "--keep-memory",
        action="store_true",
        help="give it the memory that the first --value collected while there were no keys",
    )
    add = actions.add("add-value", "one more value for a key: the same memory", "add_value", STORE)
    add.add_argument("key", metavar="ID|LABEL")
    add.add_argument("--value", action="append", metavar="SECRET", help=_VALUE)
    switch(add, "--only", "and let its other values in no more")
    remove = actions.add("remove-value", "let one value of a key in no more", "remove_value", STORE)
    remove.add_argument("key", metavar="ID|LABEL")
    remove.add_argument("--value", default="-", metavar="SECRET", help="the value (asked for)")
    listing = actions.add("list", "labels, tenants and plans, never the keys", "show", STORE)
    json_switch(listing)
    plan = actions.add("plan", "set the plan of a key's tenant", "set_plan", STORE)
    plan.add_argument("key", metavar="ID|LABEL", help="or a tenant, or - for a credential")
    plan.add_argument("plan", choices=PLANS, help=_PLAN)
    gone = actions.add("revoke", "take a key back", "revoke", STORE)
    gone.add_argument("key", metavar="ID|LABEL")


def add_tenants(commands: CommandGroups) -> None:
    actions = Actions(
        commands.add("tenants", "whose memory is kept; move it to another credential"),
        "memtree_proxy.cli.key_commands",
    )
    kept = "who has memory, how much, and which keys reach it"
    json_switch(actions.add("list", kept, "show_tenants", STORE))
    move = actions.add("move", "let TO go on with the memory of FROM", "move", STORE)
    move.description = (
        "FROM and TO: a key (id or label), a tenant as `tenants list` shows it, or - for a "
        "credential that is asked for (read from standard input, FROM first). FROM itself begins "
        "anew. Memory is found by the tenant's name and what was said, so that of two tenants "
        "cannot be merged."
    )
    move.add_argument("source", metavar="FROM")
    move.add_argument("target", metavar="TO")
    switch(move, "--share", "let FROM go on with it, too")
    switch(move, "--replace", "forget first what TO has")


def add_store(commands: CommandGroups) -> None:
    sub = commands.add("store", "copy a store into another one")
    actions = Actions(sub, "memtree_proxy.cli.history_commands")
    what = "make TO what FROM is; a copy that was stopped goes on where it is run again"
    copy = actions.add("copy", what, "copy_store")
    copy.description = (
        "Stores are named as by --store: sqlite:///PATH or postgresql://... TO may be empty or "
        "hold a part of FROM; let nobody else write to it meanwhile. FROM may be in use: what "
        "comes later is not copied."
    )
    copy.add_argument("source", metavar="FROM")
    copy.add_argument("target", metavar="TO")


def add_check(commands: CommandGroups) -> None:
    sub = commands.add("check", "check the integrity of the store")
    json_switch(sub)
    runs(sub, "memtree_proxy.cli.history_commands:check", STORE, needs_store=True)


def add_doctor(commands: CommandGroups) -> None:
    sub = commands.add("doctor", "what is configured, what can be reached, what is wrong")
    switch(sub, "--settings", "show all settings as well")
    json_switch(sub)
    runs(sub, "memtree_proxy.cli.doctor:run", [*EMBEDDED, "upstream"])


def add_requests(commands: CommandGroups) -> None:
    sub = commands.add("requests", "what each request was, cost and saved; also as they come")
    switch(sub, "--follow", "go on, until Ctrl-C, as they come")
    whose = sub.add_mutually_exclusive_group()
    whose.add_argument("--tenant", metavar="WHOSE", help=WHOSE_HELP)
    switch(whose, "--all", "of all tenants (the default)")
    sub.add_argument("--wrap", metavar="ID", help="of one run of memtree wrap")
    sub.add_argument("--limit", type=int, default=20, help="most rows (default 20)")
    json_switch(sub)
    runs(sub, "memtree_proxy.cli.request_log_command:run", STORE, needs_store=True)
