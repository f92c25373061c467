// One tool-using session with the OpenAI Node SDK's Responses, for dialects/test_node_sdks.py.
//
// Standard input: {"url", "key", "way", "model", "task", "tools", "files"}. `way` is how the SDK is
// asked: create, stream or helper. Standard output: {"last": text, "files": {...}}.
import OpenAI from "openai";
import { readFileSync } from "node:fs";
import { worker } from "./work.mjs";

const given = JSON.parse(readFileSync(0, "utf8"));
const { files } = given;
const work = worker(files);
const client = new OpenAI({
  baseURL: given.url,
  apiKey: given.key,
  maxRetries: 0,
  defaultHeaders: { "x-polychat-memory": "on" },
});
const tools = given.tools.map((tool) => ({ type: "function", ...tool.function }));
const asked = {
  model: given.model,
  tools,
  store: false,
  include: ["reasoning.encrypted_content"],
};

// The answer put together by hand from its events.
async function streamed(input) {
  const output = [];
  const stream = await client.responses.create({ ...asked, input, stream: true });
  for await (const event of stream) {
    if (event.type === "response.output_item.done") output.push(event.item);
  }
  return { output };
}

const ways = {
  create: (input) => client.responses.create({ ...asked, input }),
  stream: streamed,
  helper: (input) => client.responses.stream({ ...asked, input }).finalResponse(),
};

const input = [{ role: "user", content: given.task }];
for (;;) {
  const { output } = await ways[given.way](input);
  const calls = output.filter((item) => item.type === "function_call");
  if (!calls.length) {
    const last = output.at(-1).content[0].text;
    process.stdout.write(JSON.stringify({ last, files }));
    break;
  }
  input.push(...output);
  for (const { call_id, name, arguments: text } of calls) {
    input.push({ type: "function_call_output", call_id, output: work(name, JSON.parse(text)) });
  }
}
