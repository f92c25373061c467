"""Whose memories a command of the terminal is about, told by its options."""

from __future__ import annotations

import argparse

from memtree.errors import BadRequest
from memtree.memories.ports import MemoryMaintenance
from memtree.memories.scope import Scope, checked_id
from memtree.ports.store import KeyStore
from proxy.access import auth
from proxy.cli.keys import named_tenant

LOCAL = "local"  # the tenant of `memtree mcp` on standard input and output


def add_scope(parser: argparse.ArgumentParser) -> None:
    whose = parser.add_argument_group("whose memories")
    whose.add_argument(
        "--tenant",
        default=auth.ANONYMOUS,
        metavar="WHICH",
        help="a key (id or label), a tenant, - for a credential that is asked for, or "
        f"{LOCAL}, that of `memtree mcp` (default {auth.ANONYMOUS}: requests without a credential)",
    )
    kinds = whose.add_mutually_exclusive_group()
    kinds.add_argument("--chat", metavar="ID", help="of one chat")
    kinds.add_argument("--user", metavar="ID", help="of one user of the tenant")
    kinds.add_argument("--agent", metavar="ID", help="of an agent")
    whose.add_argument("--subject", metavar="ID", help="whom the agent remembers it of")


async def tenant_of(store: KeyStore, memories: MemoryMaintenance, name: str) -> str:
    """`BadRequest` for a name that means nobody: what is saved there could never be reached."""
    return LOCAL if name == LOCAL else await named_tenant(store, memories, name)


def scope_of(tenant: str, options: argparse.Namespace) -> Scope:
    if options.subject and not options.agent:
        raise BadRequest("--subject belongs to --agent", param="subject")
    if options.chat:
        return Scope.of_chat(tenant, checked_id(options.chat, "chat"))
    if options.agent:
        subject = checked_id(options.subject, "subject") if options.subject else ""
        return Scope.of_agent(tenant, checked_id(options.agent, "agent"), subject)
    return Scope.of_user(tenant, checked_id(options.user, "user") if options.user else "")
