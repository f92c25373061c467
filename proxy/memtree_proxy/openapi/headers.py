"""Describe headers: those of requests to us, those of our answers, and credentials."""

from __future__ import annotations

from memtree.budget.packing import THRESHOLD
from memtree.config import MODES, Settings
from memtree.context.state import Reason, State, with_size
from memtree.conversation.keep_options import PATTERNS, TOOLS
from memtree_proxy.access.auth import SESSION_COOKIE, is_loopback
from memtree_proxy.http import request_body
from memtree_proxy.http.headers import (
    CHAT_HEADER,
    EXPIRATION_HEADERS,
    FLAG_HEADER,
    KEEP_HEADER,
    MEMORY_HEADER,
    MODE_HEADER,
    SWITCH_HEADER,
    TENANT_KEY,
    TOOLS_HEADER,
    USER_HEADER,
)
from memtree_proxy.request import fields, memory_switch, wait_timeout
from memtree_proxy.wire.json_schema import COUNT, STRING, Json, ref
from memtree_proxy.wire.parameter import header
from memtree_proxy.wire.types import CHAT_ID

REQUEST, REQUEST_ID = "x-memtree-request", "x-memtree-request-id"
_WORDS = list(memory_switch.WORDS)
_STATE = (
    f"What memory did: `{State.OFF}`; `{State.BELOW_THRESHOLD}`: sent whole, under "
    f"{THRESHOLD:,} tokens; `{State.PASSED}`: sent whole, as the reason says; `{State.PACKED}`: "
    f"folded; `{State.PROVISIONAL}`: folded, embeddings are still being made; `{State.REFUSED}`: "
    f"too large for the model (`context_length_exceeded`); `degraded:<why>`: a part of ours "
    "failed, and the request went on "
    "(`embedder`: folded, and ranked by words alone; `no-room`: older messages left out, with no "
    "room for a memory of them)."
)
_REASON = (
    f"Why, where the state alone does not say. With `{State.PASSED}`, and from about how many "
    f"tokens of history on it will be folded: `{with_size(Reason.FITS, 20_000)}` (no larger than "
    f"the target), `{with_size(Reason.CHEAPER_WHOLE, 53_000)}` (folding would cost more so far), "
    f"`{Reason.ONE_ROUND}` (a single round is never cut), `{Reason.LARGE_ROUND}` (the newest round "
    f"alone fills the model). Without a size: `{Reason.SIDE_REQUEST}` (a title, a client's own "
    f"compaction), `{Reason.SERVER_STATE}` (the upstream holds a part of the history). With "
    f"`{State.NO_TREE}`: `{Reason.TREE_PENDING}`, where it went whole meanwhile. "
    f"With `{State.PROVISIONAL}`: `{Reason.EMBEDDINGS_PENDING}`."
)


_REQUEST_HEADERS = (
    header(
        MEMORY_HEADER,
        "Memory for this request, whatever the body says: `on` (also `true`, `yes`, `1`), or "
        "`off` (`false`, `no`, `0`), which wins over every on. Other words do not count.",
        {"type": "string", "enum": _WORDS, "examples": ["on"]},
    ),
    header(
        FLAG_HEADER,
        f"The same as `{MEMORY_HEADER}`.",
        {"type": "string", "enum": _WORDS, "examples": ["true"]},
    ),
    header(
        TOOLS_HEADER,
        "Whether the model is offered tools that search and read what memory folded; they are "
        "answered here, inside the same answer. Wins over the setting `recall_tools`. Other "
        "words do not count.",
        {"type": "string", "enum": _WORDS, "examples": ["on"]},
    ),
    header(
        CHAT_HEADER,
        "Opts in to chat memory: the chat that this request belongs to. Those of its memories "
        "that concern the newest message stand in the prompt, and the model may save and "
        "recall memories by the tools `save_memory` and `recall_memory`, answered here inside "
        "the same answer.",
        CHAT_ID,
    ),
    header(
        SWITCH_HEADER,
        f"`off` (also `false`, `no`, `0`) switches chat memory off for this request, though it "
        f"carries `{CHAT_HEADER}`; `on` is the default. Other words do not count.",
        {"type": "string", "enum": _WORDS, "examples": ["on"]},
    ),
    header(
        USER_HEADER,
        "Whose request it is, within the credential: which user's memories stand in the "
        "prompt, and are made of what is said. Absent: those of the credential itself. Ignored "
        "beside a session cookie. The upstream gets it as it came. One that is no id of ours "
        "is nobody's, and a 400 with `memory_options.enabled`.",
        CHAT_ID,
    ),
    header(
        MODE_HEADER,
        "How memory is unfolded. Wins over the field `mode`.",
        {"type": "string", "enum": list(MODES), "examples": ["stable"]},
    ),
    header(
        KEEP_HEADER,
        f"The fields `{PATTERNS}` and `{TOOLS}` as a JSON object. Wins over these.",
        {"type": "string", "examples": ['{"keep_patterns": ["docs/*.md"]}']},
    ),
    *(
        header(
            name,
            f"Days for which this memory is kept when nobody uses it, clamped to 1 to "
            f"{fields.MAX_DAYS}. Wins over the field `expiration_days`."
            + ("" if "_" not in name else " Many front proxies drop headers with underscores."),
            {"type": "integer", "examples": [90]},
        )
        for name in EXPIRATION_HEADERS
    ),
    header(
        request_body.ENCODING_HEADER,
        "How the body is compressed: `gzip`, `deflate`, `zstd`, or a list of them.",
        {"type": "string", "examples": ["identity"]},
    ),
    header(
        wait_timeout.STAINLESS,
        "Seconds for which the client waits for an answer that is not streamed, as the OpenAI "
        "SDKs tell it. An error comes before they are over.",
        {"type": "number", "examples": [600]},
    ),
)
# `components.parameters` by header name.
REQUEST_HEADERS: dict[str, Json] = {row["name"]: row for row in _REQUEST_HEADERS}


def of_context_memory() -> list[Json]:
    """Return the parameters of routes that read a history."""
    names = (
        MODE_HEADER, KEEP_HEADER, *EXPIRATION_HEADERS, request_body.ENCODING_HEADER,
        wait_timeout.STAINLESS,
    )  # fmt: skip
    return [ref("parameters", name) for name in names]


def of_deletion() -> list[Json]:
    return [ref("parameters", request_body.ENCODING_HEADER)]


def of_chat() -> list[Json]:
    return [ref("parameters", name) for name in REQUEST_HEADERS]


ANSWER_HEADERS: dict[str, Json] = {
    f"x-memtree-{name}": {"description": description, "schema": shape}
    for name, description, shape in (
        ("state", _STATE, STRING),
        ("reason", _REASON, STRING),
        ("address", "The address of the posted history.", {"type": "string", "format": "hex"}),
        ("raw-tokens", "Tokens that were posted.", COUNT),
        ("sent-tokens", "Tokens that were sent in their place.", COUNT),
        ("epoch", "The fold that this request belongs to.", STRING),
        ("ms", "Milliseconds that memory took.", COUNT),
        (
            "memories",
            "Ids of the memories (of the chat, of its user, passages of documents) that stand in "
            "what was sent, with commas between them.",
            STRING,
        ),
        (
            "memories-degraded",
            "What failed on the way to them: `embedder` (chosen by words alone), `store`, "
            "`timeout`, `internal`; the request went on.",
            STRING,
        ),
        ("request", "Names this request in the log (`/requests/{request_id}`).", STRING),
        (
            "request-id",
            "Names this request in the server's log: the client's `x-request-id` where it sent "
            "one of up to 128 plain characters, else one of ours.",
            STRING,
        ),
    )
}


def of_answer() -> dict[str, Json]:
    return {name: ref("headers", name) for name in ANSWER_HEADERS}


def of_every() -> dict[str, Json]:
    """Return the headers of each of our answers."""
    return {name: ref("headers", name) for name in (REQUEST, REQUEST_ID)}


def credentials() -> dict[str, Json]:
    """Return `components.securitySchemes`."""
    return {
        "bearer": {
            "type": "http",
            "scheme": "bearer",
            "description": "`Authorization: Bearer KEY`, as OpenAI clients send it.",
        },
        "apiKey": {"type": "apiKey", "in": "header", "name": "x-api-key"},
        "memtreeKey": {
            "type": "apiKey",
            "in": "header",
            "name": TENANT_KEY.decode(),
            "description": "For MemTree alone, and never sent on: it says who asks, and the "
            "credential beside it goes to the upstream.",
        },
        "session": {
            "type": "apiKey",
            "in": "cookie",
            "name": SESSION_COOKIE,
            "description": "Counts only where it is a value of a configured access key.",
        },
    }


def any_credential(settings: Settings, optional: bool = True) -> list[dict[str, list[str]]]:
    """Return the security requirement of a route: any one credential. On loopback none is required,
    because there requests without a key share a tenant."""
    given: list[dict[str, list[str]]] = [{name: []} for name in credentials()]
    return [*given, {}] if optional and is_loopback(settings.host) else given
