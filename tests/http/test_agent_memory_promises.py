"""Every sentence that describes agents' memories, and the tests that hold it to its word.

The first two tables are the description of the service whose API this is, sentence by sentence: how
memories are made, and how they are found, changed and deleted. The third is what our own contract
adds, the fourth what its grants and schemas say.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
MADE, SHOWN = "http/test_agent_memory_creation.py", "http/test_agent_memories.py"
BATCHES, READ = "http/test_agent_memory_batches.py", "http/test_agent_extraction.py"
SEARCH, SHARED = "http/test_agent_search.py", "http/test_granted_search.py"
SCHEMAS, WALLETS, GRANTS = "http/test_schemas.py", "http/test_wallets.py", "http/test_grants.py"
DOCS, EXAMPLES = "clients/test_agent_memory_docs.py", "http/test_openapi.py"
UNITS = "unit/memories/agents/"
LIFETIME, DATA = f"{UNITS}test_lifetime.py", f"{UNITS}test_structured_memory.py"
BOOK, EXTRACTION = f"{UNITS}test_agent_book.py", f"{UNITS}extraction/test_agent_extraction.py"
SEARCHER, MAP = f"{UNITS}search/test_agent_search.py", f"{UNITS}search/test_clusters.py"
STORES, RACES = "contracts/test_agent_memories.py", "contracts/test_agent_races.py"
RULES = f"{UNITS}structured_extraction/test_rules.py"
ROOM = "unit/memories/"

CREATED = [
    ("These endpoints allow you to store, retrieve, and manage the long-term memory of your "
     "agents.",
     DOCS, "test_curl"),
    ("Extraction Mode: Pass a conversation array to let AI extract memories automatically.",
     READ, "test_the_example_of_the_documents"),
    ("Direct Mode: Pass a memories array to store structured data directly without LLM processing.",
     MADE, "test_memories_are_stored_as_they_are"),
    ("agentId: Unique identifier for the agent. Required.",
     BATCHES, "test_many_memories_are_stored_as_they_are"),
    ("subjectId: Subject ID for multi-tenant isolation.", SHOWN, "test_filters_of_the_list"),
    ("conversation: List of message objects for AI extraction.",
     READ, "test_without_a_schema_sentences_are_kept"),
    ("memories: List of structured memories to store directly.",
     MADE, "test_the_largest_request_is_taken"),
    ("threadId: Identifier for the conversation thread.",
     SHOWN, "test_a_memory_is_shown_with_all_that_is_known_of_it"),
    ("schemas: List of schema names to use for extraction.",
     READ, "test_only_named_schemas_and_none_that_there_is_not"),
    ('ttl: Default TTL for all memories (e.g., "1h", "24h", "7d").', LIFETIME, "test_units"),
    ("expiresAt: Default expiry timestamp (ms) for all memories.",
     LIFETIME, "test_a_time_comes_out_as_it_was"),
    ("Note: Either conversation or memories must be provided.",
     MADE, "test_what_is_wrong_is_named_and_nothing_is_stored"),
    ("Incremental extraction is automatic: if you provide message ids, the server will skip any "
     "messages it has already processed.", READ, "test_a_message_is_read_once_and_by_force_again"),
    ("Conversation Object: id, recommended for automatic incremental extraction",
     EXTRACTION, "test_each_message_is_read_once"),
    ("role: user | assistant | system", READ, "test_roles_of_both_sdks"),
    ("kind: Must match a registered schema", MADE, "test_data_keeps_to_the_schema_of_its_kind"),
    ("id: Optional; ttl: memory-specific TTL; expiresAt: explicit expiry timestamp (ms)",
     MADE, "test_how_long_memories_are_kept"),
    ("TTL Priority: Memory-level ttl/expiresAt overrides request-level defaults.",
     LIFETIME, "test_what_a_memory_says_counts_before_what_its_request_says"),
    ("Memories without TTL are permanent.", LIFETIME,
     "test_what_a_memory_says_counts_before_what_its_request_says"),
    ("Schemas with uniqueOn: ID is auto-generated.",
     MADE, "test_ids_that_cannot_be_meant_store_nothing"),
    ("New memories automatically supersede existing ones matching the unique fields.",
     MADE, "test_a_memory_of_a_kind_with_unique_fields_takes_the_place_of_the_one_before"),
    ("Schemas without uniqueOn: Omit id to create,",
     MADE, "test_without_unique_fields_two_equal_memories_are_two"),
    ("include id to update an existing record.",
     MADE, "test_an_id_names_the_memory_that_gets_new_data"),
    ("Example: Extraction Mode. My favorite color is blue.",
     READ, "test_the_example_of_the_documents"),
    ("Example: Direct Mode. Example: With TTL", EXAMPLES, "test_every_example_works"),
    ("Returns the created and updated memories.", DOCS, "test_what_a_created_row_is"),
]  # fmt: skip

FOUND = [
    ("Search for memories using semantic similarity and metadata filters.",
     SEARCHER, "test_what_agents_remember_is_found_in_one_order"),
    ("Supports searching your own memories and shared memories from other agents via grants.",
     SHARED, "test_own_and_shared_memories_are_found_apart_and_together"),
    ("query: The natural language query to search for. Required.",
     SEARCH, "test_what_is_wrong_is_named"),
    ("Filter by agent ID. Filter by subject ID (tenant). Filter by specific thread ID. Filter by "
     "memory schema type. Comma-separated list of tags to filter by.",
     SEARCH, "test_each_filter_narrows"),
    ("limit: Max number of results (default: 10).",
     SEARCH, "test_ten_rows_at_first_and_at_most_a_hundred"),
    ("mode: Response format: llm (default), answer (QA), or map (Graph).",
     SEARCH, "test_what_is_wrong_is_named"),
    ("scope: Search scope: own, shared, or all (default).",
     SHARED, "test_own_and_shared_memories_are_found_apart_and_together"),
    ("llm: Returns semantically structured memories optimized for LLM consumption.",
     SEARCH, "test_a_row_has_the_form_of_the_seed"),
    ("answer: Returns a concise, grounded answer to the query.",
     SEARCH, "test_a_model_answers_from_what_is_found"),
    ("map: Returns a memory map with topical clusters.",
     SEARCH, "test_a_map_has_clusters_with_labels"),
    ("X-Grants: Base64-encoded JSON array of signed grants for accessing shared memories.",
     SHARED, "test_a_grant_opens_its_grantors_agents_for_searches"),
    ("own: Only your memories, grants are ignored",
     SHARED, "test_own_and_shared_memories_are_found_apart_and_together"),
    ("shared: Only granted namespaces (requires grants)",
     SHARED, "test_shared_alone_needs_grants"),
    ("GRANTS=$(echo '[...]' | base64)",
     f"{ROOM}grants/test_grant_json.py", "test_headers_of_shells_are_read"),
    ("id, kind, quality, data, context, source, searchedAt of an answer",
     SEARCH, "test_a_row_has_the_form_of_the_seed"),
    ("quality.relevance: Search relevance score (0-1).",
     SEARCH, "test_a_row_has_the_form_of_the_seed"),
    ("quality.confidence: Extraction certainty (0-1).",
     EXTRACTION, "test_sentences_without_schemas"),
    ("context.when: ISO 8601 event timestamp (if temporal).",
     EXTRACTION, "test_when_it_happens_is_known_where_one_day_is_named"),
    ("context.mentions: Typed entity references for disambiguation.",
     f"{UNITS}search/test_mentions.py", "test_persons_stand_behind_a_relation_or_a_title"),
    ("context.isLatest: true if not superseded by newer memory.", SEARCHER,
     "test_what_took_the_place_of_a_memory_is_found_and_that_one_only_on_demand"),
    ("source: Provenance: own, shared, or shared:{agentId}.",
     SHARED, "test_own_and_shared_memories_are_found_apart_and_together"),
    ("Get Memory: Retrieve a single memory by its ID.",
     SHOWN, "test_a_memory_is_shown_with_all_that_is_known_of_it"),
    ("Update Memory: tags: New list of tags; expiresAt: Set expiry timestamp (ms), or null to "
     "remove expiry and make permanent.", SHOWN, "test_tags_and_expiry_are_changed"),
    ("Delete a single memory by ID.", SHOWN, "test_a_deleted_memory_is_in_no_answer"),
    ("Batch operations use flat pricing: ten searches embed together and read rows once",
     SEARCHER, "test_all_queries_are_embedded_in_one_call_and_rows_are_read_once"),
    ("batch/search: Max Items 10 queries", SEARCH, "test_one_wrong_search_refuses_the_batch"),
    ("queries: Array of search queries (max 10); scope; results: [{memories}, {memories}]",
     SEARCH, "test_a_batch_of_ten_is_answered"),
    ("batch/delete, batch/update: Max Items 100 IDs", BATCHES, "test_a_hundred_ids_are_taken"),
    ("and no more than that", BATCHES, "test_a_deletion_that_is_not_clear_deletes_nothing"),
    ("Delete multiple memories by ID.", BATCHES, "test_many_are_deleted_by_their_ids"),
    ("Update multiple memories with the same changes.", BATCHES, "test_many_are_changed_alike"),
    ("update: Update payload (same as single update).",
     BATCHES, "test_a_change_that_is_not_clear_changes_nothing"),
]  # fmt: skip

OURS = [
    ("On the same /v1/memories collection", SHOWN,
     "test_the_collection_knows_users_and_agents_apart"),
    ("Every route stands with and without the prefix",
     SHOWN, "test_every_route_stands_under_every_prefix"),
    ("roles human, ai", READ, "test_roles_of_both_sdks"),
    ("all or nothing", MADE, "test_a_request_is_stored_whole_or_not_at_all"),
    ("all or nothing in several scopes",
     RACES, "test_a_deletion_in_many_scopes_is_whole_or_not_at_all"),
    ("unknown and foreign ids look the same and are not counted",
     BATCHES, "test_foreign_ids_look_like_unknown_ones"),
    ("repeated ids count once", BATCHES, "test_many_are_deleted_by_their_ids"),
    ("batch/delete also takes filters", BATCHES, "test_filters_delete_what_they_mean"),
    ("created rows are {id, kind, metadata}", DOCS, "test_what_a_created_row_is"),
    ("expiresAt in milliseconds (a value below 1e11: 400 that says so)",
     LIFETIME, "test_seconds_are_noticed"),
    ("in the past: 400", LIFETIME, "test_what_is_past_is_refused"),
    ("ttl number + s/m/h/d/w", LIFETIME, "test_what_is_no_duration"),
    ("both at one level: 400", LIFETIME,
     "test_what_a_memory_says_counts_before_what_its_request_says"),
    ("enforced by a partial unique index", RACES, "test_two_processes_supersede_each_other"),
    ("extraction answers what it skipped and why",
     READ, "test_what_was_skipped_is_said_with_its_reason"),
    ("nothing is extracted twice over branches, retries and restarts",
     EXTRACTION, "test_an_id_counts_in_its_thread_and_its_scope"),
    ("once over two servers", READ, "test_two_servers_at_once_create_it_once"),
    ("structured extraction by rules: strings, numbers, dates, enums named in the text",
     RULES, ""),
    ("only user/human text is read", EXTRACTION, "test_only_users_are_read"),
    ("Secrets of data of direct mode: refused",
     MADE, "test_a_secret_is_refused_and_not_repeated"),
    ("unless a setting allows it", MADE, "test_a_setting_allows_secrets"),
    ("names and values, and both together",
     DATA, "test_a_secret_is_refused_in_names_and_values_and_not_repeated"),
    ("extraction drops the sentence", EXTRACTION, "test_secrets_are_left_out"),
    ("DELETE /memories/{id} answers the union {success: true, deleted_from_groups: n}",
     SHOWN, "test_a_deleted_memory_is_in_no_answer"),
    ("GET /memories: filters agentId, subjectId, threadId, kind, tags",
     SHOWN, "test_filters_of_the_list"),
    ("paged by cursor", SHOWN, "test_pages_of_a_list"),
    ("mode llm is also called raw", SEARCH,
     "test_without_an_agent_the_users_memories_are_found_in_this_form"),
    ("answer needs an LLM; without one 503 with a clear text",
     SEARCH, "test_without_a_model_answers_say_what_is_missing"),
    ("map without an LLM: union-find over relevance among at most 500 hits, deterministic",
     MAP, "test_components_are_those_of_a_union_find"),
    ("label = most typical term", MAP,
     "test_what_is_near_belongs_together_and_has_the_name_of_what_is_typical"),
    ("confidence: 1.0 for direct memories",
     SHOWN, "test_a_memory_is_shown_with_all_that_is_known_of_it"),
    ("mentions by rule", f"{UNITS}search/test_mentions.py",
     "test_hosts_handles_paths_and_identifiers"),
    ("Superseded rows only with include_superseded=true",
     MADE, "test_what_was_superseded_is_listed_where_it_is_asked_for"),
    ("GET /memories/search without agentId searches the user scope",
     SEARCH, "test_without_an_agent_the_users_memories_are_found_in_this_form"),
    ("agentId=* all agents of the tenant (subjectId=* likewise)",
     SHOWN, "test_filters_of_the_list"),
    ("Every read, duplicate check, event and count names one scope",
     "contracts/test_agent_search.py",
     "test_each_method_tells_of_the_scopes_that_are_named_alone"),
    ("no row of a scope that was not named", SEARCHER, "test_no_row_of_a_scope_that_was_not_named"),
    ("Ids that callers choose: 1-200 characters, else 400",
     MADE, "test_what_is_wrong_is_named_and_nothing_is_stored"),
    ("if-match (etag = version) answers 409 on a mismatch", SHOWN, "test_if_match"),
    ("?purge=true: at once", SHOWN, "test_what_was_purged_is_gone_for_good"),
    ("x-user-id does not narrow agents",
     SHOWN, "test_a_user_id_does_not_narrow_agents_and_agents_do_not_widen_users"),
    ("an embedder that fails does not lose a memory",
     MADE, "test_an_embedder_that_is_down_holds_nothing_up"),
    ("one call of the embedder for all memories of a request",
     BOOK, "test_a_batch_is_embedded_in_one_call"),
    ("Idempotency-Key", MADE, "test_a_repeated_request_with_a_key_stores_nothing_twice"),
    ("live changes", BATCHES, "test_listeners_are_told_of_a_batch"),
    ("without uniqueOn equal memories are two, in every store",
     STORES, "test_without_a_key_equal_ones_are_two"),
]  # fmt: skip

SCHEMAS_AND_GRANTS = [
    ("PUT/GET/DELETE /v1/schemas/{kind} {json_schema, uniqueOn}",
     SCHEMAS, "test_put_takes_the_place_of_what_is_there"),
    ("the source service's form POST /schemas, GET /schemas, PATCH, DELETE /schemas/{name}",
     SCHEMAS, "test_a_client_of_the_other_form"),
    ("at most 16 kB", f"{ROOM}schemas/document/test_schema_text.py",
     "test_its_size_counts_in_bytes"),
    ("depth 16", f"{ROOM}schemas/document/test_limits.py", "test_depth"),
    ("1,000 expanded sub-schemas",
     f"{ROOM}schemas/document/test_limits.py", "test_the_number_of_sub_schemas"),
    ("$ref only inside the document", f"{ROOM}schemas/document/test_limits.py",
     "test_references_stay_inside"),
    ("and without cycles", f"{ROOM}schemas/document/test_limits.py",
     "test_a_schema_may_not_hold_itself"),
    ("patterns without look-around", f"{ROOM}schemas/test_validation.py",
     "test_patterns_that_are_not_matched_in_linear_time"),
    ("50 per tenant", SCHEMAS, "test_a_tenant_has_fifty"),
    ("422 says which limit; nothing is ever fetched", SCHEMAS, "test_bombs"),
    ("values compared as canonical JSON after NFC",
     f"{ROOM}schemas/test_unique_on.py", "test_equal_values"),
    ("a missing field is not unique", f"{ROOM}schemas/test_unique_on.py",
     "test_a_field_that_is_missing_or_null_is_not_unique"),
    ("the name kind itself means one per scope", f"{ROOM}schemas/test_unique_on.py",
     "test_the_name_kind_means_one_of_its_kind"),
    ("A kind without schema is free form only while the tenant has no schema",
     MADE, "test_any_kind_will_do_while_the_tenant_has_no_schema"),
    ("after that 422 naming the nearest kind", MADE, "test_data_keeps_to_the_schema_of_its_kind"),
    ("setting strict_schemas: always", f"{ROOM}schemas/test_schema_book.py",
     "test_a_strict_server_wants_one_always"),
    ("the signed text of the public SDK", f"{ROOM}grants/test_signed_text.py",
     "test_the_signed_text_is_that_of_the_sdk"),
    ("c: evm is personal-sign with a 0x hex signature", f"{ROOM}grants/signatures/test_evm.py",
     "test_who_signed_is_found"),
    ("c: sol ed25519 with base58 address and base64 signature",
     f"{ROOM}grants/signatures/test_ed25519.py", "test_what_a_key_signs_is_its_own"),
    ("EVM addresses compare case-insensitively", f"{ROOM}grants/test_verification.py",
     "test_addresses_compare_case_insensitively"),
    ("the path with or without query and with or without our prefix",
     WALLETS, "test_the_path_is_signed_as_the_client_knows_it"),
    ("The first proof binds the wallet to the tenant",
     WALLETS, "test_a_proof_binds_the_wallet_to_its_tenant"),
    ("another tenant: 409", WALLETS, "test_a_wallet_is_one_tenants_until_it_is_released"),
    ("each proof counts for one tenant only", WALLETS, "test_a_proof_counts_for_one_tenant"),
    ("two minutes", WALLETS, "test_a_proof_of_another_time_does_not_count"),
    ("within a and u", SHARED, "test_no_more_agents_and_subjects_are_opened_than_were_given"),
    ("superseded and deleted ones never", SHARED, "test_what_is_gone_is_not_opened"),
    ("a grant is for the agent and subject that it names, or for another one",
     "http/test_shared_search.py", "test_a_grant_opens_what_it_names_and_a_request_narrows_it"),
    ("grants never open user or chat scopes", SHARED, "test_users_and_chats_are_never_opened"),
    ("identified by sha256 of its signed text", f"{ROOM}grants/test_signed_text.py",
     "test_a_grant_is_known_by_the_hash_of_its_text"),
    ("POST /v1/grants/revoke {grant} by the grantor",
     GRANTS, "test_a_revoked_grant_opens_nothing"),
    ("Low-s signatures only", f"{ROOM}grants/signatures/test_evm.py",
     "test_the_larger_s_is_refused"),
    ("small-order ed25519 keys refused", f"{ROOM}grants/signatures/test_ed25519.py",
     "test_keys_of_small_order_sign_nothing"),
    ("at most 32 grants", f"{ROOM}grants/test_grant_json.py",
     "test_as_many_as_are_allowed_and_no_more"),
    ("and 16 kB of header", f"{ROOM}grants/test_grant_json.py", "test_a_header_over_the_limit"),
    ("Expired, revoked, tampered, wrong grantee: 403 for scope=shared; under all left out and "
     "named in warnings", SHARED, "test_an_unsound_grant_is_a_warning_or_a_refusal"),
]  # fmt: skip
TABLES = {
    "created": CREATED,
    "found": FOUND,
    "ours": OURS,
    "schemas and grants": SCHEMAS_AND_GRANTS,
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES.keys())
def test_every_sentence_has_a_test(table: list[tuple[str, str, str]]):
    """Where no test is named, the file is about nothing else."""
    for sentence, file, name in table:
        source = (TESTS / file).read_text("utf-8")
        name = name or r"test_\w+"
        assert re.search(rf"^ *(async )?def {name}\(", source, re.MULTILINE), (sentence, file, name)


def test_no_sentence_stands_twice():
    sentences = [sentence for table in TABLES.values() for sentence, _, _ in table]
    assert len(set(sentences)) == len(sentences)
