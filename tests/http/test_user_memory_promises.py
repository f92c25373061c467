"""Every sentence that describes user memories, and the tests that hold it to its word.

The first table is the description of the service whose API this is, sentence by sentence; the
second what it lists as missing and is here; the third what our own contract adds.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
ROUTES, CHANGES = "http/test_user_memories.py", "http/test_user_memory_changes.py"
GROUPS, CURATION = "http/test_user_memory_groups.py", "http/test_user_memory_curation.py"
SCOPES, EVENTS = "http/test_user_memory_scopes.py", "http/test_user_memory_events.py"
INJECTION, BRANCHES = "http/test_user_injection.py", "http/test_injection_branches.py"
CONVERSATIONS = "unit/extracting/test_conversation.py"
EXTRACTING, RULES = "unit/memories/test_extracting.py", "unit/memories/extraction/test_rules.py"
SNAPSHOTS = "unit/extracting/test_snapshots.py"
EXTRACT_ROUTE, TRANSFER = "http/test_memory_extraction.py", "http/test_transfer.py"
DOCS, KEYS = "clients/test_user_memory_docs.py", "unit/cli/test_keys.py"
RAG = "http/test_documents.py"

DESCRIBED = [
    ("Store and organize memories using vector embeddings.",
     ROUTES, "test_a_search_ranks_by_relevance"),
    ("Memories are automatically extracted from conversations for PRO users and can be organized "
     "into groups.", CONVERSATIONS, "test_a_growing_chat_is_read_message_by_message_and_the_user_"
     "alone"),
    ("Automatic Extraction - Memories are automatically saved from conversations (PRO users only)",
     CONVERSATIONS, "test_from_the_queue_into_the_store"),
    ("Vector Search - Semantic search", ROUTES, "test_a_search_has_filters_and_a_threshold"),
    ("Memory Groups - Organize related memories together",
     GROUPS, "test_existing_memories_are_added_and_others_are_named"),
    ("Auto-Retrieval - Relevant memories are automatically included in conversations",
     INJECTION, "test_they_stand_in_a_block_behind_the_system_prompt"),
    ("The system automatically extracts important information",
     EXTRACTING, "test_what_a_user_says_of_themselves_is_stored_with_its_source"),
    ("Information is converted to embeddings and stored",
     EXTRACTING, "test_an_embedder_that_is_down_holds_nothing_up_and_its_vectors_follow"),
    ("Relevant memories are fetched during new conversations (top 3, similarity >= 0.5)",
     INJECTION, "test_the_three_that_fit_best"),
    ("Top memories are added to your conversation context",
     INJECTION, "test_what_was_shown_stays_with_the_conversation"),
    ("Memories are automatically classified into 5 fixed categories: fact, preference, schedule, "
     "general, snapshot", ROUTES, "test_a_category_is_inferred_when_absent"),
    ("fact, preference, general of a conversation",
     RULES, "test_lasting_words_about_the_user_are_found"),
    ("schedule - Schedule-related information",
     RULES, "test_appointments_keep_their_words_and_the_day_they_were_said"),
    ("snapshot - Conversation snapshots (saved every 5 turns)",
     SNAPSHOTS, "test_every_fifth_message_of_the_user_ends_a_window"),
    ("GET /v1/memories: Get all your memories and memory groups.",
     ROUTES, "test_the_list_holds_memories_and_groups"),
    ("group_id (optional) - Filter memories by group",
     ROUTES, "test_a_row_shows_the_group_that_was_asked_for"),
    ("memories: id, text, category, created_at, group_id, group_title",
     ROUTES, "test_a_memory_is_made_from_a_text"),
    ("groups: id, title, description, category, member_count, created_at",
     GROUPS, "test_a_group_as_the_description_shows_it"),
    ("POST /v1/memories/groups: Create a group to organize memories.",
     GROUPS, "test_a_group_needs_a_title_alone"),
    ("POST /v1/memories/groups/{group_id}/memories: Add existing memories to a group. "
     "success, added_count", GROUPS, "test_existing_memories_are_added_and_others_are_named"),
    ("DELETE /v1/memories/{memory_id}: Delete a specific memory. success, deleted_from_groups",
     CHANGES, "test_a_deleted_memory_is_in_no_answer_and_tells_its_groups"),
    ("DELETE /v1/memories/groups/{group_id}: Delete a memory group (memories themselves are not "
     "deleted).", GROUPS, "test_a_deleted_group_leaves_its_memories"),
    ("Memories are only automatically created for users with the PRO plan.",
     GROUPS, "test_under_the_free_plan_nothing_is_switched_on"),
    ("memories_save_enabled - Extract and save memories from conversations",
     CONVERSATIONS, "test_nothing_is_stored_for_who_did_not_switch_it_on"),
    ("memories_chat_history_enabled - Save conversation history snapshots",
     CONVERSATIONS, "test_without_its_switch_there_is_no_snapshot"),
    ("Both are disabled by default and must be enabled by the user.",
     GROUPS, "test_both_switches_are_off_until_they_are_switched_on"),
    ("Facts - Important factual information about you or your work. Preferences - Your "
     "preferences and choices. Schedule - Time-related information",
     "unit/memories/extraction/test_schedule.py", "test_a_calendars_entries_and_other_sentences_"
     "with_dates"),
    ("Snapshots - Every 5 conversation turns, a summary is saved",
     CONVERSATIONS, "test_every_fifth_message_of_a_user_gives_one_snapshot_keyed_by_its_address"),
    ("Before saving a new memory, the system checks for similar existing memories (similarity >= "
     "0.85) to avoid duplicates.", EXTRACTING, "test_what_is_known_is_not_stored_twice"),
    ("and so it does for one that is made by hand",
     ROUTES, "test_what_is_there_already_is_answered"),
    ("Your message is converted to an embedding; top 3 similar memories are retrieved "
     "(similarity >= 0.5)", INJECTION, "test_a_threshold_of_the_request"),
    ("Memories are added to your conversation in a <user_memories> block",
     INJECTION, "test_they_stand_in_a_block_behind_the_system_prompt"),
    ("Only for PRO users with memories enabled", INJECTION, "test_by_settings_plan_and_request"),
    ("The chat API supports general RAG via the use_rag and rag_options parameters",
     INJECTION, "test_passages_of_documents_stand_in_tags_of_their_own"),
    ("This is for generic RAG, not user memories.",
     "http/test_document_scopes.py", "test_memories_and_passages_do_not_meet"),
    ("User memories use a fixed namespace format and are automatically included for PRO users.",
     INJECTION, "test_a_memory_stays_with_its_user_and_its_tenant"),
    ("Namespace: automatically namespaced per user",
     SCOPES, "test_no_route_tells_another_scope_of_a_memory_or_changes_it"),
    ("Metadata: Includes text, category, timestamp, conversation_id",
     ROUTES, "test_where_a_memory_comes_from_is_told"),
    ("Check Your Memories; Organize Memories into Groups; Delete a Memory",
     DOCS, "test_curl"),
    ("Create a group; add memories to the group", DOCS, "test_groups"),
    ("Authentication - PRO plan required for automatic memories",
     KEYS, "test_a_plan_is_of_the_tenant_and_all_its_keys"),
]  # fmt: skip

# What the description lists as limits of that service.
NO_LIMITS = [
    ("Not Manual - No public API to manually create individual memories",
     ROUTES, "test_a_memory_is_made_from_a_text"),
    ("No Search Endpoint - No dedicated memory search API",
     ROUTES, "test_a_search_ranks_by_relevance"),
    ("No Updates - Cannot update existing memories, only delete",
     CHANGES, "test_a_memory_is_changed_field_by_field"),
    ("Fixed Parameters - Retrieval settings (topK=3, threshold=0.5) cannot be changed per request",
     INJECTION, "test_by_settings_plan_and_request"),
    ("There are NO use_memories or memory_config parameters in the chat API for controlling memory "
     "retrieval.", INJECTION, "test_options_of_a_wrong_type"),
    ("Fixed Categories - Only 5 predefined categories, no custom categories",
     ROUTES, "test_a_category_is_one_of_five_or_ones_own"),
    ("Fixed Embedding Model - Cannot choose different embedding models",
     "contracts/test_embedder_change.py", ""),
]  # fmt: skip

OURS = [
    ("without limit/cursor everything up to 1,000, then next_cursor",
     ROUTES, "test_pages_of_a_thousand"),
    ("with ?group_id= a row shows that group",
     ROUTES, "test_a_row_shows_the_group_that_was_asked_for"),
    ("GET/PATCH /v1/memories/settings; a number out of range is clamped",
     GROUPS, "test_numbers_out_of_range_are_clamped"),
    ("a wrong type is a 400 that names the field", GROUPS, "test_wrong_settings_are_named"),
    ("the plan is set with the key, memtree keys create --plan, a PATCH of it is 403",
     GROUPS, "test_nobody_gives_himself_a_plan"),
    ("per-message digests are remembered, so nothing is extracted twice over branches, retries and "
     "restarts", CONVERSATIONS, "test_branches_retries_and_restarts_read_nothing_twice"),
    ("Per request: body memory_options {enabled, top_k, score_threshold}",
     INJECTION, "test_by_settings_plan_and_request"),
    ("manual creation with text, optional category, tags; a body with agentId is another part; "
     "conversation or memories without agentId: 400",
     ROUTES, "test_what_is_wrong_with_a_new_memory_is_named"),
    ("agents have no groups and no settings", ROUTES, "test_agents_have_no_groups_and_no_settings"),
    ("update of text, category, tags and expiry", CHANGES,
     "test_a_memory_is_changed_field_by_field"),
    ("GET /v1/memories/{id}/history", CHANGES, "test_all_versions_of_a_memory"),
    ("as_of (superseded and expired, never deleted)",
     CURATION, "test_what_was_remembered_at_a_time"),
    ("point-in-time answers never show what was deleted",
     CURATION, "test_the_past_never_shows_what_was_deleted"),
    ("POST /v1/memories/delete {filter | all, dry_run}",
     CURATION, "test_a_dry_run_counts_what_a_filter_deletes"),
    ("with a receipt {deleted, verified: true} (verified by a search)",
     "unit/memories/test_curation.py", "test_a_receipt_names_what_went_and_has_looked_for_it"),
    ("a receipt is not verified where something is found again",
     "unit/memories/test_curation.py", "test_what_is_brought_back_meanwhile_is_not_verified"),
    ("an empty filter deletes nothing",
     CURATION, "test_a_deletion_that_is_not_clear_deletes_nothing"),
    ("undelete", CHANGES, "test_a_deleted_memory_is_in_no_answer_and_tells_its_groups"),
    ("purge", CHANGES, "test_what_was_purged_is_gone_for_good"),
    ("confirm (clears a taint)", CHANGES, "test_a_person_confirms_what_a_model_saved"),
    ("merge of a possible_update (the older one is superseded, both stay in the history)",
     CURATION, "test_the_newer_one_replaces_the_older_one_and_both_stay_in_the_history"),
    ("GET /v1/memories/export", TRANSFER, "test_an_export_is_a_stream_of_lines"),
    ("POST /v1/memories/import", TRANSFER, "test_an_import_answers_what_became_of_each_line"),
    ("branch awareness", BRANCHES, ""),
    ("an extraction answers what it skipped and why",
     EXTRACT_ROUTE, "test_a_dry_run_then_the_run_then_nothing_new"),
    ("concurrent group changes", GROUPS, "test_two_clients_change_one_group"),
    ("Ids that callers choose (x-user-id): else 400", SCOPES, "test_a_user_id_that_cannot_be_one"),
    ("With a cookie, x-user-id is ignored.", SCOPES,
     "test_beside_a_cookie_the_user_id_is_ignored"),
    ("Every route stands with and without the prefix",
     ROUTES, "test_every_route_stands_under_every_prefix"),
    ("if-match (etag = version) answers 409 on a mismatch", CHANGES, "test_if_match"),
    ("Secrets are refused (422 secret_rejected, naming the kind, never the value)",
     ROUTES, "test_a_secret_is_refused_by_its_kind"),
    ("Live changes", EVENTS, "test_each_change_of_a_users_memories_is_an_event_for_that_user"),
    ("documents: POST /v1/rag/{namespace}/documents", RAG, "test_a_document_is_stored"),
]  # fmt: skip


@pytest.mark.parametrize(
    "table", [DESCRIBED, NO_LIMITS, OURS], ids=["described", "no limits", "ours"]
)
def test_every_sentence_has_a_test(table: list[tuple[str, str, str]]):
    """Where no test is named, the file is about nothing else."""
    for sentence, file, name in table:
        source = (TESTS / file).read_text("utf-8")
        name = name or r"test_\w+"
        assert re.search(rf"^ *(async )?def {name}\(", source, re.MULTILINE), (sentence, file, name)


def test_no_sentence_stands_twice():
    sentences = [sentence for sentence, _, _ in (*DESCRIBED, *NO_LIMITS, *OURS)]
    assert len(set(sentences)) == len(sentences)
