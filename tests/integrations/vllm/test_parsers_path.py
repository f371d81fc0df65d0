"""The parser on the path by which vLLM's own server asks it, without a server: `make test-vllm`."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import vllm_llama3_tools.tool_parser
from integrations.plugins import IN_PARIS, PARIS, WEATHER
from integrations.vllm.answers import add, asked
from server_outputs import CASES, DECLARED, SIZES, Answer, agrees, expected, pieces

pytestmark = pytest.mark.vllm


@pytest.fixture(scope="session")
def tokenizer(small_model: Path) -> Any:
    return importlib.import_module("transformers").AutoTokenizer.from_pretrained(small_model)


@pytest.fixture(scope="session")
def parser_of(tokenizer: Any) -> Callable[..., Any]:
    """What makes vLLM's parser of a request, as its server does: plugins first, then the parser's name."""
    importlib.import_module("vllm.plugins").load_general_plugins()
    manager: Any = importlib.import_module("vllm.parser.parser_manager").ParserManager

    def make(request: Any, reasoning: str | None = None, name: str = "llama3_tools") -> Any:
        kind = manager.get_parser(name, reasoning, enable_auto_tools=True, tokenizer=tokenizer)
        return kind(tokenizer, request.tools)

    return make


def whole(parser: Any, text: str, request: Any) -> tuple[str | None, Answer]:
    reasoning, content, calls = parser.parse(text, request, enable_auto_tools=True)
    return reasoning, Answer(content or "", [(call.name, call.arguments) for call in calls or ()])


def sent(parser: Any, deltas: list[tuple[str, list[int]]], request: Any) -> list[Any]:
    """Return what comes out for deltas, each a text and its tokens."""
    made = [
        parser.parse_delta(text, ids, request, prompt_token_ids=[1], finished=place == len(deltas) - 1)
        for place, (text, ids) in enumerate(deltas)
    ]
    return [message for message in made if message]


def cut(text: str, size: int, tokenizer: Any) -> list[tuple[str, list[int]]]:
    """Cut a text into deltas of so many characters."""
    chunks = pieces(text, size) or [""]
    readable = [chunk.encode("utf-8", "replace").decode() for chunk in chunks]
    ids = [tokenizer.encode(chunk, add_special_tokens=False) for chunk in readable]
    return list(zip(chunks, ids, strict=True))


def in_deltas(text: str, tokenizer: Any, tokens: int) -> list[tuple[str, list[int]]]:
    """Cut a text into deltas of so many tokens; a character of several tokens comes with its last."""
    ids = tokenizer.encode(text, add_special_tokens=False)
    deltas: list[tuple[str, list[int]]] = []
    length = 0
    for at in range(0, len(ids), tokens):
        decoded = tokenizer.decode(ids[: at + tokens]).rstrip("\ufffd")
        deltas.append((decoded[length:], ids[at : at + tokens]))
        length = len(decoded)
    return deltas


@pytest.mark.parametrize("case", CASES)
def test_every_output_is_read_as_the_chat_layer_reads_it(
    case: str, parser_of: Callable[..., Any], tokenizer: Any
) -> None:
    request = asked(DECLARED)
    for text in CASES[case]:
        answer = expected(text)
        assert whole(parser_of(request), text, request) == (None, answer), text
        for size in SIZES:
            assert agrees(add(sent(parser_of(request), cut(text, size, tokenizer), request)), answer), text


@pytest.mark.parametrize(
    "choice", ["none", "auto", "required", {"type": "function", "function": {"name": "get_weather"}}]
)
def test_every_tool_choice_is_kept(choice: Any, parser_of: Callable[..., Any], tokenizer: Any) -> None:
    request = asked(tool_choice=choice)
    text = f"So: {PARIS}"
    answer = Answer(text, []) if choice == "none" else Answer("So:", [IN_PARIS])
    assert whole(parser_of(request), text, request)[1] == answer
    assert add(sent(parser_of(request), cut(text, 3, tokenizer), request)) == answer


@pytest.mark.parametrize(("reasoning_parser", "opening"), [("deepseek_r1", ""), ("qwen3", "<think>")])
def test_vllm_splits_reasoning_off_and_our_parser_reads_the_rest(
    reasoning_parser: str, opening: str, parser_of: Callable[..., Any], tokenizer: Any
) -> None:
    request = asked()
    thought = f"They ask for Rome? No: {PARIS}"
    text = f"{opening}{thought}</think>\n\nHere: {PARIS} Done."
    reasoning, answer = whole(parser_of(request, reasoning_parser), text, request)
    assert ((reasoning or "").strip(), answer) == (thought, Answer("Here: Done.", [IN_PARIS]))
    for tokens in (1, 2, 5, 1000):
        messages = sent(parser_of(request, reasoning_parser), in_deltas(text, tokenizer, tokens), request)
        assert "".join(message.reasoning or "" for message in messages).strip() == thought
        assert agrees(add(messages), answer)


@pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "get_weather"}}])
def test_the_model_is_held_to_a_call_that_has_to_be_made_in_a_form_that_is_read(
    choice: Any, parser_of: Callable[..., Any]
) -> None:
    request = asked([WEATHER], tool_choice=choice)
    adjusted = parser_of(request).adjust_request(request)
    (tag,) = _tags(json.loads(adjusted.structured_outputs.structural_tag))
    forced = f'{tag["begin"]}{{"city": "Paris"}}{tag["end"]}'
    assert whole(parser_of(request), forced, request)[1] == Answer("", [IN_PARIS])


FREED = [
    pytest.param("auto", None, PARIS, id="auto"),
    pytest.param("required", "array", f"[{PARIS}]", id="required"),
    pytest.param({"type": "function", "function": {"name": "get_weather"}}, "object", IN_PARIS[1], id="named"),
]


@pytest.mark.parametrize(("choice", "kind", "text"), FREED)
def test_without_vllms_strict_grammars_it_holds_the_model_to_its_schema_and_reads_what_comes(
    choice: Any, kind: str | None, text: str, parser_of: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VLLM_ENFORCE_STRICT_TOOL_CALLING", "0")
    manager: Any = importlib.import_module("vllm.tool_parsers").ToolParserManager
    monkeypatch.setattr(manager, "tool_parsers", {})
    manager.import_tool_parser(vllm_llama3_tools.tool_parser.__file__)  # made anew, as vLLM asks once
    request = asked(tool_choice=choice)
    held_to = parser_of(request).adjust_request(asked(tool_choice=choice)).structured_outputs
    assert (held_to and held_to.json["type"]) == kind
    assert whole(parser_of(request), text, request)[1] == Answer("", [IN_PARIS])


def _tags(part: Any) -> list[dict[str, Any]]:
    """The tags of a structural tag: what begins and ends the arguments of each tool."""
    if isinstance(part, dict):
        own = [part] if part.get("type") == "tag" else []
        return own + [tag for inner in part.values() for tag in _tags(inner)]
    return [tag for inner in part for tag in _tags(inner)] if isinstance(part, list) else []


@pytest.mark.parametrize(
    ("text", "one_shot", "stream"),
    [
        pytest.param(
            f"Let me check. {PARIS}",
            Answer("", [IN_PARIS]),
            Answer(f"Let me check. {PARIS}", []),
            id="text before",
        ),
        pytest.param(f"{PARIS} One moment.", Answer("", [IN_PARIS]), Answer("", [IN_PARIS]), id="text after"),
        pytest.param(
            f"{PARIS}\n{PARIS}", Answer("", [IN_PARIS, IN_PARIS]), Answer("", [IN_PARIS]), id="a line break between"
        ),
        pytest.param(
            f'{{"name": "Alice"}} {PARIS}',
            Answer(f'{{"name": "Alice"}} {PARIS}', []),
            Answer("", [("Alice", "")]),
            id="data",
        ),
        pytest.param(f"Write `{PARIS}`.", Answer("", [IN_PARIS]), Answer(f"Write `{PARIS}`.", []), id="a quoted call"),
        pytest.param(
            PARIS[:-4], Answer(PARIS[:-4], []), Answer("", [("get_weather", '{"city": "Pari"}')]), id="cut off"
        ),
        pytest.param(
            '{"name": "get_weather", "parameters": {}}',
            Answer("", [("get_weather", "{}")]),
            Answer("", [("get_weather", "")]),
            id="no arguments",
        ),
    ],
)
def test_what_the_documentation_says_of_vllms_own_parser_is_so(
    text: str, one_shot: Answer, stream: Answer, parser_of: Callable[..., Any], tokenizer: Any
) -> None:
    request = asked()
    assert whole(parser_of(request, name="llama3_json"), text, request)[1] == one_shot
    messages = sent(parser_of(request, name="llama3_json"), cut(text, 4, tokenizer), request)
    calls = [call for message in messages for call in message.tool_calls]
    made = [
        (
            "".join(call.function.name or "" for call in calls if call.index == index),
            "".join(call.function.arguments or "" for call in calls if call.index == index),
        )
        for index in sorted({call.index for call in calls})
    ]
    assert Answer("".join(message.content or "" for message in messages), made) == stream
