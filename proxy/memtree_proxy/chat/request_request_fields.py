"""The fields that clients post beside a history, of three APIs and of providers that speak them."""

from __future__ import annotations

from memtree.history import json_body

# MemTree's own, and those of chat completions, `/messages` and `/responses` as their references
# listed them in 2026.
REQUEST_FIELDS = json_body.OWN_FIELDS | {
    *"dialect explain index_only cache_control".split(),
    *"""audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens
    max_tokens metadata modalities model moderation n parallel_tool_calls prediction
    presence_penalty prompt_cache_key prompt_cache_options prompt_cache_retention reasoning_effort
    response_format safety_identifier seed service_tier stop store stream stream_options
    temperature tool_choice tools top_logprobs top_p user verbosity web_search_options""".split(),
    *"""container context_management inference_geo mcp_servers output_config output_format speed
    stop_sequences system thinking top_k""".split(),
    *"""background conversation include instructions max_output_tokens max_tool_calls
    previous_response_id prompt reasoning text truncation""".split(),
    # Fields of other providers that speak these dialects.
    *"""best_of chat_template_kwargs extra_body guided_json keep_alive min_p models num_ctx options
    plugins provider reasoning_format reasoning_split repetition_penalty route safe_prompt
    search_parameters think top_a transforms usage web_search""".split(),
}
