"""The parser of `memtree grants`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from memtree.memories.grants.grant import Chain
from memtree_proxy.cli.parsers.arguments import Actions, CommandGroups

STORE = ("home", "store")
DEFAULT_LIFE = "7d"  # as the SDKs do
_GRANT = "a file of JSON, a share code, or - for standard input"


def add_grants(commands: CommandGroups) -> None:
    sub = commands.add("grants", "grants of agents' memories, and the wallets that sign")
    actions = Actions(sub, "memtree_proxy.cli.grants")

    def action(
        name: str, help_: str, run: str, settings: Sequence[str] = ()
    ) -> argparse.ArgumentParser:
        return actions.add(name, help_, run, settings)

    new = action("new-wallet", "make a wallet and print its private key once", "new_wallet")
    new.add_argument("--chain", choices=[str(one) for one in Chain], default=str(Chain.EVM))
    new.add_argument("-o", "--output", metavar="FILE", help="write the key there, do not print it")
    give = action("sign", "sign a grant and print it", "sign")
    give.add_argument("--to", required=True, metavar="ADDRESS", help="the wallet that may use it")
    give.add_argument("--agent", metavar="ID", help="only this agent's memories")
    give.add_argument("--subject", metavar="ID", help="only what is remembered of this subject")
    life = f"a number and one of s, m, h, d, w (default {DEFAULT_LIFE})"
    give.add_argument("--expires-in", default=DEFAULT_LIFE, metavar="TIME", help=life)
    file = "a file with the private key (default: it is asked for, or read from standard input)"
    give.add_argument("--key-file", metavar="FILE", help=file)
    give.add_argument("--code", action="store_true", help="print a share code")
    look = action("inspect", "what a grant says, and whether its signature is valid", "inspect")
    other = action("convert", "a share code of JSON, JSON of a share code", "convert")
    gone = action("revoke", "take a grant back, in this store", "revoke", STORE)
    for one in (look, other, gone):
        one.add_argument("grant", metavar="GRANT", help=_GRANT)
    owned = "the wallets that a tenant has proved to own"
    wallets = action("wallets", owned, "show_wallets", STORE)
    wallets.add_argument("tenant", metavar="WHICH", help="a key (id or label), a tenant, or -")
    free = action("release", "let another tenant prove a wallet", "release", STORE)
    free.add_argument("address", metavar="ADDRESS")
