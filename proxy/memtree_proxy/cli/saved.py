"""Parsers of the commands for saved memories: `memories`, `documents`, `schemas`, `grants`."""

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
    STORE,
    WHOSE_HELP,
    Actions,
    CommandGroups,
    json_switch,
    switch,
)

OWN = f"default {LOCAL}: this machine's user"
Action = Callable[[str, str, str], argparse.ArgumentParser]
DEFAULT_LIFE = "7d"  # of a grant, as the SDKs do
_TIMES = "may be given several times"
_NAMESPACE = "a name of yours for a set of documents, which chats ask for by it"
_GRANT = "a file of JSON, a share code, or - for standard input"


def add_memories(commands: CommandGroups) -> None:
    sub = commands.add("memories", "saved facts, preferences and instructions")
    actions = Actions(sub, "memtree_proxy.cli.commands")

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
    dry = "store nothing, and tell what would be stored"
    switch(coming, "--dry-run", dry)
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
    actions = Actions(sub, "memtree_proxy.cli.schema_commands")

    def action(name: str, help_: str, run: str) -> argparse.ArgumentParser:
        added = actions.add(name, help_, run, STORE)
        _add_tenant(added)
        return added

    listing = action("list", "all of them, by kind", "show_all")
    json_switch(listing)
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
    action = Actions(sub, "memtree_proxy.cli.grant_commands").add
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
