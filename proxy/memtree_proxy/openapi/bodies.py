"""Describe request bodies: each of our own fields once, and the three objects that hold them."""

from __future__ import annotations

from memtree.config import MODES, Settings
from memtree.conversation.address_chain import DIGEST_BYTES
from memtree.conversation.keep_options import LONGEST, MOST, PATTERNS, TOOLS
from memtree.dialects.posted_history import CHAT
from memtree.memories.user_memories import MOST_TOP_K
from memtree_proxy.request import context_windows, fields, rag_options
from memtree_proxy.wire.json_schema import (
    BOOLEAN,
    NULL,
    STRING,
    Json,
    array,
    described,
    either,
    object_of,
    schema,
)

CONTEXT = (
    "messages", "model_context_limit", "target_tokens", "expiration_days", "mode", "query",
    "max_tokens", "max_completion_tokens", "model", "tools", "functions", "response_format",
    "cache_control", "index_only", "explain", "dialect", PATTERNS, TOOLS,
)  # fmt: skip

_NUMERIC: Json = {"type": "string", "pattern": "^[+-]?[0-9]+$"}
_ADDRESS: Json = {"type": "string", "pattern": f"^[0-9a-fA-F]{{{2 * DIGEST_BYTES}}}$"}
_NO: Json = {"enum": [None, False]}
_DRY_RUN = described(either(BOOLEAN, NULL), "Delete nothing, and answer how much would go.")


def messages(settings: Settings) -> Json:
    return array(schema("Message"), minItems=1, maxItems=settings.max_messages)


def _integer(description: str, low: int, high: int | str, default: int | None) -> Json:
    """Describe an integer, also accepted as a string. Values are clamped, so there is no
    `minimum`."""
    until = f"{high:,}" if isinstance(high, int) else high
    shape = described(
        either({"type": "integer"}, _NUMERIC, NULL),
        f"{description} Clamped to {low:,} to {until}.",
    )
    return shape if default is None else {**shape, "default": default}


def _share(description: str, default: float | None) -> Json:
    """Describe a number from 0 to 1, also accepted as a string. Values are clamped."""
    number: Json = {"type": "string", "pattern": f"^{fields.NUMBER_PATTERN}$"}
    shape = described(either({"type": "number"}, number, NULL), f"{description} Clamped to 0 to 1.")
    return shape if default is None else {**shape, "default": default}


def _memory_options() -> Json:
    options = {
        "enabled": _optional(
            BOOLEAN,
            "`true`: memories of the user stand in the prompt, though the settings of that user "
            "switch them off. `false`: none do, and none are made of what is said. Absent: as the "
            "settings say.",
        ),
        "top_k": _integer("Memories, at most. Absent: as the settings say.", 1, MOST_TOP_K, None),
        "score_threshold": _share(
            "The relevance that a memory needs. Absent: as the settings say. With 0.5 a memory "
            "that shares a telling word with the message needs less, another one a little more.",
            None,
        ),
    }
    return _optional(object_of(options, ()), "What this request wants of its user's memories.")


def _rag_options() -> Json:
    options = {
        "topK": _integer("Passages, at most.", 1, rag_options.MOST_TOP_K, rag_options.TOP_K),
        "scoreThreshold": _share(
            "The relevance that they need. At 0.5 a passage that shares a telling word with the "
            "message needs less, another one a little more.",
            rag_options.THRESHOLD,
        ),
        "includeMetadata": _optional(
            BOOLEAN, "Whether what is known of their documents is shown.", default=False
        ),
        "type": _optional(STRING, "Only passages of documents of this type."),
        "namespace": _optional(
            {"type": "string", "pattern": "^[A-Za-z0-9._~:@-]{1,200}$"},
            "Where the documents are.",
            default=rag_options.NAMESPACE,
        ),
    }
    return _optional(object_of(options, ()), "Which passages `use_rag` asks for.")


def _optional(shape: Json, description: str, default: object = None) -> Json:
    return described(either(shape, NULL), description, default=default)


def own_fields(settings: Settings) -> dict[str, Json]:
    """Return every field that MemTree reads, by name; null means absent."""
    return {
        "messages": described(messages(settings), "The whole history, as it was always sent."),
        "model_context_limit": _integer(
            "Tokens that the model takes. Absent: known from `model`, else "
            f"{context_windows.assumed(settings.window):,}.",
            fields.MIN_WINDOW,
            fields.MAX_WINDOW,
            context_windows.assumed(settings.window),
        ),
        **_output_fields(),
        "target_tokens": _integer(
            "Size of the messages for the model in tokens, without system messages. Given on "
            "`/context_memory` it is a hard limit, exceeded only where the newest round alone is "
            "larger.",
            fields.MIN_TARGET,
            "`model_context_limit`",
            settings.target_tokens,
        ),
        "expiration_days": _integer(
            "Days for which this memory is kept when nobody uses it; each use renews it.",
            1,
            fields.MAX_DAYS,
            settings.expiration_days,
        ),
        "mode": _mode(settings),
        "query": _optional(STRING, "What to unfold for, instead of the newest user message."),
        "model": _optional(STRING, "The model that the messages are for: its window and prices."),
        "tools": _optional(
            array({}), "The tools that are sent beside the messages; their size is counted."
        ),
        "functions": described({}, "The legacy form of `tools`."),
        "response_format": described({}, "The form of the answer; its size is counted."),
        "cache_control": described(
            {}, "The provider sets its own cache markers: the memory message gets none."
        ),
        "dialect": _optional(
            {"const": CHAT},
            "What the history is written in. Absent: told by its shape. The answer is in the same.",
        ),
        "index_only": _optional(BOOLEAN, "Index, and answer 202 without messages.", default=False),
        "explain": _optional(BOOLEAN, "Add what was chosen, and why.", default=False),
        **_kept_fields(),
        "memory": _optional(
            BOOLEAN,
            "Memory for this request. Absent: what the headers or the model's suffix say, else "
            f"{'on' if settings.memory else 'off'}. False wins over all of them.",
        ),
        "memory_options": _memory_options(),
        "use_rag": _optional(
            BOOLEAN,
            "Passages of documents that concern the newest message stand in the prompt, where "
            "there are some.",
            default=False,
        ),
        "rag_options": _rag_options(),
    }


def _kept_fields() -> dict[str, Json]:
    said = {
        PATTERNS: "What stays in each memory message, beside what the user marked with `<keep>`: "
        "globs over paths (the newest result that shows the file), and literal parts of lines. "
        "A pattern with `*`, `?` or `/` is a glob, and so is a file name.",
        TOOLS: "Names of tools whose results stay in each memory message.",
    }
    text: Json = {**STRING, "minLength": 1, "maxLength": LONGEST, "pattern": r"^.*\S.*$"}
    return {
        name: _optional(array(text, maxItems=MOST), f"{says} Absent: as the setting `{name}` says.")
        for name, says in said.items()
    }


def _output_fields() -> dict[str, Json]:
    """Return fields of the chat API that limit the answer; `/context_memory` reads them, too."""
    described = {
        "max_tokens": "Tokens of the limit that are kept for the answer; without it, none are.",
        "max_completion_tokens": "The same, by its newer name.",
    }
    return {
        name: _integer(text, 0, "`model_context_limit` less 1,000", None)
        for name, text in described.items()
    }


def schemas(settings: Settings) -> dict[str, Json]:
    known = own_fields(settings)
    return {
        "ContextRequest": object_of(
            {name: known[name] for name in CONTEXT},
            ("messages",),
            description="A history, and how it is to be shortened.",
        ),
        "ChatRequest": object_of(
            _chat(known),
            ("model", "messages"),
            description="A request of the OpenAI chat API. Fields of MemTree are taken out, "
            "everything else goes to the upstream as it came.",
        ),
        "Deletion": _deletion(known["messages"]),
    }


def _chat(known: dict[str, Json]) -> dict[str, Json]:
    """Return the fields of a chat body that we read, those of the upstream first."""
    own = {name: shape for name, shape in known.items() if name not in CONTEXT}
    shared = (
        "model_context_limit", "target_tokens", "expiration_days", "mode", "query", PATTERNS, TOOLS,
    )  # fmt: skip
    return {
        "model": described(
            STRING,
            "The model. A suffix `:memory` or `:memory-<days>` switches memory on, and is taken "
            "off.",
        ),
        "messages": known["messages"],
        "stream": described(BOOLEAN, "Answer with server-sent events."),
        "tools": described(array({}), "Tools. Their size is counted."),
        "functions": known["functions"],
        "response_format": known["response_format"],
        "cache_control": known["cache_control"],
        "max_tokens": described({"type": "integer"}, "Room that is kept for the answer."),
        "max_completion_tokens": described({"type": "integer"}, "The same, by its newer name."),
        **{name: known[name] for name in shared},
        **own,
    }


def _deletion(messages: Json) -> Json:
    """Return the schema of a deletion: exactly one target is given; null and false count as
    absent."""
    absent: dict[str, Json] = {
        "messages": NULL,
        "input": NULL,
        "address": NULL,
        "all": _NO,
        "tenant": _NO,
    }
    choices: dict[str, Json] = {
        "messages": described(messages, "The history whose memory is to be forgotten."),
        "input": described(
            either(STRING, array({"type": "object"}, minItems=1)), "The same, of `/responses`."
        ),
        "address": described(_ADDRESS, "The same, by `memory.address` or `x-memtree-address`."),
        "all": {"const": True, "description": "Everything that belongs to the credential."},
    }
    return {
        "description": "What to forget: exactly one of them. Beside a history any field of a chat "
        "request may stand; whatever else is unknown is a 400.",
        "oneOf": [
            object_of({**absent, "dry_run": _DRY_RUN, name: shape}, (name,), title=name)
            for name, shape in choices.items()
        ],
    }


def _mode(settings: Settings) -> Json:
    """Return the schema of the field `mode`."""
    return _optional(
        {"type": "string", "enum": list(MODES)},
        "How memory is unfolded. `stable`: folded once, then only appended to, as a provider's "
        "cache likes it. `auto`: the same, but sent whole while that is cheaper and fits. "
        f"`fresh`: unfolded anew for each request. Absent: {_default_mode(settings)}.",
    )


def _default_mode(settings: Settings) -> str:
    if settings.mode is not None:
        return f"`{settings.mode}`"
    return f"`{fields.CONTEXT_MODE}` on `/context_memory`, `{fields.CHAT_MODE}` on the chat routes"
