// One answer or error of each Node SDK, for dialects/test_node_sdks.py.
//
// Standard input: {"url", "key", "sdk", "retries", "history", "headers"}. Standard output: {"text"},
// or {"error": name of the class, "status", "message"}.
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { readFileSync } from "node:fs";

const { url, key, sdk, retries, history, headers } = JSON.parse(readFileSync(0, "utf8"));
const options = { apiKey: key, maxRetries: retries, defaultHeaders: headers };

const ways = {
  anthropic: async () => {
    const client = new Anthropic({ ...options, baseURL: url.replace(/\/v1$/, "") });
    const asked = { model: "claude-sonnet-5-5", max_tokens: 100, messages: history };
    return (await client.messages.create(asked)).content[0].text;
  },
  openai: async () => {
    const client = new OpenAI({ ...options, baseURL: url });
    return (await client.responses.create({ model: "gpt-5.5", input: history })).output_text;
  },
};

try {
  process.stdout.write(JSON.stringify({ text: await ways[sdk]() }));
} catch (error) {
  const { status, message } = error;
  process.stdout.write(JSON.stringify({ error: error.constructor.name, status, message }));
}
