"""Adds the parsers of the commands for histories and for saved memories.

For histories: `compress`, `index`, `tree`, `import`, `delete`, `demo`, and `sessions`, which
searches coding agents' sessions. For saved memories: `memories`, `documents`, `schemas`, `grants`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from memtree.agents.grant import Chain
from memtree.tenant_names import LOCAL
from memtree.transfer.file_items import AUTO
from memtree.transfer.file_items import FORMATS as FILE_FORMATS
from memtree_proxy.cli.parser_parts import (
    EMBEDDED,
    FILE_HELP,
    STORE,
    WHOSE_HELP,
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
    switch(sub, "--full", "show everything that the model would be sent, too")
    sub.set_defaults(run="memtree_proxy.cli.demo_command:run")


def add_compress(commands: CommandGroups) -> None:
    sub = _on_file(
        commands, "compress", "messages in, fewer messages out, as JSON on standard output"
    )
    size = "size of the answer, a hard limit; at least 1,000"
    sub.add_argument("--target", type=int, metavar="TOKENS", help=size)
    query = "what to unfold for, instead of the newest user message"
    sub.add_argument("--query", metavar="TEXT", help=query)
    switch(sub, "--wait", "wait for embeddings, so that passages are ranked by meaning, too")
    switch(sub, "--explain", "say on standard error what was chosen and why")
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
    switch(sub, "--warm", "index it, so that the session's first request finds its memory")
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
    search.add_argument("--project", metavar="DIR", help="only sessions in this folder or below")
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


OWN = f"default {LOCAL}: this machine's user"
Action = Callable[[str, str, str], argparse.ArgumentParser]
DEFAULT_LIFE = "7d"  # of a grant, as the SDKs do
_TIMES = "may be given several times"
_NAMESPACE = "a name of yours for a set of documents, which chats ask for by it"
_GRANT = "a file of JSON, a share code, or - for standard input"


def add_memories(commands: CommandGroups) -> None:
    sub = commands.add("memories", "saved facts, preferences and instructions")
    actions = Actions(sub, "memtree_proxy.cli.memory_commands")

    def action(name: str, help_: str, run: str) -> argparse.ArgumentParser:
        added = actions.add(name, help_, run, EMBEDDED)
        _add_scope(added)
        json_switch(added)
        return added

    listing = action("list", "newest first; without --chat, --user or --agent: all of them", "show")
    listing.add_argument("--category", help="only these")
    listing.add_argument("--tag", action="append", default=[], help="only with this tag")
    switch(listing, "--deleted", "with deleted and expired ones")
    switch(listing, "--standing", "those of every prompt")
    switch(listing, "--conflicts", "those that may replace another")
    add = action("add", "save one; what is there already is not saved twice", "save")
    add.add_argument("text", help="the fact, or - for standard input")
    add.add_argument("--category", help="default: inferred from the text")
    add.add_argument("--tag", action="append", default=[], help=_TIMES)
    add.add_argument("--expires", metavar="DATE", help="ISO 8601; not found after it")
    search = action("search", "by words and meaning", "find")
    search.add_argument("query")
    search.add_argument("--limit", type=int, default=10, help="most hits (default 10)")
    _add_curation(action)
    undelete = action("undelete", "bring deleted memories back", "bring_back")
    undelete.add_argument("ids", nargs="+", metavar="ID")
    _add_transfer(action)
    trust = action("confirm", "say that it is true: `unconfirmed` is taken away", "confirm")
    trust.add_argument("ids", nargs="+", metavar="ID")
    pinning = action("pin", "let it stand in every prompt that memories stand in", "pin")
    pinning.add_argument("ids", nargs="+", metavar="ID")
    switch(pinning, "--off", "no longer")


def _add_curation(action: Action) -> None:
    delete = action("delete", "delete some or many; `undelete` brings them back", "remove")
    delete.add_argument("ids", nargs="*", metavar="ID", help="ids or numbers, or else a filter:")
    delete.add_argument("--category", help="those of this category")
    delete.add_argument("--tag", action="append", default=[], help="with this tag")
    delete.add_argument("--source", metavar="TYPE", help="user, model, extraction or import")
    delete.add_argument("--group", metavar="ID", help="members of this group")
    delete.add_argument("--kind", help="structured memories of this kind, as in UserProfile")
    switch(delete, "--unconfirmed", "those nobody has confirmed")
    delete.add_argument("--since", metavar="DATE", help="made then or later (ISO 8601)")
    delete.add_argument("--before", metavar="DATE", help="made before")
    switch(
        delete,
        "--all",
        "everything of the tenant itself, or of the user, agent or chat that is named",
    )
    switch(delete, "--dry-run", "delete nothing, tell how many")
    switch(delete, "--purge", "erase them for good")
    past = action("history", "what a memory said before, and what it replaced", "history")
    past.add_argument("id", metavar="ID")
    settling = action("settle", "end a conflict of two memories", "settle")
    settling.add_argument("id", metavar="ID", help="the one that counts")
    settling.add_argument("other", metavar="OTHER", help="the one that it may replace")
    settling.add_argument("action", choices=("replace", "keep_both"))


def _add_transfer(action: Action) -> None:
    export = action("export", "all of them as lines of JSON, with history and groups", "write")
    export.add_argument("-o", "--output", metavar="FILE", help="default: standard output")
    sources = "from an export, mem0, OpenMemory, server-memory, ChatGPT, claude.ai or a list"
    coming = action("import", sources, "read")
    coming.add_argument(
        "file", metavar="FILE", help="also a folder, zip or .gz; - for standard input"
    )
    help_ = "default: told from the content"
    coming.add_argument("--format", choices=(AUTO, *FILE_FORMATS), default=AUTO, help=help_)
    switch(coming, "--dry-run", "store nothing, and tell what would be stored")
    ids = "bring an export back as it was, into a scope without other memories"
    switch(coming, "--keep-ids", ids)


def _add_scope(parser: argparse.ArgumentParser) -> None:
    whose = parser.add_argument_group("whose memories")
    _add_tenant(whose)
    kinds = whose.add_mutually_exclusive_group()
    kinds.add_argument("--chat", metavar="ID", help="of one chat")
    kinds.add_argument("--user", metavar="ID", help="of one user of the tenant")
    kinds.add_argument("--agent", metavar="ID", help="of an agent; `*` in `delete`: of every agent")
    about = "about whom the agent remembers it; `*` in `delete`: about anyone"
    whose.add_argument("--subject", metavar="ID", help=about)


def add_documents(commands: CommandGroups) -> None:
    sub = commands.add("documents", "texts that chats with use_rag look things up in")
    actions = Actions(sub, "memtree_proxy.cli.document_commands")

    def action(name: str, help_: str, run: str) -> argparse.ArgumentParser:
        added = actions.add(name, help_, run, EMBEDDED)
        _add_tenant(added)
        json_switch(added)
        return added

    add = action("add", "put files; one with the same id is replaced", "put")
    add.add_argument("namespace", help=_NAMESPACE)
    add.add_argument("files", nargs="+", metavar="FILE", help="text in UTF-8; - with --id: stdin")
    add.add_argument("--id", help="of one file; default: its name")
    add.add_argument("--type", help="what searches filter by")
    listing = action("list", "without NAMESPACE: the namespaces", "show")
    listing.add_argument("namespace", nargs="?", help=_NAMESPACE)
    search = action("search", "passages, by words and meaning", "find")
    search.add_argument("namespace", help=_NAMESPACE)
    search.add_argument("query")
    search.add_argument("--limit", type=int, default=5, help="most passages (default 5)")
    search.add_argument("--type", help="only in documents of this type")
    delete = action("delete", "by id, or all of a namespace", "remove")
    delete.add_argument("namespace", help=_NAMESPACE)
    delete.add_argument("ids", nargs="*", metavar="ID")
    switch(delete, "--all", "all documents of the namespace")
    switch(delete, "--purge", "erase them at once")
    switch(delete, "--dry-run", "delete nothing, tell how much")


def add_schemas(commands: CommandGroups) -> None:
    sub = commands.add("schemas", "what structured memories of agents must look like")
    actions = Actions(sub, "memtree_proxy.cli.schema_and_grant_commands")

    def action(name: str, help_: str, run: str) -> argparse.ArgumentParser:
        added = actions.add(name, help_, run, STORE)
        _add_tenant(added)
        return added

    json_switch(action("list", "all of them, by kind", "show_all"))
    look = action("show", "one, as it was written", "show")
    put = action("put", "keep one, in the place of one that the kind has", "keep")
    gone = action("delete", "delete one; its memories stay", "remove")
    switch(gone, "--dry-run", "delete nothing, tell whether it is there")
    for command in (look, put, gone):
        command.add_argument("kind", metavar="KIND", help="as in UserProfile")
    put.add_argument("file", metavar="FILE", help="its JSON Schema, or - for standard input")
    unique = f"a new memory takes the place of one with the same value; {_TIMES}"
    put.add_argument("--unique-on", action="append", default=[], metavar="FIELD", help=unique)
    put.add_argument("--description", default="", help="what it is for")


def add_grants(commands: CommandGroups) -> None:
    sub = commands.add("grants", "grants of agents' memories, and the wallets that sign")
    action = Actions(sub, "memtree_proxy.cli.schema_and_grant_commands").add
    new = action("new-wallet", "make a wallet and print its private key once", "new_wallet")
    new.add_argument("--chain", choices=[str(chain) for chain in Chain], default=str(Chain.EVM))
    new.add_argument("-o", "--output", metavar="FILE", help="write the key there, do not print it")
    give = action("sign", "sign a grant and print it", "sign")
    give.add_argument("--to", required=True, metavar="ADDRESS", help="the wallet that may use it")
    give.add_argument("--agent", metavar="ID", help="only this agent's memories")
    give.add_argument("--subject", metavar="ID", help="only what is remembered of this subject")
    life = f"a number and one of s, m, h, d, w (default {DEFAULT_LIFE})"
    give.add_argument("--expires-in", default=DEFAULT_LIFE, metavar="TIME", help=life)
    file = "a file with the private key (default: it is asked for, or read from standard input)"
    give.add_argument("--key-file", metavar="FILE", help=file)
    switch(give, "--code", "print a share code")
    look = action("inspect", "what a grant says, and whether its signature is valid", "inspect")
    other = action("convert", "a share code of JSON, JSON of a share code", "convert")
    gone = action("revoke", "take a grant back, in this store", "revoke", STORE, needs_store=False)
    for command in (look, other, gone):
        command.add_argument("grant", metavar="GRANT", help=_GRANT)
    owned = "the wallets that a tenant has proved to own"
    wallets = action("wallets", owned, "show_wallets", STORE)
    wallets.add_argument("tenant", metavar="WHICH", help="a key (id or label), a tenant, or -")
    free = action("release", "let another tenant prove a wallet", "release", STORE)
    free.add_argument("address", metavar="ADDRESS")


def _add_tenant(parser: Any) -> None:
    parser.add_argument("--tenant", default=LOCAL, metavar="WHICH", help=f"{WHOSE_HELP} ({OWN})")
