"""Records anew what the live model answers to the questions of the quickstart: `make record`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import openai

from endpoints.assistant import chat_messages
from endpoints.demo import RECORDED
from endpoints.live import MODEL, SETTINGS, live_server


def main() -> None:
    """Ask each question, and write the pieces of each answer, a line an answer."""
    path = Path(__file__).with_name("recorded.json")
    recorded = json.loads(path.read_text("utf-8"))
    answers: list[str] = []
    with live_server(print) as live:
        client = openai.OpenAI(base_url=live.base_url, api_key="none")
        for question in RECORDED:
            messages: list[Any] = [*chat_messages(question)]
            options: dict[str, Any] = {"model": MODEL, "max_tokens": 160, "extra_body": dict(SETTINGS)}
            stream = client.chat.completions.create(messages=messages, stream=True, **options)
            pieces = [chunk.choices[0].delta.content for chunk in stream if chunk.choices]
            answers.append(f"    {json.dumps(question)}: {json.dumps([piece for piece in pieces if piece])}")
            print("".join(filter(None, pieces)))
    head = json.dumps({key: value for key, value in recorded.items() if key != "answers"}, indent=2)
    lines = ",\n".join(answers)
    head = head.removesuffix("\n}")
    path.write_text(f'{head},\n  "answers": {{\n{lines}\n  }}\n}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
