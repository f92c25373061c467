"""Assemble the document: operations, their answers, and shared components.

The four prefixes are `servers`, so each path is listed once. Fields are described in `bodies`,
messages in `messages` and errors in `failures`.
"""

from __future__ import annotations

from memtree import __version__
from memtree.config import Settings
from memtree_proxy.context.conversations import ConversationRoutes
from memtree_proxy.context.parse import ParseRoute
from memtree_proxy.context.requests import RequestRoutes
from memtree_proxy.context.usage import UsageRoute
from memtree_proxy.http.request_body import PREFIXES
from memtree_proxy.memories.agent_routes import TAG as AGENTS
from memtree_proxy.memories.agent_routes import AgentBatchRoutes
from memtree_proxy.memories.agent_search_routes import AgentSearchRoutes
from memtree_proxy.memories.chat_routes import TAG as CHATS
from memtree_proxy.memories.chat_routes import ChatCurationRoutes, ChatMemoryRoutes
from memtree_proxy.memories.curation_routes import TAG as CURATION
from memtree_proxy.memories.curation_routes import CurationRoutes
from memtree_proxy.memories.document_routes import TAG as DOCUMENTS
from memtree_proxy.memories.document_routes import DocumentRoutes
from memtree_proxy.memories.grant_routes import TAG as GRANTS
from memtree_proxy.memories.grant_routes import GrantRoutes, WalletRoutes
from memtree_proxy.memories.group_routes import GroupRoutes, SettingsRoutes
from memtree_proxy.memories.schema_routes import TAG as SCHEMAS
from memtree_proxy.memories.schema_routes import SchemaRoutes
from memtree_proxy.memories.transfer_routes import TAG as TRANSFER
from memtree_proxy.memories.transfer_routes import TransferRoutes
from memtree_proxy.memories.user_routes import TAG as USERS
from memtree_proxy.memories.user_routes import ExtractionRoute, UserMemoryRoutes
from memtree_proxy.openapi import (
    bodies,
    dialect_paths,
    examples,
    failures,
    headers,
    messages,
    operations,
    server_paths,
)
from memtree_proxy.openapi.context import answers, context_shapes, request_shapes
from memtree_proxy.openapi.operations import UPSTREAM, described_routes, ok, operation
from memtree_proxy.wire import (
    agent_answers,
    agent_memories,
    agent_parameters,
    agent_search,
    chat_memories,
    curation,
    documents,
    grants,
    schemas,
    transfer,
    user_answers,
    user_memories,
)
from memtree_proxy.wire.json_schema import STRING, Json, content, described, ref, schema
from memtree_proxy.wire.operation import KNOWN, READING

VERSION = "3.1.0"
_ABOUT = """\
A proxy for OpenAI's APIs and the Messages API that gives any model an unlimited conversation. Send
the whole history as you always did: MemTree folds its older part into one memory message. The
messages themselves are the address of their memory, so there is no id to keep.

* Every path stands under every server address listed here; `/metrics` and `/openapi.json` at the
  root alone.
* Numbers out of range are clamped; a wrong type is a 400 that names the field in `param`; null
  means absent; unknown fields are let through.
* `/mcp` speaks the Model Context Protocol, which lists and describes its tools itself.
* **Every other path and method** (`/models`, `/embeddings`, files ...) is streamed to the
  upstream and back untouched; what speaks the Messages API, to `anthropic_upstream`. With the
  server's own upstream key only those of `passthrough_routes`, and objects that the tenant made.
* **Browsers.** Pages of other sites are refused (403) unless `allowed_origins` names their origin;
  these get CORS headers and an answer to their preflight. A body is JSON: one with another
  `content-type` is a 415; without any it is taken for JSON, but from a browser.
"""
_TAGS = {
    "Chat": "In front of a model: chats, messages and responses, with memory.",
    CHATS: "What one chat remembers, saved by its model or by a person.",
    DOCUMENTS: "Texts to look things up in: put into namespaces, shown by `use_rag`.",
    AGENTS: "What agents remember: structured, by kinds, of each of their subjects.",
    GRANTS: "What opens memories of agents to other tenants, signed by wallets.",
    SCHEMAS: "What structured memories must look like, kind by kind.",
    TRANSFER: "Memories as a file, and files of other programs as memories.",
    CURATION: "What changed, what was said before, what is deleted: of users and agents.",
    USERS: "What is remembered of a user beyond any one chat, in groups of its own.",
    "Context memory": "Without a model: messages in, fewer messages out.",
    "Server": "About the server itself.",
}
_ROUTES = (
    ConversationRoutes,
    RequestRoutes,
    AgentBatchRoutes,
    AgentSearchRoutes,
    ChatCurationRoutes,
    ChatMemoryRoutes,
    DocumentRoutes,
    ExtractionRoute,
    GrantRoutes,
    WalletRoutes,
    SchemaRoutes,
    TransferRoutes,
    CurationRoutes,
    UserMemoryRoutes,
    GroupRoutes,
    SettingsRoutes,
    ParseRoute,
    UsageRoute,
)


def build(settings: Settings) -> Json:
    """Return the whole document; its defaults are taken from the settings."""
    return {
        "openapi": VERSION,
        "info": {
            "title": "MemTree",
            "version": __version__,
            "summary": "Unlimited conversations for any model.",
            "description": _ABOUT,
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [_server(prefix) for prefix in reversed(PREFIXES)],
        "security": headers.any_credential(settings),
        "tags": [{"name": name, "description": text} for name, text in _TAGS.items()],
        "paths": {
            **_chat(settings),
            **dialect_paths.paths(settings),
            **_context_memory(settings),
            **_deletion(settings),
            **described_routes(settings, *_ROUTES),
            **server_paths.build(settings),
        },
        "components": {
            "schemas": _schemas(settings),
            "parameters": _parameters(),
            "headers": headers.ANSWER_HEADERS,
            "requestBodies": _request_bodies(),
            "responses": failures.responses(settings),
            "securitySchemes": headers.credentials(),
        },
    }


def _schemas(settings: Settings) -> dict[str, Json]:
    return {
        **messages.SCHEMAS,
        **bodies.schemas(settings),
        **dialect_paths.schemas(settings),
        **dialect_paths.SCHEMAS,
        **answers.SCHEMAS,
        **context_shapes.SCHEMAS,
        **agent_memories.schemas(settings),
        **agent_answers.schemas(),
        **agent_search.schemas(),
        **chat_memories.schemas(settings),
        **curation.schemas(settings),
        **documents.schemas(),
        **grants.schemas(),
        **schemas.schemas(),
        **transfer.schemas(),
        **context_shapes.PARSED,
        **context_shapes.USAGE,
        **request_shapes.SCHEMAS,
        **user_answers.schemas(),
        **user_memories.schemas(settings),
        **failures.schemas(),
    }


def _parameters() -> dict[str, Json]:
    families = (operations, agent_parameters, chat_memories, documents, grants,
                schemas, user_memories)  # fmt: skip
    return headers.REQUEST_HEADERS | {
        name: row for family in families for name, row in family.parameters().items()
    }


def _server(prefix: str) -> Json:
    described = {"": "The root.", "/v1": "What OpenAI clients take as their base URL."}
    return {"url": prefix or "/", "description": described.get(prefix, "The same routes.")}


_BODIES = {
    "Chat": ("ChatRequest", examples.CHAT),
    "Context": ("ContextRequest", examples.CONTEXT),
    "Tree": ("ContextRequest", examples.TREE),
    "Deletion": ("Deletion", examples.DELETION),
    "Messages": ("MessagesRequest", examples.MESSAGES),
    "Responses": ("ResponsesRequest", examples.RESPONSES),
}


def _request_bodies() -> dict[str, Json]:
    made = {
        name: {"required": True, "content": content(schema(shape), examples=shown)}
        for name, (shape, shown) in _BODIES.items()
    }
    others = [schema("ContextOfMessages"), schema("ContextOfResponses")]
    for name in ("Context", "Tree"):
        any_ = {"anyOf": [schema("ContextRequest"), *others]}
        made[name] = {"required": True, "content": content(any_, examples=_BODIES[name][1])}
    return {
        **made,
        **chat_memories.REQUEST_BODIES,
        **curation.REQUEST_BODIES,
        **examples.agent_bodies(),
        **documents.REQUEST_BODIES,
        **grants.REQUEST_BODIES,
        **schemas.REQUEST_BODIES,
        **transfer.REQUEST_BODIES,
        **context_shapes.parse_bodies(),
        **user_memories.REQUEST_BODIES,
    }


def _chat(settings: Settings) -> dict[str, Json]:
    upstream = {
        "description": "The upstream's own answer: its status, headers and body as they came.",
        "headers": headers.of_answer(),
    }
    answer = {
        "description": "The upstream's answer as it came; server-sent events with `stream`. A "
        "streamed answer that has to wait for memory begins with comments, and what fails after "
        'that is an event `{"error": ...}` followed by `[DONE]`.',
        "headers": headers.of_answer(),
        "content": {
            **content(described({}, "As the upstream made it: usually a `chat.completion`.")),
            **content(described(STRING, "Events `chat.completion.chunk`."), "text/event-stream"),
        },
    }
    errors = failures.of(settings, *(status for status in READING if status != 405), *UPSTREAM)

    def posting(id_: str, description: str) -> Json:
        return {
            "post": operation(
                id_,
                "Chat",
                "A chat completion with memory",
                description,
                {"200": answer, **errors, "default": upstream},
                parameters=headers.of_chat(),
                requestBody=ref("requestBodies", "Chat"),
            )
        }

    return {
        "/chat/completions": posting(
            "createChatCompletion",
            "The request goes to the upstream. With memory on, an older part of the history is "
            "replaced by one memory message. A history that MemTree cannot read goes on as it "
            "came, for the upstream to judge.",
        ),
        "/chat_completions": posting(
            "createChatCompletionByOtherName", "Another name of `/chat/completions`."
        ),
    }


def _context_memory(settings: Settings) -> dict[str, Json]:
    errors = failures.of(settings, *READING)
    compressed = {
        "200": ok("The messages for the model.", schema("Compressed"), headers=headers.of_answer()),
        "202": ok("Indexed (`index_only`).", schema("Indexed"), headers=headers.of_answer()),
    }

    def posting(id_: str, summary: str, description: str, answer: Json, body: str) -> Json:
        return {
            "post": operation(
                id_,
                "Context memory",
                summary,
                description,
                {**answer, **errors},
                parameters=headers.of_context_memory(),
                requestBody=ref("requestBodies", body),
            )
        }

    return {
        "/context_memory": posting(
            "compressContext",
            "Shorten a history",
            "Posted messages in, fewer messages out, for any model. A history under 10,000 tokens "
            "comes back as it is.",
            compressed,
            "Context",
        ),
        "/memory": posting(
            "compressContextByOtherName",
            "Shorten a history",
            "Another name of `/context_memory`.",
            compressed,
            "Context",
        ),
        "/context_memory/tree": posting(
            "showTree",
            "The tree over a history",
            "All nodes over the posted history, leaves included.",
            {"200": ok("The tree.", schema("Tree"))},
            "Tree",
        ),
        "/context_memory/status": {
            "get": operation(
                "showStatus",
                "Context memory",
                "What still waits",
                "Background work of the calling tenant.",
                {"200": ok("The work.", schema("Status")), **failures.of(settings, *KNOWN)},
            )
        },
    }


def _deletion(settings: Settings) -> dict[str, Json]:
    errors = failures.of(settings, 404, *READING)

    def forgetting(id_: str, description: str) -> Json:
        return operation(
            id_,
            "Context memory",
            "Forget",
            description,
            {
                "200": ok("It is gone, from the files too, unless `dry_run`.", schema("Receipt")),
                **errors,
            },
            parameters=headers.of_deletion(),
            requestBody=ref("requestBodies", "Deletion"),
        )

    return {
        "/context_memory/delete": {
            "post": forgetting(
                "forget",
                "Forget what is indexed for a history, for an address, or for the whole tenant.",
            ),
            "delete": forgetting("forgetByMethod", "The same."),
        }
    }
