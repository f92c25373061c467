// One tool-using session with the Anthropic Node SDK, for dialects/test_node_sdks.py.
//
// Standard input: {"url", "key", "way", "model", "task", "tools", "files"}. `way` is how the SDK is
// asked: create, stream, helper, runner, or threads (the runner as it is by default: the server holds
// the history, and a request has new messages alone). Standard output: {"last": text, "files": {...}}.
import Anthropic from "@anthropic-ai/sdk";
import { readFileSync } from "node:fs";
import { worker } from "./work.mjs";

const given = JSON.parse(readFileSync(0, "utf8"));
const { files } = given;
const work = worker(files);
const client = new Anthropic({
  baseURL: given.url.replace(/\/v1$/, ""),
  apiKey: given.key,
  maxRetries: 0,
  defaultHeaders: { "x-polychat-memory": "on" },
});
const tools = given.tools.map(({ function: { name, description, parameters } }) => ({
  name,
  description,
  input_schema: parameters,
}));
const asked = { model: given.model, max_tokens: 8000, thinking: { type: "adaptive" } };

// The answer put together by hand from its events.
async function streamed(messages) {
  const message = { content: [] };
  const stream = await client.messages.create({ ...asked, messages, tools, stream: true });
  for await (const event of stream) {
    if (event.type === "content_block_start") {
      message.content[event.index] = { ...event.content_block };
    } else if (event.type === "content_block_delta") {
      const block = message.content[event.index];
      const { delta } = event;
      if (delta.type === "text_delta") block.text += delta.text;
      if (delta.type === "thinking_delta") block.thinking += delta.thinking;
      if (delta.type === "signature_delta") block.signature = delta.signature;
      if (delta.type === "input_json_delta") block.json = (block.json ?? "") + delta.partial_json;
    } else if (event.type === "content_block_stop") {
      const { json, ...block } = message.content[event.index];
      message.content[event.index] = json === undefined ? block : { ...block, input: JSON.parse(json) };
    } else if (event.type === "message_delta") {
      message.stop_reason = event.delta.stop_reason;
    }
  }
  return message;
}

const ways = {
  create: (messages) => client.messages.create({ ...asked, messages, tools }),
  stream: streamed,
  helper: (messages) => client.messages.stream({ ...asked, messages, tools }).finalMessage(),
};

async function loop(ask) {
  const messages = [{ role: "user", content: given.task }];
  for (;;) {
    const { content, stop_reason } = await ask(messages);
    messages.push({ role: "assistant", content });
    if (stop_reason !== "tool_use") return content.at(-1).text;
    const results = content
      .filter((block) => block.type === "tool_use")
      .map(({ id, name, input }) => ({
        type: "tool_result",
        tool_use_id: id,
        content: work(name, input),
      }));
    messages.push({ role: "user", content: results });
  }
}

// The SDK's own tool loop.
async function runner(more) {
  const own = tools.map((tool) => ({
    ...tool,
    parse: (input) => input,
    run: (input) => work(tool.name, input),
  }));
  const messages = [{ role: "user", content: given.task }];
  const last = await client.beta.messages.toolRunner({ ...asked, messages, tools: own, ...more });
  return last.content.at(-1).text;
}

const runners = { runner: { thread: false }, threads: {} };
const { way } = given;
const last = await (way in runners ? runner(runners[way]) : loop(ways[way]));
process.stdout.write(JSON.stringify({ last, files }));
