"""`memtree mcp`: the memory tools for a client that starts its servers itself."""

from __future__ import annotations

import argparse
import asyncio
import signal
from collections.abc import Callable
from dataclasses import replace

from memtree.background.runtime import open_runtime
from memtree.config import Settings
from memtree.memories.scope import Scope
from memtree.tenant_names import LOCAL
from memtree_proxy.context.conversations import StoredConversations
from memtree_proxy.mcp import stdio
from memtree_proxy.mcp.stdio_lines import own_streams
from memtree_proxy.mcp.tools import Caller, MemoryTools


async def run(options: argparse.Namespace, settings: Settings) -> int:
    """Serve on standard input and output until the input ends; logs go to standard error. Raises
    what `open_runtime` does."""
    own = replace(settings, summary_model=None)  # nothing here is summarised
    with own_streams() as (given, taken):
        async with open_runtime(own) as runtime:
            book = runtime.memory_services.book
            book.start()
            conversations = StoredConversations(runtime.memory)
            tools = MemoryTools(book, settings.max_text_chars, conversations)
            caller = Caller(Scope.of_user(LOCAL))
            await stdio.serve(tools, caller, given, taken, _on_sigterm)
    return 0


def _on_sigterm(stop: Callable[[], None]) -> None:
    """Clients close the input first and send this to what does not end."""
    try:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop)
    except NotImplementedError:  # Windows
        pass
