// @anthropic-ai/sdk: messages and the tool runner, whole and streamed.
import Anthropic from "@anthropic-ai/sdk";
import { betaZodTool } from "@anthropic-ai/sdk/helpers/beta/zod";
import { z } from "zod";

const client = new Anthropic({ baseURL: process.env.ANTHROPIC_BASE_URL, apiKey: "none" });
const base = { model: "llama3.1", max_tokens: 1000 };
const messages = [{ role: "user", content: "How is the weather in Paris?" }];
const input_schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const textOf = (message) => message.content.map((block) => block.text ?? "").join("");
const print = (name, answer, asked) => console.log(JSON.stringify({ name, answer, asked }));

for (const stream of [false, true]) {
  const asked = [];
  const ask = async (messages) => {
    const body = { ...base, messages, tools: [{ name: "get_weather", input_schema }] };
    return stream ? client.messages.stream(body).finalMessage() : client.messages.create(body);
  };
  const first = await ask(messages);
  const content = first.content
    .filter((block) => block.type === "tool_use")
    .map((call) => (asked.push(call.input.city), { type: "tool_result", tool_use_id: call.id, content: "Sunny" }));
  const history = [...messages, { role: "assistant", content: first.content }, { role: "user", content }];
  print(`messages ${stream}`, textOf(await ask(history)), asked);
}

for (const stream of [false, true]) {
  const asked = [];
  const get_weather = betaZodTool({
    name: "get_weather",
    description: "The weather of a city",
    inputSchema: z.object({ city: z.string() }),
    run: ({ city }) => (asked.push(city), "Sunny"),
  });
  const runner = client.beta.messages.toolRunner({ ...base, messages, tools: [get_weather], stream });
  print(`toolRunner ${stream}`, textOf(await runner.runUntilDone()), asked);
}
