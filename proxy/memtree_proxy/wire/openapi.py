"""The OpenAPI document, `openapi.yaml`, as a server with some settings serves it.

It is written by hand. Tests hold it against the routes and the Structs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from memtree import __version__
from memtree.config import Settings
from memtree_proxy.http.auth import is_loopback

FILE = Path(__file__).with_name("openapi.yaml")
_OPERATORS = ("/metrics", "/health/details")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the first is eight times as fast


def document(settings: Settings) -> dict[str, Any]:
    """Return the document with this version, and with the credentials that the settings ask for:
    on loopback none is required, and a key of the operator guards the pages for operators."""
    made: dict[str, Any] = yaml.load(FILE.read_text("utf-8"), _LOADER)
    del made["x-shared"]
    made["info"]["version"] = __version__
    if not is_loopback(settings.host):
        made["security"] = [one for one in made["security"] if one]
    if settings.metrics_key is not None or not is_loopback(settings.host):
        for path in _OPERATORS:
            page = made["paths"][path]["get"]
            page["security"] = [one for one in page["security"] if one]
    return made
