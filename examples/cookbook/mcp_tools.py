"""A LangChain agent with the tools of an MCP server. Here, the server is this file, too.

pip install langchain-mcp-adapters
python examples/cookbook/mcp_tools.py
python examples/cookbook/mcp_tools.py --base-url http://localhost:11434/v1 --model llama3.1
"""

from __future__ import annotations

import asyncio
import sys

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_openai import ChatOpenAI
from mcp.server.fastmcp import FastMCP
from program import run
from pydantic import SecretStr

from langchain_llama3_tools import Llama3ToolModel

shop = FastMCP("shop", log_level="WARNING")


@shop.tool()
def get_stock(item: str) -> str:
    """How many of an item are in stock."""
    return f"42 {item} are in stock"


async def answer(llm: BaseChatModel, question: str) -> str:
    """Start the MCP server, and let an agent with its tools answer."""
    servers = MultiServerMCPClient(
        {"shop": {"transport": "stdio", "command": sys.executable, "args": [__file__, "serve"]}}
    )
    agent = create_agent(Llama3ToolModel(llm), await servers.get_tools())
    state = await agent.ainvoke({"messages": [("user", question)]})
    for message in state["messages"][1:-1]:
        print(f"{message.type}: {[call['args'] for call in getattr(message, 'tool_calls', ())] or message.text}")
    return str(state["messages"][-1].text)


def main(base_url: str, model: str) -> None:
    """Ask what only the server knows."""
    llm = ChatOpenAI(base_url=base_url, api_key=SecretStr("none"), model=model, temperature=0)
    print(asyncio.run(answer(llm, 'How many "apples" are in stock?')))


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        shop.run()
    else:
        sys.exit(run(main, __doc__))
