"""`memtree serve`."""

from __future__ import annotations

import argparse

from memtree.config import Settings
from memtree_proxy.server.serve import serve


async def run(options: argparse.Namespace, settings: Settings) -> int:
    await serve(settings, options.for_wraps)
    return 0
