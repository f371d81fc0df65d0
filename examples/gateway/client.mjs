// An agent with tools, in JavaScript, on a server without tool calls. The program only knows the gateway's address:
//
//     npm install openai
//     llama3-tools serve http://localhost:11434/v1    # Ollama; the others: see gateway.toml
//     node client.mjs "How is the weather in Paris?"
//
// OPENAI_BASE_URL is the gateway's address, MODEL the model's name.
import OpenAI from "openai";

const client = new OpenAI({
  baseURL: process.env.OPENAI_BASE_URL ?? "http://localhost:8089/v1",
  apiKey: process.env.OPENAI_API_KEY ?? "none",
});

const getWeather = {
  type: "function",
  function: {
    name: "get_weather",
    description: "The weather of a city",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    parse: JSON.parse,
    function: ({ city }) => {
      console.log(`[get_weather ${city}]`);
      return `Sun in ${city}`;
    },
  },
};

// runTools runs a tool by its name. If the model has invented the name, it answers with an error, and runs nothing.
const runner = client.chat.completions.runTools({
  model: process.env.MODEL ?? "llama3.1",
  messages: [{ role: "user", content: process.argv[2] ?? "How is the weather in Paris?" }],
  tools: [getWeather],
  stream: true,
});
console.log(await runner.finalContent());
