"""Every file has its test: `tests/unit/<room>/test_<file>.py`, or a test named here that covers it.

Whoever changes a file knows where its promises are. A file that is covered by a neighbour's test, a
contract or the routes is listed under that test.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOPS = ("indexer", "memtree", "proxy")

# Tests below tests/, and what they cover beside their own file.
COVERED_BY = {
    # -- indexer
    "unit/embedding/test_queue.py": "indexer/embedding/embed.py",
    "unit/extracting/test_model_reader.py": "indexer/extracting/metered_model.py",
    "unit/extracting/test_conversation.py": """
        indexer/extracting/keep_snapshots.py indexer/extracting/open.py""",
    "unit/growing/test_builder.py": "indexer/growing/runs.py memtree/ports/builder.py",
    "unit/growing/test_child_process.py": "indexer/growing/children.py",
    "unit/summarizing/test_scheduler.py": "indexer/jobs.py indexer/summarizing/summary_job.py",
    "unit/summarizing/test_queue.py": "indexer/summarizing/running_calls.py",
    "redis/test_link.py": "indexer/redis/connection.py",
    "redis/test_shared.py": """
        indexer/redis/build_lock.py indexer/redis/peers.py indexer/redis/pubsub.py
        memtree/ports/peers.py""",
    "redis/test_payloads.py": "indexer/redis/payloads.py",
    "redis/test_replaced_jobs.py": "indexer/redis/ledger.py indexer/redis/lua_scripts.py",
    "redis/test_lost_with_redis.py": """
        indexer/redis/pending.py indexer/redis/remaining.py indexer/redis/sent_jobs.py""",
    "redis/test_outages.py": """
        indexer/redis/client.py indexer/redis/outbox.py indexer/redis/recovery.py
        indexer/summarizing/open.py""",
    "redis/test_workers.py": """
        indexer/redis/queue.py indexer/redis/rq_job.py indexer/redis/rq_worker.py
        indexer/redis/time_slice.py indexer/redis/worker.py""",
    "redis/test_processes.py": "proxy/server/worker.py",
    # -- memtree: what the client posted, and its text
    "unit/conversation/test_message.py": """
        memtree/conversation/message_tokens.py memtree/conversation/validation.py
        memtree/conversation/volatile_blocks.py""",
    "unit/conversation/media/test_parts.py": """
        memtree/conversation/media/audio.py memtree/conversation/media/base64_data.py
        memtree/conversation/media/images.py memtree/conversation/media/pdf.py""",
    "unit/extraction/test_summarize.py": """
        memtree/extraction/clause.py memtree/extraction/clauses.py
        memtree/extraction/tool_results.py
        memtree/text/anchors.py""",
    "unit/unfolding/test_rules.py": "memtree/text/rule_topics.py",
    "unit/text/test_standing_rules.py": """
        memtree/text/rule_score.py memtree/text/rule_phrases/east_asian.py
        memtree/text/rule_phrases/english.py memtree/text/rule_phrases/french.py
        memtree/text/rule_phrases/germanic.py memtree/text/rule_phrases/iberian.py
        memtree/text/rule_phrases/italian.py memtree/text/rule_phrases/others.py
        memtree/text/rule_phrases/slavic.py""",
    "unit/test_config.py": "memtree/setting_checks.py memtree/setting_values.py",
    "unit/memories/search/index/test_scope_index.py": """
        memtree/memories/search/index/block_rows.py
        memtree/memories/search/index/postings.py memtree/memories/search/index/row_block.py""",
    "unit/memories/test_book.py": "memtree/memories/duplicates.py memtree/memories/saving.py",
    "unit/memories/schemas/document/test_limits.py": (
        "memtree/memories/schemas/document/sub_schemas.py"
    ),
    "unit/memories/schemas/test_work.py": "memtree/memories/schemas/document/applied.py",
    "unit/memories/schemas/test_schema_book.py": "memtree/memories/schemas/schema_fields.py",
    "unit/memories/search/test_searcher.py": """
        memtree/memories/search/hits.py memtree/memories/search/hit_order.py""",
    "unit/memories/agents/search/test_agent_search.py": """
        memtree/memories/agents/search/ranking_many.py memtree/memories/agents/search/targets.py""",
    "contracts/test_agent_search.py": """
        memtree/memories/agents/search/ports.py
        memtree/memories/agents/search/group_loader.py
        memtree/stores/memories/agent/searching.py""",
    "http/test_agent_search.py": """
        proxy/memories/agent/search_fields.py proxy/memories/agent/search_rendering.py
        proxy/memories/agent/search_routes.py""",
    "contracts/test_memory_store.py": """
        memtree/memories/ports.py memtree/memories/user_ports.py
        memtree/memories/user_memories.py memtree/stores/memories/changing.py
        memtree/stores/memories/counters.py
        memtree/stores/memories/lookup.py memtree/stores/memories/reading.py
        memtree/stores/memories/rows.py memtree/stores/memories/saving.py
        memtree/stores/memories/schema.py memtree/stores/memories/sql.py
        memtree/stores/memories/store.py memtree/stores/memories/transactions.py
        memtree/stores/memories/user/methods.py memtree/stores/memories/agent/methods.py
        memtree/memories/agents/ports.py memtree/memories/schemas/ports.py
        memtree/memories/schemas/memory_schema.py memtree/memories/grants/ports.py
        memtree/memories/grants/grant.py
        memtree/stores/postgres/memories.py memtree/stores/postgres/statements.py
        memtree/stores/ram/memories.py
        memtree/stores/sqlite/memories.py memtree/stores/sqlite/statements.py""",
    "unit/stores/memories/test_audit.py": "memtree/stores/memories/agent/audit.py",
    "contracts/test_agent_memories.py": """
        memtree/stores/memories/agent/locating.py memtree/stores/memories/agent/scopes.py
        memtree/stores/memories/agent/several.py memtree/stores/memories/agent/writing.py""",
    "contracts/test_unique_values.py": """
        memtree/stores/memories/agent/schemas.py memtree/stores/memories/agent/unique.py""",
    "contracts/test_wallets.py": "memtree/stores/memories/agent/wallets.py",
    "contracts/test_memory_as_of.py": "memtree/stores/memories/user/as_of.py",
    "contracts/test_memory_records.py": "memtree/stores/memories/user/records.py",
    "contracts/test_memory_groups.py": "memtree/stores/memories/user/groups.py",
    "contracts/test_memory_settings.py": "memtree/stores/memories/user/settings.py",
    "contracts/test_memory_extraction.py": "memtree/stores/memories/user/extracted.py",
    "contracts/test_memory_migration.py": "memtree/stores/memories/filling.py",
    "contracts/test_memory_threads.py": "memtree/stores/memories/user/threads.py",
    "contracts/test_memory_deletion.py": """
        memtree/stores/memories/deletion.py memtree/stores/memories/erasing.py""",
    "contracts/test_memory_sweep.py": "memtree/stores/memories/sweep.py",
    "contracts/test_memory_search.py": """
        memtree/stores/memories/search.py memtree/stores/memories/shown.py""",
    "unit/memories/extraction/test_dates.py": """
        memtree/memories/extraction/calendar/mentions.py
        memtree/memories/extraction/calendar/rules.py
        memtree/memories/extraction/calendar/words.py""",
    "unit/memories/extraction/test_own_words.py": """
        memtree/memories/extraction/pasted/blocks.py
        memtree/memories/extraction/pasted/client_messages.py
        memtree/memories/extraction/pasted/documents.py
        memtree/memories/extraction/pasted/inline.py
        memtree/memories/extraction/pasted/languages.py
        memtree/memories/extraction/pasted/lines.py""",
    "unit/memories/rules/test_relation.py": """
        memtree/memories/rules/wording/foreign.py memtree/memories/rules/wording/lexicon.py
        memtree/memories/rules/wording/meanings.py memtree/memories/rules/wording/words.py
        memtree/memories/rules/wording/order.py memtree/memories/rules/wording/phrases.py
        memtree/memories/rules/wording/reading.py memtree/memories/rules/wording/synonyms.py""",
    # -- memtree: trees, ranking, unfolding
    "unit/tree/test_btree.py": "memtree/tree/node.py",
    "unit/ranking/test_bm25.py": "memtree/ranking/corpus.py",
    "unit/unfolding/test_unfold.py": """
        memtree/ranking/ranked_history.py memtree/unfolding/excerpts.py
        memtree/unfolding/budget_split.py memtree/unfolding/explain.py
        memtree/unfolding/units.py proxy/context/explanation.py""",
    "unit/summaries/test_batching.py": "memtree/summaries/completed.py memtree/tree/work.py",
    "unit/budget/test_costs.py": "memtree/budget/prices.py",
    # -- memtree: the use case
    "unit/context/test_answer.py": """
        memtree/context/request.py memtree/conversation/cache_control.py""",
    "unit/context/test_continued.py": """
        memtree/context/turn_planner.py memtree/context/turn_request.py""",
    "http/test_memory_extraction.py": "proxy/memories/user/extract_route.py",
    "http/test_memory_isolation.py": "proxy/memories/curation_routes.py",
    "http/test_injection.py": "memtree/memories/injecting.py",
    "http/test_user_injection.py": "proxy/chat/memories/chat_memories.py",
    "http/test_injection_branches.py": "proxy/chat/memories/posted_addresses.py",
    "unit/context/test_degrade.py": """
        memtree/context/context_memory.py memtree/context/fresh.py
        memtree/context/index_request.py memtree/context/indexing.py
        memtree/context/retrieval.py""",
    "unit/context/test_forgotten.py": "memtree/context/caches.py",
    "unit/context/test_index_state.py": "memtree/context/state.py",
    "properties/test_mutants.py": "memtree/context/index_lookup.py",
    "unit/context/test_losses.py": "memtree/days.py",
    "unit/summarizing/test_call.py": "memtree/context/summary_backlog.py",
    "unit/unfolding/test_search.py": "memtree/context/answer_details.py",
    # -- memtree: memories of what a user says
    "unit/memories/extraction/test_rules.py": "memtree/memories/extraction/candidates.py",
    "unit/memories/extraction/statements/test_facts.py": """
        memtree/memories/extraction/statements/people.py""",
    "unit/memories/extraction/statements/test_other_languages.py": """
        memtree/memories/extraction/statements/germanic.py
        memtree/memories/extraction/statements/romance.py""",
    # -- memtree: memories of agents
    "unit/memories/agents/structured_extraction/test_rules.py": """
        memtree/memories/agents/structured_extraction/claims.py
        memtree/memories/agents/structured_extraction/field_names.py
        memtree/memories/agents/structured_extraction/text_kinds.py
        memtree/memories/agents/structured_extraction/forms/lexicon.py
        memtree/memories/agents/structured_extraction/forms/named_fields.py
        memtree/memories/agents/structured_extraction/forms/other_languages.py
        memtree/memories/agents/structured_extraction/forms/records.py
        memtree/memories/agents/structured_extraction/forms/self_statements.py
        memtree/memories/agents/structured_extraction/forms/truths.py""",
    "unit/memories/agents/extraction/test_agent_extraction.py": """
        memtree/memories/agents/extraction/structured_readers.py""",
    # -- memtree: memories as files
    "unit/memories/transfer/test_file_import.py": """
        memtree/memories/transfer/file_items.py memtree/memories/transfer/import_options.py""",
    "unit/memories/transfer/formats/test_own_lines.py": (
        "memtree/memories/transfer/formats/export_lines.py"
    ),
    # -- memtree: models
    "contracts/test_embedder.py": """
        memtree/models/local_embedder.py memtree/models/minilm/model.py
        memtree/models/minilm/packaged_file.py memtree/ports/models.py""",
    "contracts/test_remote_embedder.py": """
        memtree/models/embedding_endpoint.py memtree/models/openai_client.py
        memtree/models/relevance_calibration.py memtree/models/remote_embedder.py""",
    "contracts/test_remote_queries.py": """
        memtree/models/circuit_breaker.py memtree/models/query_cache.py""",
    "contracts/test_chat_summarizer.py": """
        memtree/models/chat_endpoint.py memtree/models/summarizer.py memtree/ports/chat_model.py""",
    # -- memtree: stores, each port in every back end
    "contracts/test_queues.py": "memtree/ports/queues.py",
    "contracts/test_tree_store.py": """
        memtree/ports/store.py memtree/stores/integrity.py memtree/stores/rows.py
        memtree/stores/postgres/queries.py
        memtree/stores/postgres/trees.py memtree/stores/ram/trees.py memtree/stores/sqlite/trees.py
        memtree/stores/sqlite/bulk.py""",
    "contracts/test_plan_store.py": """
        memtree/stores/postgres/plans.py memtree/stores/ram/plans.py
        memtree/stores/sqlite/plans.py""",
    "contracts/test_conversations.py": """
        memtree/ports/conversations.py memtree/stores/postgres/conversations.py
        memtree/stores/ram/conversations.py memtree/stores/sqlite/conversations.py""",
    "contracts/test_claims.py": """
        memtree/stores/postgres/claims.py memtree/stores/ram/claims.py
        memtree/stores/sqlite/claims.py""",
    "contracts/test_key_store.py": """
        memtree/stores/access_keys.py memtree/stores/postgres/keys.py memtree/stores/ram/keys.py
        memtree/stores/sqlite/keys.py""",
    "contracts/test_retention.py": """
        memtree/stores/postgres/retention.py memtree/stores/ram/retention.py
        memtree/stores/references.py memtree/stores/sqlite/retention.py""",
    "contracts/test_copying.py": """
        memtree/stores/copying.py memtree/stores/dump.py memtree/stores/memories/tables.py
        memtree/stores/postgres/snapshot.py
        memtree/stores/ram/snapshot.py memtree/stores/sqlite/snapshot.py
        proxy/cli/store_copy.py""",
    "contracts/test_shared_database.py": """
        memtree/stores/postgres/migrations.py memtree/stores/postgres/store.py
        memtree/stores/sqlite/database.py memtree/stores/sqlite/store.py""",
    "contracts/test_stores_alike.py": "memtree/stores/ram/database.py memtree/stores/ram/store.py",
    "unit/stores/sqlite/test_faults.py": """
        memtree/stores/sqlite/connection.py memtree/stores/sqlite/migrations.py""",
    "contracts/test_postgres.py": """
        memtree/stores/postgres/dsn.py memtree/stores/postgres/errors.py""",
    "contracts/test_postgres_connections.py": "memtree/stores/postgres/pool.py",
    "contracts/test_postgres_races.py": "memtree/stores/postgres/locks.py",
    # -- proxy: requests and answers
    "http/test_wire.py": """
        proxy/http/error_response.py proxy/http/json_body.py proxy/http/json_fields.py""",
    "unit/http/test_known_bodies.py": "proxy/http/json_items.py",
    "http/test_encoding.py": "proxy/http/content_encoding.py proxy/http/request_body.py",
    "http/test_passthrough.py": "proxy/http/headers.py proxy/upstream/passthrough.py",
    "http/test_relay.py": "proxy/upstream/client.py proxy/upstream/relay.py",
    "http/test_fields.py": "proxy/request/fields.py proxy/request/memory_switch.py",
    "unit/access/test_browser_policy.py": "proxy/http/authority.py",
    "http/test_auth.py": "proxy/access/auth.py",
    "http/test_limits.py": "proxy/access/rate_limits.py",
    "http/test_context_memory.py": "memtree/errors.py proxy/context/compress.py",
    "http/test_context_dialects.py": "proxy/context/posted_history.py",
    "http/test_conversations.py": """
        memtree/unfolding/stored_tree.py proxy/context/conversations.py
        proxy/openapi/conversation_paths.py""",
    "unit/context/conversations/test_known_conversations.py": """
        memtree/context/conversations/stored_plan.py""",
    "http/test_deletion.py": "proxy/context/delete.py",
    # -- proxy: chat
    "http/test_chat.py": """
        proxy/chat/completion_route.py proxy/chat/exchange.py proxy/chat/reply.py""",
    "http/test_messages_route.py": "proxy/chat/token_count.py",
    "http/test_first_fold.py": "memtree/context/whole_history.py",
    "http/test_overflow.py": """
        proxy/chat/retrying/learned_refusals.py proxy/chat/retrying/retry.py""",
    "http/test_waiting.py": "proxy/chat/keepalive.py",
    "http/test_shadow.py": "proxy/chat/shadow.py",
    "http/test_recall_tools.py": "proxy/chat/recall_tools.py proxy/chat/tool_rounds.py",
    "unit/dialects/test_chat_dialect.py": "proxy/dialects/dialect.py",
    "unit/dialects/anthropic_messages/test_stream.py": (
        "proxy/dialects/anthropic_messages/tool_round.py"
    ),
    "unit/dialects/openai_responses/test_stream.py": """
        proxy/dialects/openai_responses/final.py proxy/dialects/openai_responses/tool_round.py""",
    "unit/server_tools/test_stream.py": """
        proxy/server_tools/assistant_message.py proxy/server_tools/calls.py
        proxy/server_tools/offer.py""",
    "unit/server_tools/test_whole.py": """
        proxy/server_tools/definitions.py proxy/server_tools/refusal.py
        proxy/server_tools/sse.py proxy/server_tools/usage.py""",
    # -- proxy: memories
    "http/test_chat_memory.py": """
        proxy/memories/chat/fields.py proxy/memories/chat/rendering.py
        proxy/memories/chat/routes.py proxy/memories/answers.py proxy/memories/fields.py
        proxy/memories/requests.py""",
    "http/test_chat_memory_curation.py": """
        proxy/memories/chat/curation_routes.py proxy/memories/chat/requests.py""",
    "http/test_agent_memory_creation.py": """
        proxy/memories/agent/fields.py proxy/memories/agent/rendering.py
        proxy/memories/agent/requests.py""",
    "http/test_agent_memories.py": "proxy/memories/agent/routes.py",
    "http/test_agent_memory_batches.py": "proxy/memories/agent/batches.py",
    "http/test_user_memories.py": """
        proxy/memories/collection.py proxy/memories/user/fields.py proxy/memories/user/rendering.py
        proxy/memories/user/requests.py proxy/memories/user/routes.py
        proxy/memories/user/rows.py""",
    "http/test_user_memory_groups.py": """
        proxy/memories/user/groups.py proxy/memories/user/settings.py""",
    "http/test_wallets.py": """
        proxy/access/wallet_access.py proxy/memories/grants/fields.py
        proxy/memories/grants/rendering.py proxy/memories/grants/routes.py""",
    "http/test_documents.py": """
        proxy/memories/documents/fields.py proxy/memories/documents/rendering.py
        proxy/memories/documents/routes.py""",
    "http/test_schemas.py": """
        proxy/memories/schemas/fields.py proxy/memories/schemas/rendering.py
        proxy/memories/schemas/routes.py""",
    "http/test_transfer.py": """
        proxy/memories/transfer/export_stream.py proxy/memories/transfer/rendering.py
        proxy/memories/transfer/routes.py proxy/memories/transfer/unpacking.py""",
    "http/test_chat_memory_events.py": "proxy/memories/events.py",
    # -- proxy: the server
    "clients/test_start.py": """
        indexer/runtime.py proxy/cli/serve.py proxy/server/serve.py""",
    "http/test_protocol.py": "proxy/server/http_protocol.py",
    "http/test_request_ids.py": """
        proxy/server/app.py proxy/server/completion_routes.py proxy/server/edge.py
        proxy/server/routing.py""",
    "http/test_browsers.py": "proxy/server/browser_guard.py",
    "http/test_home_page.py": "proxy/server/home_page.py",
    "http/test_health_details.py": "proxy/server/health.py",
    "http/test_demo_session.py": "proxy/server/demo_session.py",
    "http/test_web_pages.py": "proxy/server/web_pages.py",
    "http/test_openapi.py": """
        proxy/openapi/answers.py proxy/openapi/bodies.py proxy/openapi/dialect_paths.py
        proxy/openapi/document.py
        proxy/openapi/examples.py proxy/openapi/failures.py proxy/openapi/headers.py
        proxy/openapi/memories/agent/paths.py proxy/openapi/memories/agent/search.py
        proxy/openapi/memories/agent/shapes.py
        proxy/openapi/memories/chat_paths.py proxy/openapi/memories/chat_shapes.py
        proxy/openapi/memories/curation_shapes.py
        proxy/openapi/memories/document_paths.py proxy/openapi/memories/document_shapes.py
        proxy/openapi/memories/grant_paths.py proxy/openapi/memories/grant_shapes.py
        proxy/openapi/memories/extraction_paths.py
        proxy/openapi/memories/schema_paths.py proxy/openapi/memories/schema_shapes.py
        proxy/openapi/memories/parts.py proxy/openapi/memories/transfer_paths.py
        proxy/openapi/memories/curation_paths.py proxy/openapi/memories/user_paths.py
        proxy/openapi/memories/user_shapes.py
        proxy/openapi/messages.py proxy/openapi/operations.py proxy/openapi/page.py
        proxy/openapi/server_paths.py proxy/openapi/shapes.py""",
    # -- proxy: memory tools over MCP
    "http/test_mcp.py": "proxy/mcp/http_route.py proxy/mcp/sdk_http.py proxy/mcp/sdk_server.py",
    "clients/test_mcp_stdio.py": "proxy/cli/mcp.py proxy/mcp/stdio.py",
    # -- proxy: what is told of itself
    "http/test_metrics.py": """
        proxy/observability/metrics.py proxy/observability/process_metrics.py
        proxy/server/metrics_page.py""",
    "http/test_parse.py": "proxy/context/parse.py proxy/openapi/parse_paths.py",
    "http/test_usage.py": """
        proxy/context/usage.py proxy/observability/memory_outcome.py
        proxy/openapi/usage_paths.py""",
    "http/test_traffic.py": """
        proxy/observability/request_metrics.py proxy/observability/request_trace.py
        proxy/observability/timing.py""",
    "http/test_index_metrics.py": "indexer/progress.py proxy/observability/index_metrics.py",
    "http/test_summaries.py": "proxy/observability/summary_metrics.py",
    "http/test_traces.py": """
        memtree/ports/clock.py memtree/tracing.py proxy/observability/otel.py
        proxy/observability/setup.py""",
    # -- proxy: the command line
    "clients/test_cli.py": "proxy/cli/running.py",
    "unit/cli/parsers/test_parser.py": """
        proxy/cli/main.py proxy/cli/parsers/arguments.py proxy/cli/parsers/grants.py
        proxy/cli/parsers/histories.py proxy/cli/parsers/saved.py proxy/cli/parsers/serving.py
        proxy/cli/parsers/setting_groups.py proxy/cli/parsers/stores.py""",
    "unit/access/test_agent_scope.py": "proxy/access/tenant_names.py",
    "clients/test_import_cli.py": "proxy/cli/drawing/progress.py proxy/cli/warm.py",
    "http/test_checkups.py": """
        proxy/checkups/finding.py proxy/checkups/postgres_server.py
        proxy/checkups/surroundings.py""",
    "unit/cli/test_doctor.py": "proxy/checkups/parts.py",
    "unit/cli/test_keys.py": "proxy/cli/tenants.py",
    "unit/cli/memories/test_commands.py": """
        proxy/cli/memories/lines.py proxy/cli/memories/scope.py""",
    "unit/cli/drawing/test_foreign_text.py": "proxy/cli/drawing/console.py",
    "unit/summaries/test_audit_report.py": "proxy/cli/audit.py proxy/cli/audit_page.py",
    "unit/summaries/test_cost_estimate.py": "proxy/cli/estimate.py",
    "unit/imports/test_agents.py": """
        proxy/imports/blocks.py proxy/imports/cline_cli.py proxy/imports/js.py
        proxy/imports/opencode.py proxy/imports/outdated.py proxy/imports/tasks.py""",
    "unit/imports/test_chats.py": """
        proxy/imports/chatgpt.py proxy/imports/conversation.py proxy/imports/pairing.py
        proxy/imports/sillytavern.py""",
    "unit/imports/test_claude_code.py": "proxy/imports/claude_reminders.py",
    "unit/imports/test_places.py": "proxy/imports/recognise.py",
}
LISTED = Counter(file for files in COVERED_BY.values() for file in files.split())


def product_files() -> set[str]:
    files = [file for top in TOPS for file in (ROOT / top).rglob("*.py")]
    names = {file.relative_to(ROOT).as_posix() for file in files}
    return {name for name in names if not name.endswith(("__init__.py", "__main__.py"))}


def own_test(file: str) -> Path:
    path = Path(*Path(file).parts[1:])
    return ROOT / "tests" / "unit" / path.parent / f"test_{path.name}"


def test_every_file_has_a_test():
    files = product_files()
    assert len(files) > 200
    bare = sorted(file for file in files if not own_test(file).exists() and not LISTED[file])
    assert not bare, f"write the test of its name, or name the test that covers it: {bare}"


def test_what_is_listed_is_there_and_needs_to_be_listed():
    gone = sorted(LISTED.keys() - product_files())
    assert not gone, f"there is no such file: {gone}"
    own = sorted(file for file in LISTED if own_test(file).exists())
    assert not own, f"it has a test of its name, which is enough: {own}"
    twice = sorted(file for file, times in LISTED.items() if times > 1)
    assert not twice


def test_what_covers_is_there():
    gone = sorted(test for test in COVERED_BY if not (ROOT / "tests" / test).exists())
    assert not gone, f"there is no such test: {gone}"
