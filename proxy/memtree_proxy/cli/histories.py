"""Parsers of the commands for histories: `compress`, `index`, `tree`, `import`, `delete`, `demo`,
and `sessions`, which searches coding agents' sessions."""

from __future__ import annotations

import argparse

from memtree_proxy.cli.parser_parts import (
    EMBEDDED,
    FILE_HELP,
    STORE,
    Actions,
    CommandGroups,
    add_settings,
    json_switch,
    runs,
    switch,
)
from memtree_proxy.imports.conversation import FORMATS

DEMO_TOKENS = 200_000


def add_demo(commands: CommandGroups) -> None:
    sub = commands.add(
        "demo",
        "what memory does, in a minute: no key, nothing to set up",
        description="Takes a long made-up coding session, asks about a detail of long ago, and "
        "shows how the answer is found and what it costs. No key, no network, nothing is kept.",
    )
    size = f"size of the session, 10,000 to 2,000,000 tokens (default {DEMO_TOKENS:,})"
    sub.add_argument("--tokens", type=int, default=DEMO_TOKENS, help=size)
    sub.add_argument("--query", metavar="TEXT", help="ask this instead of the demo's own question")
    full = "show everything that the model would be sent, too"
    switch(sub, "--full", full)
    sub.set_defaults(run="memtree_proxy.cli.demo_command:run")


def add_compress(commands: CommandGroups) -> None:
    sub = _on_file(
        commands, "compress", "messages in, fewer messages out, as JSON on standard output"
    )
    size = "size of the answer, a hard limit; at least 1,000"
    sub.add_argument("--target", type=int, metavar="TOKENS", help=size)
    query = "what to unfold for, instead of the newest user message"
    sub.add_argument("--query", metavar="TEXT", help=query)
    wait = "wait for embeddings, so that passages are ranked by meaning, too"
    switch(sub, "--wait", wait)
    explain = "say on standard error what was chosen and why"
    switch(sub, "--explain", explain)
    _add_mode(sub)
    sub.set_defaults(run="memtree_proxy.cli.history_commands:compress")


def add_index(commands: CommandGroups) -> None:
    sub = _on_file(commands, "index", "index a history, with a progress bar")
    sub.set_defaults(run="memtree_proxy.cli.history_commands:index")


def add_tree(commands: CommandGroups) -> None:
    sub = _on_file(commands, "tree", "draw the tree of summaries over a history")
    query = "show what memory would unfold for this; without it the whole tree is drawn"
    sub.add_argument("--query", metavar="TEXT", help=query)
    sub.add_argument("--target", type=int, metavar="TOKENS", help="size to unfold to")
    how = sub.add_mutually_exclusive_group()
    switch(how, "--scores", "with why each excerpt was chosen")
    json_switch(how)
    _add_mode(sub)
    sub.set_defaults(run="memtree_proxy.cli.history_commands:tree")


def add_delete(commands: CommandGroups) -> None:
    sub = commands.add("delete", "forget what was indexed by compress, index and tree")
    target = sub.add_mutually_exclusive_group(required=True)
    target.add_argument("file", nargs="?", metavar="FILE", help=FILE_HELP)
    target.add_argument("--address", metavar="HEX", help="an address as answers name it")
    switch(target, "--all", "everything")
    switch(sub, "--dry-run", "delete nothing, tell how much")
    runs(sub, "memtree_proxy.cli.history_commands:delete", STORE, needs_store=True)


def add_import(commands: CommandGroups) -> None:
    sub = commands.add(
        "import",
        "turn what other programs keep of conversations into histories",
        description="Turn what other programs keep of conversations into histories. Without "
        "options: lists the conversations where there are several, writes the messages of the "
        "only one. Broken lines are left out and named on standard error.",
    )
    sub.add_argument("path", metavar="PATH", help="a file, a folder of them, a zip, or -")
    sub.add_argument("--format", choices=FORMATS, help="the program; told from the content if not")
    which = sub.add_mutually_exclusive_group()
    which.add_argument("--pick", metavar="WHICH", help="a number of the list, an id, or a title")
    switch(which, "--all", "every conversation, a file for each")
    whole = "also what the program itself has condensed or cut away, and does not send any more"
    switch(sub, "--whole", whole)
    names = "who speaks, before each message of a SillyTavern chat: for files, not for --warm"
    switch(sub, "--names", names)
    sub.add_argument("-o", "--output", metavar="PATH", help="file to write; with --all a folder")
    switch(sub, "--force", "replace files that are there already")
    warm = "index it, so that the session's first request finds its memory"
    switch(sub, "--warm", warm)
    key = "the client's API key, whose memory it will be; - asks for it or reads standard input"
    sub.add_argument("--key", metavar="KEY", help=key)
    sub.add_argument("--key-file", metavar="FILE", help="a file that holds the key")
    runs(sub, "memtree_proxy.cli.import_command:run", [*EMBEDDED, "expiration_days"])


def add_sessions(commands: CommandGroups) -> None:
    sub = commands.add(
        "sessions",
        "search what coding agents on this machine were told before",
        description="Searches the transcripts of Claude Code, Codex, opencode, Cline and Kilo "
        "where they lie. What is kept is an index without text.",
    )
    actions = Actions(sub, "memtree_proxy.cli.session_commands")
    looking = "by words and meaning, in the newest 90 days"
    search = actions.add("search", looking, "find", ["home", "embedder"])
    search.add_argument("query", metavar="QUERY")
    project = "only sessions in this folder or below"
    search.add_argument("--project", metavar="DIR", help=project)
    search.add_argument("--limit", type=int, default=5, metavar="N", help="at most 20 (default 5)")
    wait = "until all sessions can be searched by meaning: minutes, the first time"
    switch(search, "--wait", wait)
    json_switch(search)
    gone = actions.add(
        "forget", "remove the index; transcripts stay as they are", "forget", ["home"]
    )
    for one in (search, gone):  # typed in repositories of strangers, whose settings do not count
        one.set_defaults(wraps=True)


def _on_file(commands: CommandGroups, name: str, help_: str) -> argparse.ArgumentParser:
    sub = commands.add(name, help_)
    sub.add_argument("file", metavar="FILE", help=FILE_HELP)
    add_settings(sub, EMBEDDED)
    return sub


def _add_mode(sub: argparse.ArgumentParser) -> None:
    # Not the setting's own flag, which is about a server, whose conversations continue.
    help_ = "stable, auto or fresh (default fresh: for this one question)"
    sub.add_argument("--mode", metavar="MODE", help=help_)
