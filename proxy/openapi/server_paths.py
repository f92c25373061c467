"""Operations about the server itself: its page, its health, its counts, this document."""

from __future__ import annotations

from memtree.config import Settings
from proxy.openapi import failures, headers
from proxy.openapi.operations import ALWAYS, KNOWN, ok, operation
from proxy.openapi.shapes import STRING, Json, content, schema

_TAG = "Server"
_AT_THE_ROOT = [{"url": "/", "description": "Under a prefix the path is the upstream's."}]


def build(settings: Settings) -> dict[str, Json]:
    return {
        "/": {"servers": _AT_THE_ROOT, "get": _home(settings)},
        "/health": {
            "get": _health(
                settings, "checkHealth", "Asks nothing of the parts, and needs no credential."
            )
        },
        "/healthz": {
            "get": _health(settings, "checkHealthByOtherName", "Another name of `/health`.")
        },
        "/metrics": {"servers": _AT_THE_ROOT, "get": _metrics(settings)},
        "/openapi.json": {"servers": _AT_THE_ROOT, "get": _document(settings)},
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


def _health(settings: Settings, id_: str, description: str) -> Json:
    responses = {
        "200": ok("The process answers.", schema("Health")),
        **failures.of(settings, *ALWAYS),
    }
    return operation(id_, _TAG, "Whether it answers", description, responses, security=[])


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
