"""Counts what a model did wrong in a log of OpenAI's answers, one a line. It asks no model.

python examples/cookbook/old_logs.py
python examples/cookbook/old_logs.py LOG.jsonl TOOLS.json
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

from llama3_tools import Extractor

FOLDER = Path(__file__).parent


def count(log: Path, tools: Path) -> Counter[str]:
    """Count the answers of a log by what was found in them, and show those that tried to call and did not."""
    extractor = Extractor(tools=json.loads(tools.read_text("utf-8")))
    counts: Counter[str] = Counter()
    with log.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            choice = json.loads(line)["choices"][0]
            content = choice["message"]["content"] or ""  # `None`: the server found the calls itself
            found = extractor.extract(content, complete=choice.get("finish_reason") != "length")
            attempt = next((one for one in found.rejections if one.is_attempt), None)
            counts["call" if found.tool_calls else str(attempt.reason) if attempt else "text alone"] += 1
            if attempt:
                print(f"line {number}: {attempt.reason}, {attempt.detail}")
    return counts


if __name__ == "__main__":
    log, tools = (Path(path) for path in sys.argv[1:] or (FOLDER / "log.jsonl", FOLDER / "tools.json"))
    for outcome, number in count(log, tools).most_common():
        print(f"{number:6}  {outcome}")
