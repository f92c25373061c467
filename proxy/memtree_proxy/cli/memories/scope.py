"""Scope of a command on memories, read from its options."""

from __future__ import annotations

import argparse

from memtree.errors import BadRequest
from memtree.memories.agents.agent_memory import ALL, AgentScopes
from memtree.memories.ports import MemoryMaintenance
from memtree.memories.scope import Scope, checked_id
from memtree.ports.store import KeyStore
from memtree.tenant_names import LOCAL
from memtree_proxy.access.agent_scope import meant_agents
from memtree_proxy.cli.keys import named_tenant


def agents_of(tenant: str, options: argparse.Namespace) -> AgentScopes | None:
    """Return the scopes of `--agent` and `--subject`, where `*` selects all; None without either
    option."""
    return meant_agents(options.agent, options.subject, tenant, ("--agent", "--subject"))


async def tenant_of(store: KeyStore, memories: MemoryMaintenance, name: str) -> str:
    """Return a tenant by name. Raises `BadRequest` for an unknown name, under which saved memories
    could never be reached."""
    return LOCAL if name == LOCAL else await named_tenant(store, memories, name)


def scope_of(tenant: str, options: argparse.Namespace) -> Scope:
    """Return the one scope that the options name. Raises `BadRequest` if they could name
    several."""
    agents = agents_of(tenant, options)
    if agents is not None:
        if agents.single is None:
            raise BadRequest(f"{ALL} is for `memtree memories delete` alone", param="agent")
        return agents.single
    if options.chat:
        return Scope.of_chat(tenant, checked_id(options.chat, "--chat"))
    return Scope.of_user(tenant, checked_id(options.user, "--user") if options.user else "")
