"""Operations about the server itself: its page, its health, its counts, this document."""

from __future__ import annotations

from memtree.config import Settings
from memtree_proxy.access.local_user import LONGEST_CODE
from memtree_proxy.openapi import failures, headers
from memtree_proxy.openapi.operations import ok, operation
from memtree_proxy.wire.json_schema import BOOLEAN, STRING, Json, array, content, object_of, schema
from memtree_proxy.wire.operation import ALWAYS, KNOWN

_TAG = "Server"
_CODE = {**STRING, "maxLength": LONGEST_CODE}
_AT_THE_ROOT = [{"url": "/", "description": "Under a prefix the path is the upstream's."}]
_BELOW_NOTHING = [{"url": "/", "description": "Under a prefix there is nothing."}]


def build(settings: Settings) -> dict[str, Json]:
    return {
        "/": {"servers": _AT_THE_ROOT, "get": _home(settings)},
        "/llms.txt": {"servers": _AT_THE_ROOT, "get": _map(settings)},
        "/health": {
            "get": _health(
                settings, "checkHealth", "Asks nothing of the parts, and needs no credential."
            )
        },
        "/healthz": {
            "get": _health(settings, "checkHealthByOtherName", "Another name of `/health`.")
        },
        "/health/details": {"get": _details(settings)},
        "/metrics": {"servers": _AT_THE_ROOT, "get": _metrics(settings)},
        "/openapi.json": {"servers": _AT_THE_ROOT, "get": _document(settings)},
        "/ui": {"servers": _BELOW_NOTHING, "get": _pages(settings)},
        "/ui/demo.json": {"servers": _BELOW_NOTHING, "get": _demo(settings)},
        "/ui/session": {
            "servers": _BELOW_NOTHING,
            "get": _session(settings),
            "post": _code_exchange(settings),
        },
    }


def _home(settings: Settings) -> Json:
    responses = {
        "200": {
            "description": "The page, or what the upstream answers.",
            "headers": headers.of_every(),
            "content": {**content(STRING, "text/html"), **content({})},
        },
        **failures.of(settings, 421, 431, 500),
        "default": {"description": "The upstream's answer, where no browser asks."},
    }
    return operation(
        "showHome",
        _TAG,
        "A page for people",
        "For browsers (`Accept: text/html`): what runs here, and what to paste where. Anything "
        "else on this path goes to the upstream.",
        responses,
        security=[],
    )


def _map(settings: Settings) -> Json:
    responses = {
        "200": {
            "description": "The map, as llmstxt.org describes it.",
            "headers": headers.of_every(),
            "content": content(STRING, "text/plain"),
        },
        **failures.of(settings, 421, 431, 500),
    }
    return operation(
        "showMap",
        _TAG,
        "A map of the documentation for language models",
        "Absolute addresses of all pages, each with what it is for.",
        responses,
        security=[],
    )


def _pages(settings: Settings) -> Json:
    responses = {
        "200": {
            "description": "The page.",
            "headers": headers.of_every(),
            "content": content(STRING, "text/html"),
        },
        "304": {"description": "The browser has it.", "headers": headers.of_every()},
        **failures.of(settings, 404, *ALWAYS),
    }
    return operation(
        "showPages",
        _TAG,
        "The web pages",
        "Chat; `/ui/memories`, `/ui/tree`, `/ui/requests` and `/ui/state` are the others; "
        "`/ui/static/` and `/ui/-/` hold their files. They hold no data and need no credential: "
        "what they show they fetch with the key that their user gives them. 404 with the setting "
        "`ui` off.",
        responses,
        security=[],
    )


def _demo(settings: Settings) -> Json:
    responses = {
        "200": ok("The session.", object_of({"messages": array({}), "questions": array(STRING)})),
        "304": {"description": "The browser has it.", "headers": headers.of_every()},
        **failures.of(settings, 404, *ALWAYS),
    }
    return operation(
        "showDemoSession",
        _TAG,
        "A made-up conversation",
        "The coding session of `memtree demo`, about 100,000 tokens of messages as a client would "
        "post them, with questions about it. 404 with the setting `ui` off.",
        responses,
        security=[],
    )


def _session(settings: Settings) -> Json:
    fields = object_of(
        {"keyless": BOOLEAN, "empty": BOOLEAN, "others": BOOLEAN, "proof": STRING}, required=()
    )
    nonce = {"name": "nonce", "in": "query", "schema": _CODE}
    return operation(
        "showPageSession",
        _TAG,
        "What a page without a key sees",
        "Whether requests without a credential are let in (`keyless`), whether nothing is kept for "
        "them (`empty`), and whether others have memory here. With `nonce`, a `proof` by the "
        "secret of the server's state file instead. 404 with the setting `ui` off.",
        {"200": ok("The session.", fields), **failures.of(settings, 400, 404, *ALWAYS)},
        parameters=[nonce],
        security=[],
    )


def _code_exchange(settings: Settings) -> Json:
    key = object_of({"key": {"type": ["string", "null"]}})
    return operation(
        "exchangeCode",
        _TAG,
        "Exchange the code of `memtree ui` for a key",
        "The code is good once and for 60 seconds. The key is that of the tenant `local` while the "
        "server runs; null where access keys are configured. 404 with the setting `ui` off.",
        {"200": ok("The key.", key), **failures.of(settings, 400, 401, 404, 413, 415, *ALWAYS)},
        requestBody={
            "required": True,
            "content": content(object_of({"code": _CODE}, additionalProperties=False)),
        },
        security=[],
    )


def _health(settings: Settings, id_: str, description: str) -> Json:
    responses = {
        "200": ok("The process answers.", schema("Health")),
        **failures.of(settings, *ALWAYS),
    }
    return operation(id_, _TAG, "Whether it answers", description, responses, security=[])


def _details(settings: Settings) -> Json:
    return operation(
        "showHealth",
        _TAG,
        "What is wrong with it",
        "Store, queue, models and upstream, each in a sentence, as `memtree doctor` says it. Each "
        "part is asked at most every few seconds, and a model for summaries not at all: its last "
        "calls tell. Beyond loopback, and once access keys exist, this needs the operator's key "
        "(the setting `metrics_key`).",
        {"200": ok("What was found.", schema("HealthDetails")), **failures.of(settings, *KNOWN)},
        security=headers.any_credential(settings, settings.metrics_key is None),
    )


def _metrics(settings: Settings) -> Json:
    responses = {
        "200": {
            "description": "The counts, in the text format that was asked for.",
            "headers": headers.of_every(),
            "content": {
                **content(STRING, "text/plain"),
                **content(STRING, "application/openmetrics-text"),
            },
        },
        **failures.of(settings, *KNOWN),
    }
    return operation(
        "showMetrics",
        _TAG,
        "Counts for Prometheus",
        "Counts of the whole server. Beyond loopback, and once access keys exist, they need the "
        "operator's key (the setting `metrics_key`).",
        responses,
        security=headers.any_credential(settings, settings.metrics_key is None),
    )


def _document(settings: Settings) -> Json:
    responses = {"200": ok("The document.", {"type": "object"}), **failures.of(settings, *ALWAYS)}
    return operation(
        "showDocument",
        _TAG,
        "This document",
        "Needs no credential.",
        responses,
        security=[],
    )
