"""Two LlamaIndex agents in an `AgentWorkflow`: the first hands over to the one that knows.

python examples/cookbook/handoffs.py
python examples/cookbook/handoffs.py --base-url http://localhost:11434/v1 --model llama3.1
"""

from __future__ import annotations

import asyncio
import sys

from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ToolCallResult
from llama_index.core.llms.llm import LLM
from llama_index.llms.openai_like import OpenAILike
from program import run

from llama_index_llama3_tools import Llama3ToolLLM


def track(parcel: int) -> str:
    """Track a parcel."""
    return f"Parcel {parcel} is in Hamburg"


async def answer(model: LLM, question: str) -> str:
    """Let the agents answer a question, and show what they do."""
    llm = Llama3ToolLLM(model)
    desk = FunctionAgent(
        name="desk",
        description="Welcomes",
        system_prompt="Hand each question over.",
        llm=llm,
        can_handoff_to=["shipping"],
    )
    shipping = FunctionAgent(name="shipping", description="Knows where parcels are", tools=[track], llm=llm)
    handler = AgentWorkflow(agents=[desk, shipping], root_agent="desk").run(question)
    async for event in handler.stream_events():
        if isinstance(event, ToolCallResult):
            print(f"{event.tool_name} {event.tool_kwargs}")
    return str(await handler)


def main(base_url: str, model: str) -> None:
    """Ask a question that the first agent cannot answer."""
    llm = OpenAILike(api_base=base_url, api_key="none", model=model, is_chat_model=True, temperature=0, max_retries=0)
    print(asyncio.run(answer(llm, "Where is my parcel 77?")))


if __name__ == "__main__":
    sys.exit(run(main, __doc__))
