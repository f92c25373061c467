"""`memtree mcp`: serve the memory tools to a client that starts its servers itself."""

from __future__ import annotations

import argparse
import asyncio
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from memtree.config import ON, Settings, environment
from memtree.jobs.runtime import open_runtime
from memtree.memories.scope import Scope
from memtree.ports.models import Embedder
from memtree.tenant_names import LOCAL
from memtree_proxy.api.conversation_routes import StoredConversations
from memtree_proxy.cli.parser_parts import given_settings
from memtree_proxy.http import log
from memtree_proxy.mcp import stdio
from memtree_proxy.mcp.stdio import own_streams
from memtree_proxy.mcp.tools import Caller, MemoryTools
from memtree_proxy.sessions import transcripts
from memtree_proxy.sessions.session_search import SessionSearch, SessionTool


async def run(options: argparse.Namespace, settings: Settings) -> int:
    """Serve on standard input and output until the input ends; logs go to standard error. Raises
    the errors of `open_runtime`."""
    own = replace(settings, summary_model=None)  # this process summarises nothing
    with own_streams() as (given, taken):
        async with open_runtime(own) as runtime:
            book = runtime.memory_services.book
            book.start()
            conversations = StoredConversations(runtime.memory)
            sessions = _past_sessions(options, settings, runtime.embedder)
            tools = MemoryTools(book, settings.max_text_chars, conversations, sessions)
            try:
                await stdio.serve(tools, Caller(Scope.of_user(LOCAL)), given, taken, _on_sigterm)
            finally:
                if sessions:
                    await sessions.close()
    return 0


def _past_sessions(
    options: argparse.Namespace, settings: Settings, embedder: Embedder | None
) -> SessionTool | None:
    """Return the tool if the user has switched it on. A client may start the server inside a
    stranger's repository, so neither this setting nor the index's folder is read from a file."""
    own = Settings.from_env(given_settings(options), folder_counts=False)
    if own.sessions != ON or own.data_folder is None:
        if settings.sessions == ON:
            log.event("mcp.sessions_off", reason="only --sessions or MEMTREE_SESSIONS counts")
        return None
    # Transcripts are sent to no embedder outside this machine.
    here = embedder if settings.embedder != "remote" and not settings.embedding_model else None
    where = transcripts.folders(environment())
    return SessionTool(SessionSearch(own.data_folder, where, here))


def _on_sigterm(stop: Callable[[], None]) -> None:
    """Call `stop` on SIGTERM, which clients send to a server that is still running after its input
    was closed."""
    with suppress(NotImplementedError):  # Windows
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop)
