// One tool-using session with the OpenAI Node SDK, for test_openai_node.py.
//
// Standard input: {"url", "key", "way", "model", "task", "tools", "files"}. `way` is how the SDK is
// asked: create, stream, helper or runner. Standard output: {"last": text, "files": {...}}.
import OpenAI from "openai";
import { readFileSync } from "node:fs";
import { worker } from "./work.mjs";

const given = JSON.parse(readFileSync(0, "utf8"));
const { model, tools, files } = given;
const work = worker(files);
const client = new OpenAI({
  baseURL: given.url,
  apiKey: given.key,
  maxRetries: 0,
  defaultHeaders: { "x-polychat-memory": "on" },
});

// The answer put together by hand from its chunks.
async function streamed(messages) {
  const message = { role: "assistant", content: "" };
  const stream = await client.chat.completions.create({ model, messages, tools, stream: true });
  for await (const chunk of stream) {
    const delta = chunk.choices[0].delta;
    message.content += delta.content ?? "";
    for (const piece of delta.tool_calls ?? []) {
      message.tool_calls ??= [];
      if (piece.id) message.tool_calls[piece.index] = { ...piece, index: undefined };
      else message.tool_calls[piece.index].function.arguments += piece.function.arguments;
    }
  }
  return message;
}

const ways = {
  create: async (messages) =>
    (await client.chat.completions.create({ model, messages, tools })).choices[0].message,
  stream: streamed,
  helper: async (messages) =>
    client.chat.completions
      .stream({ model, messages, tools, stream_options: { include_usage: true } })
      .finalMessage(),
};

async function loop(ask) {
  const messages = [{ role: "user", content: given.task }];
  for (;;) {
    const message = await ask(messages);
    messages.push(message);
    if (!message.tool_calls?.length) return message.content;
    for (const call of message.tool_calls) {
      const content = work(call.function.name, JSON.parse(call.function.arguments));
      messages.push({ role: "tool", tool_call_id: call.id, content });
    }
  }
}

// The SDK's own tool loop.
async function runner() {
  const own = tools.map((tool) => ({
    type: "function",
    function: { ...tool.function, parse: JSON.parse, function: (args) => work(tool.function.name, args) },
  }));
  const messages = [{ role: "user", content: given.task }];
  const options = { maxChatCompletions: 100 };
  return client.chat.completions
    .runTools({ model, messages, tools: own, stream: true }, options)
    .finalContent();
}

const last = await (given.way === "runner" ? runner() : loop(ways[given.way]));
process.stdout.write(JSON.stringify({ last, files }));
