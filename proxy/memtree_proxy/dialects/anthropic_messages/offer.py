"""Decide which requests of the Messages API leave a place for tools of ours, and how it takes them.

Tools lead the prompt, and the signature of each thinking block holds what led to it. So ours are
the same bytes in every request, also in a round that may not call them any more, and stand behind
the client's own tools, whose cache marker stays where it was posted.
"""

from __future__ import annotations

from typing import Any

from memtree.dialects.tool_definitions import ToolGroup
from memtree.wire.json_body import Body
from memtree_proxy.server_tools.offer import AUTO, Offer, OfferForm

# Fields with which the history lies on the server, or the answer is no message
_OTHER = ("thread", "compaction", "output_format")


def of(body: Body, groups: tuple[ToolGroup, ...]) -> Offer | None:
    """None where tools of ours would change what the client gets: it forces a call or forbids it,
    or wants an answer of a given form. A group is left out where the client has a tool by the name
    of one of its."""
    return FORM.offer(body, groups, _plain, _choice)


def _plain(body: Body) -> bool:
    """Nothing in the request that an answer of several rounds could not keep to."""
    output = body.value("output_config")
    formed = isinstance(output, dict) and output.get("format") is not None
    return (
        not formed
        and body.value("stream") in (None, False, True)
        and all(body.value(name) is None for name in _OTHER)
    )


def _choice(body: Body) -> str:
    """`disable_parallel_tool_use` beside the type is no matter."""
    choice = body.value("tool_choice")
    if choice is None:
        return AUTO
    kind = choice.get("type") if isinstance(choice, dict) else None
    return kind if isinstance(kind, str) else ""


def _definition(function: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": function["name"],
        "description": function["description"],
        "input_schema": function["parameters"],
    }


def _names(tool: dict[str, Any]) -> list[str]:
    name = tool.get("name")
    return [name] if isinstance(name, str) else []


FORM = OfferForm(_definition, _names, frozenset({"any"}), b'{"type":"none"}')
