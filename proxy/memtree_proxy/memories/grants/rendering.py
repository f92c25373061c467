"""Grants and wallets as JSON."""

from __future__ import annotations

from typing import Any

from memtree.memories.agents.agent_memory import AgentScopes
from memtree.memories.grants.grant import Chain
from memtree.memories.grants.grant_book import GrantReport
from memtree.memories.grants.signatures.wallets import chain_of, shown_address
from memtree.memories.rules.expiry import shown

Json = dict[str, Any]


def report_json(report: GrantReport) -> Json:
    """`agentId`, `subjectId`: null where the grant is not limited."""
    payload, found = report.grant.payload, report.opens
    sound = isinstance(found, AgentScopes)
    return {
        "id": report.digest.hex(),
        "chain": str(report.grant.chain),
        "grantor": shown_address(payload.grantor),
        "grantee": shown_address(payload.grantee),
        "agentId": payload.agent,
        "subjectId": payload.subject,
        "expiresAt": payload.expires * 1000,
        "opens": sound,
        "reason": None if sound else str(found),
    }


def wallet_json(address: str, since: float) -> Json:
    return {
        "address": shown_address(address),
        "chain": str(chain_of(address) or Chain.EVM),
        "since": shown(since),
    }
