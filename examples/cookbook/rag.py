"""RAG in LlamaIndex: an agent with a query tool over your documents. It needs no embedding model.

python examples/cookbook/rag.py
python examples/cookbook/rag.py --base-url http://localhost:11434/v1 --model llama3.1     # Ollama
"""

from __future__ import annotations

import asyncio
import sys

from llama_index.core import Document, SimpleKeywordTableIndex
from llama_index.core.agent.workflow import FunctionAgent, ToolCallResult
from llama_index.core.llms.llm import LLM
from llama_index.core.tools import QueryEngineTool
from llama_index.llms.ollama import Ollama  # type: ignore[import-untyped]  # as it is published
from program import run

from llama_index_llama3_tools import Llama3ToolLLM

HANDBOOK = [
    Document(text="Holidays: each employee has 28 days of holidays a year."),
    Document(text="Travel: book trains in second class."),
]


async def answer(model: LLM, question: str) -> str:
    """Let the agent answer a question out of the handbook."""
    llm = Llama3ToolLLM(model)
    index = SimpleKeywordTableIndex.from_documents(HANDBOOK, llm=llm)  # VectorStoreIndex, if you have embeddings
    handbook = QueryEngineTool.from_defaults(
        index.as_query_engine(llm=llm), name="handbook", description="Answers questions on holidays and travel."
    )
    handler = FunctionAgent(tools=[handbook], llm=llm).run(question)
    async for event in handler.stream_events():
        if isinstance(event, ToolCallResult):
            print(f"{event.tool_name} {event.tool_kwargs}: {event.tool_output.content}")
    return str(await handler)


def main(base_url: str, model: str) -> None:
    """Ask what only the handbook knows."""
    llm = Ollama(base_url=base_url.removesuffix("/v1"), model=model, temperature=0, request_timeout=300)
    print(asyncio.run(answer(llm, "How many holidays do I have?")))


if __name__ == "__main__":
    sys.exit(run(main, __doc__))
