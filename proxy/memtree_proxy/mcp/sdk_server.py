"""Build a server of the official SDK with the tools. Importing this module loads the SDK."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any

from mcp import MCPError
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextContent,
    TextResourceContents,
    Tool,
    ToolAnnotations,
)

from memtree import __version__
from memtree.errors import MemTreeError
from memtree_proxy.mcp import tool_answers
from memtree_proxy.mcp.listed_tools import INSTRUCTIONS, ToolDefinition
from memtree_proxy.mcp.tool_answers import Conversations
from memtree_proxy.mcp.tools import Caller, MemoryTools

# The SDK logs each request at `info`, and unreadable messages at `debug`.
logging.getLogger("mcp").setLevel(logging.WARNING)


def build(tools: MemoryTools, caller_of: Callable[[Any], Caller]) -> Server[Any]:
    """Build the server. `caller_of`: returns the caller of the HTTP request, or of None without
    HTTP."""

    async def list_tools(
        ctx: ServerRequestContext[Any], params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(
            tools=[_tool(definition) for definition in tools.definitions.values()]
        )

    async def call_tool(
        ctx: ServerRequestContext[Any], params: CallToolRequestParams
    ) -> CallToolResult:
        if params.name not in tools.definitions:
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {params.name[:100]!a}")
        caller = caller_of(ctx.request)
        answer = await tools.call(params.name, params.arguments or {}, caller)
        # The answer stands twice: structured, and as text for clients that read only text.
        text = json.dumps(answer.content, ensure_ascii=False)
        return CallToolResult(
            content=[TextContent(text=text)],
            structured_content=answer.content,
            is_error=answer.failed,
        )

    def input_schema(name: str) -> dict[str, Any] | None:
        return tools.definitions[name].input_schema if name in tools.definitions else None

    server: Server[Any] = Server(
        "memtree",
        version=__version__,
        title="MemTree",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        get_tool_input_schema=input_schema,
        **(_reading(tools.conversations, caller_of) if tools.conversations else {}),
    )
    server.middleware.clear()  # remove the SDK's tracing spans; the proxy traces requests
    return server


def _reading(conversations: Conversations, caller_of: Callable[[Any], Caller]) -> dict[str, Any]:
    """Return the handlers of requests for resources."""

    async def list_resources(
        ctx: ServerRequestContext[Any], params: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        rows = await tool_answers.listed_resources(
            conversations, caller_of(ctx.request).scope.tenant
        )
        return ListResourcesResult(
            resources=[
                Resource(
                    uri=row.uri, name=row.name, title=row.title, mime_type=tool_answers.MEDIA_TYPE
                )
                for row in rows
            ]
        )

    async def list_templates(
        ctx: ServerRequestContext[Any], params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        return ListResourceTemplatesResult(resource_templates=[_TREE])

    async def read_resource(
        ctx: ServerRequestContext[Any], params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        tenant = caller_of(ctx.request).scope.tenant
        try:
            text = await tool_answers.read(conversations, tenant, params.uri)
        except MemTreeError as error:
            raise MCPError(INVALID_PARAMS, error.message) from error
        content = TextResourceContents(uri=params.uri, mime_type=tool_answers.MEDIA_TYPE, text=text)
        return ReadResourceResult(contents=[content])

    return {
        "on_list_resources": list_resources,
        "on_list_resource_templates": list_templates,
        "on_read_resource": read_resource,
    }


_TREE = ResourceTemplate(
    uri_template=tool_answers.TEMPLATE,
    name="conversation",
    title="The tree of a conversation",
    description="Its summaries and where they stand in it; the text of its messages is not kept.",
    mime_type=tool_answers.MEDIA_TYPE,
)


def _tool(definition: ToolDefinition) -> Tool:
    return Tool(
        name=definition.name,
        title=definition.title,
        description=definition.description,
        input_schema=definition.input_schema,
        output_schema=definition.output_schema,
        annotations=ToolAnnotations(
            read_only_hint=definition.read_only,
            destructive_hint=definition.destructive,
            idempotent_hint=definition.read_only or definition.repeatable,
            open_world_hint=False,
        ),
    )
