// The Vercel AI SDK, by chat completions, the Responses API and Anthropic's messages, whole and streamed.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

globalThis.AI_SDK_LOG_WARNINGS = false; // it knows no model of this name
const baseURL = process.env.OPENAI_BASE_URL;
const models = {
  compatible: createOpenAICompatible({ name: "gateway", baseURL })("llama3.1"),
  chat: createOpenAI({ baseURL, apiKey: "none" }).chat("llama3.1"),
  responses: createOpenAI({ baseURL, apiKey: "none" })("llama3.1"),
  messages: createAnthropic({ baseURL, apiKey: "none" })("llama3.1"),
};

for (const [name, model] of Object.entries(models)) {
  for (const stream of [false, true]) {
    const asked = [];
    const get_weather = tool({
      description: "The weather of a city",
      inputSchema: z.object({ city: z.string() }),
      execute: async ({ city }) => (asked.push(city), "Sunny"),
    });
    const options = {
      model,
      tools: { get_weather },
      prompt: "How is the weather in Paris?",
      stopWhen: stepCountIs(3),
      onError: ({ error }) => console.error(error),
    };
    const result = stream ? streamText(options) : await generateText(options);
    if (stream) await result.consumeStream();
    console.log(JSON.stringify({ name: `${name} ${stream}`, answer: await result.text, asked }));
  }
}
