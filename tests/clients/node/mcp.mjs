// Calls of the memory tools with a JavaScript MCP client, for test_mcp_node.py.
//
// Standard input: {"client", "url", "headers", "command", "calls"}. `client`: first (the SDK's
// generation 1), second (generation 2) or ai (the AI SDK). With `command`, [program, ...arguments],
// the server is started and spoken to over its standard streams; else it is at `url`. A call is
// {"name", "arguments"}. Standard output: {"tools": [...], "results": [...], "errors": [...]}.
import { readFileSync } from "node:fs";

const given = JSON.parse(readFileSync(0, "utf8"));
const [program, ...args] = given.command ?? [];
const requestInit = { headers: given.headers ?? {} };
const PATIENCE = 600_000; // ms: a busy machine takes its time to start the server
const info = { name: "memtree-tests", version: "1.0.0" };

async function sdk(Client, Http, Stdio) {
  const transport = program
    ? new Stdio({ command: program, args, stderr: "inherit" })
    : new Http(new URL(given.url), { requestInit });
  const client = new Client(info);
  await client.connect(transport, { timeout: PATIENCE });
  return {
    tools: async () => (await client.listTools()).tools,
    call: (one) => client.callTool(one),
    close: () => client.close(),
  };
}

const clients = {
  first: async () => {
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const http = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
    const stdio = await import("@modelcontextprotocol/sdk/client/stdio.js");
    return sdk(Client, http.StreamableHTTPClientTransport, stdio.StdioClientTransport);
  },
  second: async () => {
    const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
    const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
    return sdk(Client, StreamableHTTPClientTransport, StdioClientTransport);
  },
  ai: async () => {
    const { createMCPClient } = await import("@ai-sdk/mcp");
    const { Experimental_StdioMCPTransport: Stdio } = await import("@ai-sdk/mcp/mcp-stdio");
    const transport = program
      ? new Stdio({ command: program, args })
      : { type: "http", url: given.url, headers: requestInit.headers };
    const client = await createMCPClient({ transport });
    const tools = await client.tools();
    return {
      tools: async () => Object.keys(tools).map((name) => ({ name })),
      call: async ({ name, arguments: input }) => {
        if (!tools[name]) throw new Error(`Unknown tool: ${name}`);
        return tools[name].execute(input, { toolCallId: "1", messages: [] });
      },
      close: () => client.close(),
    };
  },
};

const client = await clients[given.client]();
const said = { tools: await client.tools(), results: [], errors: [] };
for (const one of given.calls) {
  try {
    said.results.push(await client.call(one));
  } catch (error) {
    said.errors.push(String(error.message));
  }
}
await client.close();
process.stdout.write(JSON.stringify(said));
