// LangChain.js: an agent, invoked and streamed.
import { tool } from "@langchain/core/tools";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { ChatOpenAI } from "@langchain/openai";
import { z } from "zod";

const llm = new ChatOpenAI({
  model: "llama3.1",
  apiKey: "none",
  configuration: { baseURL: process.env.OPENAI_BASE_URL },
});
const messages = [{ role: "user", content: "How is the weather in Paris?" }];

for (const stream of [false, true]) {
  const asked = [];
  const get_weather = tool(({ city }) => (asked.push(city), "Sunny"), {
    name: "get_weather",
    description: "The weather of a city",
    schema: z.object({ city: z.string() }),
  });
  const agent = createReactAgent({ llm, tools: [get_weather] });
  let answer = "";
  if (stream) {
    for await (const [chunk, about] of await agent.stream({ messages }, { streamMode: "messages" })) {
      if (about.langgraph_step > 2 && typeof chunk.content === "string") answer += chunk.content;
    }
  } else {
    answer = (await agent.invoke({ messages })).messages.at(-1).content;
  }
  console.log(JSON.stringify({ name: `agent ${stream}`, answer, asked }));
}
