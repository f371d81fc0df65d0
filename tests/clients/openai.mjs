// openai-node: runTools, whole and streamed, and the Responses API. Prints what each has found, a line of JSON each.
import OpenAI from "openai";

const client = new OpenAI({ baseURL: process.env.OPENAI_BASE_URL, apiKey: "none" });
const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const messages = [{ role: "user", content: "How is the weather in Paris?" }];
const print = (name, answer, asked) => console.log(JSON.stringify({ name, answer, asked }));

for (const stream of [false, true]) {
  const asked = [];
  const weather = {
    type: "function",
    function: {
      name: "get_weather",
      description: "The weather of a city",
      parameters,
      parse: JSON.parse,
      function: ({ city }) => (asked.push(city), "Sunny"),
    },
  };
  const runner = client.chat.completions.runTools({ model: "llama3.1", messages, tools: [weather], stream });
  print(`runTools ${stream}`, await runner.finalContent(), asked);
}

const tools = [{ type: "function", name: "get_weather", parameters, strict: false }];
for (const stream of [false, true]) {
  const asked = [];
  const ask = async (input) => {
    const body = { model: "llama3.1", input, tools };
    return stream ? client.responses.stream(body).finalResponse() : client.responses.create(body);
  };
  const first = await ask(messages);
  const outputs = first.output
    .filter((item) => item.type === "function_call")
    .map((call) => {
      asked.push(JSON.parse(call.arguments).city);
      return { type: "function_call_output", call_id: call.call_id, output: "Sunny" };
    });
  const last = await ask([...messages, ...first.output, ...outputs]);
  print(`responses ${stream}`, last.output_text, asked);
}
