// An agent by the Vercel AI SDK, on a server without tool calls. The program only knows the gateway's address:
//
//     npm install ai @ai-sdk/openai-compatible zod
//     llama3-tools serve http://localhost:11434/v1    # Ollama; the others: see gateway.toml
//     node vercel.mjs "How is the weather in Paris?"
//
// OPENAI_BASE_URL is the gateway's address, MODEL the model's name.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

const gateway = createOpenAICompatible({
  name: "gateway",
  baseURL: process.env.OPENAI_BASE_URL ?? "http://localhost:8089/v1",
  apiKey: process.env.OPENAI_API_KEY ?? "none",
});

const getWeather = tool({
  description: "The weather of a city",
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => {
    console.log(`[get_weather ${city}]`);
    return `Sun in ${city}`;
  },
});

const result = streamText({
  model: gateway(process.env.MODEL ?? "llama3.1"),
  tools: { get_weather: getWeather },
  stopWhen: stepCountIs(5),
  prompt: process.argv[2] ?? "How is the weather in Paris?",
});
console.log(await result.text);
