"""Describe operations of the server itself: its page, health, metrics, and this document."""

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
_UNTOUCHED = {"304": {"description": "The browser has it.", "headers": headers.of_every()}}
_EARLY = (421, 431, 500)  # errors that precede routing


def build(settings: Settings) -> dict[str, Json]:
    return {**_people(settings), **_parts(settings), **_pages(settings)}


def _people(settings: Settings) -> dict[str, Json]:
    home = {
        "200": {
            "description": "The page, or what the upstream answers.",
            "headers": headers.of_every(),
            "content": {**content(STRING, "text/html"), **content({})},
        },
        **failures.of(settings, *_EARLY),
        "default": {"description": "The upstream's answer, where no browser asks."},
    }
    listed = ok("The map, as llmstxt.org describes it.", STRING, "text/plain")
    shown_home = _open(
        "showHome",
        "A page for people",
        "For browsers (`Accept: text/html`): what runs here, and what to paste where. Anything "
        "else on this path goes to the upstream.",
        home,
    )
    shown_map = _open(
        "showMap",
        "A map of the documentation for language models",
        "Absolute addresses of all pages, each with what it is for.",
        {"200": listed, **failures.of(settings, *_EARLY)},
    )
    return {
        "/": {"servers": _AT_THE_ROOT, "get": shown_home},
        "/llms.txt": {"servers": _AT_THE_ROOT, "get": shown_map},
    }


def _parts(settings: Settings) -> dict[str, Json]:
    always = failures.of(settings, *ALWAYS)
    alive = {"200": ok("The process answers.", schema("Health")), **always}
    counts = {
        **ok("The counts, in the text format that was asked for.", STRING, "text/plain"),
        "content": {
            **content(STRING, "text/plain"),
            **content(STRING, "application/openmetrics-text"),
        },
    }
    operators = headers.any_credential(settings, settings.metrics_key is None)
    details = operation(
        "showHealth",
        _TAG,
        "What is wrong with it",
        "Store, queue, models and upstream, each in a sentence, as `memtree doctor` says it. Each "
        "part is asked at most every few seconds, and a model for summaries not at all: its last "
        "calls tell. Beyond loopback, and once access keys exist, this needs the operator's key "
        "(the setting `metrics_key`).",
        {"200": ok("What was found.", schema("HealthDetails")), **failures.of(settings, *KNOWN)},
        security=operators,
    )
    metrics = operation(
        "showMetrics",
        _TAG,
        "Counts for Prometheus",
        "Counts of the whole server. Beyond loopback, and once access keys exist, they need the "
        "operator's key (the setting `metrics_key`).",
        {"200": counts, **failures.of(settings, *KNOWN)},
        security=operators,
    )
    needs_nothing = "Asks nothing of the parts, and needs no credential."
    document = {"200": ok("The document.", {"type": "object"}), **always}
    return {
        "/health": {"get": _open("checkHealth", "Whether it answers", needs_nothing, alive)},
        "/healthz": {
            "get": _open(
                "checkHealthByOtherName", "Whether it answers", "Another name of `/health`.", alive
            )
        },
        "/health/details": {"get": details},
        "/metrics": {"servers": _AT_THE_ROOT, "get": metrics},
        "/openapi.json": {
            "servers": _AT_THE_ROOT,
            "get": _open("showDocument", "This document", "Needs no credential.", document),
        },
    }


def _pages(settings: Settings) -> dict[str, Json]:
    off = failures.of(settings, 404, *ALWAYS)
    demo = object_of({"messages": array({}), "questions": array(STRING)})
    pages = _open(
        "showPages",
        "The web pages",
        "Chat; `/ui/memories`, `/ui/tree`, `/ui/requests` and `/ui/state` are the others; "
        "`/ui/static/` and `/ui/-/` hold their files. They hold no data and need no credential: "
        "what they show they fetch with the key that their user gives them. 404 with the setting "
        "`ui` off.",
        {"200": ok("The page.", STRING, "text/html"), **_UNTOUCHED, **off},
    )
    session = _open(
        "showDemoSession",
        "A made-up conversation",
        "The coding session of `memtree demo`, about 100,000 tokens of messages as a client would "
        "post them, with questions about it. 404 with the setting `ui` off.",
        {"200": ok("The session.", demo), **_UNTOUCHED, **off},
    )
    return {
        "/ui": {"servers": _BELOW_NOTHING, "get": pages},
        "/ui/demo.json": {"servers": _BELOW_NOTHING, "get": session},
        "/ui/session": {"servers": _BELOW_NOTHING, **_page_session(settings)},
    }


def _page_session(settings: Settings) -> dict[str, Json]:
    session = object_of(
        {"keyless": BOOLEAN, "empty": BOOLEAN, "others": BOOLEAN, "proof": STRING}, required=()
    )
    key = object_of({"key": {"type": ["string", "null"]}})
    code = content(object_of({"code": _CODE}, additionalProperties=False))
    shown = _open(
        "showPageSession",
        "What a page without a key sees",
        "Whether requests without a credential are let in (`keyless`), whether nothing is kept for "
        "them (`empty`), and whether others have memory here. With `nonce`, a `proof` by the "
        "secret of the server's state file instead. 404 with the setting `ui` off.",
        {"200": ok("The session.", session), **failures.of(settings, 400, 404, *ALWAYS)},
        parameters=[{"name": "nonce", "in": "query", "schema": _CODE}],
    )
    exchanged = _open(
        "exchangeCode",
        "Exchange the code of `memtree ui` for a key",
        "The code is good once and for 60 seconds. The key is that of the tenant `local` while the "
        "server runs; null where access keys are configured. 404 with the setting `ui` off.",
        {"200": ok("The key.", key), **failures.of(settings, 400, 401, 404, 413, 415, *ALWAYS)},
        requestBody={"required": True, "content": code},
    )
    return {"get": shown, "post": exchanged}


def _open(id_: str, summary: str, description: str, responses: Json, **more: object) -> Json:
    """Describe a route that needs no credential."""
    return operation(id_, _TAG, summary, description, responses, **more, security=[])
