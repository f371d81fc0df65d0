"""Makes the report of an output that is read wrong: what the issue form asks for, ready to paste. It asks no model.

python examples/cookbook/wrong_reading.py OUTPUT.txt TOOLS.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import llama3_tools
from llama3_tools import Extractor


def report(output: str, tools: str) -> str:
    """Return the report: the raw output, what was read, the tools, the version."""
    found = Extractor(tools=json.loads(tools)).extract(output)
    read = [f"content: {found.content!r}"]
    read += [f"call: {call.name} {call.arguments_json}, as {call.format}" for call in found.tool_calls]
    read += [f"rejected: {one.reason}, {one.detail}" for one in found.rejections]
    parts = {
        "Paste the raw text that your model wrote": output,
        "What does the library make of it?": "\n".join(read),
        "What did you expect?": "",
        "Your tools and options": tools.strip(),
        "Version of llama3-tools": llama3_tools.__version__,
    }
    return "\n\n".join(f"### {title}\n\n````text\n{text}\n````" for title, text in parts.items())


if __name__ == "__main__":
    try:
        output, tools = sys.argv[1:]
    except ValueError:
        sys.exit(__doc__)
    print(report(Path(output).read_text("utf-8"), Path(tools).read_text("utf-8")))
