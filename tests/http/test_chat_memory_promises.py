"""Every sentence that describes chat memory, and the tests that hold it to its word.

The first table is the description of the service whose API this is, sentence by sentence; the
second what our own contract adds. `PAGE`: about the web page, which is to come.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
PAGE = "the page"
ROUTES, CHANGES = "http/test_chat_memory.py", "http/test_chat_memory_changes.py"
TOOLS, TOLD = "http/test_chat_memory_tools.py", "unit/chat/memories/test_chat_memory_tools.py"
SCOPES, EVENTS = "http/test_chat_memory_scopes.py", "http/test_chat_memory_events.py"
INJECTION, DOCS = "http/test_injection.py", "clients/test_chat_memory_docs.py"
BOOK = "unit/memories/test_book.py"

DESCRIBED = [
    ("Chat memory allows conversations to accumulate knowledge over time.",
     TOOLS, "test_what_one_turn_saved_another_one_recalls_and_another_chat_does_not"),
    ("The model can save and recall facts, preferences, and instructions as the conversation "
     "progresses.", TOOLS, "test_several_rounds_and_no_more_than_eight"),
    ("Users can also manually create memories from any message in the chat interface.",
     ROUTES, "test_a_memory_is_made_from_a_message"),
    ("Memories are scoped per-chat -- each conversation maintains its own isolated memory store.",
     SCOPES, "test_no_answer_tells_another_scope_of_a_memory"),
    ("When memories are saved, they are embedded as vectors and stored for relevance-based "
     "semantic search.", BOOK, "test_what_is_saved_is_found_listed_and_counted"),
    ("This means the system retrieves the most contextually relevant memories rather than relying "
     "on keyword matching or recency alone.", ROUTES, "test_a_search_ranks_by_relevance"),
    ("Per-chat scoping -- memories do not leak between conversations.",
     SCOPES, "test_no_duplicate_check_tells_another_scope_of_a_memory"),
    ("Automatic deduplication of near-duplicate memories.",
     ROUTES, "test_near_duplicates_by_meaning_are_not_stored_twice"),
    ("Soft-delete support for safe memory removal.",
     CHANGES, "test_what_was_deleted_can_be_brought_back"),
    ("Both model-driven and user-driven memory creation.", ROUTES, "test_filters"),
    ("During a conversation, the model can call two built-in tools to interact with the memory "
     "system.", TOOLS, "test_they_are_offered_whether_or_not_context_memory_is_on"),
    ("The content is embedded as a vector and persisted to the database.", TOLD, "test_a_save"),
    ("The model queries the memory store with a natural language query and receives the top "
     "matching memories ranked by semantic relevance.",
     TOLD, "test_a_recall_gives_the_best_five_with_their_relevance"),
    ("The model decides autonomously when to save or recall memories based on the conversation "
     "context.", TOOLS, "test_a_save_inside_one_answer"),
    ("Users can click the Remember this button on any message in the chat interface.", PAGE, ""),
    ("This creates a memory from the message content, embedding it and storing it in the same "
     "memory store that the model accesses.",
     TOOLS, "test_a_recall_gives_what_the_description_shows"),
    ("Manual memories are tagged with source_type: user to distinguish them from model-created "
     "memories.", ROUTES, "test_a_memory_is_made_from_a_message"),
    ("At the start of each turn, the system automatically performs a semantic search against the "
     "chat's memory store using the current user message as the query.",
     INJECTION, "test_what_was_said_by_the_client_in_blocks_is_no_question"),
    ("The top relevant memories are injected into the system prompt as contextual knowledge.",
     INJECTION, "test_the_most_relevant_ones_stand_in_the_system_prompt_as_a_numbered_list"),
    ("This happens transparently -- no user or model action is required.",
     DOCS, "test_one_header_and_the_sdk"),
    ("if a memory with very high semantic similarity already exists, the save is skipped and the "
     "existing memory is returned.",
     TOLD, "test_a_near_duplicate_is_not_saved_and_the_existing_one_is_told"),
    ("content (required): The text content to store as a memory.",
     TOLD, "test_wrong_saves_say_what_is_wrong"),
    ("category (optional): One of: preference, fact, instruction. When omitted, the system infers "
     "the category from the content.", TOLD, "test_the_category_is_inferred"),
    ("Returns the top 5 matching memories ranked by relevance score.",
     TOLD, "test_a_recall_gives_the_best_five_with_their_relevance"),
    ("query (required): Natural language query to search memories against.",
     TOLD, "test_wrong_recalls_say_what_is_wrong"),
    ("memories: id, content, category, relevance, created_at",
     TOOLS, "test_a_recall_gives_what_the_description_shows"),
    ("All endpoints require authentication and operate within the scope of a single chat.",
     SCOPES, "test_without_a_known_credential_nothing_is_answered"),
    ("POST /chat/api/{chatId}/memory: Creates a new memory from an existing message in the chat.",
     ROUTES, "test_a_memory_is_made_from_a_message"),
    ("messageId (required): The ID of the message to create a memory from. content (required).",
     ROUTES, "test_what_is_wrong_with_a_new_memory_is_named"),
    ("GET /chat/api/{chatId}/memories: Returns all active (non-deleted) memories for the specified "
     "chat, ordered by creation date descending.", ROUTES, "test_all_memories_the_newest_first"),
    ("PATCH /chat/api/{chatId}/memories/{memoryId}: Updates the content of an existing memory.",
     CHANGES, "test_a_change_of_content_is_found_from_then_on"),
    ("The embedding is regenerated automatically to reflect the new content.",
     CHANGES, "test_a_change_of_content_is_found_from_then_on"),
    ("content (required): The new text content for the memory.",
     CHANGES, "test_what_is_wrong_with_a_change_is_named"),
    ("DELETE /chat/api/{chatId}/memories/{memoryId}: Soft-deletes a memory.",
     CHANGES, "test_what_was_deleted_can_be_brought_back"),
    ("The record remains in the database with a deleted_at timestamp but is excluded from all "
     "queries and semantic searches.", CHANGES, "test_a_deleted_memory_is_in_no_answer"),
    ("Returns HTTP 204 No Content on success.", CHANGES, "test_a_deleted_memory_is_in_no_answer"),
    ("The examples in curl.", DOCS, "test_curl"),
    ("The examples in Python (requests).", DOCS, "test_python"),
    ("The examples in Node.js (fetch).", DOCS, "test_node"),
    ("The top 3-5 most relevant memories (above a minimum similarity threshold) are selected.",
     INJECTION, "test_at_most_five"),
    ("Known facts about this conversation: 1. User prefers responses in bullet-point format "
     "(preference)", INJECTION,
     "test_the_most_relevant_ones_stand_in_the_system_prompt_as_a_numbered_list"),
    ("If no memories are sufficiently relevant, the section is omitted entirely.",
     INJECTION, "test_without_a_relevant_one_the_body_is_the_posted_one"),
    ("Each message in the chat displays a Remember this button in its action bar.", PAGE, ""),
    ("The toolbar includes a toggle button to open the Memories sidebar panel.", PAGE, ""),
    ("Each memory entry shows its content, category, source type, and creation date.",
     ROUTES, "test_all_memories_the_newest_first"),
    ("Memories can be edited inline -- click the edit icon, modify the text, and save.", PAGE, ""),
    ("Memories can be deleted via the delete icon on each entry.", PAGE, ""),
    ("A memory count badge on the toolbar toggle shows the total number of active memories.",
     ROUTES, "test_all_memories_the_newest_first"),
    ("This updates in real time as memories are created or deleted, whether by the model or the "
     "user.", EVENTS, "test_each_change_is_an_event_without_text"),
    ("Each memory is associated with a single chat and optionally linked to the message that "
     "created it.", ROUTES, "test_a_memory_is_made_from_a_message"),
    ("id: Memory identifier in mem_xxx format. content. category (nullable). source_type: model "
     "or user. created_at, updated_at: ISO 8601 timestamp.",
     CHANGES, "test_one_memory_with_its_version"),
]  # fmt: skip

OURS = [
    ("Every route stands with and without the /v1, /api and /api/v1 prefix.",
     ROUTES, "test_every_route_stands_under_every_prefix"),
    ("a number out of range is clamped", ROUTES, "test_a_limit_out_of_range_is_clamped"),
    ("a wrong type is a 400 that names the field", ROUTES, "test_wrong_queries_are_named"),
    ("A memory has exactly one scope", SCOPES, "test_a_cursor_of_one_scope_opens_no_other"),
    ("Every read, duplicate check, injection, event, export and count names one scope",
     EVENTS, "test_other_chats_and_tenants_are_not_heard"),
    ("With a cookie, x-user-id is ignored.", SCOPES, "test_a_user_id_does_not_widen_a_chat"),
    ("Ids that callers choose: 1-200 characters of [A-Za-z0-9._~:@-], else 400.",
     ROUTES, "test_a_chat_id_that_cannot_be_one"),
    ("the same for x-chat-id", TOOLS, "test_an_id_that_cannot_be_one_is_named"),
    ("Where no vector exists yet, words rank and the answer says degraded: [embedder].",
     ROUTES, "test_an_embedder_that_fails_loses_no_memory"),
    ("Only same and duplicate are skipped", ROUTES,
     "test_a_duplicate_is_answered_with_the_existing_one"),
    ("a possible_update is stored and says what it may replace",
     ROUTES, "test_a_changed_value_is_stored_and_says_what_it_may_replace"),
    ("A memory that a model saves in a turn in which a tool or a web page spoke, and an "
     "instruction saved by a model, carries tainted: true",
     TOOLS, "test_a_memory_that_a_tool_may_have_planted_is_tainted"),
    ("shown as a fact, never as an instruction, until a person confirms it",
     CHANGES, "test_a_person_confirms_what_a_model_saved"),
    ("Secrets are refused (422 secret_rejected, naming the kind, never the value)",
     ROUTES, "test_a_secret_is_refused_by_its_kind"),
    ("Gone from every answer when the call returns", CHANGES,
     "test_a_deleted_memory_is_in_no_answer"),
    ("?purge=true: at once", CHANGES, "test_what_was_purged_is_gone_for_good"),
    ("until then undelete brings it back", CHANGES, "test_what_was_deleted_can_be_brought_back"),
    ("Host: else 421, on every path", SCOPES, "test_dns_rebinding_reads_nothing"),
    ("Origin: else 403, also where Sec-Fetch-Site is cross-site or same-site; Body: else 415",
     SCOPES, "test_a_page_of_another_site_saves_nothing_with_a_cookie"),
    ("An allowed origin gets Access-Control-Allow-Origin and an answer to its preflight",
     SCOPES, "test_an_allowed_origin_gets_its_preflight_and_its_answer"),
    ("A cookie counts only as a value of a configured key",
     SCOPES, "test_a_cookie_on_a_server_without_keys_names_nobody"),
    ("Credential: Cookie: session= or bearer.",
     SCOPES, "test_a_cookie_and_a_bearer_of_one_key_are_one_tenant"),
    ("GET .../memories/search?query=, filters category, source_type, limit, cursor on the list",
     ROUTES, "test_filters"),
    ("without limit everything up to 1,000, then next_cursor",
     ROUTES, "test_without_a_limit_everything_up_to_a_thousand"),
    ("POST .../memories/undelete {ids}", CHANGES, "test_wrong_ids_are_named"),
    ("when a chat-completions request carries x-chat-id (and optional x-chat-memory: on), the "
     "proxy adds the two tools", TOOLS, "test_the_headers_opt_in_and_stay_here"),
    ("runs the calls that the model makes to them itself, and continues the turn until the model "
     "answers", TOOLS, "test_a_save_inside_one_answer"),
    ("the client sees one normal (streamed) answer, its own tools and tool calls pass untouched, "
     "also in the same round",
     TOOLS, "test_a_save_beside_a_call_of_the_client_in_the_same_round"),
    ("At most 8 such rounds.", TOOLS, "test_several_rounds_and_no_more_than_eight"),
    ("answers 201 with the memory (and possible_update_of); a duplicate: 200 with the existing one",
     ROUTES, "test_a_duplicate_is_answered_with_the_existing_one"),
    ("messageId is kept as given, opaque", ROUTES, "test_a_memory_is_made_from_a_message"),
    ("Category inferred when absent", ROUTES, "test_the_category_is_inferred_when_absent"),
    ("PATCH also takes category", CHANGES, "test_category_and_tags_can_be_changed_alone"),
    ("if-match (etag = version) answers 409 on a mismatch", CHANGES, "test_if_match"),
    ("so that two tabs do not overwrite each other", CHANGES,
     "test_two_tabs_do_not_overwrite_each_other"),
    ("server-sent events {type, id, count, version}, no text",
     EVENTS, "test_each_change_is_an_event_without_text"),
    ("Last-Event-ID", EVENTS, "test_a_listener_that_comes_back_misses_nothing"),
    ("the change counter is the store's, so it works over several proxies",
     EVENTS, "test_what_another_proxy_changes_is_seen"),
    ("ends when the key is revoked", EVENTS, "test_a_stream_ends_with_its_key"),
    ("at most 8 streams a tenant", EVENTS, "test_streams_of_a_tenant_are_limited"),
]  # fmt: skip


@pytest.mark.parametrize("table", [DESCRIBED, OURS], ids=["described", "ours"])
def test_every_sentence_has_a_test(table: list[tuple[str, str, str]]):
    kept = [row for row in table if row[1] != PAGE]
    assert len(kept) >= len(table) - 5
    for sentence, file, name in kept:
        source = (TESTS / file).read_text("utf-8")
        assert re.search(rf"^(async )?def {name}\(", source, re.MULTILINE), (sentence, file, name)


def test_no_sentence_stands_twice():
    sentences = [sentence for sentence, _, _ in (*DESCRIBED, *OURS)]
    assert len(set(sentences)) == len(sentences)
